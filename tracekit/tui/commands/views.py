"""Moving over the recording, the detail area with its lists, two recordings, and what concerns the whole screen."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tracekit.analysis.code.tree import Frames
from tracekit.analysis.comparison import Measure
from tracekit.lanes.categories import Category
from tracekit.lanes.lanes import Grouping
from tracekit.tui import viewport
from tracekit.tui.detail.pane import ListPane
from tracekit.tui.detail.rowlist import RowList, TextScroll
from tracekit.tui.keys import ActionError, action, action_of
from tracekit.tui.screens.help import LegendScreen
from tracekit.tui.screens.small import TickScreen
from tracekit.tui.selection import evidence_of, selected_span
from tracekit.tui.state import LATENCY, NOTHING, Area, FindingRef, Selection, Sort, first_predictions
from tracekit.tui.state_app import StateApp


def _zoom(app: StateApp, factor: float) -> None:
    state = app.state
    inside = state.view.start_ns <= state.cursor_ns < state.view.end_ns
    at = state.cursor_ns if inside else state.view.start_ns + state.view.span_ns // 2
    app.go(viewport.zoom(state.view, factor, at, state.bounds, app.browse.columns))


def _pan(app: StateApp, share: float) -> None:
    app.go(viewport.pan(app.state.view, share, app.state.bounds, app.browse.columns))


pan_left = action_of("pan_left", "Pan left a quarter of the screen.", partial(_pan, share=-viewport.PAN_STEP))
pan_right = action_of("pan_right", "Pan right a quarter of the screen.", partial(_pan, share=viewport.PAN_STEP))


zoom_in = action_of("zoom_in", "Zoom in 2x at the cursor.", partial(_zoom, factor=viewport.ZOOM_STEP))
zoom_out = action_of("zoom_out", "Zoom out 2x at the cursor.", partial(_zoom, factor=1 / viewport.ZOOM_STEP))
fit = action_of("fit", "Show the whole recording.", lambda app: app.go(app.state.bounds, step=False))


@action("fit_selection")
def fit_selection(app: StateApp) -> None:
    """Zoom to the range, else to the selection."""
    span = selected_span(app.state)
    if span is None:
        select = "press n or click an event, or " if app.lanes.hold_events else ""
        raise ActionError(f"Nothing selected; {select}set a range with v.")
    app.go(viewport.around(span, app.state.bounds, app.browse.columns), step=False)


@action("back")
def back(app: StateApp) -> None:
    """Go back to the view before the last jump, or before a series of steps."""
    app.revisit(*app.state.history.back(app.state.view))


forward = action_of("forward", "Go forward again.", lambda app: app.revisit(*app.state.history.forward(app.state.view)))


def _lane(app: StateApp, step: int) -> None:
    # Those without rows share a line, and have nothing to go to.
    lanes = [lane.id for lane in app.lanes.lanes if lane.events is not None]
    if not lanes:
        return
    at = lanes.index(app.state.lane) if app.state.lane in lanes else 0
    app.change(lane=lanes[min(max(at + step, 0), len(lanes) - 1)])


lane_up = action_of("lane_up", "Go to the lane above.", partial(_lane, step=-1))
lane_down = action_of("lane_down", "Go to the lane below.", partial(_lane, step=1))


@action("grouping")
def next_grouping(app: StateApp) -> None:
    """Group lanes by lane, event or model."""
    ways = list(Grouping)
    app.regroup(ways[(ways.index(app.state.grouping) + 1) % len(ways)])


@action("maximize")
def maximize(app: StateApp) -> None:
    """Maximize the focused part, or share the screen again."""
    app.change(maximized=None if app.state.maximized is not None else app.focused_area)


@action("expand")
def expand(app: StateApp) -> None:
    """Show all rows of the lane, or the first few."""
    app.change(expanded=app.state.expanded ^ {app.state.lane})


focus_next = action_of("focus_next", "Move the focus to the next pane.", lambda app: app.screen.focus_next())
focus_previous = action_of(
    "focus_previous", "Move the focus to the previous pane.", lambda app: app.screen.focus_previous()
)


@action("legend")
def show_legend(app: StateApp) -> None:
    """Explain colors and signs on the lanes."""
    drawn = {code for lane in app.lanes.lanes if lane.events is not None for code in np.unique(lane.events.categories)}
    app.push_screen(LegendScreen([category for category in Category if category in drawn]))


switch_theme = action_of("theme", "Switch between dark and light theme.", StateApp.switch_theme)
draw_anew = action_of("redraw", "Redraw the screen.", StateApp.draw_anew)
leave = action_of("quit", "Quit.", StateApp.leave)


@action("next_measure")
def next_measure(app: StateApp) -> None:
    """Compare by findings, mean, p95, sum, count or latency."""
    ways = (None, *Measure, LATENCY)
    app.change(measure=ways[(ways.index(app.state.measure) + 1) % len(ways)], pane="compare")
    app.browse.focus_pane()


@action("other_recording")
def other_recording(app: StateApp) -> None:
    """Switch to the other recording."""
    app.switch_recording(1 - app.state.active)
    app.browse.focus_timeline(app.state.active)
    app.say(f"Switched to {app.state.session.name}.")


@action("align")
def align(app: StateApp) -> None:
    """Align at the starts, or at the first predictions."""
    state = app.state
    if not any(state.origins) and any(session.first_prediction_ns is None for session in state.sessions):
        raise ActionError("One recording has no predictions, so only the starts can be aligned.")
    origins = (0,) * len(state.sessions) if any(state.origins) else first_predictions(state.sessions)
    moved = replace(state, origins=origins)
    view = moved.bounds if state.view == state.bounds else state.view
    app.change(origins=origins, view=view, history=state.history.leaving(state.view))
    app.say("Aligned at the first prediction." if any(origins) else "Aligned at the start.")


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
    "findings": "Show findings and other checks.",
    "aggregation": "Show statistics of events and models.",
    "events": "List the events.",
    "predictions": "List the predictions, longest first.",
    "models": "Show the models.",
    "facts": "Show recording and coverage.",
    "compare": "Compare the two recordings.",
    "code": "Show the call tree of the range or selection.",
}
PANES = [action_of(f"pane_{name}", words, partial(show_pane, name=name)) for name, words in _SHOWN.items()]


@action("frames")
def next_frames(app: StateApp) -> None:
    """Choose the functions of the call tree."""
    ways = tuple(Frames)
    app.change(frames=ways[(ways.index(app.state.frames) + 1) % len(ways)])
    show_pane(app, "code")


@action("invert")
def invert_tree(app: StateApp) -> None:
    """Invert the call tree: innermost functions first."""
    app.change(inverted=not app.state.inverted)
    show_pane(app, "code")


@action("toggle_inspector")
def toggle_inspector(app: StateApp) -> None:
    """Show or hide the inspector."""
    on_timeline = app.focused_area is Area.TIMELINE
    if app.browse.wide and app.state.inspects_nothing:
        raise ActionError("Nothing is selected; n selects an event.")
    app.change(inspector=not app.state.inspector)
    if not on_timeline:
        # What had the keys may be out of sight now.
        app.browse.focus_inspector()


@action("page")
def show_page(app: StateApp) -> None:
    """Show the selection on a page of its own, or go back."""
    app.change(maximized=None if app.state.maximized is Area.INSPECTOR else Area.INSPECTOR)
    app.browse.focus_inspector()


def _list(app: StateApp) -> ListPane[Any] | None:
    """The pane on screen, where it is a list that can be sorted."""
    pane = app.browse.pane
    return pane if isinstance(pane, ListPane) else None


def _sort(app: StateApp, order: Callable[[ListPane[Any]], Sort | None]) -> None:
    rows = _list(app)
    sort = None if rows is None else order(rows)
    if rows is None or sort is None:
        raise ActionError("Nothing to sort here; open a list with 1 to 5.")
    app.change(sorts={**app.state.sorts, rows.PANE: sort})


sort_next = action_of("sort_next", "Sort the list by the next column.", partial(_sort, order=ListPane.next_sort))
sort_reversed = action_of("sort_reversed", "Reverse the sort order.", partial(_sort, order=ListPane.reversed_sort))


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
        visible = [column.title for column in listed.visible_columns(frozenset(titles) - ticked)]
        return "" if title in visible else "does not fit"

    listed = rows.focus_target()
    seen = frozenset(title for title in titles if (pane, title) not in app.state.hidden)
    app.push_screen(TickScreen(f"Columns of {rows.TITLE.lower()}", titles, seen, note), take)


def focused_list(app: StateApp) -> RowList | None:
    """The list that has the keys; None where something else has."""
    focused = app.focused
    return focused if isinstance(focused, RowList) else None


def _on_list(what: Callable[[RowList | TextScroll], None]) -> Callable[[StateApp], None]:

    def run(app: StateApp) -> None:
        if isinstance(app.focused, RowList | TextScroll):
            what(app.focused)

    return run


row_up = action_of("row_up", "Move up a row.", _on_list(lambda rows: rows.move(-1)))
row_down = action_of("row_down", "Move down a row.", _on_list(lambda rows: rows.move(1)))
page_up = action_of("page_up", "Move up a page.", _on_list(lambda rows: rows.move(-rows.page)))
page_down = action_of("page_down", "Move down a page.", _on_list(lambda rows: rows.move(rows.page)))
half_page_up = action_of("half_page_up", "Move up half a page.", _on_list(lambda rows: rows.move(-(rows.page // 2))))
half_page_down = action_of("half_page_down", "Move down half a page.", _on_list(lambda rows: rows.move(rows.page // 2)))
first_row = action_of("first_row", "Go to the first row.", _on_list(lambda rows: rows.go(0)))
last_row = action_of("last_row", "Go to the last row.", _on_list(lambda rows: rows.go(sys.maxsize)))
open_row = action_of(
    "open_row",
    "List a finding's intervals, or the events behind a row; zoom to others.",
    _on_list(lambda rows: rows.open()),
)
