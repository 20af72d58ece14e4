"""For whom predictions waited: work of others that the Neural Engine or the GPU did just before their own.

A unit takes one request after the other. A piece of own work waited where it began no more than a hand-over after other
work ended, and later than the model's pieces that found the unit free. The wait goes back to when the piece would have
begun on a free unit, and no further than the unit was busy without a break. Where own work begins at any time after
work of others, none waited. Overlap alone is harmless: two processes
had twice the throughput of one in a public measurement (apple/coremltools#1356).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from tracekit.analysis.statistics import quantiles_by_group
from tracekit.arrays import BoolArray, FloatArray, IntArray
from tracekit.intervals import Intervals, positions_between, running_end
from tracekit.sorting import distinct_numbers, few_bits, is_first_of_each
from tracekit.trace.events import Attribution, Device, Events, Kind, Lane
from tracekit.trace.linking import top_predictions
from tracekit.trace.trace import Trace, cached_by_trace


def ready_for(trace: Trace, prediction: IntArray, begin: IntArray, called: IntArray) -> IntArray:
    """When the prediction of each piece of work, given by its id, begin, and start of the prediction, was ready for
    it: the latest end of what it did before; its start where it did nothing, the begin where it went on. O(n log n)."""
    owner = np.append(top_predictions(trace.activity), -1)
    asked = np.zeros(len(owner), np.bool_)
    asked[prediction] = True
    parts = [(prediction, begin, called)]
    for rows in (trace.data, trace.compute, trace.hardware):
        executed = rows.kind.is_any(Kind.ANE_EXEC, Kind.GPU_EXEC, Kind.CPU_COMPUTE)
        of_row = owner[rows.prediction.filled()]
        ours = np.flatnonzero((executed | rows.lane.is_any(Lane.DATA)) & asked[of_row])
        times = Intervals.from_rows(rows).where(ours)
        parts.append((of_row[ours], times.starts, times.ends))
    group, time, end = map(np.concatenate, zip(*parts, strict=True))
    # They are many, and what follows takes as much again.
    del parts
    # Of what begins at once, a piece of work stands before the rows, as it does here.
    order = np.lexsort((time, group))
    latest = np.empty_like(end)
    latest[order] = running_end(group[order], end[order])
    ready: IntArray = np.minimum(latest[: len(prediction)], begin)
    return ready


HANDOVER_NS = 1_000_000
"""Longest time from the end of one work on a unit to the begin of the next that waited for it: three times the largest
in published recordings (heuristic)."""

CHANCE = 0.05
"""Work of others that has nothing to do with a piece of own work ends at any time before it begins. How often it ends
shortly before must be less likely than this by chance (Kolmogorov and Smirnov, one side); the usual level of tests."""

USUAL_SHARE = 0.95
"""Part of the pieces that found the unit free that begin within the usual time. The rest had other reasons."""

STANDS_OUT = 2
"""A piece that waited for long begins so many times as late as usual: most of that is the wait (heuristic)."""

MIN_FREE = 5
"""Fewest pieces that found the unit free from which the usual way of a model is known. Fewer are chance (heuristic)."""

BEGUN = 2
"""Samples within which the begin of an inferred call lies, so that a wait stands out (heuristic)."""

UNITS = {Device.ANE: Kind.ANE_EXEC, Device.GPU: Kind.GPU_EXEC}


class Behind(IntEnum):
    """Whose work a prediction waited for."""

    OWN = 0
    """Other predictions of its model."""
    MODELS = 1
    """Other models, and drawing, of its process."""
    PROCESSES = 2


@dataclass(frozen=True, slots=True, eq=False)
class UnitRows:
    """What one unit executed and for whom, by start: shape (rows,) each."""

    id: IntArray
    """Row of `Trace.hardware`."""
    times: Intervals
    reach_before: IntArray
    """Latest end of the rows before; for the first a time before all."""
    reaching: IntArray
    """Place of the row with that end; -1 for the first."""
    held: Intervals
    """Each with the hand-over that follows it: until the next one begins, where that is soon."""
    held_reach: IntArray
    """Latest end of `held` so far."""
    call: IntArray
    """Id of the app's prediction that it is of; -1 where it is of none, or not known."""
    model: IntArray
    """Code in the models of `Trace.activity`; -1 for none of them."""
    foreign: BoolArray
    """Of another process."""

    @classmethod
    def of(cls, hardware: Events, chosen: BoolArray, call: IntArray, model: IntArray, foreign: BoolArray) -> UnitRows:
        """The chosen rows of `Trace.hardware`, with what is known of each row of it. O(rows)."""
        at = np.flatnonzero(chosen)
        times = Intervals.from_rows(hardware).where(at)
        reach = np.maximum.accumulate(times.ends)
        last = np.maximum.accumulate(np.where(times.ends == reach, np.arange(len(times)), 0))
        before = np.concatenate(([np.iinfo(np.int64).min // 2], reach))[: len(times)]
        reaching = np.concatenate(([-1], last))[: len(times)]
        starts, ends = times.starts, times.ends.copy()
        follows = (starts > before) & (starts <= before + HANDOVER_NS)
        ends[reaching[follows]] = starts[follows]
        held = Intervals(starts, ends)
        held_reach = np.maximum.accumulate(ends)
        return cls(hardware.id[at], times, before, reaching, held, held_reach, call[at], model[at], foreign[at])

    def overlapping(self, windows: Intervals) -> IntArray:
        """Positions of the rows that were held in some of the windows. O(m log n) and what lies there."""
        first = np.searchsorted(self.held_reach, windows.starts, side="right")
        after = np.maximum(np.searchsorted(self.held.starts, windows.ends), first)
        rows, window = positions_between(first, after), np.repeat(np.arange(len(windows)), after - first)
        return distinct_numbers(rows[self.held.ends[rows] > windows.starts[window]])


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """Waits of predictions for one unit, by prediction: shape (waits,) each."""

    call: IntArray
    """Id of the app's prediction."""
    times: Intervals
    """Each ends when own work began."""
    behind_ns: IntArray
    """Shape (waits, 3): the part of each `Behind`; they add up to the wait."""

    def of(self, predictions: IntArray) -> Intervals:
        """Those of some predictions, by id, ascending. O(m log n) and what these have."""
        first, after = (np.searchsorted(self.call, predictions, side) for side in ("left", "right"))
        return self.times.where(positions_between(first, after))


@cached_by_trace
def unit_rows(trace: Trace) -> dict[Device, UnitRows]:
    """What Neural Engine and GPU executed. Rows in stages of a pipeline are those of the app's prediction. O(n)."""
    hardware, called = trace.hardware, trace.activity.model
    owner = np.append(top_predictions(trace.activity), -1)
    code_of_call = np.append(called.codes.astype(np.int64), -1)
    code = hardware.model.codes_in(called.values)
    call = owner[hardware.prediction.filled()]
    code = np.where(call >= 0, code_of_call[call], code)
    target = trace.run.target.process
    pid = hardware.pid.filled()
    foreign = hardware.attribution.is_any(Attribution.FOREIGN)
    nameless = hardware.attribution.is_any(Attribution.UNATTRIBUTED) & (call < 0)
    own_process = (pid == target.pid) if target is not None else np.zeros(len(pid), np.bool_)
    foreign = (foreign | (nameless & ~own_process)) & (call < 0)
    return {
        unit: UnitRows.of(hardware, hardware.kind.is_any(kind), call, code, foreign) for unit, kind in UNITS.items()
    }


@cached_by_trace
def all_waits(trace: Trace) -> dict[Device, Waits]:
    """Waits for the Neural Engine and for the GPU, where these worked for predictions of the app. When an inferred
    call was ready for a unit is known only where its begin is, to `BEGUN` samples: others have none. A thread that runs
    is still getting the work ready. O(n log n)."""
    return {unit: _waits(trace, rows) for unit, rows in unit_rows(trace).items() if (rows.call >= 0).any()}


def _waits(trace: Trace, rows: UnitRows) -> Waits:
    called = trace.activity.start_ns[np.where(rows.call >= 0, rows.call, 0)]
    calls = trace.activity
    unsure = calls.attribution.is_any(Attribution.INFERRED)
    unsure &= ~calls.single | (calls.start_max_ns - calls.start_min_ns > BEGUN * calls.resolution_ns)
    own = ~np.append(unsure, True)[rows.call]
    met = own & (rows.reach_before > called) & (np.append(rows.call, -1)[rows.reaching] != rows.call)
    if not met.any():
        none = np.zeros(0, np.int64)
        return Waits(none, Intervals.none(), np.zeros((0, 3), np.int64))
    piece = np.flatnonzero(own)
    begin, reach, met = rows.times.starts[piece], rows.reach_before[piece], met[piece]
    ready = ready_for(trace, rows.call[piece], begin, called[piece])
    if calls.attribution.is_any(Attribution.INFERRED).any():
        ready = np.maximum(ready, np.minimum(_ran_until(trace, rows.call[piece], begin), begin))
    delay, behind, free = begin - ready, np.abs(begin - reach), reach <= ready
    met &= ~free
    # The first piece of a prediction has a longer way to the unit than those that follow.
    first = is_first_of_each(rows.call[piece])
    median, latest = _usual_way(delay, free, rows.model[piece], first)
    late = met & (delay > latest)
    met &= not (late.sum() >= MIN_FREE and _by_chance(behind[late], delay[late]))
    # Busy without a break longer than a hand-over since the latest row that opens.
    opens = rows.times.starts > rows.reach_before + HANDOVER_NS
    busy_since = rows.times.starts[np.maximum.accumulate(np.where(opens, np.arange(len(opens)), 0))]
    low = np.maximum(ready + median.astype(np.int64), busy_since[piece])
    # Samples show no shorter wait than they lie apart.
    least = np.maximum(calls.resolution_ns[rows.call[piece]], 1)
    waited = np.flatnonzero(met & (behind <= HANDOVER_NS) & (begin - low >= least))
    waited = waited[np.argsort(rows.call[piece[waited]], kind="stable")]
    times, queued = Intervals(low[waited], begin[waited]), piece[waited]
    return Waits(rows.call[queued], times, _behind(rows, times, rows.model[queued]))


def _ran_until(trace: Trace, call: IntArray, begin: IntArray) -> IntArray:
    """When samples last show the thread of each call running before a time, shape (times,): 0 where none does."""
    sampled, sites = trace.sampled, trace.sites
    if sampled is None or sites is None or not len(sampled.samples):
        return np.zeros(len(begin), np.int64)
    samples, thread = sampled.samples, np.full(len(trace.activity), -1)
    thread[sites.id] = sites.thread.codes_in(samples.thread.values)
    # One thread behind the other.
    span = max(int(samples.time_ns.max()), int(begin.max(initial=0))) + 1
    times = np.sort(samples.thread.codes * np.int64(span) + samples.time_ns)
    own = np.maximum(thread[call], 0) * span
    last = times[np.maximum(np.searchsorted(times, own + begin, "right") - 1, 0)] - own
    return np.where((thread[call] >= 0) & (last >= 0) & (last <= begin), last, 0)


def _usual_way(way: IntArray, free: BoolArray, model: IntArray, first: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Usual time in ns from being ready to the begin on a free unit, for each piece, and the longest usual one: the
    `USUAL_SHARE` quantile, or `STANDS_OUT` times the median. Of the model, and whether the piece is the first of its
    prediction; where fewer than `MIN_FREE` show that, of all models; else 0. O(n log n)."""
    usual, longest = np.zeros((2, len(way)))
    for code in (np.zeros_like(model), model):
        kind = 2 * (code - code.min()) + first
        count = int(kind.max()) + 1
        median, late = quantiles_by_group(way[free], kind[free], count, 0.5, USUAL_SHARE)
        chosen = (np.bincount(kind[free], minlength=count) >= MIN_FREE)[kind]
        of = kind[chosen]
        usual[chosen], longest[chosen] = median[of], np.maximum(late, STANDS_OUT * median)[of]
    return usual, longest


def _by_chance(behind: IntArray, delay: IntArray) -> bool:
    """Whether pieces that may have waited have nothing to do with other work: shape (pieces,) each.

    `behind` is the time since other work ended, `delay` since the piece was ready. If the two had nothing to do with
    each other, other work would end at any time of the delay, so `behind` would be spread evenly over it. In waits,
    more pieces begin soon after other work than that. O(n log n).
    """
    behind, delay = np.sort(behind), np.sort(delay).astype(np.float64)
    within = np.searchsorted(delay, behind, side="right")
    beyond = np.append(np.cumsum(1 / delay[::-1])[::-1], 0.0)[within]
    evenly = (within + behind * beyond) / len(delay)
    ahead = np.arange(1, len(behind) + 1) / len(behind) - evenly
    return bool(ahead.max() < (-np.log(CHANCE) / 2 / len(behind)) ** 0.5)


def _behind(rows: UnitRows, windows: Intervals, model: IntArray) -> IntArray:
    """Whose work filled each wait, shape (waits, 3): of several at once the nearest."""
    own = np.zeros(len(windows), np.int64)
    of_app = np.flatnonzero(~rows.foreign)
    order = of_app[np.argsort(few_bits(rows.model[of_app]), kind="stable")]
    codes = rows.model[order]
    for code in distinct_numbers(model):
        first, after = np.searchsorted(codes, [code, code + 1])
        chosen = model == code
        own[chosen] = rows.held.where(np.sort(order[first:after])).covered_within(windows.where(chosen))
    app = rows.held.where(of_app).covered_within(windows)
    return np.column_stack((own, app - own, windows.durations - app))
