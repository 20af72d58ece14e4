"""Interval algebra on int64 nanoseconds.

An interval is half-open, `[start, end)`. A set of intervals is two aligned arrays in any order; they may overlap,
nest and repeat. Touching intervals do not overlap. One without length covers no time and adds no concurrency.

Every function is pure. Values that are not integers raise TypeError; arrays of unequal length and ends before their
starts raise ValueError. n is the number of intervals, m the number of windows or inner intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from tracekit.sorting import few_bits, group_edges, places

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tracekit.arrays import BoolArray, CodeArray, IndexArray, IntArray


class Timed(Protocol):
    """Rows of any sort that have times."""

    @property
    def start_ns(self) -> IntArray:
        """Shape (rows,)."""

    @property
    def duration_ns(self) -> IntArray:
        """Shape (rows,)."""

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """A set of intervals: two aligned arrays, shape (n,) each, in ns. In any order; they may overlap."""

    starts: IntArray
    ends: IntArray

    @classmethod
    def from_rows(cls, *parts: Timed) -> Intervals:
        """The times of rows, one part after the other. O(n)."""
        if len(parts) > 1:
            return cls.none().joined(*(cls.from_rows(rows) for rows in parts))
        (rows,) = parts
        return cls(rows.start_ns, rows.start_ns + rows.duration_ns)

    @classmethod
    def none(cls) -> Intervals:
        """No interval."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.starts)

    def where(self, chosen: BoolArray | IndexArray) -> Intervals:
        """Some of the intervals, by mask or position; themselves where a mask has all."""
        if chosen.dtype == np.bool_:
            # By position, numpy takes them in a fifth of the time.
            chosen = np.flatnonzero(chosen)
            if len(chosen) == len(self):
                return self
        return Intervals(self.starts[chosen], self.ends[chosen])

    def joined(self, *others: Intervals) -> Intervals:
        """These intervals, followed by those of other sets. O(n)."""
        sets = (self, *others)
        return Intervals(np.concatenate([each.starts for each in sets]), np.concatenate([each.ends for each in sets]))

    def clipped(self, low: ArrayLike, high: ArrayLike) -> Intervals:
        """The part of each inside `[low, high)`, one window for all or one each; without length outside of it. O(n)."""
        start, end = _check_bounds(self.starts, self.ends)
        lower, upper = _check_bounds(low, high)
        return Intervals(np.clip(start, lower, upper), np.clip(end, lower, upper))

    @property
    def durations(self) -> IntArray:
        """Shape (n,): length of each in ns."""
        return self.ends - self.starts

    def in_turn(self) -> bool:
        """Whether each begins no earlier than the one before it ends. O(n)."""
        return bool((self.starts[1:] >= self.ends[:-1]).all())

    @property
    def covered_ns(self) -> int:
        """Time in ns that at least one interval covers. O(n log n)."""
        return int(self.union().durations.sum())

    def union(self) -> Intervals:
        """The merged pieces, sorted, none touching another. O(n log n)."""
        start, end = _with_length(*_check_bounds(self.starts, self.ends))
        # Most sets are their own union; that of a million intervals need not be held twice.
        if (start[1:] > end[:-1]).all():
            return Intervals(start, end)
        # Rows of one table come in order of time.
        if not (start[1:] >= start[:-1]).all():
            order = np.argsort(start, kind="stable")
            start, end = start[order], end[order]
        reach = np.maximum.accumulate(end)
        opens = np.flatnonzero(np.concatenate(([True], start[1:] > reach[:-1])))
        closes = np.concatenate((opens[1:], [start.size])) - 1
        return Intervals(start[opens], reach[closes])

    def intersection(self, other: Intervals) -> Intervals:
        """The pieces of time that both sets cover, sorted, none touching another. O((n + m) log (n + m))."""
        one, two = self.union(), other.union()
        times, depth = depth_profile(np.concatenate((one.starts, two.starts)), np.concatenate((one.ends, two.ends)))
        both = np.flatnonzero(depth == 2)
        return Intervals(times[both], times[both + 1])

    def covered_time(self) -> CoveredTime:
        """The covered time as a function, for many questions about the same set. O(n log n)."""
        return CoveredTime(self.union())

    def covered_within(self, windows: Intervals) -> IntArray:
        """Shape (m,): ns of each window that at least one interval covers. O((n + m) log n)."""
        return self.covered_time().within(windows.starts, windows.ends)

    def covered_by_group(self, groups: ArrayLike, size: int) -> IntArray:
        """Shape (size,): ns that the intervals of each group cover; `groups` holds 0 to size - 1. O(n log n)."""
        return union_length_by_group(groups, self.starts, self.ends, size)

    def alone(self) -> BoolArray:
        """Shape (n,): no other interval of the set overlaps this one. O(n log n)."""
        alone = np.ones(len(self), np.bool_)
        if self.in_turn():
            return alone
        lasting = np.flatnonzero(self.ends > self.starts)
        lasting = lasting[np.argsort(self.starts[lasting], kind="stable")]
        starts, ends = self.starts[lasting], self.ends[lasting]
        meets = np.maximum.accumulate(ends)[:-1] > starts[1:]
        alone[lasting[1:]] &= ~meets
        alone[lasting[:-1]] &= ends[:-1] <= starts[1:]
        return alone


