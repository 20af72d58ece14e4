"""How the work of a prediction is cut: runs of the compute units, and pieces of one unit with gaps between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown import UNITS, device_runs
from tracekit.intervals import Intervals, running_end
from tracekit.trace.events import Device, Kind
from tracekit.trace.frames import is_any, rows_where

if TYPE_CHECKING:
    from tracekit.analysis.breakdown import DeviceRuns
    from tracekit.arrays import IntArray


SHORT_CPU_NS = 100_000
"""Shorter `CPU` rows come with a request to the GPU; a public recording has 28 µs for each."""

_EXECUTION = (Kind.ANE_EXEC, Kind.GPU_EXEC)


def device_runs_of(compute: pd.DataFrame, hardware: pd.DataFrame, predictions: pd.Index, min_cpu_ns: int) -> DeviceRuns:
    """Runs of the compute units in some predictions, given by label, from the rows of their model.

    Preparation of requests and `CPU` rows shorter than `min_cpu_ns` count for nothing. O(n log n).
    """
    executed = _linked(hardware[is_any(hardware["kind"], *_EXECUTION)], predictions)
    requests = _linked(compute[~is_any(compute["kind"], Kind.GPU_PREPARE)], predictions)
    short = is_any(requests["device"], Device.CPU) & (requests["duration_ns"].to_numpy() < min_cpu_ns)
    rows = pd.concat([executed, requests[requests["device"].notna().to_numpy() & ~short]])
    unit = rows["device"].astype("object").map({device: number for number, device in enumerate(UNITS)})
    prediction = rows["prediction"].to_numpy(dtype=np.int64)
    executes = np.arange(len(rows)) < len(executed)
    return device_runs(prediction, np.asarray(unit, np.int64), executes, Intervals.from_rows(rows))


def _linked(rows: pd.DataFrame, predictions: pd.Index) -> pd.DataFrame:
    return rows[rows["prediction"].isin(predictions).to_numpy(dtype=bool)]


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
    pieces = rows_where(pieces, pieces["prediction"].notna().to_numpy())
    prediction = pieces["prediction"].to_numpy(dtype=np.int64)
    model = pieces["model"].cat.codes.to_numpy()
    times = Intervals.from_rows(pieces)
    order = np.lexsort((times.starts, model, prediction))
    prediction, model, times = prediction[order], model[order], times.where(order)
    new = (np.diff(prediction, prepend=-1) != 0) | (np.diff(model, prepend=-2) != 0)
    reach = running_end(np.cumsum(new), times.ends)
    inner = np.flatnonzero(~new)
    start = times.starts[inner]
    return WorkGaps(prediction[inner], np.minimum(reach[inner - 1], start), start)
