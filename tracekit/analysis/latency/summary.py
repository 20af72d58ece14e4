"""How long predictions take: cold and warm apart, and how many a second a model could keep up with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.loads import first_after_load
from tracekit.analysis.statistics import row_statistics
from tracekit.intervals import Intervals

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.analysis.statistics import Statistics
    from tracekit.arrays import BoolArray


def warm_mask(activity: pd.DataFrame, predictions: pd.DataFrame) -> BoolArray:
    """Shape (predictions,): the prediction is not the first after a load of its model.

    `activity` holds the predictions and the loads of their models, by label: rows of `Trace.activity`, all or those of
    some models. What `first_after_load` does not mark counts as warm. O(n log n).
    """
    cold = first_after_load(activity)[activity.index.get_indexer(predictions.index)]
    return np.logical_not(cold)


@dataclass(frozen=True, slots=True)
class Latency:
    """Latencies of one model, cold and warm apart. None: there is none of that kind."""

    warm: Statistics | None
    cold: Statistics | None
    """The first prediction after each load."""


def summarize_latency(predictions: pd.DataFrame, warm: BoolArray) -> Latency:
    """Statistics of the predictions, `warm` as `warm_mask` returns it. O(n log n)."""
    return Latency(row_statistics(predictions[warm]), row_statistics(predictions[~warm]))


@dataclass(frozen=True, slots=True)
class FrameRate:
    """How many frames per second a model could support, one prediction per frame and one at a time."""

    at_mean: float
    """1 / mean warm latency."""
    at_p95: float | None
    """1 / 95th percentile: nineteen of twenty frames come in time. None below 20 predictions."""
    predictions: int
    """Warm predictions it is worked out from: those during which no other of the model was in flight."""


def frame_rate(predictions: pd.DataFrame, warm: BoolArray) -> FrameRate | None:
    """Frame rate that the latency of one model's predictions allows; None where none ran warm and alone. O(n log n).

    Predictions that overlap each other wait for one another, so their latency would say too little.
    """
    called = Intervals.from_rows(predictions)
    numbers = row_statistics(predictions[warm & called.alone() & (called.durations > 0)])
    if numbers is None:
        return None
    return FrameRate(
        at_mean=1e9 / numbers.mean_ns,
        at_p95=None if numbers.p95_ns is None else 1e9 / numbers.p95_ns,
        predictions=numbers.count,
    )
