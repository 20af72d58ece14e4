"""Whether the latency of one model changed between two recordings, or between two sets of recordings.

A latency is compared by the logarithm of its median, so that a change is a ratio. The method is described in
docs/compare.md, with its measured error rates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from tracekit.analysis.latency import change_point_segments, modes
from tracekit.analysis.quantities import median, sample_quantiles
from tracekit.arrays import FloatArray, IntArray
from tracekit.compare.resampling import block_length, effective_size, median_error, quantile_error
from tracekit.compare.student import half_width, welch

METHOD_VERSION = 1
"""Raised when the same recordings may get another answer. A baseline names the version it was judged by."""

MIN_PREDICTIONS = 12
"""Fewest warm predictions on either side."""
MIN_EFFECTIVE = 8.0
"""Least effective sample size on either side. Without it, up to 37% of comparisons of one build were wrong."""
MIN_P95 = 300
"""Fewest warm predictions for a 95th percentile: at 100, half of the shifts of 10% are missed, at 300 1%."""


class Answer(StrEnum):
    """What a comparison says."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    """The whole interval lies within the floor: earned, not assumed."""
    INCONCLUSIVE = "inconclusive"


class Reason(StrEnum):
    """Why an answer is inconclusive."""

    MISSING = "missing"
    """One side has no warm prediction of the model."""
    FEW = "few"
    """Fewer predictions than `MIN_PREDICTIONS`, or worth fewer than `MIN_EFFECTIVE` independent ones."""
    WIDE = "wide"
    """The interval reaches beyond the floor, and does not exclude that nothing changed."""
    SMALL = "small"
    """Changed for certain, but whether by more than the floor is open."""
    NOT_STEADY = "not steady"
    """One recording itself moves by as much as the two differ."""
    INEXACT = "inexact"
    """Call stacks do not show calls this short exactly enough."""
    MODES = "modes"
    """Latencies gather around several values that overlap with the other side's: their median may jump between them."""


@dataclass(frozen=True, slots=True)
class Floor:
    """Smaller changes do not count. Both must be exceeded."""

    ratio: float = 0.05
    absolute_ns: float = 50_000.0
    """Below a millisecond, recordings of one build differ by more than 5%."""

    def log(self, before_ns: float, after_ns: float) -> float:
        """The floor as a difference of logarithms; the same in both directions."""
        smaller = max(min(before_ns, after_ns), 1.0)
        return max(math.log1p(self.ratio), math.log1p(self.absolute_ns / smaller))


@dataclass(frozen=True, slots=True)
class LatencyChange:
    """A latency before and after. Times in ns; None where a side has no value."""

    answer: Answer
    reason: Reason | None
    """None unless the answer is "inconclusive"."""
    before_ns: float | None
    """Median; of several recordings the geometric mean of their medians."""
    after_ns: float | None
    ratio: float | None
    """After by before."""
    low: float | None
    """Ends of the interval of the ratio; None where it cannot be given."""
    high: float | None
    counts: tuple[int, int]
    """Values on each side."""
    effective: tuple[float, float] | None
    """Independent predictions that those of each side are worth; None where the recordings are the sample."""
    wanted: int | None
    """Predictions a side that would settle it, where more of them would."""
    floor: float | None
    """Share of the latency by which it must change to count; None where there is no latency to compare."""
    resolution_ns: int = 0
    """How exactly the times are known: the time between two samples, where only call stacks show them."""


@dataclass(frozen=True, slots=True)
class _Estimate:
    """Logarithm of a side's latency, its standard error and the degrees of freedom of that."""

    center: float
    error: float
    degrees: float


def compare_latency(
    before: Sequence[IntArray], after: Sequence[IntArray], *, floor: Floor | None = None, confidence: float = 0.95
) -> LatencyChange:
    """Compare warm latencies in ns, an array in order of time for each recording of a side.

    One recording a side is judged by its own predictions, which cannot see how much recordings of one build differ.
    As soon as a side has several, recordings with at least `MIN_PREDICTIONS` are the sample. O(n log n).
    """
    floor = floor or Floor()
    if len(before) == 1 and len(after) == 1:
        return _of_two(before[0], after[0], 0.5, floor, confidence)
    sides = [[values for values in side if len(values) >= MIN_PREDICTIONS] for side in (before, after)]
    if not all(sides):
        any_values = all(any(len(values) for values in side) for side in (before, after))
        return _nothing(before, after, Reason.FEW if any_values else Reason.MISSING)
    return _of_sides(sides, 0.5, floor, confidence)


def compare_p95(before: Sequence[IntArray], after: Sequence[IntArray], *, floor: Floor | None = None) -> LatencyChange:
    """Compare the 95th percentile of warm latencies in ns, an array in order of time for each recording of a side.

    Only recordings with at least `MIN_P95` predictions count. O(n log n).
    """
    floor = floor or Floor()
    sides = [[values for values in side if len(values) >= MIN_P95] for side in (before, after)]
    if not all(sides):
        counts = max(map(len, before), default=0), max(map(len, after), default=0)
        why = Reason.FEW if all(counts) else Reason.MISSING
        return _change(Answer.INCONCLUSIVE, why, (None, None), None, counts, wanted=MIN_P95)
    return _of_sides(sides, 0.95, floor, 0.95)


