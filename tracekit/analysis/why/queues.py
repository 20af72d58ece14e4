"""For whom predictions waited: work of others that the Neural Engine or the GPU did just before their own.

A piece of own work waited where it began no more than a hand-over after other work ended, and later than the model's
pieces that found the unit free. The wait goes back to when the prediction was ready, and no further than the unit was
busy without a break.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pandas as pd

from tracekit.analysis.unit_timeline import UnitTimeline, calls_and_times, last_end_before
from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals, positions_between
from tracekit.trace.events import Attribution, Device, Kind, Lane
from tracekit.trace.frames import categorical, is_any, or_minus_one
from tracekit.trace.linking import top_predictions
from tracekit.trace.trace import Trace, cached_by_trace

HANDOVER_NS = 1_000_000
"""Longest time from the end of one work on a unit to the begin of the next that waited for it: three times the largest
in published recordings (heuristic)."""

FREE_PIECES = 20_000
"""So many pieces that found the unit free are enough to know the usual way to it."""

UNITS = {Device.ANE: Lane.NEURAL_ENGINE, Device.GPU: Lane.GPU}


class Behind(IntEnum):
    """Whose work a prediction waited for."""

    OWN = 0
    """Other predictions of its model."""
    MODELS = 1
    """Other models, and drawing, of its process."""
    PROCESSES = 2


@dataclass(frozen=True, slots=True, eq=False)
class UnitRows:
    """For whom one unit worked, by start: shape (rows,) each."""

    line: UnitTimeline
    call: IntArray
    """Label of the app's prediction that it is of; -1 where it is of none, or not known."""
    model: IntArray
    """Code in the models of `Trace.activity`; -1 for none of them."""
    foreign: BoolArray
    """Of another process."""
    held: Intervals
    """When, with the hand-over that follows."""

    def overlapping(self, windows: Intervals) -> IntArray:
        """Positions of the rows that were held in some of the windows. O(m log n) and what lies there."""
        first = np.searchsorted(np.maximum.accumulate(self.held.ends), windows.starts, side="right")
        after = np.maximum(np.searchsorted(self.held.starts, windows.ends), first)
        rows, window = positions_between(first, after), np.repeat(np.arange(len(windows)), after - first)
        return np.unique(rows[self.held.ends[rows] > windows.starts[window]])


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """Waits of predictions for one unit, by prediction: shape (waits,) each."""

    unit: Device
    call: IntArray
    """Label of the app's prediction in `Trace.activity`."""
    times: Intervals
    behind_ns: IntArray
    """Shape (waits, 3): the part of each `Behind`; they add up to the wait."""

    def of(self, predictions: IntArray) -> Intervals:
        """Those of some predictions, by label, ascending. O(m log n) and what these have."""
        first, after = (np.searchsorted(self.call, predictions, side) for side in ("left", "right"))
        return self.times.where(positions_between(first, after))


@cached_by_trace
def unit_rows(trace: Trace) -> dict[Device, UnitRows]:
    """What the Neural Engine and the GPU did. O(n)."""
    activity, hardware = trace.activity, trace.hardware
    owner = np.append(top_predictions(activity), -1)
    models = pd.Index(activity["model"].cat.categories)
    code_of_call = np.append(activity["model"].cat.codes.to_numpy().astype(np.int64), -1)
    named = categorical(hardware["model"])
    code = np.append(models.get_indexer(named.categories), -1)[named.codes]
    call = owner[or_minus_one(hardware["prediction"])]
    code = np.where(call >= 0, code_of_call[call], code)
    target = trace.run.target.process
    pid = or_minus_one(hardware["pid"])
    foreign = is_any(hardware["attribution"], Attribution.FOREIGN)
    nameless = is_any(hardware["attribution"], Attribution.UNATTRIBUTED) & (call < 0)
    own_process = (pid == target.pid) if target is not None else np.zeros(len(pid), np.bool_)
    foreign = (foreign | (nameless & ~own_process)) & (call < 0)
    found = {}
    for unit, lane in UNITS.items():
        rows = is_any(hardware["lane"], lane) & (hardware["duration_ns"].to_numpy() > 0)
        line = UnitTimeline.of(hardware, rows)
        found[unit] = UnitRows(line, call[rows], code[rows], foreign[rows], line.held(HANDOVER_NS))
    return found


