"""How much of a model's predictions goes into converting inputs and outputs to another type.

Only `Data Cast` says by its name that it converts. In a prediction with a cast of some size, copies for the Neural
Engine and the transformation of the outputs do so too: a public session (WWDC22 10027) shows both vanish together once
inputs and outputs are Float16. Without such a cast they may as well change the layout alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.copies import covered_inside, cut_to_predictions, data_rows, positions_of_predictions
from tracekit.trace.events import Attribution, Kind
from tracekit.trace.frames import is_any

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import BoolArray, IntArray

CONVERSION_KINDS = (Kind.DATA_CAST, Kind.ANE_DATA_COPY, Kind.OUTPUT_TRANSFORMATION)
"""Kinds that convert, or may."""


@dataclass(frozen=True, slots=True)
class ConversionSummary:
    """Conversions inside the predictions of one model."""

    predicted_ns: int
    """Summed duration of the predictions."""
    covered_ns: int
    """Time that rows of `CONVERSION_KINDS` cover in predictions with a cast of some size, as `covered_inside` counts
    it."""
    share: float
    """`covered_ns / predicted_ns`; 0.0 where the predictions have no duration."""
    cast_ns: int
    """Time that `Data Cast` rows alone cover there."""
    converting: int
    """Predictions with a cast of some size."""
    rows: IntArray
    """Index labels of the rows that were counted, in order of start."""
    unclear_ns: int
    """Time that the other rows of `CONVERSION_KINDS` cover: nothing shows whether they convert, or whose they are."""


def summarize_conversions(predictions: pd.DataFrame, data: pd.DataFrame, *, min_ns: int) -> ConversionSummary:
    """Conversions of one model; `data` links to the index of `predictions`. A cast counts from `min_ns` on.

    Rows of overlapping predictions that lie in no single one count together: in any of them, a cast of some size makes
    all of them conversions. O(n log n) in the rows of `data`.
    """
    rows = data_rows(data, CONVERSION_KINDS)
    group = positions_of_predictions(predictions, rows)
    ambiguous = is_any(rows.attribution, Attribution.AMBIGUOUS) & (len(predictions) > 0)
    unlinked = (group == len(predictions)) & ~ambiguous
    is_cast = is_any(rows.kind, Kind.DATA_CAST)
    long = is_cast & (rows.duration_ns >= min_ns) & ~unlinked
    converting = np.unique(group[long])
    counted = np.isin(group, converting) & ~unlinked
    times = cut_to_predictions(predictions, rows, group)

    def covered(chosen: BoolArray) -> int:
        return covered_inside(predictions, group[chosen], times.where(chosen))

    predicted, total = int(predictions["duration_ns"].sum()), covered(counted)
    return ConversionSummary(
        predicted_ns=predicted,
        covered_ns=total,
        share=total / predicted if predicted else 0.0,
        cast_ns=covered(counted & is_cast),
        converting=int((converting < len(predictions)).sum()),
        rows=rows.label[counted],
        unclear_ns=rows.where(~counted).times.covered_ns,
    )