class CoveredTime:
    """F(t): the time before t that a union of intervals covers: the sum of the sorted pieces that began by t, less what
    the last of them runs past t."""

    __slots__ = ("_before", "pieces")

    def __init__(self, pieces: Intervals) -> None:
        """pieces: sorted, none touching another; `Intervals.covered_time` makes them."""
        self.pieces = pieces
        self._before = np.concatenate(([0], np.cumsum(pieces.durations)))[:-1] if len(pieces) else pieces.starts

    def until(self, times: IntArray) -> IntArray:
        """F(t) in ns, same shape as `times`. O(m log n)."""
        if not len(self.pieces):
            return np.zeros_like(times)
        piece = places(self.pieces.starts, times, "right") - 1
        inside = np.maximum(piece, 0)
        covered = self._before[inside] + np.minimum(times, self.pieces.ends[inside]) - self.pieces.starts[inside]
        return np.where(piece < 0, 0, covered)

    def within(self, starts: IntArray, ends: IntArray) -> IntArray:
        """Covered ns of each window: shape (m,). O(m log n)."""
        return self.until(ends) - self.until(starts)

    def free_within(self, starts: IntArray, ends: IntArray) -> IntArray:
        """Ns of each window that nothing covers: shape (m,). O(m log n)."""
        return ends - starts - self.within(starts, ends)

    def between(self, edges: IntArray) -> IntArray:
        """Covered ns between neighboring edges: shape (edges - 1,). O(m log n)."""
        return np.diff(self.until(edges))


def union_by_group(groups: ArrayLike, starts: ArrayLike, ends: ArrayLike) -> tuple[IntArray, IntArray, IntArray]:
    """The merged pieces of each group of intervals, any integers: their groups, starts and ends, sorted by group and
    start. Pieces of one group do not touch; those of different groups may overlap. O(n log n)."""
    start, end = _check_bounds(starts, ends)
    group = _integers(groups)
    if group.shape != start.shape:
        raise ValueError("groups and intervals differ in number")
    keep = np.flatnonzero(end > start)
    group, start, end = group[keep], start[keep], end[keep]
    # Rows in order of time, grouped by calls that follow one another, stand so already.
    if (group[1:] < group[:-1]).any() or ((start[1:] < start[:-1]) & (group[1:] == group[:-1])).any():
        order = np.lexsort((start, few_bits(group)))
        group, start, end = group[order], start[order], end[order]
    if not group.size:
        return group, start, end
    reach = running_end(group, end)
    opens = np.flatnonzero(np.concatenate(([True], (group[1:] != group[:-1]) | (start[1:] > reach[:-1]))))
    closes = np.concatenate((opens[1:], [start.size])) - 1
    return group[opens], start[opens], reach[closes]


