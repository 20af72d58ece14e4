"""Rows of a lane, bars, and what lies under a cell, against going through all intervals one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from tracekit.intervals import Intervals
from tracekit.lanes.events import Events
from tracekit.tui.timeline.tracks import Track, bars, edges, hit, nearest, snapped, starting, step, tracks
from tracekit.tui.viewport import Viewport, column_of, time_of

ROWS = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 40), st.integers(1, 3)), max_size=20)
VIEWS = st.builds(Viewport, st.integers(-20, 100), st.integers(10, 200))


def events_of(rows) -> Events:
    ordered = sorted(rows, key=lambda row: (row[0], -row[1]))
    starts = np.array([row[0] for row in ordered], np.int64)
    ends = starts + np.array([row[1] for row in ordered], np.int64)
    none = np.full(len(ordered), -1, np.int32)
    categories = np.array([row[2] for row in ordered], np.int8)
    return Events("activity", np.arange(len(ordered)), starts, ends, categories, none, (), none, ())


@settings(deadline=None)
@given(ROWS, st.integers(1, 5))
def test_every_event_is_in_one_row_and_rows_but_the_last_do_not_overlap(rows, limit):
    events = events_of(rows)
    found = tracks(events, limit)
    assert len(found) <= limit
    assert sorted(place for track in found for place in track.positions.tolist()) == list(range(len(events)))
    for number, track in enumerate(found):
        apart = all(end <= start for end, start in zip(track.ends, track.starts[1:], strict=False))
        assert track.disjoint == apart
        assert apart or number == limit - 1


@settings(deadline=None)
@given(ROWS, VIEWS, st.integers(1, 20), st.integers(1, 3))
def test_bars_are_the_intervals_that_fill_that_many_columns(rows, view, columns, least):
    columns = min(columns, view.span_ns)
    bounds = edges(view, columns)
    for track in tracks(events_of(rows), 50):
        expected = []
        for place, start, end in zip(track.positions, track.starts, track.ends, strict=True):
            whole = [c for c in range(columns) if start <= bounds[c] and bounds[c + 1] <= end]
            if len(whole) >= least:
                expected.append((place, whole[0], whole[-1] + 1, start < bounds[whole[0]]))
        assert bars(track, bounds, least) == expected


@settings(deadline=None)
@given(ROWS, st.integers(0, 120), st.integers(1, 30), st.integers(1, 3))
def test_a_cell_shows_the_interval_that_covers_most_of_it(rows, low, width, limit):
    events = events_of(rows)
    for track in tracks(events, limit):
        covered = {
            int(place): min(int(end), low + width) - max(int(start), low)
            for place, start, end in zip(track.positions, track.starts, track.ends, strict=True)
        }
        best = max(covered.values(), default=0)
        found = hit(track, low, low + width)
        if best <= 0:
            assert found is None
        else:
            assert found == min(place for place, amount in covered.items() if amount == best)


@settings(deadline=None)
@given(ROWS, st.integers(-10, 150))
def test_the_nearest_event_is_the_innermost_that_is_on(rows, time):
    events = events_of(rows)
    found = nearest(events, time)
    ends = np.maximum(events.ends, events.starts + 1)
    on = [place for place in range(len(events)) if events.starts[place] <= time < ends[place]]
    if not len(events):
        assert found is None
    elif on:
        assert found == on[-1]
    else:
        assert abs(int(events.starts[found]) - time) == min(abs(int(start) - time) for start in events.starts)


def test_steps_go_from_event_to_event_and_stop_at_the_ends():
    events = events_of([(0, 5, 1), (10, 5, 1), (20, 5, 1)])
    assert [step(events, place, True) for place in (-1, 0, 1, 2)] == [0, 1, 2, None]
    assert [step(events, place, False) for place in (3, 2, 1, 0)] == [2, 1, 0, None]


def test_steps_skip_what_is_not_chosen():
    events = events_of([(start, 5, 1) for start in range(0, 50, 10)])
    chosen = np.array([True, False, False, True, False])
    assert [step(events, place, True, chosen) for place in (-1, 0, 1, 3)] == [0, 3, 3, None]
    assert [step(events, place, False, chosen) for place in (5, 3, 1, 0)] == [3, 0, 0, None]


def test_an_end_snaps_to_the_nearest_edge_within_reach():
    events = events_of([(100, 50, 1), (300, 10, 1)])
    assert snapped(events, 103, 5) == 100
    assert snapped(events, 148, 5) == 150
    assert snapped(events, 120, 5) == 120
    assert snapped(events, 305, 5) == 300


def test_of_edges_equally_near_an_end_snaps_to_a_start_then_to_the_earlier_one():
    events = events_of([(0, 40, 1), (10, 10, 1), (60, 5, 1)])
    assert snapped(events, 30, 10) == 20
    assert snapped(events, 50, 10) == 60


def test_an_instant_can_be_hit():
    track = tracks(events_of([(50, 0, 1)]), 4)[0]
    assert hit(track, 40, 60) == 0
    assert hit(track, 51, 60) is None


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
def test_busy_time_of_each_column_is_what_counting_gives(intervals, view, columns):
    bounds = edges(view, columns)
    found = covered(*arrays(intervals)).between(bounds)
    assert found.tolist() == [
        counted(intervals, low, high) for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    ]


@settings(deadline=None)
@given(INTERVALS, VIEWS, st.integers(1, 30))
def test_columns_add_up_to_the_whole_view(intervals, view, columns):
    whole = covered(*arrays(intervals)).between(edges(view, 1))
    assert covered(*arrays(intervals)).between(edges(view, columns)).sum() == whole[0]


@settings(deadline=None)
@given(st.integers(-(2**62), 2**61), st.integers(1, 2**61), st.integers(1, 500))
def test_edges_are_those_of_the_viewport_even_where_products_pass_64_bits(start, span, columns):
    view = Viewport(start, span)
    assert edges(view, columns).tolist() == [time_of(view, columns, column) for column in range(columns + 1)]


@settings(deadline=None)
@given(st.integers(-1000, 1000), st.integers(1, 5000), st.integers(1, 300), st.integers(-200, 6000))
def test_a_time_lies_in_its_column(start, span, columns, offset):
    view = Viewport(start, max(span, columns))
    column = column_of(view, columns, start + offset)
    assert time_of(view, columns, column) <= start + offset < time_of(view, columns, column + 1)


@settings(deadline=None)
@given(INTERVALS, INTERVALS, VIEWS, st.integers(1, 20))
def test_shares_name_the_category_that_covers_most(first, second, view, columns):
    columns = min(columns, view.span_ns)
    bounds = edges(view, columns)
    both = first + second
    parts = tuple((code, covered(*arrays(part))) for code, part in ((3, first), (7, second)) if part)
    starts = np.sort(arrays(both)[0])
    found = Track(np.arange(len(starts)), starts, starts, parts, covered(*arrays(both)), disjoint=False).shares(bounds)
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


def test_an_instant_is_there_though_it_covers_nothing():
    starts = np.array([55], np.int64)
    on = covered(starts, starts)
    found = Track(np.zeros(1, np.int64), starts, starts + 1, ((2, on),), on, disjoint=True).shares(
        edges(Viewport(0, 100), 10)
    )
    assert found.total.tolist() == [0.0] * 10
    assert np.flatnonzero(found.touched).tolist() == [5]
    assert found.category[5] == 2


def test_starts_are_counted_in_the_column_whose_first_ns_they_are():
    assert starting(np.array([0, 10, 10, 19, 30]), np.array([0, 10, 20, 30])).tolist() == [1, 3, 0]
