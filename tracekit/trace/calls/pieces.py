"""Pieces of calls: samples of a thread in one call site of Core ML, between which nothing else was seen.

A gap without samples, or a call that begins again, separates two pieces; whether they are one call is for `join` to
decide, with what the hardware shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.rows import group_ids, joined
from tracekit.sorting import group_edges, ranks
from tracekit.trace.calls import stacks
from tracekit.trace.samples import SAMPLE_NS, SampleRows, Samples

_MISSED_NS: Final = 3_500_000
"""Samples of a running thread lie no farther apart, even with some missed, or 1.5 sampling periods (heuristic)."""
LOST: Final = 20
"""Most sampling periods that a profiler misses in a row (heuristic)."""
_ENOUGH: Final = 8
"""Pieces that show how long they usually are (heuristic)."""
_RUNNING: Final = 0.3
"""Share of samples right behind another one of their thread where threads run (heuristic)."""
_LONGEST_NS: Final = 20_000_000
"""No profiler takes samples less often (heuristic)."""
_WAITS: Final = 3
"""Sampling periods from which on a thread between two samples waits, even if one is missed (heuristic)."""
APART, BEGINS, WAITS, GOES_ON, MISSED = range(5)
"""How a piece follows the one before: something else was seen between them; a call begins in it; a gap lies between
them; the same after a gap, and its stack goes on where that of the one before stopped; a gap in which no thread is
sampled, as hardly ever at this place: samples may be missed."""


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """Samples that caught a stack, also of threads that waited, and instants at which threads asked the driver of the
    GPU for something: thread by thread in order of time."""

    samples: Samples
    kinds: stacks.StackProgress
    rows: SampleRows
    time: IntArray
    thread: IntArray
    stack: IntArray
    key: IntArray
    ran: BoolArray
    on_cpu: BoolArray
    """Whether the thread works as a compute unit itself."""
    prepares: BoolArray
    """Whether it makes GPU functions ready, and may wait for what is not recorded."""
    on_gpu: BoolArray
    """Whether it is in code that has the GPU work."""
    period_ns: int
    """From one sample of a thread that runs to the next."""
    sampled: IntArray
    """When any thread was sampled, in order."""

    def calling(self, tid: IntArray) -> IntArray:
        """Number of the thread of each of these ids; -1 where samples show no prediction of it. O(n log n)."""
        predicts = self.kinds.api.is_any(stacks.Api.PREDICTION)[self.stack] & self.rows.tid.known
        ids, first = np.unique(self.rows.tid.values[predicts], return_index=True)
        if not len(ids):
            return np.full(len(tid), -1)
        at = np.minimum(np.searchsorted(ids, tid), len(ids) - 1)
        return np.where(ids[at] == tid, self.thread[predicts][first][at], -1)

    def is_silent(self, begin_ns: int, end_ns: int) -> bool:
        """Whether no thread was sampled in between, for so short that samples may be missed. O(log n)."""
        if not self.gap_ns < end_ns - begin_ns <= LOST * self.period_ns:
            return False
        half = self.period_ns // 2
        first, after = np.searchsorted(self.sampled, (begin_ns + half, end_ns - half))
        return bool(first == after)

    def silence(self, ns: int) -> tuple[int, int]:
        """When any thread was sampled last before this time and first behind it: where those that wait are sampled too,
        samples are missed in between. This time itself where they are not, or none was sampled. O(log n)."""
        if not len(self.samples.waiting):
            return ns, ns
        half = self.period_ns // 2
        before, behind = np.searchsorted(self.sampled, (ns - half, ns + half))
        first = int(self.sampled[before - 1]) if before else ns
        return first, int(self.sampled[behind]) if behind < len(self.sampled) else ns

    @property
    def gap_ns(self) -> int:
        """A thread with no sample for longer than this did not run all the time."""
        return max(3 * self.period_ns // 2, _MISSED_NS)


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Shape (pieces,) each, in the order of the timeline."""

    first: IntArray
    """Place of its first sample in the timeline."""
    last: IntArray
    follows: IntArray
    """How it follows the piece before: `APART`, `BEGINS`, `WAITS`, `GOES_ON`, `MISSED`."""
    key: IntArray
    thread: IntArray
    starts: IntArray
    """Time of its first sample."""
    ends: IntArray
    """Time of its last sample."""
    after: IntArray
    """Time of the last sample of the thread before it, 0 where there is none."""
    before: IntArray
    """Time of the first sample of the thread behind it, the end of the recording where there is none."""


