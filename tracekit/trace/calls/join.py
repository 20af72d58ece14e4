"""Pieces of calls and predictions that hardware shows, joined into calls.

A prediction of the hardware belongs to the piece that it overlaps, begins right behind, or ends right before, where
that is of one call site; to one of several sites at once it belongs to none. What lies in no call at all is a call
whose thread was not sampled.

Two pieces are one call where the hardware worked for it in the gap, or the stack goes on; they are two where each has
a prediction of the hardware, or the second one begins a call. Where nothing tells, they are one call, which may end
with the first: its `sure` end is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from tracekit.trace.calls.patterns import Api
from tracekit.trace.calls.pieces import APART, BEGINS, GOES_ON, Pieces, Timeline
from tracekit.trace.events import Device
from tracekit.trace.frames import categorical, is_any

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import BoolArray, IntArray

OUTLIVES_NS: Final = 1_500_000
"""How far a prediction that the GPU shows may reach beyond its call. All 42 of seven public recordings fit."""
NEAR: Final = 3
"""Sampling periods between samples of a call and the work of hardware that it waits for (heuristic)."""
NAMED_SHARE: Final = 0.5
"""A label names a call site if so many of its calls have work of it (heuristic)."""


@dataclass(slots=True)
class Joined:
    """A call: some pieces, or a prediction of the hardware, or both."""

    pieces: list[int]
    work: list[int] = field(default_factory=list)
    """Predictions of the hardware in it, in order of time."""
    sure: int = -1
    """The last piece that is known to be of the call; -1 where all are."""
    low_ns: int = 0
    """The call begins at or behind this."""
    high_ns: int = 0
    """The call ends at or before this."""
    single: bool = True
    """Whether it is known to be one call."""


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Predictions that hardware shows: shape (n,) each."""

    starts: IntArray
    ends: IntArray
    model: IntArray
    on_gpu: BoolArray

    @classmethod
    def of(cls, activity: pd.DataFrame) -> Work:
        """From the frame of `reconstruct_predictions`."""
        starts = activity["start_ns"].to_numpy()
        ends = starts + activity["duration_ns"].to_numpy()
        model = categorical(activity["model"]).codes.astype(np.int64)
        return cls(starts, ends, model, is_any(activity["device"], Device.GPU))


@dataclass(frozen=True, slots=True, eq=False)
class Owners:
    """Which piece each prediction of the hardware is of."""

    piece: IntArray
    """Shape (predictions of the hardware,): -1 where none is known."""
    possible: BoolArray
    """Whether it may be of any piece at all."""
    named: dict[int, list[int]]
    """Models whose work the calls of a site have, by key: the one that begins first in them first."""
    all_have: frozenset[int]
    """Keys of the sites of which each call has work."""


def joined_calls(line: Timeline, pieces: Pieces, work: Work) -> tuple[list[Joined], Owners]:
    """All calls of a recording, and the owner of each prediction of the hardware. O(n log n)."""
    owners = _owners(line, pieces, work)
    calls: list[Joined] = []
    for chain in _chains(pieces):
        calls += _calls_of(line, pieces, work, owners, chain)
    calls += [Joined([], [index]) for index in np.flatnonzero(~owners.possible).tolist()]
    return calls, owners


def _chains(pieces: Pieces) -> Iterator[range]:
    """Pieces of one call site between which nothing else was seen."""
    begins = np.append(np.flatnonzero(pieces.follows == APART), len(pieces.first)).tolist()
    return (range(first, after) for first, after in pairwise(begins))


def _owners(line: Timeline, pieces: Pieces, work: Work) -> Owners:
    count = len(work.starts)
    near, far = _candidates(line, pieces, work)
    site_of = np.full(count, -1)
    several = np.zeros(count, np.bool_)
    for index, piece in near:
        key = int(pieces.key[piece])
        several[index] |= site_of[index] not in (-1, key)
        site_of[index] = key
    sure = np.flatnonzero((site_of >= 0) & ~several)
    named, all_have = _named(pieces, work, site_of, sure, near)
    owner = np.full(count, -1)
    taken: set[int] = set()
    for index, options in _grouped(near):
        models = named.get(int(site_of[index]), [])
        threads = {int(pieces.thread[piece]) for piece in options}
        if not several[index] and work.model[index] in models and len(threads) == 1:
            owner[index] = _best(pieces, work, index, options)
            taken.add(int(owner[index]))
    for index, options in _grouped(far):
        if owner[index] >= 0 or site_of[index] >= 0:
            continue
        free = [
            piece
            for piece in options
            if piece not in taken and work.model[index] in named.get(int(pieces.key[piece]), [])
        ]
        if free and len({int(pieces.thread[piece]) for piece in free}) == 1:
            owner[index] = free[0]
            taken.add(free[0])
    return Owners(owner, (site_of >= 0) | (owner >= 0), named, all_have)


