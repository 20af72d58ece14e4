"""Times in which an app that uses a model asks nothing of Core ML, and whether it works or waits in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.intervals import Intervals
from tracekit.sorting import few_bits, places
from tracekit.trace.events import Level
from tracekit.trace.trace import Trace, cached_by_trace

TURN_SHARE = 0.5
"""A model takes turns with another if it is used in so large a share of the other's steps, call to call (heuristic)."""

TURN_OVERLAP = 0.05
"""And if no more of its uses overlap a call of the other: who takes turns waits for the other's end. Or if all but so
many times in which either is used hold one use of each: the app asks for both and waits for both (heuristic)."""


@dataclass(frozen=True, eq=False)
class Idle:
    """Gaps inside sequences of calls of one model, without any load, compilation or prediction of the app."""

    gaps: Intervals
    """Sorted."""
    next_model: IndexArray
    """Shape (gaps,): code of the model whose row ends the gap, in the categories of `Trace.activity`; that of the
    next row of the model or of one that alternates with it, where a model that works on its own ends the gap."""
    step: IndexArray
    """Shape (gaps,): index of the step that each gap lies in."""
    sequence: IntArray
    """Shape (steps,): number of its sequence."""
    distance_ns: IntArray
    """Shape (steps,): time from the start of each call to that of the next in its sequence."""
    idle_ns: IntArray
    """Shape (steps,): gaps in it."""
    busy_ns: IntArray
    """Shape (steps,): time in it in which the model, or one that takes turns with it, was used."""

    @property
    def share(self) -> float:
        """Gaps as a share of the time from the first to the last start of the sequences; 0.0 without any."""
        span = int(self.distance_ns.sum())
        return int(self.idle_ns.sum()) / span if span else 0.0

    @cached_property
    def longest(self) -> IndexArray:
        """Shape (steps with a gap,): index of the longest gap of each, of several the last. O(gaps)."""
        opens = np.flatnonzero(np.diff(self.step, prepend=-1))
        lengths = self.gaps.durations
        longest = np.maximum.reduceat(lengths, opens) if len(opens) else lengths
        as_long = np.flatnonzero(lengths == np.repeat(longest, np.diff(opens, append=len(lengths))))
        found: IndexArray = as_long[np.diff(self.step[as_long], append=-1) != 0]
        return found

    def where(self, chosen: BoolArray) -> Idle:
        """Some of the gaps, shape (gaps,): the others count as time with work."""
        gaps, step = self.gaps.where(chosen), self.step[chosen]
        idle_ns = np.bincount(step, gaps.durations, len(self.idle_ns)).astype(np.int64)
        return replace(self, gaps=gaps, next_model=self.next_model[chosen], step=step, idle_ns=idle_ns)

    def of_steps(self, chosen: BoolArray) -> Idle:
        """Some of the steps, shape (steps,), and the gaps in them."""
        if chosen.all():
            return self
        inside = chosen[self.step]
        return Idle(
            gaps=self.gaps.where(inside),
            next_model=self.next_model[inside],
            step=(np.cumsum(chosen) - 1)[self.step[inside]],
            sequence=self.sequence[chosen],
            distance_ns=self.distance_ns[chosen],
            idle_ns=self.idle_ns[chosen],
            busy_ns=self.busy_ns[chosen],
        )


@dataclass(frozen=True, slots=True, eq=False)
class CoreMLCalls:
    """What the app asked of Core ML: loads, compilations and predictions of any model."""

    begin_ns: IntArray
    """Shape (rows,): starts, ascending; with `stop_ns`."""
    stop_ns: IntArray
    number: IndexArray
    """Shape (rows,): code of the model in the categories of `Trace.activity`, plus 1: 0 for none."""
    before: IndexArray
    """Shape (rows,): position of the row before of the same model; -1 where it is the first."""
    overlapping: IndexArray
    """Positions of the rows during which others begin."""
    until: IndexArray
    """Of each of these, the position of the first row that begins no earlier than it ends."""
    covered_ns: IntArray
    """Shape (rows,): time that any row covers before each begins."""
    gaps: Intervals
    """The times between them, without any."""
    begun: tuple[IndexArray, IndexArray]
    """Shape (gaps,): how many rows began by the start of each, and before its end."""

    @classmethod
    def of(cls, times: Intervals, model: IndexArray) -> CoreMLCalls:
        """`times` ascend by start. O(n log n)."""
        covered = times.union().covered_time()
        gaps = Intervals(covered.pieces.ends[:-1], covered.pieces.starts[1:])
        order = np.argsort(few_bits(model), kind="stable")
        before = np.full(len(model), -1, np.intp)
        same = model[order[1:]] == model[order[:-1]]
        before[order[1:][same]] = order[:-1][same]
        overlapping = np.flatnonzero(times.ends[:-1] > times.starts[1:])
        until = places(times.starts, times.ends[overlapping])
        begun = places(times.starts, gaps.starts, "right"), places(times.starts, gaps.ends)
        covered_ns = covered.until(times.starts)
        return cls(times.starts, times.ends, model + 1, before, overlapping, until, covered_ns, gaps, begun)


