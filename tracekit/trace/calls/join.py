"""Pieces of calls and predictions that hardware shows, joined into calls.

Two pieces are one call where the hardware worked for it in the gap, or the stack goes on; they are two where each has
a prediction of the hardware, where no unit works in the gap, or the second one begins a call. Where nothing tells, they
are one call, which may end with the first: its `sure` end is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.grouping import grouped
from tracekit.rows import group_ids
from tracekit.sorting import ranks
from tracekit.trace.calls.hardware import Work
from tracekit.trace.calls.owners import NEAR, Owners, owners_of
from tracekit.trace.calls.pieces import APART, BEGINS, GOES_ON, MISSED, WAITS, Pieces, Timeline, usual_spans
from tracekit.trace.calls.stacks import BEGUN, Api

LONG: Final = 10
"""Sampling periods that a thread that computes is not kept from running (heuristic)."""
SHORT: Final = 0.75
"""Times the usual length of a call up to which it is short (heuristic)."""
_AT_ONCE_NS: Final = 100_000
"""No thread returns from a prediction and begins the next one in so short a time (heuristic)."""
_RARE: Final = 0.1
"""Share of the pieces of a place behind a silence, up to which that is none of its habits (heuristic)."""
_AGREE, _APART = 6, 2
"""Calls of a place that are sampled as they begin, and sampling periods between the times that they wait before, from
which on and up to which others begin so too (heuristic)."""
_DOUBT: Final = 2
"""Sampling periods beyond the reach of a call from which on it is over, since samples may be missed (heuristic)."""


@dataclass(slots=True)
class Joined:
    """A call: samples of one thread, or a prediction of the hardware, or both."""

    first: int
    """Place of its first sample in the timeline, and the one behind its last; equal where it has none of its own."""
    after: int
    chain: int
    """First piece of its chain; -1 where only the hardware shows it."""
    low_ns: int
    """The call begins at or behind this."""
    high_ns: int
    """The call ends at or before this."""
    work: list[int] = field(default_factory=list)
    """Predictions of the hardware in it, in order of time."""
    ends_with_work: bool = True
    """Whether nothing more of the hardware is expected behind `work`."""
    sure: int = -1
    """The last sample that is known to be of the call; -1 where all are."""
    single: bool = True
    """Whether it is known to be one call."""


def joined_calls(line: Timeline, pieces: Pieces, work: Work) -> tuple[list[Joined], Owners]:
    """All calls of a recording, and the owner of each prediction of the hardware. O(n log n)."""
    # Whether only missed samples separate each piece from the one before: only both have the usual length.
    usual = usual_spans(line, pieces)
    missed = np.zeros(len(pieces.first), np.bool_)
    for piece in np.flatnonzero(pieces.follows == WAITS).tolist():
        begin, end, span = int(pieces.ends[piece - 1]), int(pieces.starts[piece]), usual.get(int(pieces.key[piece]), 0)
        longest = SHORT * span - line.period_ns
        short = begin - pieces.starts[piece - 1] <= longest and pieces.ends[piece] - end <= longest
        # No call of its usual length ends, or begins, between them.
        short |= min(end - pieces.starts[piece - 1], pieces.ends[piece] - begin) <= longest
        fits = pieces.ends[piece] - pieces.starts[piece - 1] <= span / SHORT
        missed[piece] = short and fits and line.is_silent(begin, end)
    pieces.follows[missed] = GOES_ON
    # Whether the prediction of the piece before is over for sure before each piece: no unit worked in the gap.
    result: BoolArray = pieces.follows == WAITS
    predicts = line.kinds.api.is_any(Api.PREDICTION)[line.stack[pieces.first]]
    for piece in np.flatnonzero(result).tolist():
        begin, end = int(pieces.ends[piece - 1]), int(pieces.starts[piece])
        apart = work.reach is not None and work.reach.latest_end(begin) + _DOUBT * line.period_ns < end
        prepares = line.prepares[[pieces.last[piece - 1], pieces.first[piece]]].any()
        # The thread wakes up as the GPU is done with what began before it fell asleep.
        wakes = (work.on_gpu & (work.starts <= begin) & (np.abs(work.ends - end) <= line.period_ns)).any()
        result[piece] = apart and predicts[piece] and not prepares and not wakes
    pieces.follows[result] = APART
    pieces.follows[result & _missed(line, pieces)] = MISSED
    opens = np.flatnonzero(pieces.follows == APART)
    owners = owners_of(line, pieces, work, opens)
    ends = _ends_only(line, pieces, owners, opens[result[opens]], opens)
    if len(ends):
        pieces.follows[ends] = MISSED
        opens = np.flatnonzero(pieces.follows == APART)
        owners = owners_of(line, pieces, work, opens)
    calls: list[Joined] = []
    threads = Counter(key for key, _ in set(zip(pieces.key.tolist(), pieces.thread.tolist(), strict=True)))
    for chain in map(range, opens.tolist(), [*opens[1:].tolist(), len(pieces.first)]):
        calls += _calls_of(line, pieces, work, owners, chain, threads[int(pieces.key[chain[0]])])
    _begin_alike(line, pieces, work, calls)
    alone = ~owners.possible & ~owners.foreign
    alone[_given(line, pieces, work, owners, calls)] = False
    return [*calls, *(Joined(0, 0, -1, 0, 0, [index]) for index in np.flatnonzero(alone).tolist())], owners


def _begin_alike(line: Timeline, pieces: Pieces, work: Work, calls: Sequence[Joined]) -> None:
    """Calls that follow one with work of the hardware begin as long after that as others of their place are sampled to
    begin, if these are enough and agree."""
    pairs = grouped(
        (int(pieces.key[after.chain]), (before, after, int(work.ends[before.work].max())))
        for before, after in pairwise(calls)
        if before.chain == after.chain >= 0 and before.work and after.work
    )
    for of_key in pairs.values():
        begun = [
            each.after > each.first and line.kinds.progress[line.stack[each.first]] == BEGUN for _, each, _ in of_key
        ]
        waits = [
            int(line.time[after.first]) - done for (_, after, done), seen in zip(of_key, begun, strict=True) if seen
        ]
        if len(waits) < _AGREE or max(waits) - min(waits) > _APART * line.period_ns:
            continue
        for (before, after, done), seen in zip(of_key, begun, strict=True):
            latest = done + max(waits)
            first = before.after + int(np.searchsorted(line.time[before.after : after.first], latest))
            if not seen and first < after.first and before.high_ns > line.time[first]:
                after.first, after.after, before.high_ns = first, max(after.first, after.after), int(line.time[first])
                after.low_ns = max(after.low_ns, done + min(waits) - line.period_ns)


def _missed(line: Timeline, pieces: Pieces) -> BoolArray:
    """Shape (pieces,): no thread is sampled right before, not even one that waits; or, where these are not recorded, as
    hardly ever at this place, from such code to such. A call that begins is another one in any case."""
    before = np.arange(len(pieces.first)) - 1
    gaps = zip(pieces.ends[before].tolist(), pieces.starts.tolist(), strict=True)
    silent = np.array([line.is_silent(*gap) for gap in gaps], np.bool_)
    silent &= (pieces.follows != BEGINS) & (pieces.key == pieces.key[before])
    sides = group_ids((pieces.key, line.on_cpu[pieces.last[before]], line.on_cpu[pieces.first]), len(before))
    count, often = np.bincount(ranks(pieces.key)[1])[ranks(pieces.key)[1]], np.bincount(sides, silent)[sides]
    rare = (often <= _RARE * count) | (len(line.samples.waiting) > 0)
    missed: BoolArray = silent & rare & (line.kinds.progress[line.stack[pieces.first]] != BEGUN)
    return missed


def _ends_only(line: Timeline, pieces: Pieces, owners: Owners, behind_gaps: IntArray, opens: IntArray) -> IntArray:
    """Chains behind gaps that may be the end of the call before: samples may be missed in between, and they alone of
    their place have no work of hardware."""
    works = np.isin(opens, owners.chain)
    total, have = Counter(pieces.key[opens].tolist()), Counter(pieces.key[opens[works]].tolist())
    return np.array(
        [
            piece
            for piece in np.setdiff1d(behind_gaps, opens[works]).tolist()
            if piece not in owners.doubtful
            and have[int(pieces.key[piece])] >= (1 - _RARE) * total[int(pieces.key[piece])]
            and line.is_silent(int(pieces.ends[piece - 1]), int(pieces.starts[piece]))
        ],
        np.int64,
    )


def _given(line: Timeline, pieces: Pieces, work: Work, owners: Owners, calls: Sequence[Joined]) -> list[int]:
    """Predictions of the hardware that are left over, for calls that have none where each has one: the nearest to
    each. They become its work where they fit. O(calls without work * predictions that are left over)."""
    left, given = np.flatnonzero(owners.left), []
    for call in calls:
        key = int(pieces.key[call.chain])
        own = (
            left[np.isin(work.model[left], np.array([*owners.sites.named.get(key, ())], np.int64))]
            if not call.work
            else left[:0]
        )
        if not len(own):
            continue
        first, last = int(line.time[call.first]), int(line.time[max(call.after - 1, call.first)])
        away = np.maximum(np.maximum(work.starts[own] - last, first - work.ends[own]), 0)
        nearest = int(own[np.argmin(away)])
        left = left[left != nearest]
        given.append(nearest)
        fits = call.low_ns <= work.starts[nearest] and work.ends[nearest] <= call.high_ns
        if fits and away.min() <= NEAR * line.period_ns:
            call.work = [nearest]
    return given


def _calls_of(
    line: Timeline, pieces: Pieces, work: Work, owners: Owners, chain: range, threads: int
) -> Iterator[Joined]:
    """The calls that a chain of pieces makes up, of a place that so many threads call."""
    key = int(pieces.key[chain[0]])
    is_complete = key in owners.sites.all_have and chain[0] not in owners.doubtful
    own = np.flatnonzero(owners.chain == chain[0])
    later = owners.sites.later.get(key, set())
    nested = line.kinds.nested
    few = len(own) <= (pieces.follows[chain.start : chain.stop] == BEGINS).sum()
    low, high = int(pieces.after[chain[0]]), int(pieces.before[chain[-1]])
    call = Joined(int(pieces.first[chain[0]]), int(pieces.last[chain[0]]) + 1, chain[0], low, 0)
    for piece in chain[1:]:
        edge = int(pieces.starts[piece])
        if pieces.follows[piece] == BEGINS:
            # In a pipeline each stage begins like a call.
            is_next = not is_complete and not nested[line.stack[pieces.last[piece - 1]]]
            call.single &= is_next or is_complete
            begin = int(pieces.ends[piece - 1])
            waits = ((work.starts[own] < edge) & (work.ends[own] > begin)).any()
            if is_complete and few and edge - begin > line.gap_ns and not waits:
                # Of several threads, some work is not known to be of this one: it waits for nothing that is known.
                call.single, call.sure = False, int(pieces.last[piece - 1]) if call.sure < 0 else call.sure
        else:
            is_next = not is_complete and _is_apart(line, pieces, work, owners, own, call, piece)
        if is_next:
            done = list(_cut(line, work, later, own, call, low, edge, threads))
            yield from done
            own = np.setdiff1d(own, [each for one in done for each in one.work])
            low = int(pieces.ends[piece - 1])
            call = Joined(int(pieces.first[piece]), int(pieces.last[piece]) + 1, chain[0], low, 0)
        call.after = int(pieces.last[piece]) + 1
    yield from _cut(line, work, later, own, call, low, high, threads)


def _is_apart(
    line: Timeline, pieces: Pieces, work: Work, owners: Owners, own: IntArray, call: Joined, piece: int
) -> bool:
    """Whether a piece behind a gap is another call. Where nothing tells, the call is sure to last until the gap."""
    begin, end, reach = int(pieces.ends[piece - 1]), int(pieces.starts[piece]), NEAR * line.period_ns
    predicts = line.kinds.api.item(int(line.stack[pieces.first[piece]])) == Api.PREDICTION
    if pieces.follows[piece] == GOES_ON:
        # A load goes on as it began; a prediction that is known of no other call may lie between two.
        between = owners.left & (work.starts >= begin) & (work.ends <= end)
        if not predicts and between.any():
            call.single, call.sure = False, int(pieces.last[piece - 1]) if call.sure < 0 else call.sure
        return False
    if not predicts and work.loading.latest_end(begin) >= end and work.loading.earliest_start(end) <= begin:
        return False
    if ((work.starts[own] <= begin + reach) & (work.ends[own] >= end - reach)).any():
        return False
    long = end - begin > LONG * line.period_ns and pieces.follows[piece] != MISSED
    if long and line.on_cpu[[pieces.last[piece - 1], pieces.first[piece]]].all():
        # What the CPU computes waits for nobody.
        return True
    if call.sure < 0:
        call.sure = int(pieces.last[piece - 1])
    call.single = False
    return False


def _cut(
    line: Timeline, work: Work, later: set[int], own: IntArray, call: Joined, low: int, high: int, threads: int
) -> Iterator[Joined]:
    """A call as several where the hardware worked for several predictions, not counting those of models that work
    `later` in a call. Samples between two of them are of the one or the other: only one that begins a call tells."""
    inside = own[(work.ends[own] > low) & (work.starts[own] < high)]
    inside = inside[np.argsort(work.starts[inside], kind="stable")]
    if call.after > call.first and line.kinds.progress[line.stack[call.first]] == BEGUN and not later:
        # What was done before it begins is of calls that are not sampled.
        done = work.ends[inside] <= line.time[call.first] - _AT_ONCE_NS
        for index in inside[done].tolist():
            yield Joined(call.first, call.first, call.chain, low, int(line.time[call.first]), [index])
            low = int(work.ends[index])
        inside = inside[~done]
    leads: list[int] = []
    for before, index in zip([None, *inside.tolist()], inside.tolist(), strict=False):
        is_next = before is not None and work.is_over(line, call.first, int(work.ends[before]), int(work.starts[index]))
        if is_next or work.model[index] not in later:
            leads.append(index)
    call.work, call.low_ns, call.high_ns = inside.tolist(), low, high
    call.ends_with_work = set(work.model[inside].tolist()) >= later
    if len(leads) < 2:
        yield call
        return
    progress = line.kinds.progress
    # The hardware goes on at once from one prediction to the next, that another thread had asked for.
    at_once = work.starts[leads[1:]] - work.ends[leads[:-1]] < _AT_ONCE_NS
    first, begin, queued = call.first, low, np.append(False, at_once & (threads > 1))
    for index, lead in enumerate(leads):
        if queued[index]:
            low = begin if index < threads else int(work.ends[leads[index - threads]])
        following = leads[index + 1] if index + 1 < len(leads) else None
        until = high if following is None else int(work.starts[following])
        mine = [
            each
            for each in inside.tolist()
            if (index == 0 or work.starts[each] >= work.starts[lead]) and work.starts[each] < until
        ]
        done = max(int(work.ends[each]) for each in mine)
        if following is None:
            rest = Joined(first, max(call.after, first), call.chain, low, high, mine, single=call.single)
            rest.ends_with_work = set(work.model[mine].tolist()) >= later
            yield rest
            return
        # Samples of the next call, as far as they are known.
        last, after = (call.first + int(x) for x in np.searchsorted(line.time[call.first : call.after], [done, until]))
        begun = last + np.flatnonzero(progress[line.stack[last:after]] == BEGUN)
        is_known = len(begun) > 0
        if queued[index + 1]:
            until = int(work.starts[leads[index + threads]]) if index + threads < len(leads) else high
        yield Joined(
            first,
            max(int(begun[0]) if is_known else last, first),
            call.chain,
            low,
            int(line.time[begun[0]]) if is_known else until,
            mine,
        )
        low = max(done, int(line.time[begun[0] - 1])) if is_known and begun[0] > call.first else done
        first = int(begun[0]) if is_known else after
