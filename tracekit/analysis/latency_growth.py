"""Whether calls take longer and longer: inside sequences, which start afresh with each, or faster than a context grows.

Attention reads all of the context for each token, so that its time grows along a line; what is above has another cause.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracekit.analysis.latency import rank_correlations
from tracekit.analysis.quantities import median_of
from tracekit.analysis.statistics import medians_by_group
from tracekit.arrays import BoolArray, FloatArray, IntArray

DROP = 0.67
"""A sequence also ends where the median of three calls falls below this share of that of the three before: the inverse
of 1.5, the least growth that counts (heuristic)."""

STEADY = 0.4
"""Least rank correlation in each half of a sequence: one jump gives it to the whole, and no half (our judgment)."""

JUMP = 0.8
"""Part of a rise, both on a logarithmic scale, from which on one step or two, from three calls to the next three, make
it: the work or the device changed, and nothing grew (our judgment)."""

AFRESH = 1.25
"""Sequences start at the same level where no start is so many times another (our judgment)."""


MIN_CALLS: Final = 20
"""Shorter sequences are not judged."""
CORRELATION: Final = 0.8
"""Least rank correlation of duration with order."""
RATIO: Final = 1.5
"""Least ratio of the median of the last tenth of a sequence to that of the first."""


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """What the sequences of one model show."""

    first: IntArray
    """Shape (sequences,): index of the first call of each sequence with enough calls."""
    count: IntArray
    """Shape (sequences,): its calls."""
    correlation: FloatArray
    """Shape (sequences,): rank correlation of duration with order; NaN where the ratio is below `RATIO`."""
    ratio: FloatArray
    """Shape (sequences,): median of the last tenth over that of the first."""
    start_ns: FloatArray
    """Shape (sequences,): median duration of the first tenth."""
    grows: BoolArray
    """Shape (sequences,): it reaches both, and no jump makes it."""

    @property
    def usual(self) -> bool:
        """Whether at least half of the sequences grow, and at least one."""
        return bool(self.grows.any()) and 2 * int(self.grows.sum()) >= len(self.grows)

    @property
    def starts_afresh(self) -> bool:
        """Whether several sequences grow, each from the same level. What comes from the device goes on instead."""
        starts = self.start_ns[self.grows]
        return len(starts) >= 2 and float(starts.max()) < AFRESH * float(starts.min())


def growth(durations_ns: IntArray, burst: IntArray, min_calls: int = MIN_CALLS) -> Growth:
    """Growth of calls in order, with the number of the burst of each, shape (n,) each. O(n log n)."""
    opens = np.concatenate(([True], np.diff(burst) != 0))[: len(burst)]
    if len(durations_ns) >= 6:
        # It falls to a lower level.
        triples = medians_of_three(durations_ns)
        fallen = durations_ns[3:-2] < DROP * durations_ns[2:-3]
        opens[np.flatnonzero((triples[3:] < DROP * triples[:-3]) & fallen) + 3] = True
    first = np.flatnonzero(opens)
    count = np.diff(first, append=len(durations_ns))
    enough = count >= min_calls
    sequence, size = np.repeat(np.where(enough, np.cumsum(enough) - 1, -1), count), np.repeat(count, count)
    position = np.arange(len(durations_ns)) - np.repeat(first, count)
    judged = sequence >= 0
    durations, sequence, position, size = durations_ns[judged], sequence[judged], position[judged], size[judged]
    first, count = first[enough], count[enough]
    tenth = np.maximum(size // 10, 1)
    start, end = (
        medians_by_group(durations[chosen], sequence[chosen], len(first))
        for chosen in (position < tenth, position >= size - tenth)
    )
    ratio = end / np.maximum(start, 1)
    # Ranking is what takes time, and it cannot change the answer for the others.
    rises = ratio >= RATIO
    in_rising = rises[sequence]
    number = (np.cumsum(rises) - 1)[sequence[in_rising]]
    rising = int(rises.sum())
    halves = rank_correlations(durations[in_rising], 2 * number + (2 * position >= size)[in_rising], 2 * rising)
    correlation = np.full(len(first), np.nan)
    correlation[rises] = rank_correlations(durations[in_rising], number, rising)
    steady = np.zeros(len(first))
    steady[rises] = halves.reshape(-1, 2).min(axis=1)
    steps = _steps(durations, sequence, len(first)) if rising else np.zeros(len(first))
    return Growth(
        first=first,
        count=count,
        correlation=correlation,
        ratio=ratio,
        start_ns=start,
        grows=rises & (correlation >= CORRELATION) & (steady >= STEADY) & (steps < JUMP * np.log(np.maximum(ratio, 1))),
    )


def _steps(durations: IntArray, sequence: IntArray, count: int) -> FloatArray:
    """Shape (sequences,): the sum of the two largest rises from the median of three calls to that of the next three,
    as logarithms."""
    total = np.zeros(count)
    if len(durations) < 6:
        return total
    triples = np.log(np.maximum(medians_of_three(durations), 1))
    inside = np.flatnonzero(sequence[:-5] == sequence[5:])
    rises, of = (triples[3:] - triples[:-3])[inside], sequence[inside]
    for _ in range(2):
        largest = np.zeros(count)
        np.maximum.at(largest, of, rises)
        total += largest
        # Rises across the same calls are of one step.
        at = np.flatnonzero((rises == largest[of]) & (rises > 0))
        rises[np.clip(at[:, None] + np.arange(-5, 6), 0, len(rises) - 1)] = 0
    return total


def medians_of_three(durations: IntArray) -> IntArray:
    """Shape (n - 2,): median of each three calls in a row."""
    first, second, third = durations[:-2], durations[1:-1], durations[2:]
    return np.maximum(np.minimum(first, second), np.minimum(np.maximum(first, second), third))


BINS: Final = 20
"""Parts of the range of contexts, of equal width. The median of each counts, so that single slow tokens do not."""
_LEAST: Final = 6
"""Parts of each half that must hold tokens."""
_T: Final = {4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31}
"""Of Student's distribution, for intervals of 95%, by degrees of freedom: parts of the lower half less two."""
_CURVED: Final = 3.5
"""Standard errors by which a curve must bend up, in all of the range, its lower and its upper three quarters: then no
jump looks like one (99.5% or more each)."""


