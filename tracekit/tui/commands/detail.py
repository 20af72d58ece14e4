"""The detail area, the list in it that has the keys, and the inspector."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tracekit.tui.action import action
from tracekit.tui.detail.listing import ListPane
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.screens.ask import TickScreen
from tracekit.tui.state import Area

if TYPE_CHECKING:
    from tracekit.tui.state_app import StateApp


_UNSORTED = "Nothing to sort here; open a list with 1 to 5."


@action("pane_findings")
def show_findings(app: StateApp) -> None:
    """Show findings and all other checks."""
    show_pane(app, "findings")


@action("pane_aggregation")
def show_aggregation(app: StateApp) -> None:
    """Show statistics by lane, event and model, for the range or the whole recording."""
    show_pane(app, "aggregation")


@action("pane_events")
def show_events(app: StateApp) -> None:
    """List the events."""
    show_pane(app, "events")


@action("pane_predictions")
def show_predictions(app: StateApp) -> None:
    """List the predictions and where their time went."""
    show_pane(app, "predictions")


@action("pane_models")
def show_models(app: StateApp) -> None:
    """Show the models."""
    show_pane(app, "models")


@action("pane_facts")
def show_facts(app: StateApp) -> None:
    """Show recording details and coverage."""
    show_pane(app, "facts")


@action("pane_code")
def show_code(app: StateApp) -> None:
    """Show the call tree of the range or the selected event."""
    show_pane(app, "code")


def show_pane(app: StateApp, name: str) -> None:
    """Show a pane and move the focus to it."""
    app.change(pane=name)
    app.focus_pane()


@action("toggle_inspector")
def toggle_inspector(app: StateApp) -> None:
    """Show or hide the inspector."""
    on_timeline = app.focused_area is Area.TIMELINE
    app.change(inspector=not app.state.inspector)
    if not on_timeline:
        # What had the keys may be out of sight now.
        app.focus_inspector()


@action("page")
def show_page(app: StateApp) -> None:
    """Show the selection on a page of its own, a finding with its fix at full width, or go back."""
    app.change(maximized=None if app.state.maximized is Area.INSPECTOR else Area.INSPECTOR)
    app.focus_inspector()


def _list(app: StateApp) -> ListPane[Any] | None:
    """The pane on screen, where it is a list that can be sorted."""
    pane = app.pane
    return pane if isinstance(pane, ListPane) else None


@action("sort_next")
def sort_next(app: StateApp) -> None:
    """Sort the list by the next column."""
    rows = _list(app)
    if rows is None or not rows.sort_next():
        app.say(_UNSORTED)


@action("sort_reversed")
def sort_reversed(app: StateApp) -> None:
    """Reverse the sort order."""
    rows = _list(app)
    if rows is None or not rows.sort_reversed():
        app.say(_UNSORTED)


@action("columns")
def choose_columns(app: StateApp) -> None:
    """Choose the visible columns of the list."""
    rows = _list(app)
    titles = rows.titles if rows is not None else ()
    if rows is None or not titles:
        app.say("No columns to choose here; open a list with 1 to 5.")
        return
    pane = rows.PANE

    def take(ticked: frozenset[str] | None) -> None:
        if ticked:
            others = {entry for entry in app.state.hidden if entry[0] != pane}
            app.change(hidden=frozenset({*others, *((pane, title) for title in titles if title not in ticked)}))
        elif ticked is not None:
            app.say("At least one column must stay visible.")

    def note(title: str, ticked: frozenset[str]) -> str:
        # Behind the inspector, a list has no size.
        if not listed.size.width or title not in ticked:
            return ""
        shown = [column.title for column in listed.shown_without(frozenset(titles) - ticked)]
        return "" if title in shown else "does not fit"

    listed = rows.focus_target()
    seen = frozenset(title for title in titles if (pane, title) not in app.state.hidden)
    app.ask(TickScreen(f"Columns of {rows.TITLE.lower()}", titles, seen, note), take)


def focused_list(app: StateApp) -> RowList | None:
    """The list that has the keys; None where something else has."""
    focused = app.focused
    return focused if isinstance(focused, RowList) else None


@action("row_up")
def row_up(app: StateApp) -> None:
    """Move to the row above."""
    if rows := focused_list(app):
        rows.move(-1)


@action("row_down")
def row_down(app: StateApp) -> None:
    """Move to the row below."""
    if rows := focused_list(app):
        rows.move(1)


@action("page_up")
def page_up(app: StateApp) -> None:
    """Move one page up."""
    if rows := focused_list(app):
        rows.move(-rows.page)


@action("page_down")
def page_down(app: StateApp) -> None:
    """Move one page down."""
    if rows := focused_list(app):
        rows.move(rows.page)


@action("first_row")
def first_row(app: StateApp) -> None:
    """Move to the first row."""
    if rows := focused_list(app):
        rows.go(0)


@action("last_row")
def last_row(app: StateApp) -> None:
    """Move to the last row."""
    if rows := focused_list(app):
        rows.go(sys.maxsize)


@action("open_row")
def open_row(app: StateApp) -> None:
    """List a finding's intervals, or the events behind a row of numbers; zoom to an event or prediction."""
    if rows := focused_list(app):
        rows.open()
