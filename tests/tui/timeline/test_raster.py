"""Busy shares against counting every single ns."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracekit.intervals import Intervals
from tracekit.tui.timeline.tracks import edges, shares, starting
from tracekit.tui.viewport import Viewport, column_of, time_of

INTERVALS = st.lists(st.tuples(st.integers(-20, 120), st.integers(0, 60)), max_size=12)
VIEWS = st.builds(Viewport, st.integers(-30, 130), st.integers(1, 150))


def arrays(intervals):
    starts = np.array([start for start, _ in intervals], np.int64)
    return starts, starts + np.array([length for _, length in intervals], np.int64)


def covered(starts, ends):
    return Intervals(starts, ends).covered_time()


def counted(intervals, low, high):
    """Ns of `[low, high)` that some interval covers, one by one."""
    return sum(any(start <= t < start + length for start, length in intervals) for t in range(low, high))


@settings(deadline=None)
@given(INTERVALS, VIEWS, st.integers(1, 40))
def test_busy_time_of_each_column_is_what_counting_gives(intervals, view, columns) -> None:
    bounds = edges(view, columns)
    found = covered(*arrays(intervals)).between(bounds)
    assert found.tolist() == [
        counted(intervals, low, high) for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    ]


@settings(deadline=None)
@given(INTERVALS, VIEWS, st.integers(1, 30))
def test_columns_add_up_to_the_whole_view(intervals, view, columns) -> None:
    whole = covered(*arrays(intervals)).between(edges(view, 1))
    assert covered(*arrays(intervals)).between(edges(view, columns)).sum() == whole[0]


@settings(deadline=None)
@given(st.integers(-(2**62), 2**61), st.integers(1, 2**61), st.integers(1, 500))
def test_edges_are_those_of_the_viewport_even_where_products_pass_64_bits(start, span, columns) -> None:
    view = Viewport(start, span)
    assert edges(view, columns).tolist() == [time_of(view, columns, column) for column in range(columns + 1)]


@settings(deadline=None)
@given(st.integers(-1000, 1000), st.integers(1, 5000), st.integers(1, 300), st.integers(-200, 6000))
def test_a_time_lies_in_its_column(start, span, columns, offset) -> None:
    view = Viewport(start, max(span, columns))
    column = column_of(view, columns, start + offset)
    assert time_of(view, columns, column) <= start + offset < time_of(view, columns, column + 1)


@settings(deadline=None)
@given(INTERVALS, INTERVALS, VIEWS, st.integers(1, 20))
def test_shares_name_the_category_that_covers_most(first, second, view, columns) -> None:
    columns = min(columns, view.span_ns)
    bounds = edges(view, columns)
    both = first + second
    parts = tuple((code, covered(*arrays(part))) for code, part in ((3, first), (7, second)) if part)
    found = shares(parts, covered(*arrays(both)), np.sort(arrays(both)[0]), bounds)
    for column in range(columns):
        low, high = int(bounds[column]), int(bounds[column + 1])
        assert found.total[column] == counted(both, low, high) / (high - low)
        begun = any(low <= start < high for start, _ in both)
        assert found.touched[column] == (counted(both, low, high) > 0 or begun)
        amounts = {3: counted(first, low, high), 7: counted(second, low, high)}
        if not found.touched[column]:
            assert found.category[column] == -1
        elif max(amounts.values()) > 0:
            assert amounts[int(found.category[column])] == max(amounts.values())


def test_an_instant_is_there_though_it_covers_nothing() -> None:
    starts = np.array([55], np.int64)
    found = shares(((2, covered(starts, starts)),), covered(starts, starts), starts, edges(Viewport(0, 100), 10))
    assert found.total.tolist() == [0.0] * 10
    assert np.flatnonzero(found.touched).tolist() == [5]
    assert found.category[5] == 2


def test_starts_are_counted_in_the_column_whose_first_ns_they_are() -> None:
    assert starting(np.array([0, 10, 10, 19, 30]), np.array([0, 10, 20, 30])).tolist() == [1, 3, 0]
