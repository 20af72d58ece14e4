"""The rows of a trace that lie in a prediction of the app, in the layers that a breakdown tells apart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from tracekit.intervals import clip
from tracekit.trace.events import Attribution, Device, Kind
from tracekit.trace.pipelines import top_predictions

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from tracekit.trace.model import Trace

    IntArray = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]


class Layer(IntEnum):
    """What a row shows; where several cover an instant, the first one has it."""

    ANE = 0
    GPU = 1
    DATA = 2
    CPU = 3
    ANE_REQUEST = 4
    GPU_REQUEST = 5
    OTHER = 6


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows with length inside a prediction, cut to it: shape (rows,) each."""

    window: IntArray
    """Place of the prediction."""
    layer: IntArray
    start_ns: IntArray
    end_ns: IntArray
    preparation: Mask
    """`Prepare GPU Request`: host work before a request."""
    model: IntArray
    """A number for the model that the row names."""
    operation: IntArray
    """`Op<N>` of a hardware row; -1 where it names none."""


def linked_rows(trace: Trace, predictions: pd.DataFrame) -> tuple[Rows, tuple[IntArray, IntArray]]:
    """The rows that lie in exactly one of the predictions, and starts and ends of those that lie in several.

    `predictions` are top-level rows of `Trace.activity`. O(n log n).
    """
    finder = _Finder(trace.activity, predictions)
    for frame in (trace.data, trace.compute, trace.other, trace.hardware):
        finder.add(frame, _layers(frame))
    return finder.rows(), finder.ambiguous()


def _layers(frame: pd.DataFrame) -> IntArray:
    """Layer of each row; -1 for rows that are no part of a prediction: hardware loads, compilations and dispatches."""
    lane = _layer_by(frame["lane"], _BY_LANE, -1)
    compute = (frame["lane"] == "compute").to_numpy(dtype=bool)
    by_device = _layer_by(frame["device"], _BY_DEVICE, Layer.OTHER)
    executed = frame["kind"].isin((Kind.ANE_EXEC, Kind.GPU_EXEC)).to_numpy(dtype=bool)
    hardware = (lane == Layer.ANE) | (lane == Layer.GPU)
    return np.where(compute, by_device, np.where(hardware & ~executed, -1, lane))


def _layer_by(column: pd.Series, layers: dict[str, int], other: int) -> IntArray:
    """Layer that stands for the value of each row; `other` for null and for values without one."""
    values = column.astype("category").cat
    by_code = np.array([*(layers.get(str(value), other) for value in values.categories), other], np.int64)
    return by_code[values.codes.to_numpy()]


_BY_LANE: dict[str, int] = {
    "neural engine": Layer.ANE,
    "gpu": Layer.GPU,
    "data": Layer.DATA,
    "compute": Layer.OTHER,
    "unknown": Layer.OTHER,
}
_BY_DEVICE: dict[str, int] = {
    Device.CPU: Layer.CPU,
    Device.ANE: Layer.ANE_REQUEST,
    Device.GPU: Layer.GPU_REQUEST,
}


def model_codes(frame: pd.DataFrame) -> IntArray:
    """A number for the model of each row; -1 for rows that name none."""
    return frame["model"].cat.codes.to_numpy().astype(np.int64)


def _operations(frame: pd.DataFrame) -> IntArray:
    """Operation of each row; -1 for rows that name none."""
    if "operation" not in frame:
        return np.full(len(frame), -1, np.int64)
    return frame["operation"].fillna(-1).to_numpy(dtype=np.int64)


class _Finder:
    """Collects rows of several frames by the prediction of the app that they lie in."""

    def __init__(self, activity: pd.DataFrame, predictions: pd.DataFrame) -> None:
        starts = predictions["start_ns"].to_numpy()
        self._low, self._high = starts, starts + predictions["duration_ns"].to_numpy()
        place = np.full(len(activity) + 1, -1, np.int64)
        place[predictions.index.to_numpy()] = np.arange(len(predictions))
        owner = top_predictions(activity)
        self._place = np.append(place[owner], -1)
        """Place of the app's prediction for each row of the activity; -1 for none, and for label -1."""
        self._lost = np.append((activity["attribution"] == Attribution.AMBIGUOUS).to_numpy(dtype=bool)[owner], False)
        self._found: list[tuple[npt.NDArray[Any], ...]] = []
        self._ambiguous: list[tuple[IntArray, IntArray]] = []

    def add(self, frame: pd.DataFrame, layer: IntArray) -> None:
        """Take in the rows of one frame."""
        linked = frame["prediction"].fillna(-1).to_numpy(dtype=np.int64)
        window = self._place[linked]
        starts = frame["start_ns"].to_numpy()
        ends = starts + frame["duration_ns"].to_numpy()
        several = (frame["attribution"] == Attribution.AMBIGUOUS).to_numpy(dtype=bool) | self._lost[linked]
        shared = np.flatnonzero(several & (window < 0) & (layer >= 0))
        self._ambiguous.append((starts[shared], ends[shared]))
        inside = np.flatnonzero((window >= 0) & (layer >= 0))
        window = window[inside]
        starts, ends = clip(starts[inside], ends[inside], self._low[window], self._high[window])
        has_length = ends > starts
        inside = inside[has_length]
        self._found.append(
            (
                window[has_length],
                layer[inside],
                starts[has_length],
                ends[has_length],
                (frame["kind"] == Kind.GPU_PREPARE).to_numpy(dtype=bool)[inside],
                model_codes(frame)[inside],
                _operations(frame)[inside],
            )
        )

    def rows(self) -> Rows:
        """Rows of all frames."""
        return Rows(*(np.concatenate(part) for part in zip(*self._found, strict=True)))

    def ambiguous(self) -> tuple[IntArray, IntArray]:
        """Starts and ends of the rows that lie in several predictions."""
        starts, ends = zip(*self._ambiguous, strict=True)
        return np.concatenate(starts), np.concatenate(ends)
