"""How the work of a prediction is cut: turns of the compute units, and pieces of one unit with gaps between them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.intervals import Intervals, running_end
from tracekit.trace.events import Device, Kind
from tracekit.trace.frames import is_any

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, IntArray


_UNITS = (Device.ANE, Device.GPU, Device.CPU)
SHORT_CPU_NS = 100_000
"""Shorter `CPU` rows come with a request to the GPU; a public recording has 28 µs for each."""

_EXECUTION = (Kind.ANE_EXEC, Kind.GPU_EXEC)


@dataclass(frozen=True, slots=True, eq=False)
class DeviceRuns:
    """Stretches of predictions in which one unit works without another one in between: shape (turns,) each, by
    prediction and time."""

    prediction: IntArray
    """Label in `Trace.activity`."""
    unit: IntArray
    """Place in Neural Engine, GPU, CPU."""
    start_ns: IntArray
    end_ns: IntArray
    work_ns: IntArray
    """Sum of the durations of its rows."""

    def changes(self, predictions: pd.Index) -> IntArray:
        """How often the unit changes in each of the predictions, given by label."""
        place = predictions.get_indexer(pd.Index(self.prediction))
        count = np.bincount(place[place >= 0], minlength=len(predictions))
        return np.maximum(count - 1, 0).astype(np.int64)

    @property
    def main_unit(self) -> Device:
        """The unit that works most; there is at least one turn."""
        return _UNITS[int(np.bincount(self.unit, weights=self.work_ns).argmax())]

    def usual_course(self) -> tuple[Device, ...]:
        """The order of units that most predictions have, the first of several; empty without turns. O(turns)."""
        if not len(self.unit):
            return ()
        courses = np.split(self.unit, np.flatnonzero(np.diff(self.prediction)) + 1)
        ((usual, _),) = Counter(tuple(course.tolist()) for course in courses).most_common(1)
        return tuple(_UNITS[number] for number in usual)

    def interruptions(self) -> tuple[IntArray, IntArray, IntArray]:
        """Prediction, start and end of the times between two turns of the main unit, in which others had theirs."""
        main = np.flatnonzero(self.unit == _UNITS.index(self.main_unit))
        same = self.prediction[main[1:]] == self.prediction[main[:-1]]
        before, after = main[:-1][same], main[1:][same]
        starts, ends = self.end_ns[before], self.start_ns[after]
        lasting = ends > starts
        return self.prediction[before][lasting], starts[lasting], ends[lasting]


def turns(compute: pd.DataFrame, hardware: pd.DataFrame, predictions: pd.Index, min_cpu_ns: int) -> DeviceRuns:
    """Turns of the compute units in some predictions, from the rows of their model.

    A unit works while it executes; where no execution of it was recorded in a prediction, its requests stand for it,
    without their preparation. `CPU` rows shorter than `min_cpu_ns` count for nothing. O(n log n).
    """
    executed = _linked(hardware[is_any(hardware["kind"], *_EXECUTION)], predictions)
    asked = _linked(compute[~is_any(compute["kind"], Kind.GPU_PREPARE)], predictions)
    asked = asked[(asked["device"].notna()).to_numpy()]
    short = is_any(asked["device"], Device.CPU) & (asked["duration_ns"].to_numpy() < min_cpu_ns)
    asked = asked[~short & ~_has_execution(asked, executed)]
    rows = pd.concat([executed, asked])
    prediction = rows["prediction"].to_numpy(dtype=np.int64)
    start = rows["start_ns"].to_numpy()
    length = rows["duration_ns"].to_numpy()
    unit = rows["device"].astype("object").map({device: number for number, device in enumerate(_UNITS)})
    order = np.lexsort((-length, start, prediction))
    prediction, start, length = prediction[order], start[order], length[order]
    number = np.asarray(unit, np.int64)[order]
    opens = np.flatnonzero((np.diff(prediction, prepend=-1) != 0) | (np.diff(number, prepend=-1) != 0))
    if not len(opens):
        return DeviceRuns(*(np.zeros(0, np.int64) for _ in range(5)))
    return DeviceRuns(
        prediction[opens],
        number[opens],
        start[opens],
        np.maximum.reduceat(start + length, opens),
        np.add.reduceat(length, opens),
    )


def _linked(rows: pd.DataFrame, predictions: pd.Index) -> pd.DataFrame:
    return rows[rows["prediction"].isin(predictions).to_numpy(dtype=bool)]


def _has_execution(asked: pd.DataFrame, executed: pd.DataFrame) -> BoolArray:
    """Whether the unit that a row asks has execution rows in the same prediction."""
    result = np.zeros(len(asked), np.bool_)
    for device in (Device.ANE, Device.GPU):
        ran = executed.loc[is_any(executed["device"], device), "prediction"]
        asks = is_any(asked["device"], device)
        result[asks] = asked["prediction"].isin(ran.unique()).to_numpy(dtype=bool)[asks]
    return result


@dataclass(frozen=True, slots=True, eq=False)
class WorkGaps:
    """Times between two pieces of a model's work in one prediction: shape (gaps,) each."""

    prediction: IntArray
    """Label in `Trace.activity`."""
    start_ns: IntArray
    end_ns: IntArray
    """Not before the start: pieces that overlap or touch have a gap without length."""

    def idle_ns(self, busy_starts: IntArray, busy_ends: IntArray) -> IntArray:
        """The part of each gap that none of these intervals covers. O((gaps + m) log m)."""
        return Intervals(busy_starts, busy_ends).covered_time().free_within(self.start_ns, self.end_ns)


def gaps_between(pieces: pd.DataFrame) -> WorkGaps:
    """Gaps between the rows of one unit that belong to the same model (or stage) and prediction. O(n log n)."""
    pieces = pieces[pieces["prediction"].notna().to_numpy()]
    prediction = pieces["prediction"].to_numpy(dtype=np.int64)
    model = pieces["model"].cat.codes.to_numpy()
    start = pieces["start_ns"].to_numpy()
    order = np.lexsort((start, model, prediction))
    prediction, model, start = prediction[order], model[order], start[order]
    end = start + pieces["duration_ns"].to_numpy()[order]
    new = (np.diff(prediction, prepend=-1) != 0) | (np.diff(model, prepend=-2) != 0)
    reach = running_end(np.cumsum(new), end)
    inner = np.flatnonzero(~new)
    return WorkGaps(prediction[inner], np.minimum(reach[inner - 1], start[inner]), start[inner])