def running_end(groups: CodeArray, ends: IntArray) -> IntArray:
    """For each interval the latest end so far in its group, itself included; `groups` ascends. O(n log n)."""
    # A running maximum over ranks by (group, end) starts afresh at each group, since a later group ranks higher.
    # Shifting each group in time would do the same, but overflows int64 on many groups in a long recording.
    falls = np.flatnonzero(ends[1:] < ends[:-1])
    if not (groups[falls + 1] == groups[falls]).any():
        return ends
    by_end = np.lexsort((ends, groups))
    return ends[by_end[np.maximum.accumulate(_inverse(by_end))]]


def union_length_by_group(groups: ArrayLike, starts: ArrayLike, ends: ArrayLike, size: int) -> IntArray:
    """Union length in ns of each group of intervals: shape (size,), 0 for one without any. O(n log n). `groups` holds
    the group of each interval, 0 to size - 1; others raise ValueError."""
    codes = _integers(groups)
    if codes.size and (codes.min() < 0 or codes.max() >= size):
        raise ValueError(f"groups must lie in 0 to {size - 1}")
    start, end = _check_bounds(starts, ends)
    if codes.shape == start.shape and Intervals(start, end).in_turn():
        lengths = np.zeros(size, np.int64)
        np.add.at(lengths, codes, end - start)
        return lengths
    group, start, end = union_by_group(codes, start, end)
    return sums_between(end - start, group_edges(group, size))


def sums_between(values: IntArray, edges: IntArray) -> IntArray:
    """Sum of `values[edges[i]:edges[i + 1]]` for each i: shape (edges - 1,). O(n + m)."""
    total = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=total[1:])
    return np.diff(total[edges])


def depth_profile(starts: ArrayLike, ends: ArrayLike) -> tuple[IntArray, IntArray]:
    """Concurrency as a step function: times at which it changes, sorted, and the depth from each on; 0 before the first
    and from the last one on, and both arrays empty where no interval has length. O(n log n)."""
    start, end = _with_length(*_check_bounds(starts, ends))
    if (start[1:] > end[:-1]).all():
        # As calls one after another.
        return np.column_stack((start, end)).ravel(), np.tile([1, 0], len(start))
    times = np.concatenate((start, end))
    change = np.concatenate((np.ones_like(start), -np.ones_like(end)))
    order = np.argsort(times, kind="stable")
    times, depth = times[order], np.cumsum(change[order])
    last_of_time = np.concatenate((times[1:] != times[:-1], [True]))[: times.size]
    times, depth = times[last_of_time], depth[last_of_time]
    changed = np.diff(depth, prepend=0) != 0
    return times[changed], depth[changed]


def integrate(times: ArrayLike, depth: ArrayLike, window_starts: ArrayLike, window_ends: ArrayLike) -> IntArray:
    """Integral of a step function over each window, in ns times depth: shape (m,). O((n + m) log n). `times` and
    `depth` are as `depth_profile` returns them, or with its depth replaced by a function of it that is 0 at the end.
    Divided by the window's length this is the mean depth in it."""
    low, high = _check_bounds(window_starts, window_ends)
    at, level = _integers(times), _integers(depth)
    if not at.size:
        return np.zeros_like(low)
    # Summed step by step, no value exceeds the integral itself; counting times in full would overflow int64.
    before = np.concatenate(([0], np.cumsum(level[:-1] * np.diff(at))))

    def up_to(time: IntArray) -> IntArray:
        step = places(at, time, "right") - 1
        inside = np.maximum(step, 0)
        return np.where(step < 0, 0, before[inside] + level[inside] * (time - at[inside]))

    return up_to(high) - up_to(low)


