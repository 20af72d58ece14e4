"""Zooming, panning and going back."""

from hypothesis import given, settings, strategies as st

from tracekit.tui.viewport import (
    Bounds,
    History,
    Viewport,
    around,
    clamp,
    column_of,
    columns_of,
    pan,
    revealing,
    span_between,
    zoom,
)

BOUNDS = Bounds(100, 10_000)
VIEWS = st.builds(Viewport, st.integers(-5_000, 20_000), st.integers(1, 30_000))


@settings(deadline=None)
@given(VIEWS, st.integers(1, 200))
def test_a_clamped_view_lies_inside_and_has_room_for_each_column(view, columns):
    found = clamp(view, BOUNDS, columns)
    assert BOUNDS.start_ns <= found.start_ns
    assert found.end_ns <= BOUNDS.end_ns
    assert columns <= found.span_ns <= BOUNDS.span_ns
    assert clamp(found, BOUNDS, columns) == found


def test_a_recording_shorter_than_the_columns_is_shown_from_its_start():
    assert clamp(Viewport(50, 3), Bounds(0, 10), 80) == Viewport(0, 80)


@settings(deadline=None)
@given(st.integers(2_000, 8_000), st.sampled_from([0.5, 2.0, 3.0]), st.integers(20, 200))
def test_what_is_under_the_pointer_stays_there_when_zooming(at, factor, columns):
    view = Viewport(at - 500, 1_000)
    found = zoom(view, factor, at, BOUNDS, columns)
    assert abs(column_of(found, columns, at) - column_of(view, columns, at)) <= 1


def test_zooming_in_ends_at_one_ns_for_each_column():
    view = BOUNDS
    for _ in range(30):
        view = zoom(view, 2, 5_000, BOUNDS, 80)
    assert view.span_ns == 80
    assert view.start_ns <= 5_000 < view.end_ns


def test_zooming_out_ends_at_the_whole_recording():
    view = Viewport(9_000, 100)
    for _ in range(30):
        view = zoom(view, 0.5, 9_050, BOUNDS, 80)
    assert view == BOUNDS


def test_panning_moves_by_a_share_and_stops_at_the_ends():
    assert pan(Viewport(1_000, 400), 0.25, BOUNDS, 80) == Viewport(1_100, 400)
    assert pan(Viewport(1_000, 400), -0.25, BOUNDS, 80) == Viewport(900, 400)
    assert pan(Viewport(150, 400), -0.25, BOUNDS, 80) == Viewport(100, 400)
    assert pan(Viewport(9_650, 400), 0.25, BOUNDS, 80) == Viewport(9_700, 400)


def test_zooming_to_an_interval_leaves_a_tenth_on_both_sides():
    assert around(span_between(2_000, 3_000), BOUNDS, 80) == Viewport(1_900, 1_200)


def test_revealing_moves_only_where_the_beginning_is_out_of_sight():
    view = Viewport(1_000, 400)
    assert revealing(view, span_between(1_399, 5_000), BOUNDS, 80) == view
    assert revealing(view, span_between(5_000, 5_100), BOUNDS, 80) == Viewport(4_850, 400)


def test_an_interval_shows_in_at_least_one_column():
    view = Viewport(0, 1_000)
    assert columns_of(view, 100, span_between(55, 55)) == (5, 6)
    assert columns_of(view, 100, span_between(50, 60)) == (5, 6)
    assert columns_of(view, 100, span_between(50, 61)) == (5, 7)
    assert columns_of(view, 100, span_between(-500, 5_000)) == (0, 100)


def test_going_back_and_forward_returns_to_the_same_views():
    first, second, third = (Viewport(start, 100) for start in (0, 200, 400))
    history = History().leaving(first).leaving(second)
    view, history = history.back(third)
    assert view == second
    view, history = history.back(view)
    assert view == first
    assert history.back(view) == (first, history)
    view, history = history.forward(view)
    view, history = history.forward(view)
    assert view == third
    assert history.forward(view) == (third, history)
