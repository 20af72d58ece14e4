"""Pieces of calls and predictions that hardware shows, joined into calls.

A prediction of the hardware belongs to the piece that it overlaps, begins right behind, or ends right before, where
that is of one call site; to one of several sites at once it belongs to none. What lies in no call at all is a call
whose thread was not sampled.

Two pieces are one call where the hardware worked for it in the gap, or the stack goes on; they are two where each has
a prediction of the hardware, or the second one begins a call. Where nothing tells, they are one call, which may end
with the first: its `sure` end is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from tracekit.intervals import Intervals
from tracekit.trace.calls.patterns import Api
from tracekit.trace.calls.pieces import APART, BEGINS, GOES_ON, WAITS, Pieces, Timeline, usual_spans
from tracekit.trace.calls.stacks import BEGUN
from tracekit.trace.calls.reach import FEW, Reach
from tracekit.trace.events import Device, Kind, Lane
from tracekit.trace.frames import categorical, is_any, or_minus_one

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import BoolArray, IntArray

OUTLIVES_NS: Final = 1_500_000
"""How far a prediction that the GPU shows may reach beyond its call. All 42 of seven public recordings fit."""
NEAR: Final = 3
"""Sampling periods between samples of a call and the work of hardware that it waits for (heuristic)."""
LONG: Final = 10
"""Sampling periods that a thread that computes is not kept from running (heuristic)."""
SHORT: Final = 0.75
"""Times the usual length of a call up to which it is short (heuristic)."""
_DOUBT: Final = 2
"""Sampling periods beyond the reach of a call from which on it is over: several samples in a row may be missed
(heuristic)."""
OFTEN: Final = 30
"""Predictions of one model, of which some would be sampled if the app called it (heuristic)."""
_FEW: Final = 3
"""Calls that show no habit (heuristic)."""
FITTING_SHARE: Final = 0.8
"""Part of the predictions of a model of the app that fit calls of the one place that calls it (heuristic)."""
NAMED_SHARE: Final = 0.9
"""A label names calls of a site if so many of its calls have work of it, or if so much of its work is in calls of the
site (heuristic)."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Predictions that hardware shows: shape (n,) each."""

    starts: IntArray
    ends: IntArray
    model: IntArray
    on_gpu: BoolArray
    reach: Reach | None
    """How far a prediction may reach; None where not all units were recorded."""
    loading: Reach
    """The same of a load, that waits for the Neural Engine to take a model in."""
    pieces: Intervals
    """All rows of hardware, those of a prediction next to each other, in order of time."""
    first_piece: IntArray
    """Shape (n + 1,): the first of these of each prediction, and their number."""

    def is_over(self, line: Timeline, place: int, end: int, start: int) -> bool:
        """Whether the prediction that worked until `end` is over before `start`: for a while in between no unit works,
        and the thread of this place is not sampled. O(log n + samples in between)."""
        if self.reach is None or start - end <= FEW * line.period_ns:
            return False
        until = int(np.searchsorted(line.thread, line.thread[place], "right"))
        times = line.time[place:until]
        inside = times[slice(*np.searchsorted(times, (end, start)).tolist())].tolist()
        return any(self.reach.latest_end(one) < other for one, other in pairwise([end, *inside, start]))

    def busy_at(self, index: int, times: IntArray) -> int:
        """At how many of these times a prediction has a unit at work. O(rows of the prediction)."""
        own = slice(int(self.first_piece[index]), int(self.first_piece[index + 1]))
        begun = np.searchsorted(self.pieces.starts[own], times, "right") - 1
        ends = np.maximum.accumulate(self.pieces.ends[own])
        return int(((begun >= 0) & (times < ends[begun])).sum()) if len(ends) else 0

    def busy_ns(self, index: int) -> int:
        """How long a unit works for a prediction. O(rows of the prediction)."""
        own = slice(int(self.first_piece[index]), int(self.first_piece[index + 1]))
        return Intervals(self.pieces.starts[own], self.pieces.ends[own]).covered_ns

    @classmethod
    def of(cls, activity: pd.DataFrame, hardware: pd.DataFrame, slack_ns: int, *, watched: bool) -> Work:
        """From the frame of `reconstruct_predictions` and the rows of all hardware, of which all that a prediction
        waits for was recorded where it is `watched`."""
        starts = activity["start_ns"].to_numpy()
        ends = starts + activity["duration_ns"].to_numpy()
        model = categorical(activity["model"]).codes.astype(np.int64)
        units = hardware[is_any(hardware["lane"], Lane.NEURAL_ENGINE, Lane.GPU)]
        loading = hardware[is_any(hardware["kind"], Kind.ANE_LOAD, Kind.ANE_COMPILE)]
        reach = Reach.of(units, slack_ns) if watched else None
        prediction = or_minus_one(hardware["prediction"])
        order = np.argsort(prediction, kind="stable")
        order = order[np.searchsorted(prediction[order], 0) :]
        return cls(
            starts,
            ends,
            model,
            is_any(activity["device"], Device.GPU),
            reach,
            Reach.of(loading, slack_ns),
            Intervals.from_rows(hardware).where(order),
            np.searchsorted(prediction[order], np.arange(len(starts) + 1)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Owners:
    """Which chain each prediction of the hardware is of. A chain is the pieces of one call site between which nothing
    else was seen, and is known by the first of them."""

    chain: IntArray
    """Shape (predictions of the hardware,): -1 where none is known."""
    possible: BoolArray
    """Whether it may be of any chain at all."""
    sites: Sites
    doubtful: set[int]
    """Chains that may have work which may be of others too."""
    foreign: BoolArray
    """Whether it is of a model that is never at work for a sampled thread: another process calls it."""


@dataclass(frozen=True, slots=True)
class Sites:
    """Whose work the calls of each site have, by key."""

    named: dict[int, set[int]]
    """Models."""
    later: dict[int, set[int]]
    """Those of them that work behind another one in the same calls, as the second stage of a pipeline does."""
    all_have: frozenset[int]
    """Sites of which each chain has work."""


def joined_calls(line: Timeline, pieces: Pieces, work: Work) -> tuple[list[Joined], Owners]:
    """All calls of a recording, and the owner of each prediction of the hardware. O(n log n)."""
    pieces.follows[_missed(line, pieces)] = GOES_ON
    pieces.follows[_over_before(line, pieces, work)] = APART
    opens = np.flatnonzero(pieces.follows == APART)
    owners = _owners(line, pieces, work, opens)
    calls: list[Joined] = []
    for chain in map(range, opens.tolist(), [*opens[1:].tolist(), len(pieces.first)]):
        calls += _calls_of(line, pieces, work, owners, chain)
    alone = np.flatnonzero(~owners.possible & ~owners.foreign).tolist()
    return [*calls, *(Joined(0, 0, -1, 0, 0, [index]) for index in alone)], owners


def _over_before(line: Timeline, pieces: Pieces, work: Work) -> BoolArray:
    """Whether the prediction of the piece before is over for sure before each piece: no unit worked in the gap."""
    result = pieces.follows == WAITS
    predicts = (line.kinds["api"].to_numpy() == Api.PREDICTION)[line.stack[pieces.first]]
    for piece in np.flatnonzero(result).tolist():
        begin, end = int(pieces.ends[piece - 1]), int(pieces.starts[piece])
        apart = work.reach is not None and work.reach.latest_end(begin) + _DOUBT * line.period_ns < end
        result[piece] = apart and predicts[piece]
    return result


def _missed(line: Timeline, pieces: Pieces) -> BoolArray:
    """Whether only missed samples separate each piece from the one before: both together are about as long as one
    usually is, which each of them is not."""
    usual = usual_spans(line, pieces)
    result = np.zeros(len(pieces.first), np.bool_)
    for piece in np.flatnonzero(pieces.follows == WAITS).tolist():
        begin, end, span = int(pieces.ends[piece - 1]), int(pieces.starts[piece]), usual.get(int(pieces.key[piece]), 0)
        longest = SHORT * span - line.period_ns
        short = begin - pieces.starts[piece - 1] <= longest and pieces.ends[piece] - end <= longest
        fits = pieces.ends[piece] - pieces.starts[piece - 1] <= span / SHORT
        result[piece] = short and fits and line.is_silent(begin, end)
    return result


def _owners(line: Timeline, pieces: Pieces, work: Work, opens: IntArray) -> Owners:
    chain_of = np.repeat(opens, np.diff(np.append(opens, len(pieces.first))))
    around, far = _candidates(line, pieces, work, opens)
    near = _of_likely_sites(line, pieces, work, around, chain_of)
    owner = _sole_chains(pieces, work, near, chain_of)
    shared = _shared(work, owner)
    sites = _sites(line, pieces, work, near, owner, chain_of)
    for index in np.flatnonzero(owner >= 0).tolist():
        key, model = int(pieces.key[owner[index]]), int(work.model[index])
        # Where several calls are at work at once, the work tells no call from another.
        if model in shared or model not in sites.named.get(key, ()):
            owner[index] = -1
    doubtful = {int(chain_of[piece]) for index, options in near.items() if owner[index] < 0 for piece in options}
    possible = np.zeros(len(owner), np.bool_)
    for index, options in around.items():
        keys = {int(pieces.key[piece]) for piece in options}
        possible[index] = any(work.model[index] in sites.named.get(key, {work.model[index]}) for key in keys)
    # What a call does after its leading model is no call of its own, wherever that one was seen.
    possible |= np.isin(work.model, [model for models in sites.later.values() for model in models])
    taken = set(owner.tolist())
    threads: dict[int, set[int]] = {}
    for key, thread in zip(pieces.key.tolist(), pieces.thread.tolist(), strict=True):
        threads.setdefault(key, set()).add(thread)
    for index, options in far.items():
        free = {
            int(chain_of[piece])
            for piece in options
            if (chain_of[piece] not in taken or len(threads[int(pieces.key[piece])]) == 1)
            and work.model[index] in sites.named.get(int(pieces.key[piece]), ())
        }
        if index in near or not free:
            continue
        possible[index] = True
        if len(free) == 1 and work.model[index] not in shared:
            owner[index] = free.pop()
            taken.add(int(owner[index]))
    sites = _sites(line, pieces, work, near, owner, chain_of)
    return Owners(owner, possible, sites, doubtful, _foreign(pieces, work, around, sites))


def _foreign(pieces: Pieces, work: Work, around: Candidates, sites: Sites) -> BoolArray:
    """Shape (predictions of the hardware,): of a model that works often, and not as a rule while a sampled thread may
    wait for it."""
    near: Counter[tuple[int, int]] = Counter()
    for index, options in around.items():
        near.update({(int(work.model[index]), int(pieces.key[piece])) for piece in options})
    named = {model for models in sites.named.values() for model in models}
    count = Counter(work.model.tolist())
    unnamed = {(key, model) for model, key in near if key not in sites.named}
    usual = {model for key, model in unnamed if near[model, key] >= FITTING_SHARE * count[model]}
    foreign = [model for model in count if count[model] >= OFTEN and model not in named | usual and named]
    return np.isin(work.model, foreign)


def _of_likely_sites(
    line: Timeline, pieces: Pieces, work: Work, near: Candidates, chain_of: IntArray
) -> Candidates:
    """The candidates of the sites that fit each model best: whose samples are nearest to its work, and whose threads
    rather wait than run meanwhile."""
    misfits: dict[tuple[int, int], list[int]] = {}
    ends = np.append(np.flatnonzero(pieces.follows == APART), len(pieces.first))
    for index, options in near.items():
        for chain in {int(chain_of[piece]) for piece in options}:
            last = int(pieces.last[ends[np.searchsorted(ends, chain, "right")] - 1])
            places = slice(int(pieces.first[chain]), last + 1)
            times, runs = line.time[places], ~line.on_gpu[places] | ~work.on_gpu[index]
            before, after = np.searchsorted(times, (work.starts[index], work.ends[index]))
            away = [int(work.starts[index] - times[before - 1])] if before else []
            away += [int(times[after] - work.ends[index])] if after < len(times) else []
            inside = times[before:after][runs[before:after]]
            misfit = work.busy_at(index, inside) * line.period_ns if after > before else min(away)
            misfits.setdefault((int(work.model[index]), int(pieces.key[chain])), []).append(misfit)
    usual = {pair: sorted(each)[len(each) // 2] for pair, each in misfits.items()}
    total = Counter(pieces.key[np.unique(chain_of)].tolist())
    strong: dict[int, set[int]] = {}
    most: Counter[int] = Counter()
    for (model, key), each in misfits.items():
        most[model] = max(most[model], len(each))
        if len(each) >= NAMED_SHARE * total[key]:
            strong.setdefault(key, set()).add(model)
    # A place whose calls have work of one model alone is where that is called from.
    home: dict[int, set[int]] = {}
    half = line.period_ns // 2
    for key, models in strong.items():
        best = min(usual[model, key] for model in models)
        fitting = [model for model in models if usual[model, key] <= best + half // 2]
        if len(fitting) == 1 and total[key] >= _FEW and best <= line.period_ns:
            home.setdefault(fitting[0], set()).add(key)
    rivals = {(model, key) for (model, key), each in misfits.items() if 2 * len(each) >= most[model]}
    rivals = {
        (model, key)
        for model, key in rivals | {(model, key) for model, keys in home.items() for key in keys}
        if key in home.get(model, {key}) or not strong.get(key, set()) - {model}
    }
    best_of_model, best_of_key = ({}, {})
    for model, key in usual:
        best_of_key[key] = min(usual[model, key], best_of_key.get(key, usual[model, key]))
    for model, key in rivals:
        best_of_model[model] = min(usual[model, key], best_of_model.get(model, usual[model, key]))
    likely = {
        (model, key)
        for model, key in rivals
        if usual[model, key] <= best_of_model[model] + half
        and (model in strong.get(key, ()) or usual[model, key] <= best_of_key[key] + half)
    }
    kept = {
        index: [piece for piece in options if (int(work.model[index]), int(pieces.key[piece])) in likely]
        for index, options in near.items()
    }
    return {index: options for index, options in kept.items() if options}


def _sole_chains(pieces: Pieces, work: Work, near: Candidates, chain_of: IntArray) -> IntArray:
    """Shape (predictions of the hardware,): the only chain that each may be of, not counting chains of the same place
    that have work of the model which can be of no other; -1 where there are several or none."""
    owner = np.full(len(work.starts), -1)
    chains = {index: {int(chain_of[piece]) for piece in options} for index, options in near.items()}
    for index, own in chains.items():
        if len(own) == 1:
            owner[index] = next(iter(own))
    served = {(int(owner[index]), int(work.model[index])) for index in np.flatnonzero(owner >= 0)}
    for index, own in chains.items():
        if len(own) > 1 and len({int(pieces.key[chain]) for chain in own}) == 1:
            free = {chain for chain in own if (chain, int(work.model[index])) not in served}
            if len(free) == 1:
                owner[index] = free.pop()
    return owner


def _shared(work: Work, owner: IntArray) -> set[int]:
    """Models with work of two predictions at once in what seems to be one call after another."""
    shared: set[int] = set()
    until: dict[tuple[int, int], int] = {}
    for index in np.flatnonzero(owner >= 0).tolist():
        whose = int(owner[index]), int(work.model[index])
        if until.get(whose, 0) > work.starts[index]:
            shared.add(whose[1])
        until[whose] = max(until.get(whose, 0), int(work.ends[index]))
    return shared


Candidates = dict[int, list[int]]
"""Pieces that each prediction of the hardware may be of."""


def _candidates(line: Timeline, pieces: Pieces, work: Work, opens: IntArray) -> tuple[Candidates, Candidates]:
    """Those near in time, and those only within reach."""
    slack = np.where(work.on_gpu, OUTLIVES_NS, 0)
    reach = NEAR * line.period_ns
    near: Candidates = {}
    far: Candidates = {}
    api = line.kinds["api"].to_numpy()[line.stack[pieces.first]]
    predicts = np.flatnonzero(api == Api.PREDICTION)
    sizes = np.diff(np.append(opens, len(pieces.first)))
    after = np.repeat(pieces.after[opens], sizes)
    before = np.repeat(pieces.before[opens + sizes - 1], sizes)
    for thread in np.unique(pieces.thread[predicts]):
        own = predicts[pieces.thread[predicts] == thread]
        behind = np.searchsorted(pieces.starts[own], work.ends, "right") - 1
        for step in (-1, 0, 1):
            inside = (behind + step >= 0) & (behind + step < len(own))
            piece = own[np.clip(behind + step, 0, len(own) - 1)]
            fits = inside & (after[piece] - slack <= work.starts) & (work.ends - slack <= before[piece])
            is_near = (work.starts <= pieces.ends[piece] + reach) & (work.ends >= pieces.starts[piece] - reach)
            for index in np.flatnonzero(fits):
                if not _works_itself(line, pieces, int(piece[index]), work, int(index)):
                    (near if is_near[index] else far).setdefault(int(index), []).append(int(piece[index]))
    return near, far


def _works_itself(line: Timeline, pieces: Pieces, piece: int, work: Work, index: int) -> bool:
    """Whether the thread of a piece computes for most of the time in which the hardware does this work: on the CPU, or
    while the Neural Engine works, for which it would wait."""
    inside = slice(int(pieces.first[piece]), int(pieces.last[piece]) + 1)
    runs = line.time[inside][line.on_cpu[inside] | (line.ran[inside] & ~work.on_gpu[index])]
    return work.busy_at(index, runs) * line.period_ns >= 0.5 * work.busy_ns(index)


def _sites(
    line: Timeline, pieces: Pieces, work: Work, near: Candidates, owner: IntArray, chain_of: IntArray
) -> Sites:
    total = Counter(pieces.key[np.unique(chain_of)].tolist())
    all_work = Counter(work.model.tolist())
    counts: Counter[tuple[int, int]] = Counter()
    chains: dict[tuple[int, int], set[int]] = {}
    for index, options in near.items():
        counts.update({(int(pieces.key[piece]), int(work.model[index])) for piece in options})
        for piece in options:
            chains.setdefault((int(pieces.key[piece]), int(work.model[index])), set()).add(int(chain_of[piece]))
    covered = {key for (key, _), own in chains.items() if len(own) >= NAMED_SHARE * total[key]}
    named: dict[int, set[int]] = {}
    for (key, model), own in chains.items():
        # Where calls have work of one model, what a few have of another is somebody else's.
        least = 0.5 if key in covered else 0.0
        has_most = counts[key, model] >= NAMED_SHARE * all_work[model]
        if len(own) >= (least if has_most else NAMED_SHARE) * total[key]:
            named.setdefault(key, set()).add(model)
    leads, owned = _leads(line, pieces, work, owner)
    later = {
        key: {model for model in models if leads[key, model] < 0.5 * owned[key, model]}
        for key, models in named.items()
    }
    have = Counter(pieces.key[np.unique(owner[owner >= 0])].tolist())
    complete = frozenset(key for key in named if have[key] == total[key])
    return Sites(named, {key: models for key, models in later.items() if models}, complete)


def _leads(
    line: Timeline, pieces: Pieces, work: Work, owner: IntArray
) -> tuple[Counter[tuple[int, int]], Counter[tuple[int, int]]]:
    """How often work of each model comes first in a call of each site, and how often there is any."""
    leads: Counter[tuple[int, int]] = Counter()
    owned: Counter[tuple[int, int]] = Counter()
    until: dict[int, int] = {}
    call_of: dict[int, set[int]] = {}
    for index in np.flatnonzero(owner >= 0).tolist():
        chain, model, start = int(owner[index]), int(work.model[index]), int(work.starts[index])
        which = int(pieces.key[chain]), model
        owned[which] += 1
        again = model in call_of.get(chain, {model})
        if again or work.is_over(line, int(pieces.first[chain]), until[chain], start):
            leads[which] += 1
            call_of[chain] = set()
        call_of[chain].add(model)
        until[chain] = max(until.get(chain, 0), int(work.ends[index]))
    return leads, owned


def _calls_of(line: Timeline, pieces: Pieces, work: Work, owners: Owners, chain: range) -> Iterator[Joined]:
    """The calls that a chain of pieces makes up."""
    key = int(pieces.key[chain[0]])
    is_complete = key in owners.sites.all_have and chain[0] not in owners.doubtful
    own = np.flatnonzero(owners.chain == chain[0])
    later = owners.sites.later.get(key, set())
    nested = line.kinds["nested"].to_numpy()
    call = _begun(pieces, chain, chain[0], int(pieces.after[chain[0]]))
    low, high = int(pieces.after[chain[0]]), int(pieces.before[chain[-1]])
    for piece in chain[1:]:
        edge = int(pieces.starts[piece])
        if pieces.follows[piece] == BEGINS:
            # In a pipeline each stage begins like a call.
            is_next = not is_complete and not nested[line.stack[pieces.last[piece - 1]]]
            call.single &= is_next or is_complete
        else:
            is_next = not is_complete and _is_apart(line, pieces, work, own, call, piece)
        if is_next:
            done = list(_cut(line, work, later, own, call, low, edge))
            yield from done
            own = np.setdiff1d(own, [each for one in done for each in one.work])
            low = int(pieces.ends[piece - 1])
            call = _begun(pieces, chain, piece, low)
        call.after = int(pieces.last[piece]) + 1
    yield from _cut(line, work, later, own, call, low, high)


def _begun(pieces: Pieces, chain: range, piece: int, low_ns: int) -> Joined:
    return Joined(int(pieces.first[piece]), int(pieces.last[piece]) + 1, chain[0], low_ns, 0)


def _is_apart(line: Timeline, pieces: Pieces, work: Work, own: IntArray, call: Joined, piece: int) -> bool:
    """Whether a piece behind a gap is another call. Where nothing tells, the call is sure to last until the gap."""
    begin, end, reach = int(pieces.ends[piece - 1]), int(pieces.starts[piece]), NEAR * line.period_ns
    if pieces.follows[piece] == GOES_ON:
        return False
    predicts = line.kinds["api"].iloc[int(line.stack[pieces.first[piece]])] == Api.PREDICTION
    if not predicts and work.loading.latest_end(begin) >= end and work.loading.earliest_start(end) <= begin:
        return False
    if ((work.starts[own] <= begin + reach) & (work.ends[own] >= end - reach)).any():
        return False
    if end - begin > LONG * line.period_ns and line.on_cpu[[pieces.last[piece - 1], pieces.first[piece]]].all():
        # What the CPU computes waits for nobody.
        return True
    if call.sure < 0:
        call.sure = int(pieces.last[piece - 1])
    call.single = False
    return False


def _cut(
    line: Timeline, work: Work, later: set[int], own: IntArray, call: Joined, low: int, high: int
) -> Iterator[Joined]:
    """A call as several where the hardware worked for several predictions, not counting those of models that work
    `later` in a call. Samples between two of them are of the one or the other: only one that begins a call tells."""
    inside = own[(work.ends[own] > low) & (work.starts[own] < high)]
    inside = inside[np.argsort(work.starts[inside], kind="stable")]
    leads: list[int] = []
    for before, index in zip([None, *inside.tolist()], inside.tolist(), strict=False):
        anew = before is not None and work.is_over(line, call.first, int(work.ends[before]), int(work.starts[index]))
        if anew or work.model[index] not in later:
            leads.append(index)
    call.work, call.low_ns, call.high_ns = inside.tolist(), low, high
    call.ends_with_work = set(work.model[inside].tolist()) >= later
    if len(leads) < 2:
        yield call
        return
    progress = line.kinds["progress"].to_numpy()
    first = call.first
    for index, lead in enumerate(leads):
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
