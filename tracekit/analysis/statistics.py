"""Statistics of durations, with rules for when there are enough of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from tracekit.analysis.quantities import median_of, quantiles
from tracekit.arrays import AnyArray, FloatArray, IntArray
from tracekit.columns import column
from tracekit.intervals import Intervals, Timed
from tracekit.rows import Rows
from tracekit.sorting import few_bits
from tracekit.trace.events import Calls, Kind, Level
from tracekit.trace.trace import Trace

Values = TypeVar("Values", IntArray, FloatArray)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Durations in ns. A quantile is None where there are too few values for it (p95: 20, p99: 100)."""

    count: int
    """Number of durations."""
    total_ns: int
    """Plain sum, as Instruments shows it. Rows may overlap: it is not elapsed time."""
    elapsed_ns: int
    """Elapsed time covered by at least one of the rows."""
    mean_ns: float
    """Mean."""
    min_ns: int
    """Shortest."""
    p50_ns: float
    """Median; between the middle two for an even count."""
    p90_ns: float | None
    """90th percentile."""
    p95_ns: float | None
    """95th percentile."""
    p99_ns: float | None
    """99th percentile."""
    max_ns: int
    """Longest."""
    stdev_ns: float | None
    """Sample standard deviation (n - 1); None below two values. Which one Instruments shows is not documented."""


def duration_statistics(starts_ns: IntArray, durations_ns: IntArray) -> Statistics | None:
    """Statistics of rows with these starts and durations, shape (n,) each; None where n is 0. O(n log n)."""
    count = len(durations_ns)
    if count == 0:
        return None
    p50, p90, p95, p99 = quantiles(durations_ns, 0.5, 0.9, 0.95, 0.99)
    low, high, total = int(durations_ns.min()), int(durations_ns.max()), exact_sum(durations_ns)
    return Statistics(
        count=count,
        total_ns=total,
        elapsed_ns=Intervals(starts_ns, starts_ns + durations_ns).covered_ns,
        mean_ns=total / count,
        min_ns=low,
        p50_ns=p50 or 0.0,
        p90_ns=p90,
        p95_ns=p95,
        p99_ns=p99,
        max_ns=high,
        stdev_ns=float(durations_ns.std(ddof=1)) if count >= 2 else None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class CallTimes(Rows):
    """When calls ran: of all columns of many calls, a copy takes longer than most that is done with them."""

    start_ns: IntArray = column("start")
    duration_ns: IntArray = column("duration")


def exact_sum(times_ns: IntArray) -> int:
    """The sum without bound: a damaged file can hold durations whose int64 sum would wrap to a negative total. O(n)."""
    largest = max(-int(times_ns.min(initial=0)), int(times_ns.max(initial=0)))
    return int(times_ns.sum()) if largest * len(times_ns) < np.iinfo(np.int64).max else sum(times_ns.tolist())


def row_statistics(rows: Timed) -> Statistics | None:
    """Statistics of the durations of rows; None without rows. O(n log n)."""
    return duration_statistics(rows.start_ns, rows.duration_ns)


def medians_of_others(values: IntArray, of: IntArray) -> FloatArray:
    """For each of the n values at indexes `of` the median of the n - 1 others; NaN where there is no other. O(n)."""
    count = len(values)
    if count < 2:
        return np.full(len(of), np.nan)
    low, high = (count - 2) // 2, (count - 1) // 2
    # Without one value, those that follow it in ascending order move up by one place.
    near = np.partition(values, [low, low + 1, high, min(high + 1, count - 1)])
    value = values[of]
    below = np.where(value > near[low], near[low], near[low + 1])
    above = np.where(value > near[high], near[high], near[min(high + 1, count - 1)])
    medians: FloatArray = (below.astype(np.float64) + above) / 2
    return medians


def sorted_by_group(values: Values, group: IntArray) -> Values:
    """The values by group, those of each ascending: shape (n,). O(n log n), for one group in a tenth of the time."""
    alone = not len(group) or bool((group == group[0]).all())
    if alone:
        return np.sort(values)
    order = np.argsort(values)
    return values[order[np.argsort(few_bits(group[order]), kind="stable")]]


def quantiles_by_group(values: IntArray | FloatArray, group: IntArray, count: int, *levels: float) -> FloatArray:
    """Shape (levels, count): quantiles of the values of each group, as `sample_quantiles`; NaN where it has none.
    O(n log n)."""
    sizes = np.bincount(group, minlength=count)
    some = np.flatnonzero(sizes)
    begins, last = (np.cumsum(sizes) - sizes)[some], sizes[some] - 1
    ordered = np.append(sorted_by_group(values.astype(np.float64), group), 0.0)
    found = np.full((len(levels), count), np.nan)
    for each, level in zip(found, levels, strict=True):
        low = begins + (level * last).astype(np.int64)
        each[some] = ordered[low] + (ordered[low + 1] - ordered[low]) * (level * last % 1)
    return found


def medians_by_group(values: IntArray | FloatArray, group: IntArray, count: int) -> FloatArray:
    """Shape (count,): the median of the values of each group; NaN where it has none. O(n log n)."""
    sizes = np.bincount(group, minlength=count)
    some, begins = sizes > 0, np.cumsum(sizes) - sizes
    medians, groups = np.full(count, np.nan), int(some.sum())
    if groups and len(values) >= 1_000 * (groups - 1):
        # A fifth of the time of a sort, where groups are large.
        by_group: AnyArray = values if groups == 1 else values[np.argsort(few_bits(group), kind="stable")]
        medians[some] = [median_of(each) for each in np.split(by_group, begins[some][1:])]
        return medians
    medians[:] = quantiles_by_group(values, group, count, 0.5)[0]
    return medians


def top_calls(trace: Trace, *kinds: Kind) -> Calls:
    """Rows of the activity that the app called, of these kinds; found once for each trace."""
    calls = trace.activity
    return trace.cache.get(
        (top_calls, kinds), lambda: calls.where(calls.level.is_any(Level.TOP) & calls.kind.is_any(*kinds))
    )


def covered_ns(*parts: Timed) -> int:
    """Time in ns that at least one of the rows covers. O(n log n)."""
    return Intervals.from_rows(*parts).covered_ns
