"""Interval algebra against brute force over small integers, plus cases worked by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tracekit import intervals
from tracekit.trace.events import bare_events

thorough = settings(deadline=None, max_examples=200)

Pairs = list[tuple[int, int]]

pair = st.tuples(st.integers(-12, 25), st.integers(0, 12)).map(lambda p: (p[0], p[0] + p[1]))
pairs = st.lists(pair, max_size=14)
"""Many ties, duplicates, nested and touching intervals, and intervals without length."""


def split(items: Pairs) -> tuple[np.ndarray, np.ndarray]:
    array = np.array(items, dtype=np.int64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


def union(starts: Any, ends: Any) -> tuple[np.ndarray, np.ndarray]:
    pieces = intervals.Intervals(starts, ends).union()
    return pieces.starts, pieces.ends


def covered(items: Pairs) -> set[int]:
    """Unit cells `[t, t + 1)` that the intervals cover."""
    return {t for a, b in items for t in range(a, b)}


def depth(items: Pairs, t: int) -> int:
    return sum(a <= t < b for a, b in items)


@thorough
@given(pairs)
def test_the_union_covers_the_same_time_in_separate_sorted_pieces(items: Pairs) -> None:
    left, right = union(*split(items))
    assert covered(list(zip(left.tolist(), right.tolist(), strict=True))) == covered(items)
    assert (left < right).all()
    assert (left[1:] > right[:-1]).all()
    assert intervals.Intervals(*split(items)).covered_ns == len(covered(items))


@thorough
@given(pairs, pair)
def test_clipping_keeps_each_row_and_drops_the_time_outside(items: Pairs, window: tuple[int, int]) -> None:
    clipped = intervals.Intervals(*split(items)).clipped(*window)
    pieces = zip(clipped.starts.tolist(), clipped.ends.tolist(), strict=True)
    for before, after in zip(items, pieces, strict=True):
        assert covered([after]) == covered([before]) & covered([window])
        assert window[0] <= after[0] <= after[1] <= window[1]


def test_clipping_takes_one_window_per_row() -> None:
    clipped = intervals.Intervals(*split([(0, 10), (0, 10), (50, 60)])).clipped([2, 20, 0], [5, 30, 100])
    assert clipped.starts.tolist() == [2, 20, 50]
    assert clipped.ends.tolist() == [5, 20, 60]


@thorough
@given(st.lists(st.tuples(st.integers(0, 4), pair), max_size=20))
def test_the_union_by_group_is_the_union_of_each_group(rows: list[tuple[int, tuple[int, int]]]) -> None:
    groups = np.array([g for g, _ in rows], dtype=np.int64)
    lengths_ns = intervals.union_length_by_group(groups, *split([p for _, p in rows]), 5)
    assert lengths_ns.tolist() == [len(covered([p for g, p in rows if g == group])) for group in range(5)]


@thorough
@given(st.lists(st.tuples(st.integers(-2, 3), pair), max_size=20))
def test_the_pieces_by_group_are_the_union_of_each_group(rows: list[tuple[int, tuple[int, int]]]) -> None:
    pieces = intervals.union_by_group(np.array([g for g, _ in rows], dtype=np.int64), *split([p for _, p in rows]))
    pieces_of_groups = list(zip(*(part.tolist() for part in pieces), strict=True))
    expected = []
    for group in range(-2, 4):
        left, right = union(*split([p for g, p in rows if g == group]))
        expected += [(group, a, b) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    assert pieces_of_groups == expected


@thorough
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 5)), max_size=12).map(lambda r: sorted(r, key=lambda x: x[0]))
)
def test_the_running_end_is_the_latest_so_far_in_the_group(rows: list[tuple[int, int]]) -> None:
    groups, ends = split(rows)
    expected = [max(e for g, e in rows[: k + 1] if g == rows[k][0]) for k in range(len(rows))]
    assert intervals.running_end(groups, ends).tolist() == expected


def test_the_union_by_group_is_exact_where_shifted_times_would_overflow() -> None:
    day = 86_400_000_000_000
    groups = np.repeat(np.arange(200_000), 2)
    starts = np.tile([0, day // 2], 200_000)
    lengths_ns = intervals.union_length_by_group(groups, starts, np.full_like(starts, day), 200_000)
    assert (lengths_ns == day).all()


@thorough
@given(pairs)
def test_the_depth_profile_is_the_number_running_at_each_time(items: Pairs) -> None:
    times, level = intervals.depth_profile(*split(items))
    assert (np.diff(times) > 0).all()
    for t in range(-15, 40):
        step = int(np.searchsorted(times, t, side="right")) - 1
        assert (int(level[step]) if step >= 0 else 0) == depth(items, t)
    assert (np.diff(level) != 0).all()
    assert not level.size or level[-1] == 0


@thorough
@given(pairs, pairs)
def test_the_integral_of_the_depth_is_the_time_of_all_intervals_in_each_window(items: Pairs, windows: Pairs) -> None:
    lengths_ns = intervals.integrate(*intervals.depth_profile(*split(items)), *split(windows))
    assert lengths_ns.tolist() == [sum(depth(items, t) for t in range(a, b)) for a, b in windows]


@settings(deadline=None, max_examples=500)
@given(pairs, pairs)
def test_containment_agrees_with_looking_at_every_pair(outer: Pairs, inner: Pairs) -> None:
    index, count = intervals.containing(*split(outer), *split(inner))
    holders = [[i for i, (s, e) in enumerate(outer) if s <= a and b <= e] for a, b in inner]
    assert count.tolist() == [len(h) for h in holders]
    assert index.tolist() == [h[0] if len(h) == 1 else -1 for h in holders]


def test_containment_is_exact_among_many_nested_and_one_that_spans_all() -> None:
    n = 1000
    outer_starts = np.concatenate((np.arange(n), [0]))
    outer_ends = np.concatenate((2 * n - np.arange(n), [10 * n]))
    index, count = intervals.containing(outer_starts, outer_ends, [0, 500, n - 1, 5 * n], [0, 501, n + 1, 5 * n + 1])
    # [500, 501) lies in the nested ones that start at 0 to 500 and in the one that spans all.
    assert count.tolist() == [2, 502, 1001, 1]
    assert index.tolist() == [-1, -1, -1, n]


def test_bounds_and_edges_that_are_shared() -> None:
    index, count = intervals.containing([10], [20], [10, 10, 9, 10], [20, 19, 20, 21])
    assert index.tolist() == [0, 0, -1, -1]
    assert count.tolist() == [1, 1, 0, 0]

    index, count = intervals.containing([0, 10], [10, 20], [10, 0, 20], [10, 0, 20])
    assert count.tolist() == [2, 1, 1]
    assert index.tolist() == [-1, 0, 1]

    left, right = union([5, 0], [9, 5])
    assert (left.tolist(), right.tolist()) == ([0], [9])
    times, level = intervals.depth_profile([5, 0], [9, 5])
    assert (times.tolist(), level.tolist()) == ([0, 9], [1, 0])


def test_empty_sets_have_empty_answers_and_rows_give_their_times() -> None:
    none: list[int] = []
    assert intervals.Intervals.none().covered_ns == 0
    assert intervals.containing(none, none, [1], [2])[1].tolist() == [0]
    assert intervals.containing([1], [2], none, none)[0].size == 0
    assert intervals.union_length_by_group(none, none, none, 2).tolist() == [0, 0]
    for result in (*union(none, none), *intervals.depth_profile(none, none)):
        assert result.dtype == np.int64
        assert result.size == 0

    rows = bare_events(np.array([5, 1]), np.array([2, 3]))
    made = intervals.Intervals.from_rows(rows, rows.take(slice(1)))
    assert made.starts.tolist() == [5, 1, 5]
    assert made.ends.tolist() == [7, 4, 7]
    assert made.where(np.array([False, True, False])).durations.tolist() == [3]
    assert len(intervals.Intervals.none()) == intervals.Intervals.none().covered_ns == 0


def test_times_beyond_the_exact_range_of_floats_stay_exact() -> None:
    base = 2**60 + 1
    assert intervals.Intervals(*split([(base, base + 2), (base + 1, base + 4)])).covered_ns == 4
    times, level = intervals.depth_profile([base], [base + 3])
    assert intervals.integrate(times, level, [base + 1], [base + 9]).tolist() == [2]


@pytest.mark.parametrize("function", [union, intervals.depth_profile])
def test_an_end_before_its_start_is_refused(function) -> None:
    with pytest.raises(ValueError, match="ends before it starts"):
        function([5], [4])


def test_what_is_no_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="differ in number"):
        union([1, 2], [3])
    with pytest.raises(ValueError, match="differ in number"):
        intervals.union_length_by_group([0, 1], [1], [2], 2)

    with pytest.raises(TypeError, match="integers"):
        union([1.0], [2.0])


@pytest.mark.parametrize("group", [-1, 2])
def test_a_group_out_of_range_is_refused(group: int) -> None:
    with pytest.raises(ValueError, match="0 to 1"):
        intervals.union_length_by_group([group], [1], [2], 2)


def intervals_of(items: Pairs) -> intervals.Intervals:
    return intervals.Intervals(*split(items))


@thorough
@given(pairs, pairs)
def test_intervals_cover_and_intersect_as_their_instants_do(one: Pairs, two: Pairs) -> None:
    first, second = intervals_of(one), intervals_of(two)
    assert first.covered_ns == len(covered(one))
    both = first.intersection(second)
    assert covered(list(zip(both.starts.tolist(), both.ends.tolist(), strict=True))) == covered(one) & covered(two)
    assert (both.starts < both.ends).all()
    assert (both.starts[1:] > both.ends[:-1]).all()


@thorough
@given(pairs, pairs)
def test_the_covered_time_of_windows_is_counted_instant_by_instant(items: Pairs, windows: Pairs) -> None:
    lengths_ns = intervals_of(items).covered_within(intervals_of(windows))
    assert lengths_ns.tolist() == [len(covered(items) & covered([window])) for window in windows]


@thorough
@given(pairs, st.lists(st.integers(-15, 40), min_size=1, max_size=9).map(sorted))
def test_the_covered_time_between_edges_adds_up(items: Pairs, edges: list[int]) -> None:
    lengths_ns = intervals_of(items).covered_time().between(np.array(edges))
    assert lengths_ns.tolist() == [len(covered(items) & set(range(a, b))) for a, b in pairwise(edges)]


@thorough
@given(pairs)
def test_an_interval_is_alone_where_no_other_overlaps_it(items: Pairs) -> None:
    alone = intervals_of(items).alone().tolist()
    for index, item in enumerate(items):
        others = items[:index] + items[index + 1 :]
        assert alone[index] == (not covered([item]) & covered(others))


@thorough
@given(pairs, pairs)
def test_the_free_time_of_windows_is_counted_instant_by_instant(items: Pairs, windows: Pairs) -> None:
    lengths_ns = intervals_of(items).covered_time().free_within(*split(windows))
    assert lengths_ns.tolist() == [len(covered([window]) - covered(items)) for window in windows]


@thorough
@given(pairs, pairs)
def test_joined_sets_cover_what_either_covers(one: Pairs, two: Pairs) -> None:
    joined = intervals_of(one).joined(intervals_of(two))
    assert len(joined) == len(one) + len(two)
    assert joined.covered_ns == len(covered(one) | covered(two))


@thorough
@given(st.lists(st.tuples(st.integers(0, 4), pair), max_size=14))
def test_the_covered_time_of_groups_is_counted_instant_by_instant(rows: list[tuple[int, tuple[int, int]]]) -> None:
    lengths_ns = intervals_of([item for _, item in rows]).covered_by_group([group for group, _ in rows], 5)
    assert lengths_ns.tolist() == [
        len(covered([item for is_own, item in rows if is_own == group])) for group in range(5)
    ]


@given(st.lists(st.integers(-50, 50), max_size=12), st.data())
def test_sums_between_edges_are_those_of_the_slices(values: list[int], data: st.DataObject) -> None:
    edges = sorted(data.draw(st.lists(st.integers(0, len(values)), min_size=1, max_size=6)))
    lengths_ns = intervals.sums_between(np.array(values, np.int64), np.array(edges))
    assert lengths_ns.tolist() == [sum(values[low:high]) for low, high in pairwise(edges)]


@given(pairs)
def test_positions_of_runs_are_those_of_each_in_turn(items):
    first, after = np.array(items, np.int64).reshape(-1, 2).T
    expected = [position for begin, end in items for position in range(begin, end)]
    assert intervals.positions_between(first, after).tolist() == expected
