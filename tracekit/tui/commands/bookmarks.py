"""Places to come back to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.report.formatting import moment
from tracekit.tui.action import Action, Section
from tracekit.tui.state import Bookmark
from tracekit.tui.timeline.viewport import Viewport, clamp

if TYPE_CHECKING:
    from tracekit.tui.app import ViewApp
    from tracekit.tui.state import State


def toggle_bookmark(app: ViewApp) -> None:
    """Set a bookmark at the cursor, or take away the one that is there."""
    state = app.state
    rest = tuple(entry for entry in state.bookmarks if entry.time_ns != state.cursor_ns)
    if len(rest) < len(state.bookmarks):
        app.change(bookmarks=rest)
        app.say(f"The bookmark at {moment(state.cursor_ns)} is gone.")
        return
    made = Bookmark(state.cursor_ns, _note(state))
    app.change(bookmarks=tuple(sorted((*rest, made), key=lambda entry: entry.time_ns)))
    app.say(f"Bookmark at {moment(made.time_ns)}: {made.note}.")


def list_bookmarks(app: ViewApp) -> None:
    """Choose a bookmark and go there."""
    from tracekit.tui.screens.ask import ChooseScreen

    marks = app.state.bookmarks
    if not marks:
        app.say("There are no bookmarks: b sets one at the cursor.")
        return

    def take(place: int | None) -> None:
        if place is not None:
            _go(app, marks[place])

    lines = [f"{moment(entry.time_ns)}  {entry.note}" for entry in marks]
    app.push_screen(ChooseScreen("Bookmarks", lines), take)


def next_bookmark(app: ViewApp) -> None:
    """Go to the next bookmark; after the last one, to the first."""
    marks = app.state.bookmarks
    if not marks:
        app.say("There are no bookmarks: b sets one at the cursor.")
        return
    _go(app, next((entry for entry in marks if entry.time_ns > app.state.cursor_ns), marks[0]))


def _go(app: ViewApp, mark: Bookmark) -> None:
    state = app.state
    app.change(cursor_ns=mark.time_ns)
    centred = Viewport(mark.time_ns - state.view.span_ns // 2, state.view.span_ns)
    app.go(clamp(centred, state.bounds, app.columns), step=False)
    app.say(f"{moment(mark.time_ns)}: {mark.note}")


def _note(state: State) -> str:
    """What is there, in words."""
    event = state.selection.event
    if event is not None and state.session.span(event).start_ns == state.cursor_ns:
        row = state.session.row(event)
        parts = [row.get("label", row.get("state")), row.get("model")]
        words = " · ".join(part for part in parts if isinstance(part, str))
        if words:
            return words
    return f"lane {state.lane}"


ACTIONS: tuple[Action, ...] = (
    Action(
        "bookmark",
        ("b",),
        "Bookmark",
        Section.FIND,
        "Set a bookmark at the cursor, or take it away.",
        toggle_bookmark,
    ),
    Action("bookmarks", ("B",), "Bookmarks", Section.FIND, "Choose a bookmark and go there.", list_bookmarks),
    Action(
        "next_bookmark",
        ("apostrophe",),
        "Next bookmark",
        Section.FIND,
        "Go to the next bookmark, after the last one to the first.",
        next_bookmark,
    ),
)