@cached_by_trace
def core_ml_calls(trace: Trace) -> CoreMLCalls:
    """Rows of `Trace.activity` that the app asked for, without those of stages. O(n log n), once for each trace."""
    activity = trace.activity
    top = activity.level.is_any(Level.TOP)
    times = Intervals.from_rows(activity).where(top)
    model = activity.model.codes[top].astype(np.intp)
    return CoreMLCalls.of(times, model)


def idle_times(work: CoreMLCalls, model_code: int, starts_ns: IntArray, sequence: IntArray, min_calls: int) -> Idle:
    """Gaps in the sequences with at least `min_calls` calls.

    `model_code` is the code of the model, `starts_ns` ascend and `sequence` gives the sequence of each call, shape
    (calls,); the calls are among `work`. O(calls log rows + rows).
    """
    enough = np.bincount(sequence)[sequence] >= min_calls if len(sequence) else np.zeros(0, np.bool_)
    step = np.flatnonzero((sequence[1:] == sequence[:-1]) & enough[1:])
    first, last = starts_ns[step], starts_ns[step + 1]
    low, high = np.searchsorted(work.begin_ns, (first[0], last[-1] + 1)) if len(first) else (0, 0)
    rows = slice(low, high)
    row = places(work.begin_ns[rows], starts_ns)
    opens, closes = row[step], row[step + 1]
    # The last one is that of rows before the first step.
    step_of = np.repeat(np.append(np.arange(len(first)), -1), np.diff(np.append(opens, (high - low, high - low + 1))))
    ours = _rows_in_turn(work, rows, model_code + 1, step_of, closes)
    span = slice(*np.searchsorted(work.gaps.starts, (first[0], last[-1]))) if len(first) else slice(0)
    gaps = Intervals(work.gaps.starts[span], work.gaps.ends[span])
    index, following = step_of[work.begun[0][span] - low - 1], work.begun[1][span] - low
    inside = gaps.ends <= last[index]
    if not inside.all():
        gaps, index, following = gaps.where(inside), index[inside], following[inside]
    busy_ns = covered_ns = work.covered_ns[rows][closes] - work.covered_ns[rows][opens]
    number = work.number[rows]
    if not ours.all() or (work.until[work.overlapping < low] > low).any():
        following = np.append(0, np.cumsum(ours))[following]
        number = number[ours]
        busy = Intervals(work.begin_ns[rows][ours], work.stop_ns[rows][ours]).covered_time()
        busy_ns = busy.within(first, last)
    return Idle(
        gaps=gaps,
        next_model=number[following] - 1,
        step=index,
        sequence=sequence[step],
        distance_ns=last - first,
        idle_ns=last - first - covered_ns,
        busy_ns=busy_ns,
    )


def _rows_in_turn(work: CoreMLCalls, rows: slice, number: int, step_of: IndexArray, closes: IndexArray) -> BoolArray:
    """Shape (rows,): whether the row is one of the model with this number, of one that takes turns with it, or that is
    used at once with it in each step. `step_of` is the step in which or after which a row begins, and -1 at last;
    `closes` is the first row after each step, counted from that of `rows`. O(rows)."""
    numbers = work.number[rows]
    ours: BoolArray = numbers == number
    inside = ~ours & (np.arange(len(ours)) < closes[step_of[:-1]])
    before = np.maximum(work.before[rows] - rows.start, -1)
    opening = inside & (step_of[before] != step_of[:-1])
    size = int(numbers.max(initial=0)) + 1
    chosen = np.bincount(numbers[opening], minlength=size) >= TURN_SHARE * len(closes)
    span = slice(*np.searchsorted(work.overlapping, (rows.start, rows.stop)))
    if not (span.stop - span.start and chosen.any()):
        return ours | chosen[numbers]
    at, until = (each[span] - rows.start for each in (work.overlapping, work.until))
    mine = ours[at]
    reach = np.zeros(len(ours), np.intp)
    reach[at[mine]] = until[mine]
    overlaps = inside & (np.arange(len(ours)) < np.maximum.accumulate(reach))
    overlaps[at[~mine]] |= (inside[at] & (until > closes[step_of[at]]))[~mine]
    overlap_count, row_count = (np.bincount(numbers[each], minlength=size) for each in (overlaps, inside))
    in_turn = overlap_count <= TURN_OVERLAP * row_count
    for each in np.flatnonzero(chosen & ~in_turn):
        in_turn[each] = are_at_once(work.begin_ns[rows], work.stop_ns[rows], ours, numbers == each)
    return ours | (chosen & in_turn)[numbers]


def are_at_once(begin: IntArray, stop: IntArray, ours: BoolArray, theirs: BoolArray) -> bool:
    """Whether runs of uses of two models without a gap between them mostly hold one of each."""
    either = ours | theirs
    end = np.maximum.accumulate(stop[either])
    run = np.append(0, np.cumsum(begin[either][1:] >= end[:-1]))
    of_ours, of_theirs = np.bincount(run, ours[either]), np.bincount(run, theirs[either])
    return float(((of_ours != 1) | (of_theirs != 1)).mean()) <= TURN_OVERLAP
