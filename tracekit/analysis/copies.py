"""How much of a model's predictions goes into copying and converting inputs and outputs.

Only `Data Cast` says by its name that it converts. In a prediction with a cast of some size, copies for the Neural
Engine and the transformation of the outputs do so too: a public session (WWDC22 10027) shows both vanish together once
inputs and outputs are Float16. Without such a cast they may as well change the layout alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Texts
from tracekit.intervals import Intervals
from tracekit.rows import places_of
from tracekit.trace.events import COPY_KINDS, Attribution, Calls, Events, Kind


@dataclass(frozen=True, slots=True, eq=False)
class DataRows:
    """Some rows of the Data lane beside the predictions of one model: shape (rows,) each."""

    called: Intervals
    """When the predictions ran: shape (predictions,)."""
    id: IntArray
    """Row of `Trace.data`."""
    times: Intervals
    position: IntArray
    """Position of the row's prediction; the number of predictions for rows that have no single one."""
    kind: Texts
    attribution: Texts

    def where(self, chosen: BoolArray) -> DataRows:
        """Some of the rows."""
        index = np.flatnonzero(chosen)
        return replace(
            self,
            id=self.id[index],
            times=self.times.where(index),
            position=self.position[index],
            kind=self.kind.take(index),
            attribution=self.attribution.take(index),
        )

    @property
    def is_linked(self) -> BoolArray:
        """Shape (rows,): the row has one prediction."""
        return self.position < len(self.called)

    @property
    def times_inside(self) -> Intervals:
        """Times of the rows, cut to their prediction (or to the span of all where there is no single one); all without
        length where there is no prediction."""
        if not len(self.called):
            return Intervals(np.zeros(len(self.id), np.int64), np.zeros(len(self.id), np.int64))
        low = np.append(self.called.starts, self.called.starts.min())[self.position]
        high = np.append(self.called.ends, self.called.ends.max())[self.position]
        return self.times.clipped(low, high)

    @property
    def covered_ns(self) -> int:
        """Time in ns of the predictions that the rows cover, each cut to its prediction, overlaps counted once.

        Never more than the summed duration of the predictions: a row of no single prediction counts once, and only
        while no other row covers any of them, since it may lie in the prediction that has that row. O(n log n).
        """
        times, linked = self.times_inside, self.is_linked
        total = int(times.where(linked).covered_by_group(self.position[linked], len(self.called)).sum())
        if linked.all():
            return total
        rest = times.where(~linked).union()
        within = self.called.covered_within
        return total + int((within(rest) - times.where(linked).covered_within(rest)).sum())


def data_rows(predictions: Calls, data: Events, kinds: Sequence[Kind]) -> DataRows:
    """The rows of these kinds; `data` links to the `id` of predictions."""
    chosen = np.flatnonzero(data.kind.is_any(*kinds))
    position = places_of(predictions.id, data.prediction.filled()[chosen])
    return DataRows(
        Intervals.from_rows(predictions),
        data.id[chosen],
        Intervals.from_rows(data).where(chosen),
        np.where(position >= 0, position, len(predictions)).astype(np.int64),
        data.kind.take(chosen),
        data.attribution.take(chosen),
    )


@dataclass(frozen=True, slots=True)
class CopySummary:
    """Copies and conversions inside the predictions of one model."""

    predicted_ns: int
    """Summed duration of the predictions."""
    covered_ns: int
    """Time inside predictions that copy rows cover, overlaps counted once; a lower bound where rows lie in several
    overlapping predictions (`DataRows.covered_ns`)."""
    share: float
    """`covered_ns / predicted_ns`; 0.0 where the predictions have no duration."""
    by_kind: dict[str, int]
    """Time covered by the rows of each kind alone, in ns, for the kinds of `COPY_KINDS` that occur. Kinds may overlap
    each other, so the values need not add up to `covered_ns`."""
    rows: IntArray
    """Ids of the copy rows that were counted, in order of start."""
    large_rows: IntArray
    """Ids of the input copies that stand out among the inputs of their call."""
    large_share: float
    """Share of `predicted_ns` that the outstanding input copies cover."""
    outside_count: int
    """Copy rows that lie in no prediction of the model and are not counted above."""
    outside_ns: int
    """Time that those rows cover."""


