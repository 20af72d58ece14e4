"""Places to come back to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.report.formatting import moment
from tracekit.tui.action import action
from tracekit.tui.screens.ask import ChooseScreen
from tracekit.tui.state import Bookmark
from tracekit.tui.viewport import centered

if TYPE_CHECKING:
    from tracekit.tui.action import ActionHost
    from tracekit.tui.state import State

_NONE = "No bookmarks; b adds one at the cursor."


@action("bookmark")
def toggle_bookmark(app: ActionHost) -> None:
    """Add or remove a bookmark at the cursor."""
    state = app.state
    rest = tuple(entry for entry in state.bookmarks if entry.time_ns != state.cursor_ns)
    if len(rest) < len(state.bookmarks):
        app.change(bookmarks=rest)
        app.say(f"Bookmark at {moment(state.cursor_ns)} removed.")
        return
    made = Bookmark(state.cursor_ns, _note(state))
    app.change(bookmarks=tuple(sorted((*rest, made), key=lambda entry: entry.time_ns)))
    app.say(f"Bookmark added at {moment(made.time_ns)}: {made.note}.")


@action("bookmarks")
def list_bookmarks(app: ActionHost) -> None:
    """List the bookmarks and go to one."""
    marks = app.state.bookmarks
    if not marks:
        app.say(_NONE)
        return

    def take(index: int | None) -> None:
        if index is not None:
            _go(app, marks[index])

    lines = [f"{moment(entry.time_ns)}  {entry.note}" for entry in marks]
    app.ask(ChooseScreen("Bookmarks", lines), take)


@action("next_bookmark")
def next_bookmark(app: ActionHost) -> None:
    """Go to the next bookmark; after the last one, to the first."""
    marks = app.state.bookmarks
    if not marks:
        app.say(_NONE)
        return
    _go(app, next((entry for entry in marks if entry.time_ns > app.state.cursor_ns), marks[0]))


def _go(app: ActionHost, mark: Bookmark) -> None:
    state = app.state
    app.change(cursor_ns=mark.time_ns)
    app.go(centered(state.view, mark.time_ns, state.bounds, app.columns), step=False)
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