def containing(
    outer_starts: ArrayLike, outer_ends: ArrayLike, inner_starts: ArrayLike, inner_ends: ArrayLike
) -> tuple[IntArray, IntArray]:
    """For each inner interval the index of the one outer interval that contains it, and how many contain it. An outer
    interval contains an inner one when it starts no later and ends no earlier; equal bounds count. By the same rule an
    inner interval without length lies in every outer one that it touches, at either edge. Returns two arrays of shape
    (m,): the index, -1 where the count is not 1, and the count. Outer intervals may overlap, nest and repeat; a long
    one costs nothing extra. O((n + m) log n), for the exact counts above 1 too."""
    outer_start, outer_end = _check_bounds(outer_starts, outer_ends)
    inner_start, inner_end = _check_bounds(inner_starts, inner_ends)
    if (outer_start[1:] > outer_end[:-1]).all():
        # As calls one after another, of which only the last one that has begun can contain.
        last_begun = places(outer_start, inner_start, "right") - 1
        inside = (last_begun >= 0) & (np.append(outer_end, 0)[last_begun] >= inner_end)
        return np.where(inside, last_begun, -1), inside.astype(np.int64)
    order = np.argsort(outer_start, kind="stable")
    ends = outer_end[order]
    by_end = np.argsort(ends, kind="stable")
    rank = _inverse(by_end)
    begun = np.searchsorted(outer_start[order], inner_start, side="right")
    reaching = np.searchsorted(ends[by_end], inner_end, side="left")
    # Of the outer intervals that have begun, the one that ends last contains if any does, and the one that ends
    # second to last decides whether it is alone.
    last = np.concatenate(([-1], np.maximum.accumulate(rank)))
    second = np.concatenate(([-1], np.maximum.accumulate(np.minimum(rank, last[:-1]))))
    count = (last[begun] >= reaching).astype(np.int64) + (second[begun] >= reaching)
    several = np.flatnonzero(count == 2)
    if several.size:
        count[several] = _count_at_least(rank, begun[several], reaching[several])
    index = np.full(inner_start.shape, -1, dtype=np.int64)
    alone = np.flatnonzero(count == 1)
    index[alone] = order[by_end[last[begun[alone]]]]
    return index, count


def _count_at_least(values: IntArray, lengths: IntArray, floors: IntArray) -> IntArray:
    """How many of the first `lengths[i]` values are at least `floors[i]`, for each i. O((n + m) log n). `values` is a
    permutation of 0 to n - 1. A wavelet matrix: for each bit, from the highest, values are split by that bit in stable
    order, and the range of each query follows the bit of its floor."""
    count = np.zeros_like(lengths)
    low, high = np.zeros_like(lengths), lengths
    for bit in reversed(range(int(values.size).bit_length())):
        one = (values >> bit) & 1
        zeros = np.concatenate(([0], np.cumsum(1 - one)))
        low_zeros, high_zeros = zeros[low], zeros[high]
        low_ones, high_ones = low - low_zeros, high - high_zeros
        up = ((floors >> bit) & 1).astype(bool)
        count += np.where(up, 0, high_ones - low_ones)
        low = np.where(up, zeros[-1] + low_ones, low_zeros)
        high = np.where(up, zeros[-1] + high_ones, high_zeros)
        values = np.concatenate((values[one == 0], values[one == 1]))
    return count + high - low


def _inverse(order: IntArray) -> IntArray:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(order.size)
    return inverse


def positions_between(first: IntArray, after: IntArray) -> IntArray:
    """Positions from each of `first` up to the one before its `after`, run by run. O(runs + positions)."""
    counts = after - first
    result: IntArray = np.arange(counts.sum()) + np.repeat(first - np.cumsum(counts) + counts, counts)
    return result


def _with_length(starts: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    keep = np.flatnonzero(ends > starts)
    return (starts, ends) if len(keep) == len(starts) else (starts[keep], ends[keep])


def _check_bounds(starts: ArrayLike, ends: ArrayLike) -> tuple[IntArray, IntArray]:
    start, end = _integers(starts), _integers(ends)
    if start.shape != end.shape:
        raise ValueError("starts and ends differ in number")
    if (end < start).any():
        raise ValueError("an interval ends before it starts")
    return start, end


def _integers(values: ArrayLike) -> IntArray:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"times must be integers (ns), not {array.dtype}")
    return array.astype(np.int64, copy=False)
