"""Rows in which overlapping and nested intervals stand one below another."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    IntArray = npt.NDArray[np.int64]


def stack(starts: IntArray, ends: IntArray) -> IntArray:
    """The row of each interval, from 0: the lowest one that is free when it starts.

    Intervals come sorted by start, longest first among equal starts, and have a length. In one row none overlap; there
    are as many rows as intervals at once at most; an interval stands below those that contain it. O(n log n), with a
    loop in Python only over intervals that cross others without nesting.
    """
    count = len(starts)
    rows = np.zeros(count, np.int64)
    if not count:
        return rows
    reach = np.maximum.accumulate(ends)
    opens = np.concatenate(([True], starts[1:] >= reach[:-1]))
    # How many earlier intervals are still on. For nested intervals, that is the row.
    rows = np.arange(count) - np.searchsorted(np.sort(ends), starts, side="right")
    crossed = _collides(starts, ends, rows)
    if crossed.any():
        cluster = np.cumsum(opens) - 1
        bad = np.unique(cluster[crossed])
        firsts = np.flatnonzero(opens)
        lasts = np.append(firsts[1:], count)
        for first, last in zip(firsts[bad].tolist(), lasts[bad].tolist(), strict=True):
            rows[first:last] = _greedy(starts[first:last].tolist(), ends[first:last].tolist())
    return rows


def _collides(starts: IntArray, ends: IntArray, rows: IntArray) -> npt.NDArray[np.bool_]:
    """Whether each interval overlaps the one before it in its row. O(n log n)."""
    order = np.lexsort((np.arange(len(rows)), rows))
    same = np.diff(rows[order]) == 0
    overlaps = np.zeros(len(rows), np.bool_)
    overlaps[order[1:]] = same & (starts[order[1:]] < ends[order[:-1]])
    return overlaps


def _greedy(starts: list[int], ends: list[int]) -> list[int]:
    """Rows of intervals that begin at or after one another. O(n log n)."""
    free: list[int] = []
    taken: list[tuple[int, int]] = []
    rows = []
    for start, end in zip(starts, ends, strict=True):
        while taken and taken[0][0] <= start:
            heapq.heappush(free, heapq.heappop(taken)[1])
        row = heapq.heappop(free) if free else len(taken)
        heapq.heappush(taken, (end, row))
        rows.append(row)
    return rows
