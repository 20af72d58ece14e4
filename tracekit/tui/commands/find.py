"""Searching, filtering, going to a time, and places to come back to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

from tracekit.report.formatting import moment
from tracekit.trace.trace import Trace
from tracekit.tui import query
from tracekit.tui.commands.views import show_pane
from tracekit.tui.detail.events import EventRows, event_rows
from tracekit.tui.keys import ActionError, action, action_of
from tracekit.tui.messages import in_background
from tracekit.tui.ranges import listed, passing
from tracekit.tui.screens.small import AskScreen, ChooseScreen
from tracekit.tui.selection import walk_start
from tracekit.tui.state import EVIDENCE_FRAMES, Bookmark, EventFilter, Selection, State
from tracekit.tui.state_app import StateApp
from tracekit.tui.timeline.strips import model_of
from tracekit.tui.viewport import center_view
from tracekit.units import format_count

_FILTERED = ("events", "predictions", "aggregation", "compare")
"""Panes that a filter narrows; from others it leads to the events."""


@action("filter")
def ask_filter(app: StateApp) -> None:
    """Search: filter lists and lanes while you type."""
    trace, before = app.state.session.trace, app.state.filter
    values = filter_values(trace)

    def apply(chosen: EventFilter) -> Callable[[], str]:
        app.change(filter=chosen)
        return lambda: f"{format_count(_count(trace, chosen), 'event')} match" if chosen.active else ""

    def take(chosen: EventFilter | None) -> None:
        if chosen is None:
            app.change(filter=before)
            return
        pane = app.state.pane if app.state.pane in _FILTERED else "events"
        app.change(filter=chosen)
        if pane != app.state.pane:
            show_pane(app, pane)

    # Of the selection or, without one, of the first row of the list.
    model = model_of(replace(app.state, selection=app.state.inspector_selection))
    complete = partial(query.complete_last_word, known=values, model=model)
    parse, hint = partial(query.parse_filter, known=values), query.filter_hint(values)
    app.push_screen(AskScreen("Search and filter", hint, parse, query.filter_text(before), apply, complete), take)


def _count(trace: Trace, chosen: EventFilter) -> int:
    return sum(int(passing(trace, name, chosen, None).sum()) for name in EVIDENCE_FRAMES)


clear_filter = action_of("clear_filter", "Clear the filter.", lambda app: app.change(filter=EventFilter()))


@action("go_to_time")
def go_to_time(app: StateApp) -> None:
    """Go to a time; : in lists, where g is the first row."""
    here = app.state.cursor_ns

    def take(time: int | None) -> None:
        if time is None:
            return
        state = app.state
        low, high = state.bounds.start_ns, state.bounds.end_ns - 1
        reached = min(max(time, low), high)
        _go(app, reached)
        beyond = "Past the end" if time > reached else "Before the start"
        app.say("" if reached == time else f"{beyond}; moved to {moment(reached)}.")

    app.push_screen(AskScreen("Go to time", query.TIME_HINT, partial(query.parse_time, here_ns=here)), take)


def filter_values(trace: Trace) -> query.Known:
    """What the rows of a trace can be filtered by: values that occur. O(n) with a small constant."""

    def texts(column: str) -> list[str]:
        values_present: set[str] = set()
        for name in EVIDENCE_FRAMES:
            values_present.update(listed(trace, name).columns()[column].held())
        return sorted(values_present)

    return query.Known(*map(texts, query.Known._fields))


_matches = lru_cache(maxsize=1)(event_rows)


def _to_match(app: StateApp, *, forward: bool) -> None:
    state = app.state
    if not state.filter.active:
        raise ActionError("No filter set; / sets one.")

    def show(rows: EventRows) -> None:
        row = match_after(rows, app.state, forward=forward)
        if 0 <= row < len(rows):
            app.select(Selection(event=rows.ref(row)))
            app.say(f"Match {row + 1:,} of {len(rows):,}.")
        else:
            app.say(f"No {'later' if forward else 'earlier'} match; {len(rows):,} in all.")

    in_background(app, lambda: _matches(state.session.trace, state.filter, None), show)


next_match = action_of("next_match", "Select the next event that matches the filter.", partial(_to_match, forward=True))
previous_match = action_of(
    "previous_match", "Select the previous event that matches the filter.", partial(_to_match, forward=False)
)


def match_after(rows: EventRows, state: State, *, forward: bool) -> int:
    """Row of the next match from where one stands; may lie outside the rows. O(n)."""
    event, time_ns = walk_start(state, forward=forward)
    here = rows.row(event) if event is not None else None
    if here is not None:
        return here + 1 if forward else here - 1
    search = bisect_left if forward else bisect_right
    row = search(range(len(rows)), time_ns, key=rows.start)
    return row if forward else row - 1


@action("bookmark")
def toggle_bookmark(app: StateApp) -> None:
    """Add or remove a bookmark at the cursor."""
    state = app.state
    rest = tuple(entry for entry in state.bookmarks if entry.time_ns != state.cursor_ns)
    if len(rest) < len(state.bookmarks):
        app.change(bookmarks=rest)
        app.say(f"Bookmark at {moment(state.cursor_ns)} removed.")
        return
    made = Bookmark(state.cursor_ns, _note(app))
    app.change(bookmarks=tuple(sorted((*rest, made), key=lambda entry: entry.time_ns)))
    app.say(f"Bookmark added at {moment(made.time_ns)}: {made.note}.")


def _bookmarks(app: StateApp) -> tuple[Bookmark, ...]:
    """All of them. Raises `ActionError` where there is none."""
    if not app.state.bookmarks:
        raise ActionError("No bookmarks; b adds one at the cursor.")
    return app.state.bookmarks


@action("bookmarks")
def list_bookmarks(app: StateApp) -> None:
    """List the bookmarks and go to one."""
    marks = _bookmarks(app)

    def take(index: int | None) -> None:
        if index is not None:
            _go_to_mark(app, marks[index])

    lines = [f"{moment(entry.time_ns)}  {entry.note}" for entry in marks]
    app.push_screen(ChooseScreen("Bookmarks", lines), take)


@action("next_bookmark")
def next_bookmark(app: StateApp) -> None:
    """Go to the next bookmark."""
    marks = _bookmarks(app)
    _go_to_mark(app, next((entry for entry in marks if entry.time_ns > app.state.cursor_ns), marks[0]))


def _go(app: StateApp, time_ns: int) -> None:
    app.change(cursor_ns=time_ns)
    app.go(center_view(app.state.view, time_ns, app.state.bounds, app.browse.columns), step=False)


def _go_to_mark(app: StateApp, mark: Bookmark) -> None:
    _go(app, mark.time_ns)
    app.say(f"{moment(mark.time_ns)}: {mark.note}")


def _note(app: StateApp) -> str:
    state = app.state
    event = state.selection.event
    if event is not None and state.session.span(event).start_ns == state.cursor_ns:
        row = state.session.row(event)
        parts = [row.get("label", row.get("state")), row.get("model")]
        words = " · ".join(part for part in parts if isinstance(part, str))
        if words:
            return words
    return next((f"lane {lane.title}" for lane in app.lanes.lanes if lane.id == state.lane), "")
