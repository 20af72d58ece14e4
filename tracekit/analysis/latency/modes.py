"""Whether durations gather around several values: modes, found on a log scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tracekit.arrays import FloatArray, IntArray


MIN_SHARE = 0.1
"""Smallest share of the values that makes a mode (heuristic)."""

MIN_RATIO = 1.5
"""Smallest ratio between the medians of neighboring modes. Detectors ask for 2; with less, what is found can be
judged by any threshold above it."""

WINDOW = 3
"""Values count as one crowd within the logarithm of the smallest ratio over this, to either side: two modes of that
ratio then keep a strip between their crowds."""

VALLEY = 0.5
"""Between two modes lies a point that is at most this crowded, against the lesser of the two peaks."""

DEPTH = 2.7
"""By how many standard deviations of counts the lesser peak rises over that point, which takes 8 values. Set by trial:
of 1,000 random draws from a normal, log-normal, uniform, exponential or Pareto distribution at most 51 then seem to
have two modes, at the worst of the sizes 10 to 2,000, and of most none."""


@dataclass(frozen=True, slots=True, eq=False)
class Modes:
    """Modes of durations, shortest first. One mode means that the durations do not fall apart."""

    centers_ns: FloatArray
    """Shape (modes,): median of each."""
    counts: IntArray
    """Shape (modes,)."""
    shares: FloatArray
    """Shape (modes,): share of the values; they add up to 1."""
    membership: IntArray
    """Shape (values,): the mode of each value."""


def modes(durations_ns: IntArray, *, min_share: float = MIN_SHARE, min_ratio: float = MIN_RATIO) -> Modes:
    """Modes of durations in ns; without values none. O(n log n) for a bounded number of modes.

    In sorted order, on a log scale, the values are split at the point between two neighbors where the crowd (`WINDOW`)
    falls most below the peaks on both sides. The split stands where it falls far enough (`VALLEY`, `DEPTH`), where both
    sides hold at least `min_share` of all values, and where their medians are `min_ratio` apart. The sides are
    split on, until nothing stands.
    """
    count = len(durations_ns)
    order = np.argsort(durations_ns, kind="stable")
    values = durations_ns[order]
    logs = np.log(np.maximum(values, 1).astype(np.float64))
    min_count = max(1, math.ceil(min_share * count))
    edges, pending = [0, count], [(0, count)]
    while pending:
        low, high = pending.pop()
        offset = _split(logs[low:high], min_count, math.log(min_ratio))
        if offset is not None:
            edges.append(low + offset)
            pending += [(low, low + offset), (low + offset, high)]
    edges = sorted(set(edges))
    counts = np.array([high - low for low, high in pairwise(edges)], np.int64)
    membership = np.zeros(count, np.int64)
    membership[order] = np.repeat(np.arange(len(counts)), counts)
    centers = [float(np.median(values[low:high])) for low, high in pairwise(edges)]
    return Modes(np.array(centers, np.float64), counts, counts / max(count, 1), membership)


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
    apart = float(np.median(logs[split:]) - np.median(logs[:split])) >= distance
    return split if apart and depth[split - 1] >= DEPTH else None


def _within(logs: FloatArray, at: FloatArray, reach: float) -> FloatArray:
    """How many of the sorted values lie within `reach` of each point."""
    ends = np.searchsorted(logs, at + reach, side="right") - np.searchsorted(logs, at - reach, side="left")
    return ends.astype(np.float64)