@dataclass(frozen=True, slots=True)
class ContextGrowth:
    """How the time of a token depends on the context."""

    slope_ns: float
    """Of the line through the lower half of the contexts: ns for each token of context."""
    slope_error_ns: float
    """Half of its interval of 95%."""
    start_ns: float
    """Of a token, at the shortest context, on this line."""
    middle: float
    """Context in tokens from which on the upper half begins."""
    excess: float
    """Time in the upper half beyond the line, as a share of what the line says."""
    excess_error: float
    """Half of its interval of 95%."""
    curved: bool
    """Whether time bends up throughout, which no jump does."""
    least: float
    """Shortest context."""

    def line(self, context: FloatArray) -> FloatArray:
        """What the line says of contexts, in ns."""
        return self.start_ns + self.slope_ns * (context - self.least)


def context_growth(context: FloatArray, time_ns: FloatArray) -> ContextGrowth | None:
    """Growth of times of tokens with contexts, (tokens,) each; None where these cover no whole range. O(n log n)."""
    if not len(context) or not np.ptp(context):
        return None
    low, high = float(context.min()), float(context.max())
    place = np.minimum(((context - low) / (high - low) * BINS).astype(np.int64), BINS - 1)
    order = np.argsort(place, kind="stable")
    held, first = np.unique(place[order], return_index=True)
    x = np.array([median_of(each) for each in np.split(context[order], first[1:])])
    y = np.array([median_of(each) for each in np.split(time_ns[order], first[1:])])
    lower = held < BINS // 2
    if min(int(lower.sum()), int((~lower).sum())) < _LEAST:
        return None
    slope, start = np.polyfit(x[lower] - low, y[lower], 1).tolist()
    rest = y[lower] - (start + slope * (x[lower] - low))
    # The standard error of a point.
    error = float(np.sqrt((rest**2).sum() / (len(rest) - 2)))
    variance = float(((x[lower] - x[lower].mean()) ** 2).sum())
    expected = start + slope * (x[~lower] - low)
    mean = max(float(expected.mean()), 1.0)
    quantile = _T[int(lower.sum()) - 2]
    distance = float(x[~lower].mean() - x[lower].mean())
    of_line = error * np.sqrt(1 / lower.sum() + distance**2 / variance + 1 / (~lower).sum())
    parts = (np.ones(len(held), np.bool_), held < BINS * 3 // 4, held >= BINS // 4)
    return ContextGrowth(
        slope_ns=slope,
        slope_error_ns=quantile * error / np.sqrt(variance),
        start_ns=start,
        middle=low + (high - low) / 2,
        excess=float((y[~lower] - expected).mean()) / mean,
        excess_error=quantile * float(of_line) / mean,
        curved=all(_bends_up(x[part], y[part]) for part in parts),
        least=low,
    )


def _bends_up(x: FloatArray, y: FloatArray) -> bool:
    scaled = (x - x.mean()) / np.ptp(x)
    terms = np.vander(scaled, 3)
    fitted, *_ = np.linalg.lstsq(terms, y)
    rest = y - terms @ fitted
    variance = float((rest**2).sum()) / (len(x) - 3) * np.linalg.inv(terms.T @ terms)[0, 0]
    return bool(fitted[0] > _CURVED * np.sqrt(variance) and fitted[0] > 0)
