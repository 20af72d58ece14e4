"""The latency of a model's predictions: cold and warm apart, whether it changes, and what values it gathers around."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tracekit.analysis.quantities import median_of
from tracekit.analysis.statistics import Statistics, duration_statistics
from tracekit.arrays import BoolArray, FloatArray, IntArray
from tracekit.intervals import Timed
from tracekit.sorting import stable_order


@dataclass(frozen=True, slots=True)
class Latency:
    """Latencies of one model, cold and warm apart. None: there is none of that kind."""

    warm: Statistics | None
    """Predictions that are not the first after a load."""
    cold: Statistics | None
    """The first prediction after each load."""


def summarize_latency(predictions: Timed, warm: BoolArray) -> Latency:
    """Statistics of the predictions that ended, `warm` those that `first_after_load` does not mark. O(n log n)."""
    starts, durations = predictions.start_ns, predictions.duration_ns
    chosen = ((durations > 0) & kind for kind in (warm, ~warm))
    return Latency(*(duration_statistics(starts[rows], durations[rows]) for rows in chosen))


def rank_correlations(values: IntArray, group: IntArray, groups: int) -> FloatArray:
    """Spearman's rank correlation of values with their order in each group: shape (groups,).

    0 for a group of fewer than 3 values, or of equal ones. `group` ascends, from 0 to `groups` - 1. O(n log n).
    """
    if not len(values):
        return np.zeros(groups)
    size = np.bincount(group, minlength=groups)
    middle = (size[group] + 1) / 2
    begin = (np.cumsum(size) - size)[group]
    rank = ranks(values, group if groups > 1 else None) - begin - middle
    order = np.arange(len(values)) - begin + 1 - middle
    shared, of_ranks, of_order = (
        np.bincount(group, weights=product, minlength=groups) for product in (rank * order, rank**2, order**2)
    )
    scale = np.sqrt(of_ranks * of_order)
    known = (size >= 3) & (scale > 0)
    return np.where(known, shared / np.where(known, scale, 1), 0.0)


def ranks(values: IntArray | FloatArray, group: IntArray | None = None) -> FloatArray:
    """Ranks from 1, equal values sharing the mean of theirs: shape (n,). O(n log n). Those of each `group`, which
    ascend, come behind those of the groups before."""
    order = stable_order(values) if group is None else np.lexsort((values, group))
    ascending = values[order]
    opens = ascending[1:] != ascending[:-1]
    if group is not None:
        opens |= group[1:] != group[:-1]
    # Where a run of equal values begins, and after the last one.
    edges = np.flatnonzero(np.concatenate([[True], opens, [True]]))
    rank = np.empty(len(values))
    rank[order] = np.repeat((edges[1:] + edges[:-1] + 1) / 2, np.diff(edges))
    return rank


@dataclass(frozen=True, slots=True)
class Trend:
    """How durations change with their number in the sequence. None: too few values, or nothing to compare."""

    count: int
    """Number of predictions."""
    correlation: float | None
    """Spearman's rank correlation of duration with order, -1 to 1; None below 3 values and where all are equal."""
    last_to_first_third: float | None
    """Median of the last third over that of the first; None below 3 values, or where the first is 0."""


def trend(durations_ns: IntArray) -> Trend:
    """Trend of durations in the order of their predictions, shape (n,). O(n log n)."""
    count, third = len(durations_ns), len(durations_ns) // 3
    if not third:
        return Trend(count, None, None)
    first, last = (median_of(part) for part in (durations_ns[:third], durations_ns[-third:]))
    (correlation,) = rank_correlations(durations_ns, np.zeros(count, np.int64), 1)
    return Trend(count, float(correlation) if np.ptp(durations_ns) else None, last / first if first else None)


SIGNIFICANCE = 0.001
"""A shift is taken for chance above this probability. Low, because many places and many models are tried."""

MIN_LENGTH = 10
"""Fewest predictions between two shifts."""

LEVELS = 6
"""How often a piece may be split in turn, which bounds the shifts to 63 and the work to a few passes."""