def summarize_copies(predictions: Calls, data: Events, *, large_ratio: float, large_ns: int) -> CopySummary:
    """Copies of one model; `data` links to the `id` of predictions.

    An input copy stands out when it takes at least `large_ns` and `large_ratio` times the median of the other input
    copies of the same prediction. O(n log n) in the rows of `data`.
    """
    rows = data_rows(predictions, data, COPY_KINDS)
    # Without predictions there is nothing that an ambiguous row could lie in.
    counted = rows.is_linked | (rows.attribution.is_any(Attribution.AMBIGUOUS) & (len(predictions) > 0))
    outside, copies = rows.where(~counted), rows.where(counted)
    predicted, total = int(rows.called.durations.sum()), copies.covered_ns
    by_kind = {kind: copies.kind.is_any(kind) for kind in COPY_KINDS}
    large = _longest(copies, large_ratio, large_ns)
    return CopySummary(
        predicted_ns=predicted,
        covered_ns=total,
        share=total / predicted if predicted else 0.0,
        by_kind={str(kind): copies.where(chosen).covered_ns for kind, chosen in by_kind.items() if chosen.any()},
        rows=copies.id,
        large_rows=copies.id[large],
        large_share=copies.where(large).covered_ns / predicted if predicted else 0.0,
        outside_count=len(outside.id),
        outside_ns=outside.times.covered_ns,
    )


CONVERSION_KINDS = (Kind.DATA_CAST, Kind.ANE_DATA_COPY, Kind.OUTPUT_TRANSFORMATION)
"""Kinds that convert, or may."""


@dataclass(frozen=True, slots=True)
class ConversionSummary:
    """Conversions inside the predictions of one model."""

    predicted_ns: int
    """Summed duration of the predictions."""
    covered_ns: int
    """Time that `CONVERSION_KINDS` cover in predictions with a cast of some size, as `DataRows.covered_ns` counts."""
    share: float
    """`covered_ns / predicted_ns`; 0.0 where the predictions have no duration."""
    cast_ns: int
    """Time that `Data Cast` rows alone cover there."""
    converting: int
    """Predictions with a cast of some size."""
    rows: IntArray
    """Ids of the rows that were counted, in order of start."""
    unclear_ns: int
    """Time that the other rows of `CONVERSION_KINDS` cover: nothing shows whether they convert, or whose they are."""


def summarize_conversions(predictions: Calls, data: Events, *, min_ns: int) -> ConversionSummary:
    """Conversions of one model; `data` links to the `id` of predictions. A cast counts from `min_ns` on.

    Rows of overlapping predictions that lie in no single one count together: in any of them, a cast of some size makes
    all of them conversions. O(n log n) in the rows of `data`.
    """
    rows = data_rows(predictions, data, CONVERSION_KINDS)
    possible = rows.is_linked | (rows.attribution.is_any(Attribution.AMBIGUOUS) & (len(predictions) > 0))
    is_cast = rows.kind.is_any(Kind.DATA_CAST)
    # The entry behind the last stands for the rows of no single prediction.
    converting = np.zeros(len(predictions) + 1, np.bool_)
    converting[rows.position[is_cast & (rows.times.durations >= min_ns) & possible]] = True
    counted = converting[rows.position] & possible
    predicted, total = int(rows.called.durations.sum()), rows.where(counted).covered_ns
    return ConversionSummary(
        predicted_ns=predicted,
        covered_ns=total,
        share=total / predicted if predicted else 0.0,
        cast_ns=rows.where(counted & is_cast).covered_ns,
        converting=int(converting[:-1].sum()),
        rows=rows.id[counted],
        unclear_ns=rows.where(~counted).times.covered_ns,
    )


def _longest(copies: DataRows, ratio: float, min_ns: int) -> BoolArray:
    """Input copies at least `min_ns` long and `ratio` times the median of the others of their prediction."""
    durations, group = copies.times.durations, copies.position
    chosen = np.flatnonzero(copies.kind.is_any(Kind.INPUT_COPY) & copies.is_linked)
    order = chosen[np.lexsort((durations[chosen], group[chosen]))]
    owner, length = group[order], durations[order]
    opens = np.flatnonzero(np.diff(owner, prepend=-1))
    counts = np.diff(opens, append=len(owner))
    first, size = np.repeat(opens, counts), np.repeat(counts, counts)
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
