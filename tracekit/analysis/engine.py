"""Who has the Neural Engine when: the rows that are surely a model's own, and the time that its predictions wait.

The engine takes one request after the other. A prediction waits where its work begins just when work of others ends;
where both run at once, nobody waited. Overlap alone is harmless: two processes had twice the throughput of one in a
public measurement (apple/coremltools#1356).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from tracekit.intervals import depth_profile, integrate, running_end, union
from tracekit.trace.events import Kind
from tracekit.trace.frames import is_any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tracekit.trace.model import Trace

    IntArray = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]

HANDOVER_NS = 100_000
"""Between two requests that follow each other at once the engine idles no longer (our judgement; between two calls of
one model public evidence has 0.11 to 0.18 ms, in which the app asks for the next)."""


def own_engine_rows(hardware: pd.DataFrame) -> pd.DataFrame:
    """Execution rows of the Neural Engine among a model's hardware rows, with the columns of times, `model`,
    `prediction` and `attribution`: all with names, or all linked by time alone (`tracekit.trace.attribution`)."""
    return hardware.loc[is_any(hardware["kind"], Kind.ANE_EXEC), list(_COLUMNS)]


_COLUMNS = ("start_ns", "duration_ns", "model", "prediction", "attribution")
"""Copying all columns of many rows would take longer than everything else here."""


@dataclass(frozen=True, slots=True, eq=False)
class EngineWaits:
    """Times in which predictions of a model waited for the Neural Engine: shape (waits,) each."""

    prediction: IntArray
    """Label in `Trace.activity`."""
    start_ns: IntArray
    end_ns: IntArray
    """When its own work began."""
    own_model_ns: IntArray
    """The part in which the engine worked for other predictions of the same model."""

    @property
    def length_ns(self) -> IntArray:
        """How long each took."""
        return self.end_ns - self.start_ns

    @property
    def others_ns(self) -> IntArray:
        """The part in which the engine worked for anybody else."""
        return self.length_ns - self.own_model_ns

    def by_prediction(self, predictions: pd.Index, values_ns: IntArray) -> IntArray:
        """Times of the waits, shape (waits,), added up for each of the predictions, given by label."""
        total = np.zeros(len(predictions), np.int64)
        np.add.at(total, predictions.get_indexer(pd.Index(self.prediction)), values_ns)
        return total


def engine_waits(
    trace: Trace, predictions: pd.DataFrame, data: pd.DataFrame, compute: pd.DataFrame, hardware: pd.DataFrame
) -> EngineWaits:
    """Waits of one model's predictions; the other frames are its rows, linked to them.

    A wait ends where work of the prediction begins on the engine, within `HANDOVER_NS` of the end of other work. It
    goes back to the last thing that the prediction did itself, and no further than the engine was busy without a break.
    O(n log n) in the engine's rows and those of the predictions that waited.
    """
    line = _timeline(trace)
    executed = is_any(hardware["kind"], Kind.ANE_EXEC)
    label = hardware.index.to_numpy()[executed]
    linked, begin, end = _calls_and_times(hardware, executed)
    place = line.label.searchsorted(label)
    queued = (np.abs(line.reach_before[place] - begin) <= HANDOVER_NS) & (linked >= 0)
    if not queued.any():
        return EngineWaits(*(np.zeros(0, np.int64) for _ in range(4)))
    start, called, place = begin[queued], linked[queued], place[queued]
    did = [
        _calls_and_times(data, np.ones(len(data), np.bool_)),
        _calls_and_times(compute, ~is_any(compute["kind"], Kind.ANE_REQUEST)),
        _calls_and_times(hardware, executed | is_any(hardware["kind"], Kind.GPU_EXEC)),
    ]
    began = predictions["start_ns"].to_numpy()[predictions.index.get_indexer(pd.Index(called))]
    low = np.maximum(_last_end_before(did, called, start, began), line.opened[place])
    waited = low < start
    low, start = low[waited], start[waited]
    profile = depth_profile(*union(begin, end))
    return EngineWaits(called[waited], low, start, integrate(*profile, low, start))


def _calls_and_times(rows: pd.DataFrame, chosen: Mask) -> tuple[IntArray, IntArray, IntArray]:
    """Prediction (-1 for none), start and end of the chosen rows."""
    start = rows["start_ns"].to_numpy()[chosen]
    called = rows["prediction"].to_numpy(dtype=np.int64, na_value=-1)[chosen]
    return called, start, start + rows["duration_ns"].to_numpy()[chosen]


def _last_end_before(
    rows: Sequence[tuple[IntArray, IntArray, IntArray]], called: IntArray, start: IntArray, began: IntArray
) -> IntArray:
    """For each piece of work, given by prediction, start, and start of the prediction: the latest end of the rows of
    that prediction that started before it."""
    count = len(called)
    owner, row_start, row_end = (np.concatenate(part) for part in zip(*rows, strict=True))
    ours = np.isin(owner, called)
    group = np.concatenate((called, owner[ours]))
    time = np.concatenate((start, row_start[ours]))
    end = np.concatenate((began, row_end[ours]))
    is_row = np.arange(len(group)) >= count
    order = np.lexsort((is_row, time, group))
    latest = np.empty_like(end)
    latest[order] = running_end(np.unique(group[order], return_inverse=True)[1], end[order])
    return latest[:count]


@dataclass(frozen=True, slots=True, eq=False)
class _Timeline:
    """Execution of the engine for anybody, by start: shape (rows,) each."""

    label: IntArray
    reach_before: IntArray
    """Latest end of the rows before."""
    opened: IntArray
    """Since when the engine has been busy without a break."""


_TIMELINES: WeakKeyDictionary[Trace, _Timeline] = WeakKeyDictionary()


def _timeline(trace: Trace) -> _Timeline:
    if trace not in _TIMELINES:
        executed = is_any(trace.hardware["kind"], Kind.ANE_EXEC)
        rows = trace.hardware.loc[executed, ["start_ns", "duration_ns"]]
        start = rows["start_ns"].to_numpy()
        reach = np.maximum.accumulate(start + rows["duration_ns"].to_numpy())
        before = np.concatenate(([-HANDOVER_NS - 1], reach))[: len(start)]
        opens = start > before + HANDOVER_NS
        opened = start[np.maximum.accumulate(np.where(opens, np.arange(len(start)), 0))]
        _TIMELINES[trace] = _Timeline(rows.index.to_numpy(), before, opened)
    return _TIMELINES[trace]