def change_points(durations_ns: IntArray, *, min_ratio: float = 1.2) -> list[int]:
    """Where the level of durations in order shifts: index of the first after each shift, between 0 and their number.

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
        medians = [median_of(durations_ns[low:high]) for low, high in pairwise(cuts)]
        ratios = [max(pair) / max(min(pair), 1.0) for pair in pairwise(medians)]
        if min(ratios) >= min_ratio:
            break
        del cuts[ratios.index(min(ratios)) + 1]
    return cuts


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


MIN_SHARE = 0.1
"""Smallest share of the values that makes a mode (heuristic)."""

MIN_RATIO = 1.5
"""Smallest ratio of medians of neighboring modes: below the 2 of detectors, so that any threshold above can judge."""

WINDOW = 3
"""Values count as one crowd within the logarithm of the smallest ratio over this, to either side: two modes of that
ratio then keep a strip between their crowds."""

VALLEY = 0.5
"""Between two modes lies a point that is at most this crowded, against the lesser of the two peaks."""

DEPTH = 2.7
"""By how many standard deviations of counts the lesser peak rises over that point, which takes 8 values. Set by trial:
of 1,000 random draws from a normal, log-normal, uniform, exponential or Pareto distribution at most 51 then seem to
have two modes, at the worst of the sizes 10 to 2,000, and of most none."""


def modes(
    durations_ns: IntArray, *, min_share: float = MIN_SHARE, min_ratio: float = MIN_RATIO
) -> tuple[IntArray, FloatArray]:
    """The mode of each duration in ns, shape (n,), and the median of each mode, shape (modes,), shortest first: one
    where the durations do not fall apart. O(n log n) for a bounded number of modes.

    In sorted order, on a log scale, the values are split at the point between two neighbors where the crowd (`WINDOW`)
    falls most below the peaks on both sides. The split stands where it falls far enough (`VALLEY`, `DEPTH`), where both
    sides hold at least `min_share` of all values, and where their medians are `min_ratio` apart. The sides are
    split on, until nothing stands.
    """
    count = len(durations_ns)
    min_count = max(1, math.ceil(min_share * count))
    if count:
        # Two modes can have so different medians only if so many values lie beyond: most durations do not fall apart.
        outside = [(min_count - 1) // 2, count - 1 - (min_count - 1) // 2]
        low, high = np.maximum(np.partition(durations_ns, outside)[outside], 1).tolist()
        if math.log(high) - math.log(low) < math.log(min_ratio):
            return np.zeros(count, np.int64), np.array([median_of(durations_ns)])
    order = np.argsort(durations_ns, kind="stable")
    values = durations_ns[order]
    logs = np.log(np.maximum(values, 1).astype(np.float64))
    edges, pending = [0, count], [(0, count)]
    while pending:
        low, high = pending.pop()
        offset = _split(logs[low:high], min_count, math.log(min_ratio))
        if offset is not None:
            edges.append(low + offset)
            pending += [(low, low + offset), (low + offset, high)]
    edges = sorted(set(edges))
    mode = np.empty(count, np.int64)
    mode[order] = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    return mode, np.array([median_of(values[low:high]) for low, high in pairwise(edges)], np.float64)


def _split(logs: FloatArray, min_count: int, distance: float) -> int | None:
    """Index in sorted logarithms at which they fall in two modes; None where they do not."""
    count = len(logs)
    if count < 2 * min_count:
        return None
    crowd = _within(logs, logs, distance / WINDOW)
    crest = np.minimum(np.maximum.accumulate(crowd)[:-1], np.maximum.accumulate(crowd[::-1])[::-1][1:])
    valley = _within(logs, (logs[1:] + logs[:-1]) / 2, distance / WINDOW)
    depth = (crest - valley) / np.sqrt(np.maximum(crest + valley, 1))
    depth[valley > VALLEY * crest] = -np.inf
    depth[: min_count - 1] = -np.inf
    depth[count - min_count :] = -np.inf
    split = int(depth.argmax()) + 1
    apart = median_of(logs[split:]) - median_of(logs[:split]) >= distance
    return split if apart and depth[split - 1] >= DEPTH else None


def _within(logs: FloatArray, at: FloatArray, reach: float) -> FloatArray:
    """How many of the sorted values lie within `reach` of each point."""
    ends = np.searchsorted(logs, at + reach, side="right") - np.searchsorted(logs, at - reach, side="left")
    return ends.astype(np.float64)


MIN_PREDICTIONS = 20
"""Predictions below which neither a shift nor a second level can be distinguished from chance (`trends`, `modes`)."""


@dataclass(frozen=True, slots=True)
class Level:
    """Predictions between two shifts of their latency."""

    start_ns: int
    """Start of the first of them."""
    count: int
    """Number of predictions."""
    median_ns: float
    """Their median latency."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A value that latencies gather around."""

    median_ns: float
    """Median of the latencies around it."""
    count: int
    """Number of predictions."""
    share: float
    """Of the predictions."""


@dataclass(frozen=True, slots=True)
class LatencyTrend:
    """How the latency of one model's warm predictions develops."""

    trend: Trend
    """Whether latency drifts."""
    levels: tuple[Level, ...]
    """In order of time; one where the latency does not shift."""
    modes: tuple[Mode, ...]
    """Shortest first; one where the latencies do not fall apart."""


def summarize_latency_trend(predictions: Timed) -> LatencyTrend | None:
    """Latency trend of calls (sorted by start); None below `MIN_PREDICTIONS`. O(n log n)."""
    if len(predictions) < MIN_PREDICTIONS:
        return None
    durations, starts = predictions.duration_ns, predictions.start_ns
    mode, medians = modes(durations)
    return LatencyTrend(
        trend=trend(durations),
        levels=tuple(
            Level(int(starts[low]), high - low, median_of(durations[low:high]))
            for low, high in pairwise(change_points(durations))
        ),
        modes=tuple(
            Mode(median_ns, count, count / len(durations))
            for median_ns, count in zip(medians.tolist(), np.bincount(mode).tolist(), strict=True)
        ),
    )