def median_interval(values: IntArray) -> tuple[float, float]:
    """95% interval of the median of latencies in ns of one recording, at least 4 in order of time.

    It says nothing of how much recordings differ.
    """
    estimate = _estimate(_logs(values), 0.5)
    width = half_width((estimate.error,), (estimate.degrees,), 0.95)
    return math.exp(estimate.center - width), math.exp(estimate.center + width)


def _of_two(before: IntArray, after: IntArray, level: float, floor: Floor, confidence: float) -> LatencyChange:
    counts = len(before), len(after)
    if not all(counts):
        return _nothing([before], [after], Reason.MISSING)
    logs = _logs(before), _logs(after)
    effective = effective_size(logs[0]), effective_size(logs[1])
    values = [sample_quantiles(side, level)[0] for side in (before, after)]
    if min(counts) < 4:
        return _change(Answer.INCONCLUSIVE, Reason.FEW, values, None, counts, effective, MIN_PREDICTIONS)
    ends = _estimate(logs[0], level), _estimate(logs[1], level)
    change = ends[1].center - ends[0].center
    width = half_width([each.error for each in ends], [each.degrees for each in ends], confidence)
    limit = floor.log(*values)
    answer, reason = judge(change, width, limit)
    is_median = level == 0.5
    if min(counts) < MIN_PREDICTIONS or min(effective) < MIN_EFFECTIVE:
        answer, reason = Answer.INCONCLUSIVE, Reason.FEW
    elif is_median and answer in (Answer.REGRESSED, Answer.IMPROVED):
        doubt = _doubt(before, after, change)
        if doubt is not None:
            answer, reason = Answer.INCONCLUSIVE, doubt
    wanted = None
    if is_median and reason in (Reason.FEW, Reason.WIDE):
        wanted = _predictions_needed(counts, effective, width, limit)
    return _change(answer, reason, values, (change, width, limit), counts, effective, wanted)


def _of_sides(sides: Sequence[Sequence[IntArray]], quantile: float, floor: Floor, confidence: float) -> LatencyChange:
    """Where a side has several, recordings are the sample, each with the logarithm of its own quantile."""
    if max(map(len, sides)) == 1:
        return _of_two(sides[0][0], sides[1][0], quantile, floor, confidence)
    centers = [np.array([math.log(max(*sample_quantiles(values, quantile), 1.0)) for values in side]) for side in sides]
    change, width = welch(centers[0], centers[1], confidence)
    values = [math.exp(float(side.mean())) for side in centers]
    limit = floor.log(*values)
    return _change(*judge(change, width, limit), values, (change, width, limit), (len(sides[0]), len(sides[1])))


def judge(change: float, width: float, floor: float) -> tuple[Answer, Reason | None]:
    """The answer to a difference, given half the width of its interval."""
    if abs(change) > width and abs(change) >= floor:
        return (Answer.REGRESSED if change > 0 else Answer.IMPROVED), None
    if abs(change) + width < floor:
        return Answer.UNCHANGED, None
    return Answer.INCONCLUSIVE, Reason.SMALL if abs(change) > width else Reason.WIDE


def _doubt(before: IntArray, after: IntArray, change: float) -> Reason | None:
    """Why a change that the interval shows is not believed; None where it is."""
    ratio = math.exp(abs(change))
    if any(len(change_point_segments(values, min_ratio=ratio)) > 1 for values in (before, after)):
        return Reason.NOT_STEADY
    centers = [modes(values).centers_ns for values in (before, after)]
    if max(map(len, centers)) > 1 and centers[0].min() <= centers[1].max() and centers[1].min() <= centers[0].max():
        return Reason.MODES
    return None


def _predictions_needed(counts: tuple[int, int], effective: tuple[float, float], width: float, floor: float) -> int:
    """Predictions a side with which the interval would lie within the floor: n (half width / floor)²."""
    rows = max(
        max(MIN_PREDICTIONS, count * MIN_EFFECTIVE / max(worth, 0.01))
        for count, worth in zip(counts, effective, strict=True)
    )
    return math.ceil(max(rows, max(counts) * (width / floor) ** 2))


def _logs(values: IntArray) -> FloatArray:
    return np.log(np.maximum(values, 1).astype(np.float64))


def _estimate(logs: FloatArray, quantile: float) -> _Estimate:
    block = block_length(logs)
    error = median_error(logs, block) if quantile == 0.5 else quantile_error(logs, block, quantile)
    (center,) = sample_quantiles(logs, quantile)
    return _Estimate(center, error, max(len(logs) / block - 1, 1.0))


def _change(
    answer: Answer,
    reason: Reason | None,
    values: Sequence[float | None],
    difference: tuple[float, float, float] | None,
    counts: tuple[int, int],
    effective: tuple[float, float] | None = None,
    wanted: int | None = None,
) -> LatencyChange:
    """`difference` is that of the logarithms, with half the width of its interval and its floor."""
    low = high = floor = None
    if difference is not None:
        change, width, limit = difference
        low, high, floor = math.exp(change - width), math.exp(change + width), math.expm1(limit)
    before, after = values
    ratio = after / before if before and after is not None else None
    return LatencyChange(answer, reason, before, after, ratio, low, high, counts, effective, wanted, floor)


def _nothing(before: Sequence[IntArray], after: Sequence[IntArray], reason: Reason) -> LatencyChange:
    """No answer: a side has no, or too few, values."""
    medians = [median(np.concatenate(side)) if side else None for side in (before, after)]
    return _change(Answer.INCONCLUSIVE, reason, medians, None, (sum(map(len, before)), sum(map(len, after))))
