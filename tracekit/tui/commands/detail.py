"""The detail area, the list in it that has the keys, and the inspector."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from tracekit.analysis.code.tree import Frames
from tracekit.tui.action import ActionError, action, action_of
from tracekit.tui.detail.pane import ListPane
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.screens.modal import TickScreen
from tracekit.tui.selection import evidence_of
from tracekit.tui.state import NOTHING, Area, FindingRef, Selection
from tracekit.tui.state_app import StateApp


def show_pane(app: StateApp, name: str) -> None:
    """Show a pane and move the focus to it. The inspector is about the pane then, if it lists no events: an event that
    is evidence leads to its finding."""
    state, fields = app.state, dict[str, Any](pane=name)
    if state.maximized not in (None, Area.PANE):
        fields["maximized"] = None
    if not app.browse.wide:
        fields["inspector"] = False
    listed = {"findings": "finding", "aggregation": "row", "models": "model"}.get(name)
    if listed is not None and getattr(state.selection, listed) is None:
        event = state.selection.event
        evidence = evidence_of(state.session, event) if event is not None and name == "findings" else None
        fields["selection"] = (
            NOTHING if evidence is None else Selection(event=event, finding=FindingRef(evidence.check))
        )
    app.change(**fields)
    app.browse.focus_pane()


_SHOWN = {
    "findings": "Show findings and all other checks.",
    "aggregation": "Show statistics by lane, event and model, for the range or the whole recording.",
    "events": "List the events.",
    "predictions": "List the predictions and where their time went.",
    "models": "Show the models.",
    "facts": "Show recording details and coverage.",
    "compare": "Compare findings and numbers of the two recordings.",
    "code": "Show the call tree of the range or the selected event.",
}
PANES = [action_of(f"pane_{name}", words, partial(show_pane, name=name)) for name, words in _SHOWN.items()]


@action("frames")
def next_frames(app: StateApp) -> None:
    """Switch the call tree between folded system functions, all functions, and those of the app."""
    ways = tuple(Frames)
    app.change(frames=ways[(ways.index(app.state.frames) + 1) % len(ways)])
    show_pane(app, "code")


@action("invert")
def invert_tree(app: StateApp) -> None:
    """Begin the call tree with the innermost or the outermost functions."""
    app.change(inverted=not app.state.inverted)
    show_pane(app, "code")


@action("toggle_inspector")
def toggle_inspector(app: StateApp) -> None:
    """Show or hide the inspector."""
    on_timeline = app.focused_area is Area.TIMELINE
    app.change(inspector=not app.state.inspector)
    if not on_timeline:
        # What had the keys may be out of sight now.
        app.browse.focus_inspector()


@action("page")
def show_page(app: StateApp) -> None:
    """Show the selection on a page of its own, a finding with its fix at full width, or go back."""
    app.change(maximized=None if app.state.maximized is Area.INSPECTOR else Area.INSPECTOR)
    app.browse.focus_inspector()


def _list(app: StateApp) -> ListPane[Any] | None:
    """The pane on screen, where it is a list that can be sorted."""
    pane = app.browse.pane
    return pane if isinstance(pane, ListPane) else None


def _sort(app: StateApp, by: Callable[[ListPane[Any]], bool]) -> None:
    rows = _list(app)
    if rows is None or not by(rows):
        raise ActionError("Nothing to sort here; open a list with 1 to 5.")


sort_next = action_of("sort_next", "Sort the list by the next column.", partial(_sort, by=ListPane.sort_next))
sort_reversed = action_of("sort_reversed", "Reverse the sort order.", partial(_sort, by=ListPane.reverse_sort))


@action("columns")
def choose_columns(app: StateApp) -> None:
    """Choose the visible columns of the list."""
    rows = _list(app)
    titles = rows.titles if rows is not None else ()
    if rows is None or not titles:
        raise ActionError("No columns to choose here; open a list with 1 to 5.")
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
        shown = [column.title for column in listed.columns_without(frozenset(titles) - ticked)]
        return "" if title in shown else "does not fit"

    listed = rows.focus_target()
    seen = frozenset(title for title in titles if (pane, title) not in app.state.hidden)
    app.push_screen(TickScreen(f"Columns of {rows.TITLE.lower()}", titles, seen, note), take)


def focused_list(app: StateApp) -> RowList | None:
    """The list that has the keys; None where something else has."""
    focused = app.focused
    return focused if isinstance(focused, RowList) else None


def _on_list(what: Callable[[RowList], None]) -> Callable[[StateApp], None]:

    def run(app: StateApp) -> None:
        if rows := focused_list(app):
            what(rows)

    return run


row_up = action_of("row_up", "Move to the row above.", _on_list(lambda rows: rows.move(-1)))
row_down = action_of("row_down", "Move to the row below.", _on_list(lambda rows: rows.move(1)))
page_up = action_of("page_up", "Move one page up.", _on_list(lambda rows: rows.move(-rows.page)))
page_down = action_of("page_down", "Move one page down.", _on_list(lambda rows: rows.move(rows.page)))
first_row = action_of("first_row", "Move to the first row.", _on_list(lambda rows: rows.go(0)))
last_row = action_of("last_row", "Move to the last row.", _on_list(lambda rows: rows.go(sys.maxsize)))
open_row = action_of(
    "open_row",
    "List a finding's intervals, or the events behind a row of numbers; zoom to an event or prediction.",
    _on_list(RowList.open),
)