@cached_by_trace
def all_waits(trace: Trace) -> tuple[Waits, ...]:
    """Waits for the Neural Engine and for the GPU; `trace` is one that `in_order` gave. O(n log n)."""
    return tuple(_waits(trace, unit, rows) for unit, rows in unit_rows(trace).items() if (rows.call >= 0).any())


def _waits(trace: Trace, unit: Device, rows: UnitRows) -> Waits:
    start, before, own = rows.line.times.starts, rows.line.reach_before, rows.call >= 0
    reaching = np.append(rows.call, -1)[rows.line.reaching]
    called = trace.activity["start_ns"].to_numpy()[np.where(own, rows.call, 0)]
    met = own & (before > called) & (reaching != rows.call) & (start - before <= HANDOVER_NS)
    if not met.any():
        return Waits(unit, rows.call[:0], Intervals.none(), np.zeros((0, len(Behind)), np.int64))
    free = np.flatnonzero(own & (before <= called))
    free = free[:: len(free) // FREE_PIECES + 1]
    queued = np.flatnonzero(met)
    pieces = np.concatenate((queued, free))
    ready = _ready(trace, rows, pieces, called[pieces])
    # The first piece of a prediction has a longer way to the unit than those that follow.
    first = ~pd.Index(rows.call).duplicated()
    kind = 2 * rows.model[pieces] + first[pieces]
    way = (start[pieces] - ready)[len(queued) :]
    usual = pd.Series(way).groupby(kind[len(queued) :]).median()
    low = ready[: len(queued)] + np.nan_to_num(usual.reindex(kind[: len(queued)]).to_numpy(np.float64)).astype(np.int64)
    low = np.maximum(low, rows.line.busy_since(HANDOVER_NS)[queued])
    waited = low < start[queued]
    queued, low = queued[waited], low[waited]
    order = np.argsort(rows.call[queued], kind="stable")
    queued, low = queued[order], low[order]
    times = Intervals(low, start[queued])
    return Waits(unit, rows.call[queued], times, _behind(rows, times, rows.model[queued]))


def _ready(trace: Trace, rows: UnitRows, pieces: IntArray, called: IntArray) -> IntArray:
    """Latest end of what the prediction of each piece did before it; its start where it did nothing."""
    owner = np.append(top_predictions(trace.activity), -1)
    did = []
    for frame in (trace.data, trace.compute, trace.hardware):
        executed = is_any(frame["kind"], Kind.ANE_EXEC, Kind.GPU_EXEC, Kind.CPU_COMPUTE)
        chosen = executed | is_any(frame["lane"], Lane.DATA)
        prediction, starts, ends = calls_and_times(frame, chosen)
        did.append((owner[prediction], starts, ends))
    begin = rows.line.times.starts[pieces]
    return np.minimum(last_end_before(did, rows.call[pieces], begin, called), begin)


def _behind(rows: UnitRows, windows: Intervals, model: IntArray) -> IntArray:
    """Whose work filled each wait, shape (waits, 3): of several at once the nearest."""
    own = np.zeros(len(windows), np.int64)
    order = np.argsort(rows.model, kind="stable")
    codes = rows.model[order]
    for code in np.unique(model):
        first, after = np.searchsorted(codes, [code, code + 1])
        chosen = model == code
        own[chosen] = rows.held.where(np.sort(order[first:after])).covered_within(windows.where(chosen))
    app = rows.held.where(~rows.foreign).covered_within(windows)
    return np.column_stack((own, app - own, windows.durations - app))
