"""What the compute units did in predictions: runs of one unit, hand-offs between them, and gaps in the work of one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracekit.analysis.breakdown.rows import Layer, Rows, no_time
from tracekit.arrays import BoolArray, CodeArray, Int8Array, IntArray
from tracekit.columns import Numbers, known_where
from tracekit.intervals import Intervals, depth_profile, integrate, running_end, union_by_group
from tracekit.rows import counts_by, places_of
from tracekit.trace.events import Calls, Device, Events, Kind

UNITS = (Device.ANE, Device.GPU, Device.CPU)
"""The compute units, by number."""


@dataclass(frozen=True, slots=True, eq=False)
class Handoffs:
    """Changes of the compute unit within predictions, by prediction and time: shape (changes,) each."""

    window: CodeArray
    """Index of the prediction, ascending."""
    source: Int8Array
    """Index in `UNITS` of the unit that worked before."""
    target: Int8Array
    """Index in `UNITS` of the one that worked then."""

    def of(self, predictions: IntArray) -> Handoffs:
        """Those of some predictions, by index, each named once; then with their indexes among these. O(n log n)."""
        place = places_of(predictions, self.window)
        chosen = np.flatnonzero(place >= 0)
        window = place[chosen]
        by_window = np.argsort(window, kind="stable")
        chosen = chosen[by_window]
        return Handoffs(window[by_window], self.source[chosen], self.target[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class DeviceRuns:
    """Parts of predictions in which one unit works without another one in between: shape (runs,) each, by prediction
    and time."""

    prediction: CodeArray
    """A number for the prediction, as `device_runs` was given it."""
    unit: CodeArray
    """Index in `UNITS`."""
    start_ns: IntArray
    end_ns: IntArray
    work_ns: IntArray
    """Sum of the durations of its rows."""

    def changes(self, predictions: IntArray) -> IntArray:
        """How often the unit changes in each of the predictions, given by number."""
        return np.maximum(counts_by(predictions, self.prediction) - 1, 0)

    def handoffs(self) -> tuple[Handoffs, IntArray]:
        """The changes of the unit, and for each the ns from the end of all work before it to its start. O(n log n)."""
        after = np.flatnonzero(self.prediction[1:] == self.prediction[:-1]) + 1
        unit = self.unit.astype(np.int8)
        gap_ns = np.maximum(self.start_ns[after] - self.reach_ns[after - 1], 0)
        return Handoffs(self.prediction[after], unit[after - 1], unit[after]), gap_ns

    @property
    def reach_ns(self) -> IntArray:
        """Shape (runs,): latest end of the run and those before it in its prediction. O(n log n)."""
        return running_end(self.prediction, self.end_ns)

    @property
    def main_unit(self) -> Device:
        """The unit that works most beside the CPU, which has the rest; there is at least one run."""
        return UNITS[int(np.bincount(self.unit, self.work_ns, len(UNITS))[: UNITS.index(Device.CPU)].argmax())]

    @property
    def of_main_unit(self) -> BoolArray:
        """Shape (runs,): the main unit works."""
        return np.asarray(self.unit == UNITS.index(self.main_unit))

    def usual_order(self) -> tuple[Device, ...]:
        """The order of units that most predictions have, the first of several; empty without runs. O(runs)."""
        if not len(self.unit):
            return ()
        orders = np.split(self.unit, np.flatnonzero(np.diff(self.prediction)) + 1)
        ((usual, _),) = Counter(tuple(order.tolist()) for order in orders).most_common(1)
        return tuple(UNITS[number] for number in usual)

    def interruptions(self) -> Intervals:
        """The times between two runs of the main unit in one prediction, in which others had theirs."""
        main = np.flatnonzero(self.of_main_unit)
        same = self.prediction[main[1:]] == self.prediction[main[:-1]]
        before, after = main[:-1][same], main[1:][same]
        starts, ends = self.end_ns[before], self.start_ns[after]
        return Intervals(starts, ends).where(ends > starts)


def device_runs(prediction: CodeArray, unit: CodeArray, executes: BoolArray, times: Intervals) -> DeviceRuns:
    """Runs of the units in rows of work, given by the number of the prediction (0 or more), the unit as index in
    `UNITS`, whether the row is execution, and their times: shape (rows,) each, in any order.

    A unit works while it executes; where a prediction has no execution on it, the other rows stand for it. O(n log n).
    """
    key = prediction * len(UNITS) + unit
    works = np.flatnonzero(executes | ~np.isin(key, key[executes]))
    prediction, unit, times = prediction[works], unit[works], times.where(works)
    order = np.lexsort((-times.ends, times.starts, prediction))
    prediction, unit, times = prediction[order], unit[order], times.where(order)
    opens = np.flatnonzero((np.diff(prediction, prepend=-1) != 0) | (np.diff(unit, prepend=-1) != 0))
    if not len(opens):
        return DeviceRuns(*(np.zeros(0, np.int64) for _ in range(5)))
    return DeviceRuns(
        prediction[opens],
        unit[opens],
        times.starts[opens],
        np.maximum.reduceat(times.ends, opens),
        np.add.reduceat(times.durations, opens),
    )


SHORT_CPU_NS = 100_000
"""Shorter `CPU` rows come with a request to the GPU; a public recording has 28 µs for each."""


def device_runs_of(compute: Events, hardware: Events, predictions: IntArray, min_cpu_ns: int) -> DeviceRuns:
    """Runs of the compute units in some predictions, given by id, from the rows of their model.

    Preparation of requests and `CPU` rows shorter than `min_cpu_ns` count for nothing. O(n log n).
    """
    short = compute.device.is_any(Device.CPU) & (compute.duration_ns < min_cpu_ns)
    requested = compute.device.known & ~compute.kind.is_any(Kind.GPU_PREPARE) & ~short
    executed = hardware.kind.is_any(Kind.ANE_EXEC, Kind.GPU_EXEC)
    hardware_at, compute_at = (
        np.flatnonzero(chosen & np.isin(rows.prediction.filled(), predictions))
        for rows, chosen in ((hardware, executed), (compute, requested))
    )
    both = ((hardware, hardware_at), (compute, compute_at))
    return device_runs(
        np.concatenate([rows.prediction.values[at] for rows, at in both]),
        np.concatenate([rows.device.codes_in(UNITS)[at] for rows, at in both]),
        np.arange(len(hardware_at) + len(compute_at)) < len(hardware_at),
        Intervals.none().joined(*(Intervals.from_rows(rows).where(at) for rows, at in both)),
    )


def gaps_between(rows: Events, chosen: BoolArray) -> tuple[IntArray, Intervals]:
    """Gaps between the chosen rows, shape (rows,), that belong to the same model (or stage) and prediction, with the id
    of that: shape (gaps,) each. Rows that overlap or touch have a gap without length. O(n log n)."""
    at = np.flatnonzero(chosen & rows.prediction.known)
    prediction, model = rows.prediction.values[at], rows.model.codes[at]
    times = Intervals.from_rows(rows).where(at)
    order = np.lexsort((times.starts, model, prediction))
    prediction, model, times = prediction[order], model[order], times.where(order)
    new = (np.diff(prediction, prepend=-1) != 0) | (np.diff(model, prepend=-2) != 0)
    reach = running_end(np.cumsum(new), times.ends)
    inner = np.flatnonzero(~new)
    start = times.starts[inner]
    return prediction[inner], Intervals(np.minimum(reach[inner - 1], start), start)


class Work(NamedTuple):
    """Columns of `Times`, and the hand-offs one by one."""

    handoffs: Numbers
    handoff_gap_ns: Numbers
    lead_ns: Numbers
    tail_ns: Numbers
    segments: Numbers
    changes: Handoffs


def work_of(rows: Rows, predictions: Calls, *, hidden: BoolArray, hidden_ane: BoolArray) -> Work:
    """How the compute units worked for predictions. `hidden`: those in which a unit may have worked unseen;
    `hidden_ane`: the Neural Engine. O(n log n)."""
    unit = _UNIT_OF_LAYER[rows.layer]
    chosen = (unit >= 0) & ~rows.preparation
    executes = (rows.layer == Layer.ANE) | (rows.layer == Layer.GPU)
    times = Intervals(rows.start_ns, rows.end_ns).where(chosen)
    runs = device_runs(rows.window[chosen], unit[chosen], executes[chosen], times)
    handoffs, gap_ns = runs.handoffs()
    count = len(predictions)
    changes = gaps = no_time(count)
    if len(gap_ns):
        changes, gaps = np.bincount(handoffs.window, minlength=count).astype(np.int64), np.zeros(count, np.int64)
        np.add.at(gaps, handoffs.window, gap_ns)
    first = np.flatnonzero(np.diff(runs.prediction, prepend=-1))
    last = np.append(first[1:], len(runs.prediction))[: len(first)] - 1
    lead, tail = np.zeros(count, np.int64), np.zeros(count, np.int64)
    called = Intervals.from_rows(predictions)
    worked = runs.prediction[first]
    lead[worked] = runs.start_ns[first] - called.starts[worked]
    tail[worked] = called.ends[worked] - runs.reach_ns[last]
    seen, works = ~hidden, ~hidden
    works[np.bincount(worked, minlength=count) == 0] = False
    return Work(
        known_where(seen, changes),
        known_where(seen, gaps),
        known_where(works, lead),
        known_where(works, tail),
        _segments(rows, hidden_ane, count),
        handoffs,
    )


_UNIT_OF_LAYER = np.array(
    [
        {Layer.ANE: 0, Layer.ANE_REQUEST: 0, Layer.GPU: 1, Layer.GPU_REQUEST: 1, Layer.CPU: 2}.get(layer, -1)
        for layer in Layer
    ],
    np.int8,
)
"""Index in `UNITS` of the compute unit of each layer; -1 for none."""


def _segments(rows: Rows, hidden: BoolArray, count: int) -> Numbers:
    """Distinct operations of each prediction on the Neural Engine; null where a row does not name its operation."""
    ane = rows.layer == Layer.ANE
    named = ~hidden
    named[rows.window[ane & (rows.operation < 0)]] = False
    keys = rows.operation[ane], rows.model[ane], rows.window[ane]
    order = np.lexsort(keys)
    differs = np.any([key[order[1:]] != key[order[:-1]] for key in keys], axis=0)
    first = order[np.append(True, differs)[: len(order)]]
    return known_where(named, np.bincount(keys[-1][first], minlength=count))


def other_models(predictions: Calls) -> IntArray:
    """Time of each prediction in which at least one prediction of another model was running. O(n log n)."""
    called = Intervals.from_rows(predictions)
    if called.in_turn():
        return no_time(len(called))
    # Within a prediction its own model runs all the time, so two models at once are it and another.
    _, piece_starts, piece_ends = union_by_group(predictions.model.codes, called.starts, called.ends)
    times, depth = depth_profile(piece_starts, piece_ends)
    if depth.max(initial=0) < 2:
        return no_time(len(predictions))
    return integrate(times, (depth >= 2).astype(np.int64), called.starts, called.ends)
