"""How long predictions take, cold and warm apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.loads import first_after_load
from tracekit.analysis.quantities import latencies
from tracekit.analysis.statistics import duration_statistics

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
    """Statistics of the predictions that ended, `warm` as `warm_mask` returns it. O(n log n)."""
    starts, durations = predictions["start_ns"].to_numpy(), latencies(predictions)
    chosen = ((durations > 0) & kind for kind in (warm, ~warm))
    return Latency(*(duration_statistics(starts[rows], durations[rows]) for rows in chosen))
