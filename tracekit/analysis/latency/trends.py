"""Whether predictions become slower: trends, and places at which their latency shifts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.latency.ranks import rank_correlations, ranks

if TYPE_CHECKING:
    from tracekit.arrays import IntArray


@dataclass(frozen=True, slots=True)
class Trend:
    """How durations change with their number in the sequence. None: too few values, or nothing to compare."""

    count: int
    correlation: float | None
    """Spearman's rank correlation of duration with order, -1 to 1; None below 3 values and where all are equal."""
    last_to_first_third: float | None
    """Median of the last third over that of the first; None below 3 values, or where the first is 0."""


def trend(durations_ns: IntArray) -> Trend:
    """Trend of durations in the order of their predictions, shape (n,). O(n log n)."""
    return Trend(len(durations_ns), _correlation(durations_ns), _last_to_first_third(durations_ns))


def _correlation(durations: IntArray) -> float | None:
    if len(durations) < 3 or not np.ptp(durations):
        return None
    return float(rank_correlations(durations, np.zeros(len(durations), np.int64), 1)[0])


def _last_to_first_third(durations: IntArray) -> float | None:
    """Median of the last third over that of the first."""
    size = len(durations) // 3
    if not size:
        return None
    first = float(np.median(durations[:size]))
    return float(np.median(durations[-size:])) / first if first else None


def medians_of_thirds(durations_ns: IntArray, use: IntArray, min_count: int) -> tuple[float, float]:
    """Medians of the first and the last third: of all durations, or of those of each `use`, numbers from 0 on in the
    order of the predictions, whichever differ more. Uses of fewer than `min_count` predictions do not count; all of
    them together are as many. Shape (n,) each. O(n)."""
    median_pairs = []
    for part in (np.zeros_like(use), use):
        count = np.bincount(part)
        size, position = count[part], np.arange(len(part)) - (np.cumsum(count) - count)[part]
        enough, third = size >= min_count, size // 3
        if enough.any():
            thirds = enough & (position < third), enough & (position >= size - third)
            median_pairs.append(tuple(float(np.median(durations_ns[chosen])) for chosen in thirds))
    first, last = max(median_pairs, key=lambda medians: medians[1] / medians[0])
    return first, last


SIGNIFICANCE = 0.001
"""A shift is taken for chance above this probability. Low, because many places and many models are tried."""

MIN_LENGTH = 10
"""Fewest predictions between two shifts."""

LEVELS = 6
"""How often a piece may be split in turn, which bounds the shifts to 63 and the work to a few passes."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Predictions between two shifts of their latency."""

    first: int
    """Index of the first prediction."""
    count: int
    median_ns: float


def change_point_segments(durations_ns: IntArray, *, min_ratio: float = 1.2) -> tuple[Segment, ...]:
    """Durations in order, cut where their level shifts; one segment where it does not, none without values.

    Binary segmentation with ranks, which know no distribution and bear outliers: a piece is cut where the ranks before
    and after differ most by the Wilcoxon rank-sum statistic, the statistic of Pettitt's test ("A non-parametric
    approach to the change-point problem", Applied Statistics 28, 1979) divided by its standard deviation at each place,
    so that a cut near an edge is placed as well as one in the middle. Chance is bounded by the normal tail times the
    number of places tried (Bonferroni). Neighbors whose medians differ by less than `min_ratio` are joined again,
    the closest first. Slow changes appear as several steps, and durations that depend on their neighbors (each like
    the one before) can look like shifts; independent ones hardly ever do. O(n log n).
    """
    cuts = [0, len(durations_ns)]
    pieces = [(0, len(durations_ns))]
    for _ in range(LEVELS):
        halves: list[tuple[int, int]] = []
        for low, high in pieces:
            offset = _shift(durations_ns[low:high])
            if offset is not None:
                cuts.append(low + offset)
                halves += [(low, low + offset), (low + offset, high)]
        pieces = halves
    cuts = sorted(set(cuts))
    while len(cuts) > 2:
        medians = [float(np.median(durations_ns[low:high])) for low, high in pairwise(cuts)]
        ratios = [max(pair) / max(min(pair), 1.0) for pair in pairwise(medians)]
        if min(ratios) >= min_ratio:
            break
        del cuts[ratios.index(min(ratios)) + 1]
    return tuple(Segment(low, high - low, float(np.median(durations_ns[low:high]))) for low, high in pairwise(cuts))


def _shift(durations: IntArray) -> int | None:
    """Index at which the level of the durations shifts; None where chance explains the difference."""
    count = len(durations)
    if count < 2 * MIN_LENGTH:
        return None
    before = np.arange(MIN_LENGTH, count - MIN_LENGTH + 1, dtype=np.float64)
    sums = np.cumsum(ranks(durations))[MIN_LENGTH - 1 : count - MIN_LENGTH]
    distance = np.abs(2 * sums - before * (count + 1)) / np.sqrt(before * (count - before) * (count + 1) / 3)
    best = int(distance.argmax())
    likely = len(distance) * math.erfc(float(distance[best]) / math.sqrt(2))
    return best + MIN_LENGTH if likely <= SIGNIFICANCE else None
