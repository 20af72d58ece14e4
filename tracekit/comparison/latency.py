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

from tracekit.analysis.quantities import least, median, sample_quantiles
from tracekit.arrays import FloatArray, IntArray
from tracekit.comparison.doubts import LASTING, Reason, doubt_of, hidden_by_shortness
from tracekit.comparison.resampling import block_length, effective_size, logs_of, median_error, quantile_error
from tracekit.comparison.student import half_width, welch

METHOD_VERSION = 2
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


CHANGED = frozenset((Answer.REGRESSED, Answer.IMPROVED))


@dataclass(frozen=True, slots=True)
class Floor:
    """Smaller changes do not count. Both must be exceeded."""

    ratio: float = 0.05
    absolute_ns: float = 50_000.0
    """Below a millisecond, recordings of one build differ by more than 5%."""
    allow: float = 0.10
    """How much slower than a baseline a build may be."""

    def log(self, before_ns: float, after_ns: float) -> float:
        """The floor as a difference of logarithms; the same in both directions."""
        smaller = max(min(before_ns, after_ns), 1.0)
        return max(math.log1p(self.ratio), math.log1p(self.absolute_ns / smaller))

    def log_allowed(self, before_ns: float) -> float:
        """By how much a latency may grow, as a difference of logarithms."""
        return math.log1p(max(self.allow, self.absolute_ns / max(before_ns, 1.0)))


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
    predictions: tuple[tuple[int, ...], tuple[int, ...]]
    """Of each recording of each side, as many as were compared."""
    effective: tuple[float, float] | None
    """Independent predictions that those of each side are worth; None where the recordings are the sample."""
    wanted: int | None
    """Predictions a side that would settle it, where more of them would."""
    floor: float | None
    """Share of the latency by which it must change to count; None where there is no latency to compare."""
    resolution_ns: int = 0
    """How exactly the times are known: the time between two samples, where only call stacks show them."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Logarithm of a side's latency, its standard error and the degrees of freedom of that."""

    center: float
    error: float
    degrees: float


def compare_latency(
    before: Sequence[IntArray], after: Sequence[IntArray], *, floor: Floor | None = None
) -> LatencyChange:
    """Compare warm latencies in ns, an array in order of time for each recording of a side.

    One recording a side is judged by its own predictions, which cannot see how much recordings of one build differ.
    As soon as a side has several, recordings with at least `MIN_PREDICTIONS` are the sample. O(n log n).
    """
    floor = floor or Floor()
    if len(before) == 1 and len(after) == 1:
        return _of_two(before[0], after[0], 0.5, floor)
    sides = [[values for values in side if len(values) >= MIN_PREDICTIONS] for side in (before, after)]
    if not all(sides):
        any_values = all(any(len(values) for values in side) for side in (before, after))
        return _nothing(before, after, Reason.FEW if any_values else Reason.MISSING)
    return _of_sides(sides, 0.5, floor)


def compare_p95(before: Sequence[IntArray], after: Sequence[IntArray], *, floor: Floor | None = None) -> LatencyChange:
    """Compare the 95th percentile of warm latencies in ns, an array in order of time for each recording of a side.

    Only recordings with at least `MIN_P95` predictions count. O(n log n).
    """
    floor = floor or Floor()
    sides = [[values for values in side if len(values) >= MIN_P95] for side in (before, after)]
    if not all(sides):
        why = Reason.FEW if all(any(map(len, side)) for side in (before, after)) else Reason.MISSING
        return _change(Answer.INCONCLUSIVE, why, (_p95(before), _p95(after)), None, (before, after), wanted=MIN_P95)
    return _of_sides(sides, 0.95, floor)


def _p95(side: Sequence[IntArray]) -> float | None:
    """That of a side which is not compared; None where no recording has enough predictions for one."""
    known = [sample_quantiles(values, 0.95)[0] for values in side if len(values) >= least(0.95)]
    return math.exp(float(np.mean(np.log(np.maximum(known, 1.0))))) if known else None


def quantile_interval(values: IntArray, quantile: float = 0.5) -> tuple[float, float]:
    """95% interval of a quantile of latencies in ns of one recording, at least 4 in order of time.

    It says nothing of how much recordings differ.
    """
    estimate = estimate_of(logs_of(values), quantile)
    width = half_width((estimate.error,), (estimate.degrees,), 0.95)
    return math.exp(estimate.center - width), math.exp(estimate.center + width)


