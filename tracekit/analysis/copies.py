"""How much of a model's predictions goes into copying and converting inputs and outputs.

Only `Data Cast` says by its name that it converts. In a prediction with a cast of some size, copies for the Neural
Engine and the transformation of the outputs do so too: a public session (WWDC22 10027) shows both vanish together once
inputs and outputs are Float16. Without such a cast they may as well change the layout alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.intervals import Intervals
from tracekit.trace.events import COPY_KINDS, Attribution, Kind
from tracekit.trace.frames import categorical, is_any, or_minus_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.arrays import BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class DataRows:
    """Some rows of the Data lane, as far as they count here: shape (rows,) each. Arrays, since each step on a frame of
    few rows takes longer than all of the arithmetic."""

    label: IntArray
    """Index label in `Trace.data`."""
    start_ns: IntArray
    duration_ns: IntArray
    prediction: IntArray
    """Label of the prediction; -1 where there is no single one."""
    kind: pd.Categorical
    attribution: pd.Categorical

    @property
    def times(self) -> Intervals:
        """When each lasted."""
        return Intervals(self.start_ns, self.start_ns + self.duration_ns)

    def where(self, chosen: BoolArray) -> DataRows:
        """Some of the rows."""
        return DataRows(
            self.label[chosen],
            self.start_ns[chosen],
            self.duration_ns[chosen],
            self.prediction[chosen],
            self.kind[chosen],
            self.attribution[chosen],
        )


def data_rows(data: pd.DataFrame, kinds: Sequence[Kind]) -> DataRows:
    """The rows of these kinds in an event frame."""
    rows = DataRows(
        data.index.to_numpy(dtype=np.int64),
        data["start_ns"].to_numpy(),
        data["duration_ns"].to_numpy(),
        or_minus_one(data["prediction"]),
        categorical(data["kind"]),
        categorical(data["attribution"]),
    )
    return rows.where(is_any(rows.kind, *kinds))


@dataclass(frozen=True, slots=True)
class CopySummary:
    """Copies and conversions inside the predictions of one model."""

    predicted_ns: int
    """Summed duration of the predictions."""
    covered_ns: int
    """Time inside predictions that copy rows cover, overlaps counted once; a lower bound where rows lie in several
    overlapping predictions (`covered_inside`)."""
    share: float
    """`covered_ns / predicted_ns`; 0.0 where the predictions have no duration."""
    by_kind: dict[str, int]
    """Time covered by the rows of each kind alone, in ns, for the kinds of `COPY_KINDS` that occur. Kinds may overlap
    each other, so the values need not add up to `covered_ns`."""
    rows: IntArray
    """Index labels of the copy rows that were counted, in order of start."""
    large_rows: IntArray
    """Index labels of the input copies that stand out among the inputs of their call."""
    large_share: float
    """Share of `predicted_ns` that the outstanding input copies cover."""
    outside_count: int
    """Copy rows that lie in no prediction of the model and are not counted above."""
    outside_ns: int
    """Time that those rows cover."""


def summarize_copies(
    predictions: pd.DataFrame, data: pd.DataFrame, *, large_ratio: float, large_ns: int
) -> CopySummary:
    """Copies of one model. Both frames have the shared event columns; `data` links to the index of `predictions`.

    An input copy stands out when it takes at least `large_ns` and `large_ratio` times the median of the other input
    copies of the same prediction. O(n log n) in the rows of `data`.
    """
    rows = data_rows(data, COPY_KINDS)
    group = positions_of_predictions(predictions, rows)
    linked = group < len(predictions)
    ambiguous = is_any(rows.attribution, Attribution.AMBIGUOUS) & ~linked
    # Without predictions there is nothing that an ambiguous row could lie in.
    counted = linked | (ambiguous & (len(predictions) > 0))
    outside, copies, group = rows.where(~counted), rows.where(counted), group[counted]
    times = cut_to_predictions(predictions, copies, group)

    def covered(chosen: BoolArray) -> int:
        return covered_inside(predictions, group[chosen], times.where(chosen))

    predicted = int(predictions["duration_ns"].sum())
    total = covered(np.ones(len(group), dtype=bool))
    by_kind = {kind: is_any(copies.kind, kind) for kind in COPY_KINDS}
    large = _outstanding(copies, group, len(predictions), large_ratio, large_ns)
    return CopySummary(
        predicted_ns=predicted,
        covered_ns=total,
        share=total / predicted if predicted else 0.0,
        by_kind={str(kind): covered(chosen) for kind, chosen in by_kind.items() if chosen.any()},
        rows=copies.label,
        large_rows=copies.label[large],
        large_share=covered(large) / predicted if predicted else 0.0,
        outside_count=len(outside.label),
        outside_ns=outside.times.covered_ns,
    )


def positions_of_predictions(predictions: pd.DataFrame, copies: DataRows) -> IntArray:
    """Position of each copy's prediction; the number of predictions for copies that have no single one."""
    position = predictions.index.get_indexer(pd.Index(copies.prediction))
    return np.where(position >= 0, position, len(predictions)).astype(np.int64)


def cut_to_predictions(predictions: pd.DataFrame, copies: DataRows, group: IntArray) -> Intervals:
    """Times of the copies, cut to their prediction (or to the span of all where there is no single one); all without
    length where there is no prediction."""
    called = Intervals.from_rows(predictions)
    if not len(called):
        return Intervals(np.zeros(len(group), np.int64), np.zeros(len(group), np.int64))
    low = np.append(called.starts, called.starts.min())[group]
    high = np.append(called.ends, called.ends.max())[group]
    return copies.times.clipped(low, high)


def covered_inside(predictions: pd.DataFrame, group: IntArray, times: Intervals) -> int:
    """Time in ns of the predictions that rows cover, each cut to its prediction, overlaps inside one counted once.

    Never more than the summed duration of the predictions: a row of no single prediction (`group` is their number)
    counts once, and only while no other row covers any of them, since it may lie in the prediction that has that row.
    O(n log n).
    """
    linked = group < len(predictions)
    total = int(times.where(linked).covered_by_group(group[linked], len(predictions)).sum())
    if linked.all():
        return total
    called, rest = Intervals.from_rows(predictions), times.where(~linked).union()
    return total + int((called.covered_within(rest) - times.where(linked).covered_within(rest)).sum())


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


def _outstanding(copies: DataRows, group: IntArray, unlinked: int, ratio: float, min_ns: int) -> BoolArray:
    """Input copies at least `min_ns` long and `ratio` times the median of the others of their prediction."""
    durations = copies.duration_ns
    chosen = np.flatnonzero(is_any(copies.kind, Kind.INPUT_COPY) & (group != unlinked))
    order = chosen[np.lexsort((durations[chosen], group[chosen]))]
    owner, length = group[order], durations[order]
    first = np.searchsorted(owner, owner, side="left")
    size = np.searchsorted(owner, owner, side="right") - first
    rank = np.arange(len(order)) - first
    has_siblings = size >= 2

    def sibling(position: IntArray) -> IntArray:
        """Duration at a position among the others of the group, sorted, the row itself left out."""
        return length[np.where(has_siblings, first + position + (position >= rank), 0)]

    median = (sibling((size - 2) // 2) + sibling((size - 1) // 2)) / 2 if len(order) else np.zeros(0)
    stands_out = has_siblings & (length >= min_ns) & (length >= ratio * median)
    result = np.zeros(len(group), dtype=bool)
    result[order[stands_out]] = True
    return result
