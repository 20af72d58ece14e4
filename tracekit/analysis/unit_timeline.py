"""What a compute unit did, one row after the other, and until when predictions had other things to do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals, running_end
from tracekit.trace.events import Kind, Lane
from tracekit.trace.frames import is_any, or_minus_one
from tracekit.trace.linking import top_predictions
from tracekit.trace.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class UnitTimeline:
    """Execution of a unit for anybody, by start: shape (rows,) each."""

    label: IntArray
    """In `Trace.hardware`."""
    times: Intervals
    reach_before: IntArray
    """Latest end of the rows before; for the first a time before all."""
    reaching: IntArray
    """Place of the row with that end; -1 for the first."""

    @classmethod
    def of(cls, hardware: pd.DataFrame, chosen: BoolArray) -> UnitTimeline:
        """That of the chosen rows of `Trace.hardware`. O(rows)."""
        times = Intervals.from_rows(hardware).where(chosen)
        reach = np.maximum.accumulate(times.ends)
        last = np.maximum.accumulate(np.where(times.ends == reach, np.arange(len(times)), 0))
        before = np.concatenate(([np.iinfo(np.int64).min // 2], reach))[: len(times)]
        return cls(hardware.index.to_numpy()[chosen], times, before, np.concatenate(([-1], last))[: len(times)])

    def busy_since(self, handover_ns: int) -> IntArray:
        """Shape (rows,): since when the unit has been busy without a break longer than this. O(rows)."""
        opens = self.times.starts > self.reach_before + handover_ns
        return self.times.starts[np.maximum.accumulate(np.where(opens, np.arange(len(opens)), 0))]

    def held(self, handover_ns: int) -> Intervals:
        """The rows, each with the hand-over that follows it: until the next one begins, where that is soon. O(rows)."""
        starts, ends = self.times.starts, self.times.ends.copy()
        follows = (starts > self.reach_before) & (starts <= self.reach_before + handover_ns)
        ends[self.reaching[follows]] = starts[follows]
        return Intervals(starts, ends)


def ready_for(trace: Trace, prediction: IntArray, begin: IntArray, called: IntArray) -> IntArray:
    """When the prediction of each piece of work, given by its label, begin, and start of the prediction, was ready for
    it: the latest end of what it did before; its start where it did nothing, the begin where it went on. O(n log n)."""
    owner = np.append(top_predictions(trace.activity), -1)
    did = []
    for frame in (trace.data, trace.compute, trace.hardware):
        executed = is_any(frame["kind"], Kind.ANE_EXEC, Kind.GPU_EXEC, Kind.CPU_COMPUTE)
        chosen = executed | is_any(frame["lane"], Lane.DATA)
        times = Intervals.from_rows(frame).where(chosen)
        did.append((owner[or_minus_one(frame["prediction"])[chosen]], times.starts, times.ends))
    of_row, row_start, row_end = (np.concatenate(part) for part in zip(*did, strict=True))
    ours = np.isin(of_row, prediction)
    group, time = np.concatenate((prediction, of_row[ours])), np.concatenate((begin, row_start[ours]))
    end = np.concatenate((called, row_end[ours]))
    is_row = np.arange(len(group)) >= len(prediction)
    order = np.lexsort((is_row, time, group))
    latest = np.empty_like(end)
    latest[order] = running_end(group[order], end[order])
    ready: IntArray = np.minimum(latest[: len(prediction)], begin)
    return ready