def _of_two(before: IntArray, after: IntArray, level: float, floor: Floor) -> LatencyChange:
    counts = len(before), len(after)
    if not all(counts):
        return _nothing([before], [after], Reason.MISSING)
    logs = logs_of(before), logs_of(after)
    effective = effective_size(logs[0]), effective_size(logs[1])
    values = [sample_quantiles(side, level)[0] for side in (before, after)]
    if min(counts) < 4:
        return _change(Answer.INCONCLUSIVE, Reason.FEW, values, None, ([before], [after]), effective, MIN_PREDICTIONS)
    ends = estimate_of(logs[0], level), estimate_of(logs[1], level)
    change = ends[1].center - ends[0].center
    width = half_width([each.error for each in ends], [each.degrees for each in ends], 0.95)
    limit = floor.log(*values)
    answer, reason = judge(change, width, limit)
    is_median = level == 0.5
    if min(counts) < MIN_PREDICTIONS or min(effective) < MIN_EFFECTIVE:
        answer, reason, width = Answer.INCONCLUSIVE, Reason.FEW, max(width, hidden_by_shortness(min(counts)))
    elif is_median and answer in CHANGED and (doubt := doubt_of([[before], [after]], change)):
        answer, reason, width = Answer.INCONCLUSIVE, doubt.reason, max(width, doubt.width)
    wanted = LASTING if reason is Reason.SHORT else None
    if is_median and reason in (Reason.FEW, Reason.WIDE):
        wanted = _predictions_needed(counts, effective, change, width, limit)
    return _change(answer, reason, values, (change, width, limit), ([before], [after]), effective, wanted)


def _of_sides(sides: Sequence[Sequence[IntArray]], quantile: float, floor: Floor) -> LatencyChange:
    """Where a side has several, recordings are the sample, each with the logarithm of its own quantile."""
    if max(map(len, sides)) == 1:
        return _of_two(sides[0][0], sides[1][0], quantile, floor)
    centers = [np.array([math.log(max(*sample_quantiles(values, quantile), 1.0)) for values in side]) for side in sides]
    change, width = welch(centers[0], centers[1], 0.95)
    values = [math.exp(float(side.mean())) for side in centers]
    limit = floor.log(*values)
    answer, reason = judge(change, width, limit)
    if quantile == 0.5 and answer in CHANGED and (doubt := doubt_of(sides, change)):
        answer, reason, width = Answer.INCONCLUSIVE, doubt.reason, max(width, doubt.width)
    return _change(answer, reason, values, (change, width, limit), sides)


def judge(change: float, width: float, floor: float) -> tuple[Answer, Reason | None]:
    """The answer to a difference, given half the width of its interval."""
    if abs(change) > width and abs(change) >= floor:
        return (Answer.REGRESSED if change > 0 else Answer.IMPROVED), None
    if abs(change) + width < floor:
        return Answer.UNCHANGED, None
    return Answer.INCONCLUSIVE, Reason.SMALL if abs(change) > width else Reason.WIDE


def _predictions_needed(
    counts: tuple[int, int], effective: tuple[float, float], change: float, width: float, floor: float
) -> int:
    """Predictions a side with which the interval would exclude 0, or lie within the floor, to two digits: n (half width
    now / then)². As the change is not known exactly, it is not taken to lie nearer to the floor than half of that."""
    then = abs(change) if abs(change) >= floor else max(floor - abs(change), floor / 2)
    rows = max(
        max(MIN_PREDICTIONS, count * MIN_EFFECTIVE / max(worth, 0.01))
        for count, worth in zip(counts, effective, strict=True)
    )
    needed = math.ceil(max(rows, max(counts) * (width / then) ** 2))
    digit = 10 ** max(len(str(needed)) - 2, 0)
    return -(-needed // digit) * digit


def estimate_of(logs: FloatArray, quantile: float = 0.5) -> Estimate:
    """A quantile of the logarithms of latencies of one recording in order of time, shape (n,), and how far it may be
    off as neighbors depend on each other."""
    block = block_length(logs)
    error = median_error(logs, block) if quantile == 0.5 else quantile_error(logs, block, quantile)
    (center,) = sample_quantiles(logs, quantile)
    return Estimate(center, error, max(len(logs) / block - 1, 1.0))


def _change(
    answer: Answer,
    reason: Reason | None,
    values: Sequence[float | None],
    difference: tuple[float, float, float] | None,
    sides: Sequence[Sequence[IntArray]],
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
    first, second = (tuple(map(len, side)) for side in sides)
    return LatencyChange(answer, reason, before, after, ratio, low, high, (first, second), effective, wanted, floor)


def _nothing(before: Sequence[IntArray], after: Sequence[IntArray], reason: Reason) -> LatencyChange:
    """No answer: a side has no, or too few, values."""
    medians = [median(np.concatenate(side)) if side else None for side in (before, after)]
    return _change(Answer.INCONCLUSIVE, reason, medians, None, (before, after))
