"""What a compute unit did, one row after the other, and until when predictions had other things to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals, running_end
from tracekit.trace.frames import or_minus_one


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


def calls_and_times(rows: pd.DataFrame, chosen: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
    """Prediction (-1 for none), start and end of the chosen rows."""
    times = Intervals.from_rows(rows).where(chosen)
    return or_minus_one(rows["prediction"])[chosen], times.starts, times.ends


def last_end_before(
    rows: Sequence[tuple[IntArray, IntArray, IntArray]], prediction: IntArray, start: IntArray, began: IntArray
) -> IntArray:
    """For each piece of work, given by prediction, start, and start of the prediction: the latest end of the rows of
    that prediction that started before it. O(n log n)."""
    count = len(prediction)
    owner, row_start, row_end = (np.concatenate(part) for part in zip(*rows, strict=True))
    ours = np.isin(owner, prediction)
    group = np.concatenate((prediction, owner[ours]))
    time = np.concatenate((start, row_start[ours]))
    end = np.concatenate((began, row_end[ours]))
    is_row = np.arange(len(group)) >= count
    order = np.lexsort((is_row, time, group))
    latest = np.empty_like(end)
    latest[order] = running_end(np.unique(group[order], return_inverse=True)[1], end[order])
    return latest[:count]
