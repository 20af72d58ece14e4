"""The axis of time, where there are no colors."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tracekit.intervals import Intervals
from tracekit.tui.state import Bookmark, EventFilter, State
from tracekit.tui.theme import PALETTES
from tracekit.tui.timeline.header import TimelineStyle, minimap, time_axis
from tracekit.tui.viewport import Span, Viewport

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
def test_a_range_keeps_its_brackets_beside_other_signs(span, cursor, bookmarks, line, axis_of) -> None:
    assert axis_of(Span(*span), cursor, *bookmarks) == line


def test_with_colors_a_range_has_no_brackets(axis_of) -> None:
    assert axis_of(Span(1_300, 700), 1_300, monochrome=False) == "...▼................"


def test_the_overview_of_a_recording_without_length_shows_nothing_in_it() -> None:
    whole, none = Viewport(0, 1), Intervals.none().covered_time()
    state = SimpleNamespace(bounds=whole, view=whole, filter=EventFilter(), sessions=())
    look = TimelineStyle(PALETTES[True], TITLE, COLUMNS, monochrome=False, leads=True)
    line = "".join(segment.text for segment in minimap(state, (none, none), look))
    assert line[TITLE:].strip() == ""
