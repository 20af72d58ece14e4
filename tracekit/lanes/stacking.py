"""Rows in which overlapping and nested intervals stand one below another."""

from __future__ import annotations

import heapq

import numpy as np

from tracekit.arrays import BoolArray, IntArray


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
    if opens.all():
        return rows
    # How many earlier intervals are still on. For nested intervals, that is the row.
    rows = np.arange(count) - np.searchsorted(np.sort(ends), starts, side="right")
    crossed = _crosses(ends, rows)
    if crossed.any():
        cluster = np.cumsum(opens) - 1
        bad = np.unique(cluster[crossed])
        firsts = np.flatnonzero(opens)
        lasts = np.append(firsts[1:], count)
        for first, last in zip(firsts[bad].tolist(), lasts[bad].tolist(), strict=True):
            rows[first:last] = _greedy(starts[first:last].tolist(), ends[first:last].tolist())
    return rows


def _crosses(ends: IntArray, depth: IntArray) -> BoolArray:
    """Whether each interval outlasts the last one before it that is one level up; false for all that are nested.

    `depth` counts the earlier intervals that are on. O(n log n).
    """
    count = len(depth)
    position = np.arange(count)
    keys = depth * count + position
    order = np.argsort(keys, kind="stable")
    above = np.searchsorted(keys[order], (depth - 1) * count + position) - 1
    parent = order[np.maximum(above, 0)]
    nested = (above >= 0) & (depth[parent] == depth - 1) & (ends[parent] >= ends)
    crosses: BoolArray = (depth > 0) & ~nested
    return crosses


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