def _grouped(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, list[int]]]:
    by_index: dict[int, list[int]] = {}
    for index, piece in pairs:
        by_index.setdefault(index, []).append(piece)
    return iter(sorted(by_index.items()))


def _best(pieces: Pieces, work: Work, index: int, options: Sequence[int]) -> int:
    """Of pieces of one thread the one whose samples the work overlaps; else the one before it, which waits for it."""
    for piece in options:
        if pieces.starts[piece] <= work.ends[index] and work.starts[index] <= pieces.ends[piece]:
            return piece
    return options[0]


def _candidates(line: Timeline, pieces: Pieces, work: Work) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Pairs of work and a piece of a prediction that it may be of: near in time, or only within reach."""
    slack = np.where(work.on_gpu, OUTLIVES_NS, 0)
    reach = NEAR * line.period_ns
    near: list[tuple[int, int]] = []
    far: list[tuple[int, int]] = []
    api = line.kinds["api"].to_numpy()[line.stack[pieces.first]]
    predicts = np.flatnonzero(api == Api.PREDICTION)
    chain = np.cumsum(pieces.follows == APART) - 1
    opens = np.flatnonzero(pieces.follows == APART)
    after = pieces.after[opens][chain]
    before = pieces.before[np.append(opens[1:], len(chain)) - 1][chain]
    for thread in np.unique(pieces.thread[predicts]):
        own = predicts[pieces.thread[predicts] == thread]
        behind = np.searchsorted(pieces.starts[own], work.ends, "right") - 1
        for step in (-1, 0, 1):
            position = behind + step
            inside = (position >= 0) & (position < len(own))
            piece = own[np.clip(position, 0, len(own) - 1)]
            fits = inside & (after[piece] - slack <= work.starts)
            fits &= work.ends - slack <= before[piece]
            is_near = (work.starts <= pieces.ends[piece] + reach) & (work.ends >= pieces.starts[piece] - reach)
            for index in np.flatnonzero(fits):
                if _works_itself(line, pieces, int(piece[index]), int(work.starts[index]), int(work.ends[index])):
                    continue
                (near if is_near[index] else far).append((int(index), int(piece[index])))
    return near, far


def _works_itself(line: Timeline, pieces: Pieces, piece: int, start: int, end: int) -> bool:
    """Whether most samples show that the thread of a piece computes on the CPU while the hardware does this work."""
    inside = slice(int(pieces.first[piece]), int(pieces.last[piece]) + 1)
    time, edge = line.time[inside], min(line.period_ns, (end - start) // 4)
    meanwhile = (time > start + edge) & (time < end - edge)
    return bool(meanwhile.any()) and bool(line.on_cpu[inside][meanwhile].mean() >= 0.5)


def _named(
    pieces: Pieces, work: Work, site_of: IntArray, sure: IntArray, near: Sequence[tuple[int, int]]
) -> tuple[dict[int, list[int]], frozenset[int]]:
    """Models whose work at least `NAMED_SHARE` of the calls of each site have, and the sites of which each has it."""
    piece_of = dict(reversed(near))
    chain = np.cumsum(pieces.follows == APART)
    total: dict[int, set[int]] = {}
    for key, number in zip(pieces.key.tolist(), chain.tolist(), strict=True):
        total.setdefault(key, set()).add(number)
    seen: dict[tuple[int, int], set[int]] = {}
    for index in sure.tolist():
        seen.setdefault((int(site_of[index]), int(work.model[index])), set()).add(int(chain[piece_of[index]]))
    named: dict[int, list[int]] = {}
    for index in sure.tolist():
        key, model = int(site_of[index]), int(work.model[index])
        models = named.setdefault(key, [])
        if model not in models and len(seen[key, model]) >= NAMED_SHARE * len(total[key]):
            models.append(model)
    complete = (key for key, models in named.items() if models and seen[key, models[0]] == total[key])
    return named, frozenset(complete)


def _calls_of(line: Timeline, pieces: Pieces, work: Work, owners: Owners, chain: range) -> Iterator[Joined]:
    """The calls that a chain of pieces makes up."""
    key = int(pieces.key[chain[0]])
    models = owners.named.get(key, [])
    in_chain = np.flatnonzero((owners.piece >= chain[0]) & (owners.piece <= chain[-1]))
    in_chain = in_chain[np.argsort(work.starts[in_chain], kind="stable")]
    work_of = {piece: in_chain[owners.piece[in_chain] == piece].tolist() for piece in chain}
    # A pipeline works for several models in each call, and begins with the first.
    leads = (
        {piece: [each for each in work_of[piece] if work.model[each] == models[0]] for piece in chain} if models else {}
    )
    nested = line.kinds["nested"].to_numpy()
    call = Joined([], low_ns=int(pieces.after[chain[0]]))
    for piece in chain:
        if call.pieces and _is_next(line, pieces, work, work_of, leads, call, piece, nested, key in owners.all_have):
            yield from _cut(pieces, work, leads, call, int(pieces.starts[piece]))
            call = Joined([], low_ns=int(pieces.ends[piece - 1]))
        call.pieces.append(piece)
        call.work += work_of[piece]
    yield from _cut(pieces, work, leads, call, int(pieces.before[chain[-1]]))


def _is_next(
    line: Timeline,
    pieces: Pieces,
    work: Work,
    work_of: dict[int, list[int]],
    leads: dict[int, list[int]],
    call: Joined,
    piece: int,
    nested: BoolArray,
    is_complete: bool,
) -> bool:
    """Whether a piece begins the next call; where nothing tells, the call so far may have ended."""
    before, follows = call.pieces[-1], pieces.follows[piece]
    reach = NEAR * line.period_ns
    meanwhile = [
        each
        for each in (*call.work, *work_of[piece])
        if work.starts[each] <= pieces.ends[before] + reach and work.ends[each] >= pieces.starts[piece] - reach
    ]
    led = [any(leads.get(each, ()) for each in side) for side in (call.pieces, [piece])]
    if follows == BEGINS:
        is_close = pieces.starts[piece] - pieces.ends[before] <= reach
        # In a pipeline each stage begins like a call.
        inside = nested[line.stack[pieces.first[before]]] or (bool(leads) and led != [True, True] and is_close)
        if not inside:
            return True
        call.single = False
        return False
    if meanwhile or follows == GOES_ON:
        return False
    on_cpu = line.on_cpu[pieces.last[before]] and line.on_cpu[pieces.first[piece]]
    if led == [True, True] or on_cpu:
        # What the CPU computes waits for nobody.
        return True
    if is_complete:
        return False
    if call.sure < 0:
        call.sure = before
    call.single = False
    return False


def _cut(pieces: Pieces, work: Work, leads: dict[int, list[int]], call: Joined, high_ns: int) -> Iterator[Joined]:
    """A call as several where the hardware worked for several predictions of its leading model."""
    call.high_ns = high_ns
    begins = sorted(each for piece in call.pieces for each in leads.get(piece, ()))
    if len(begins) < 2:
        yield call
        return
    edges = [work.starts[each] for each in begins[1:]]
    ends = [max(work.ends[each] for each in call.work if work.starts[each] < edge) for edge in edges]
    lows, highs = [call.low_ns, *map(int, ends)], [*map(int, edges), high_ns]
    for number, begin in enumerate(begins):
        after = begins[number + 1] if number + 1 < len(begins) else None
        own = [
            each
            for each in call.work
            if work.starts[each] >= work.starts[begin] and (after is None or work.starts[each] < work.starts[after])
        ]
        touched = [
            piece
            for piece in call.pieces
            if pieces.ends[piece] >= lows[number] and pieces.starts[piece] <= highs[number]
        ]
        yield Joined(touched, own, low_ns=lows[number], high_ns=highs[number])
