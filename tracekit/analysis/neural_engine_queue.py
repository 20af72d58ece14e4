"""Who has the Neural Engine when: the rows that are surely a model's own, and the time that its predictions wait for
others, beyond doubt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tracekit.analysis.queues import all_waits, unit_rows
from tracekit.analysis.statistics import sums_by_label
from tracekit.arrays import IntArray
from tracekit.intervals import Intervals
from tracekit.trace.events import Attribution, Device, Kind
from tracekit.trace.frames import is_any, rows_where
from tracekit.trace.trace import Trace


def engine_executions(hardware: pd.DataFrame) -> pd.DataFrame:
    """Execution rows of the Neural Engine among a model's hardware rows, with the columns of times, `model`,
    `prediction` and `attribution`: all with names, or all linked by time alone (`tracekit.trace.attribution`)."""
    return rows_where(hardware[list(_COLUMNS)], is_any(hardware["kind"], Kind.ANE_EXEC))


NAMED = (Attribution.LABEL, Attribution.EXACT)
"""Where the row itself names its model."""

_COLUMNS = ("start_ns", "duration_ns", "model", "prediction", "attribution")
"""Copying all columns of many rows would take longer than everything else here."""


@dataclass(frozen=True, slots=True, eq=False)
class EngineWaits:
    """Times in which predictions of a model waited for the Neural Engine, not by chance: shape (waits,) each."""

    prediction: IntArray
    """Label in `Trace.activity`."""
    times: Intervals
    """Each ends when the prediction's own work began."""
    others_ns: IntArray
    """The part in which the engine worked for others alone, as their rows show, with the hand-overs that follow
    these."""

    def by_prediction(self, predictions: pd.Index, values_ns: IntArray) -> IntArray:
        """Times of the waits, shape (waits,), added up for each of the predictions, given by label."""
        return sums_by_label(predictions, self.prediction, values_ns)


def engine_waits(trace: Trace, predictions: pd.DataFrame, hardware: pd.DataFrame) -> EngineWaits:
    """Waits of one model's predictions; `hardware` are its rows. O(n log n) in the rows of the engine."""
    waits, rows = all_waits(trace).get(Device.ANE), unit_rows(trace)[Device.ANE]
    if waits is None:
        return EngineWaits(np.zeros(0, np.int64), Intervals.none(), np.zeros(0, np.int64))
    ours = waits.surely & np.isin(waits.call, predictions.index.to_numpy())
    times = waits.times.where(ours)
    own = rows.held.where(np.isin(rows.line.label, _may_be_own(trace, hardware)))
    return EngineWaits(waits.call[ours], times, rows.held.covered_within(times) - own.covered_within(times))


def _may_be_own(trace: Trace, hardware: pd.DataFrame) -> IntArray:
    """Labels of the rows that are of the model, given its own, or that may be: those of several predictions, unless its
    own bear its name."""
    executed = is_any(hardware["kind"], Kind.ANE_EXEC)
    own = hardware.index.to_numpy()[executed]
    if is_any(hardware["attribution"], *NAMED)[executed].any():
        return own
    return np.append(own, trace.hardware.index.to_numpy()[is_any(trace.hardware["attribution"], Attribution.AMBIGUOUS)])