def timeline(sampled: Samples) -> Timeline:
    """All samples of a recording, some with stacks, that bear on calls. O(n log n)."""
    kinds = stacks.stack_progress(sampled)
    both = joined((sampled.samples, sampled.waiting, sampled.driver))
    stack = both.stack.filled()
    # A stack in functions of Core ML without names is neither in a call nor outside of one.
    told = np.flatnonzero((stack >= 0) & (np.append(kinds.key, stacks.HIDDEN)[stack] != stacks.HIDDEN))
    thread = both.thread.codes[told].astype(np.int64)
    order = np.lexsort((both.time_ns[told], thread))
    told, thread = told[order], thread[order]
    kept = _telling(kinds, thread, stack[told], told >= len(both) - len(sampled.driver))
    told, thread = told[kept], thread[kept]
    stack = stack[told]
    busy = stacks.busy_stacks(sampled)
    # Time between two samples of a running thread: what they say that they stand for, or more where more is seen.
    samples = sampled.samples
    weight = samples.weight_ns.filled(SAMPLE_NS)
    stated = int(np.median(weight)) if len(weight) else SAMPLE_NS
    threads = samples.thread.codes
    by_time = np.lexsort((samples.time_ns, threads))
    apart = np.diff(samples.time_ns[by_time])[np.diff(threads[by_time]) == 0]
    seen = int(np.sort(apart)[len(apart) // 50]) if len(apart) else stated
    # Threads that hardly run are seldom seen twice in a row, which says nothing of the period.
    often = len(apart) > 0 and (apart <= 1.5 * seen).mean() >= _RUNNING
    return Timeline(
        sampled,
        kinds,
        both.take(told),
        both.time_ns[told],
        thread,
        stack,
        kinds.key[stack],
        told < len(sampled.samples),
        busy[stacks.Unit.CPU][stack],
        stacks.stacks_in(sampled, stacks.PREPARING)[stack],
        busy[stacks.Unit.GPU][stack],
        max(seen if 1.5 * stated < seen <= _LONGEST_NS and often else stated, 1),
        np.sort(np.concatenate([samples.time_ns, sampled.waiting.time_ns])),
    )


def _telling(kinds: stacks.StackProgress, thread: IntArray, stack: IntArray, driver: BoolArray) -> BoolArray:
    """Which rows of a timeline say more than those around them: of a thousand instants in the driver of the GPU, the
    first and the last in each part of a call."""
    part = group_ids((thread, kinds.key[stack], kinds.progress[stack]), len(stack))
    changes = np.append(True, part[1:] != part[:-1])[: len(part)]
    kept: BoolArray = ~driver | changes | np.append(changes[1:], True)[: len(part)]
    return kept


def usual_spans(line: Timeline, pieces: Pieces) -> dict[int, int]:
    """How long pieces of each call site usually are, where there are enough of them."""
    keys, site = ranks(pieces.key)
    spans = pieces.ends - pieces.starts + line.period_ns
    order = np.lexsort((spans, site))
    edges, ordered = group_edges(site, len(keys)), spans[order]
    counts = np.diff(edges)
    enough = counts >= _ENOUGH
    low, high = ((edges[:-1] + middle)[enough] for middle in ((counts - 1) // 2, counts // 2))
    usual = (ordered[low] + ordered[high]) // 2
    return dict(zip(keys[enough].tolist(), usual.tolist(), strict=True))


def pieces_of(line: Timeline, end_ns: int) -> Pieces:
    """The pieces of a timeline; `end_ns` is the end of the recording. O(samples + frames of stacks at gaps)."""
    count = len(line.time)
    progress = line.kinds.progress[line.stack]
    other_thread = np.append(True, line.thread[1:] != line.thread[:-1])[:count]
    other = other_thread | np.append(True, line.key[1:] != line.key[:-1])[:count]
    apart_ns = np.diff(line.time, prepend=line.time[:1])
    gap = ~other & (apart_ns > line.gap_ns)
    # What a call did last in these samples, and whether it begins again.
    place = np.arange(count)
    known = np.append(-1, np.maximum.accumulate(np.where(progress > 0, place, -1)))[:count]
    reached = np.where(known >= np.maximum.accumulate(np.where(other, place, 0)), progress[known], 0)
    # Whoever waits for hardware has begun a prediction: behind that, it begins the next one.
    waited = (apart_ns > _WAITS * line.period_ns) & line.kinds.api.is_any(stacks.Api.PREDICTION)[line.stack]
    done = (reached == stacks.UNDER_WAY) | ((reached == stacks.BEGUN) & gap & waited)
    begins = ~other & (progress == stacks.BEGUN) & done
    first = np.flatnonzero((other | gap | begins) & (line.key >= 0))
    opens = np.append(np.flatnonzero(other | gap | begins), count)
    last = opens[np.searchsorted(opens, first, "right")] - 1
    follows = np.where(other[first], APART, np.where(begins[first], BEGINS, WAITS))
    follows[_going_on(line, first, follows, progress)] = GOES_ON
    time = np.append(line.time, end_ns)
    own = np.append(other_thread, True)
    return Pieces(
        first,
        last,
        follows,
        line.key[first],
        line.thread[first],
        time[first],
        time[last],
        np.where(own[first], 0, time[first - 1]),
        np.where(own[last + 1], end_ns, time[last + 1]),
    )


def _going_on(line: Timeline, first: IntArray, follows: IntArray, progress: IntArray) -> IntArray:
    """Pieces behind a gap in which the call of the piece before goes on, as far as stacks tell."""
    waits = np.flatnonzero(follows == WAITS)
    # A prediction that only began before the gap, and executes behind it: unless others of its place do not look so.
    began = (progress[first[waits - 1]] == stacks.BEGUN) & (progress[first[waits] - 1] != stacks.UNDER_WAY)
    began &= progress[first[waits]] == stacks.UNDER_WAY
    # The thread ran until the call began: it was not idle in between.
    opens = np.flatnonzero(follows == APART)
    begin = first[opens[np.searchsorted(opens, waits, "right") - 1]]
    same_thread = (begin > 0) & (line.thread[begin] == line.thread[begin - 1])
    began &= same_thread & (line.time[begin] - line.time[begin - 1] <= line.gap_ns)
    unlike = np.isin(line.key[first[waits]], line.key[first[waits[~began]]])
    predicts = line.kinds.api.take(line.stack[first[waits]]).is_any(stacks.Api.PREDICTION)
    goes_on = predicts & began & ~unlike
    # One that seldom looks so may be the beginning of one call and the end of another.
    own = line.key[first[waits]]
    opening = line.key[first[opens[progress[first[opens]] == stacks.BEGUN]]]
    goes_on &= np.array([(own[goes_on] == key).sum() >= 0.5 * (opening == key).sum() for key in own], np.bool_)
    for index in np.flatnonzero(~predicts):
        # The stack behind the gap resembles the one before more than that with which the call began.
        after = first[waits[index]]
        start, before, now = (int(line.stack[place]) for place in (begin[index], after - 1, after))
        goes_on[index] = stacks.same_depth(line.samples, now, before) > stacks.same_depth(line.samples, now, start)
    chosen: IntArray = waits[goes_on]
    return chosen
