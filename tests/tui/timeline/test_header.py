"""Ticks and their labels, and the axis of time where there are no colors."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings, strategies as st

from tracekit.intervals import Intervals
from tracekit.tui.state import Bookmark, EventFilter, State
from tracekit.tui.theme import PALETTES
from tracekit.tui.timeline.header import MS, STEPS, S, Tick, TimelineStyle, axis, minimap, ruler, time_axis
from tracekit.tui.viewport import Span, Viewport, column_of

TITLE, COLUMNS = 6, 20


@pytest.fixture
def axis_of():
    """The signs on the axis of a view from 1,000 to 3,000 ns, 100 ns for each column."""

    def drawn(span: Span | None, cursor: int, *bookmarks: int, monochrome: bool = True) -> str:
        kept = tuple(Bookmark(time, "") for time in bookmarks)
        state = State((), Viewport(1_000, 2_000), range=span, cursor_ns=cursor, bookmarks=kept)
        look = TimelineStyle(PALETTES[True], TITLE, COLUMNS, monochrome, leads=True)
        line = "".join(segment.text for segment in time_axis(state, look))
        assert len(line) == TITLE + COLUMNS
        return "".join(sign if sign in "[]▼◇" else "." for sign in line[TITLE:])

    return drawn


@pytest.mark.parametrize(
    ("span", "cursor", "bookmarks", "line"),
    [
        ((1_300, 700), 2_500, (), "...[.....].....▼...."),
        # A sign on an end moves the bracket outward.
        ((1_300, 700), 1_300, (), "..[▼.....].........."),
        ((1_300, 700), 1_900, (), "...[.....▼]........."),
        # Where there is a sign or no room, inward.
        ((1_300, 700), 1_300, (1_200,), "..◇▼[....].........."),
        ((1_000, 700), 1_000, (), "▼[....]............."),
        ((2_500, 500), 2_900, (), "...............[..]▼"),
        # A range within a column has two ends too.
        ((1_310, 20), 2_500, (), "...[]..........▼...."),
        ((1_310, 20), 1_310, (), "..[▼]..............."),
        # Ends that are out of view.
        ((500, 1_000), 2_500, (), "....]..........▼...."),
        ((2_500, 1_000), 1_200, (), "..▼............[...."),
        ((0, 9_000), 1_200, (), "..▼................."),
    ],
)
def test_a_range_keeps_its_brackets_beside_other_signs(span, cursor, bookmarks, line, axis_of):
    assert axis_of(Span(*span), cursor, *bookmarks) == line


def test_with_colors_a_range_has_no_brackets(axis_of):
    assert axis_of(Span(1_300, 700), 1_300, monochrome=False) == "...▼................"


def test_the_overview_of_a_recording_without_length_shows_nothing_in_it():
    whole, none = Viewport(0, 1), Intervals.none().covered_time()
    state = SimpleNamespace(bounds=whole, view=whole, filter=EventFilter(), sessions=())
    look = TimelineStyle(PALETTES[True], TITLE, COLUMNS, monochrome=False, leads=True)
    line = "".join(segment.text for segment in minimap(state, (none, none), look))
    assert line[TITLE:].strip() == ""


@settings(deadline=None)
@given(st.integers(0, 10**13), st.integers(1, 10**13), st.integers(20, 300))
def test_labels_do_not_touch_and_ticks_stand_at_whole_steps(start, span, columns):
    view = Viewport(start, max(span, columns))
    found = ruler(view, columns)
    ends = [tick.column + 1 + len(tick.label) for tick in found]
    assert all(end < tick.column for end, tick in zip(ends, found[1:], strict=False))
    # More steps than columns can have no ticks of their own.
    assert [tick.column for tick in found] in [
        [column_of(view, columns, time) for time in range(-(-start // step) * step, view.end_ns, step)]
        for step in STEPS
        if view.span_ns // step <= columns
    ]


@settings(deadline=None)
@given(st.integers(0, 10**12), st.integers(100, 10**12))
def test_neighboring_labels_differ(start, span):
    labels = [tick.label for tick in ruler(Viewport(start, span), 100)]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("start", "span", "labels"),
    [
        (0, 10 * S, ["0.000 s", "2.000 s", "4.000 s"]),
        (1_500 * MS, 5 * S, ["1.500 s", "2.000 s", "2.500 s"]),
        (12_345 * MS, 10 * MS, ["12.346 s", "12.348 s", "12.350 s"]),
        (12_345_678_000, 100_000, ["12.345 680 s", "12.345 700 s"]),
        (1_112_033_990_500, 1_000, ["18:32.033 990 600", "18:32.033 990 800"]),
        (3_600 * S, 120 * S, ["1:00:00.000", "1:00:20.000", "1:00:40.000"]),
        (-2 * S, 10 * S, ["-2.000 s", "0.000 s", "2.000 s"]),
    ],
)
def test_labels_are_moments_with_the_digits_that_their_distance_needs(start, span, labels):
    assert [tick.label for tick in ruler(Viewport(start, span), 100)][: len(labels)] == labels


TWO_TICKS = (Tick(0, "0 s"), Tick(12, "5 s"))


@pytest.mark.parametrize(
    ("signs", "line"),
    [
        ({}, "╵0 s        ╵5 s    "),
        # A label keeps its place where no sign stands in it, goes before its tick where there is room, else away.
        ({14: "▼"}, "╵0 s     5 s╵ ▼     "),
        ({2: "▼"}, "╵ ▼         ╵5 s    "),
        ({14: "▼", 10: "◇"}, "╵0 s      ◇ ╵ ▼     "),
        ({12: "▼"}, "╵0 s        ▼5 s    "),
        ({4: "▼", 16: "◆", 25: "◇", -1: "◇"}, "╵0 s▼       ╵5 s◆   "),
    ],
)
def test_a_sign_never_stands_in_a_label_and_a_label_never_behind_a_sign_that_is_not_its_tick(signs, line):
    assert axis(TWO_TICKS, signs, 20) == line


def test_a_label_before_its_tick_does_not_touch_the_one_before():
    for gap in range(4, 12):
        ticks = (Tick(0, "0 s"), Tick(gap, "5 s"))
        line = axis(ticks, {gap + 1: "▼"}, 20)
        assert line.startswith("╵0 s" + ("     5 s"[-(gap - 4) :] if gap >= 8 else " " * (gap - 4)) + "╵▼")


def test_a_range_fills_the_blanks_of_the_axis():
    assert axis(TWO_TICKS, {2: "[", 16: "]"}, 20, (2, 17)) == "╵ [=========╵5 s]   "
    assert axis(TWO_TICKS, {}, 20, (6, 10)) == "╵0 s  ====  ╵5 s    "
