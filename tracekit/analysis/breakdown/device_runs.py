"""How the work of predictions goes from one compute unit to another: runs of one unit, and hand-offs between them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.intervals import running_end
from tracekit.trace.events import Device

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, Int8Array, IntArray
    from tracekit.intervals import Intervals


UNITS = (Device.ANE, Device.GPU, Device.CPU)
"""The compute units, by number."""


@dataclass(frozen=True, slots=True, eq=False)
class Handoffs:
    """Changes of the compute unit within predictions, by prediction and time: shape (changes,) each."""

    window: IntArray
    """Index of the prediction, ascending."""
    source: Int8Array
    """Index in `UNITS` of the unit that worked before."""
    target: Int8Array
    """Index in `UNITS` of the one that worked then."""

    def of(self, predictions: IntArray) -> Handoffs:
        """Those of some predictions, by index, each named once; then with their indexes among these. O(n log n)."""
        chosen = np.flatnonzero(np.isin(self.window, predictions))
        order = np.argsort(predictions)
        window = order[np.searchsorted(predictions, self.window[chosen], sorter=order)]
        by_window = np.argsort(window, kind="stable")
        chosen = chosen[by_window]
        return Handoffs(window[by_window], self.source[chosen], self.target[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class DeviceRuns:
    """Parts of predictions in which one unit works without another one in between: shape (runs,) each, by prediction
    and time."""

    prediction: IntArray
    """A number for the prediction, as `device_runs` was given it."""
    unit: IntArray
    """Index in `UNITS`."""
    start_ns: IntArray
    end_ns: IntArray
    work_ns: IntArray
    """Sum of the durations of its rows."""

    def changes(self, predictions: pd.Index) -> IntArray:
        """How often the unit changes in each of the predictions, given by number."""
        index = predictions.get_indexer(pd.Index(self.prediction))
        count = np.bincount(index[index >= 0], minlength=len(predictions))
        return np.maximum(count - 1, 0).astype(np.int64)

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
        """The unit that works most; there is at least one run."""
        return UNITS[int(np.bincount(self.unit, weights=self.work_ns).argmax())]

    def usual_order(self) -> tuple[Device, ...]:
        """The order of units that most predictions have, the first of several; empty without runs. O(runs)."""
        if not len(self.unit):
            return ()
        orders = np.split(self.unit, np.flatnonzero(np.diff(self.prediction)) + 1)
        ((usual, _),) = Counter(tuple(order.tolist()) for order in orders).most_common(1)
        return tuple(UNITS[number] for number in usual)

    def interruptions(self) -> tuple[IntArray, IntArray, IntArray]:
        """Prediction, start and end of the times between two runs of the main unit, in which others had theirs."""
        main = np.flatnonzero(self.unit == UNITS.index(self.main_unit))
        same = self.prediction[main[1:]] == self.prediction[main[:-1]]
        before, after = main[:-1][same], main[1:][same]
        starts, ends = self.end_ns[before], self.start_ns[after]
        lasting = ends > starts
        return self.prediction[before][lasting], starts[lasting], ends[lasting]


def device_runs(prediction: IntArray, unit: IntArray, executes: BoolArray, times: Intervals) -> DeviceRuns:
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
