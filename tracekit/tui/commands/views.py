"""Moving over the recording, two of them side by side, and what concerns the whole screen and the program."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from tracekit.analysis.comparison import Measure
from tracekit.lanes.categories import LOOKS
from tracekit.lanes.lanes import Grouping
from tracekit.tui import viewport
from tracekit.tui.action import ActionError, action, action_of
from tracekit.tui.screens.help import LegendScreen
from tracekit.tui.selection import selected_span
from tracekit.tui.state import LATENCY, first_predictions
from tracekit.tui.state_app import StateApp
from tracekit.tui.viewport import clamp


def _zoom(app: StateApp, factor: float) -> None:
    state = app.state
    inside = state.view.start_ns <= state.cursor_ns < state.view.end_ns
    at = state.cursor_ns if inside else state.view.start_ns + state.view.span_ns // 2
    app.go(viewport.zoom(state.view, factor, at, state.bounds, app.columns))


def _pan(app: StateApp, share: float) -> None:
    app.go(viewport.pan(app.state.view, share, app.state.bounds, app.columns))


pan_left = action_of("pan_left", "Pan left by a quarter of the screen.", partial(_pan, share=-viewport.PAN_STEP))
pan_right = action_of("pan_right", "Pan right by a quarter of the screen.", partial(_pan, share=viewport.PAN_STEP))


zoom_in = action_of("zoom_in", "Zoom in 2x at the cursor.", partial(_zoom, factor=viewport.ZOOM_STEP))
zoom_out = action_of("zoom_out", "Zoom out 2x at the cursor.", partial(_zoom, factor=1 / viewport.ZOOM_STEP))


@action("fit")
def fit(app: StateApp) -> None:
    """Show the whole recording."""
    app.go(app.state.bounds, step=False)


@action("fit_selection")
def fit_selection(app: StateApp) -> None:
    """Zoom to the range or, without one, to the selected event, prediction or finding."""
    span = selected_span(app.state)
    if span is None:
        select = "press n or click an event, or " if app.lanes.hold_events else ""
        raise ActionError(f"Nothing selected; {select}set a range with v.")
    app.go(viewport.around(span, app.state.bounds, app.columns), step=False)


@action("back")
def back(app: StateApp) -> None:
    """Go back to the view before the last jump, or before a series of steps."""
    app.revisit(*app.state.history.back(app.state.view))


@action("forward")
def forward(app: StateApp) -> None:
    """Go forward again."""
    app.revisit(*app.state.history.forward(app.state.view))


def _lane(app: StateApp, step: int) -> None:
    # Those without rows share a line, and have nothing to go to.
    lanes = [lane.id for lane in app.lanes.lanes if lane.events is not None]
    if not lanes:
        return
    at = lanes.index(app.state.lane) if app.state.lane in lanes else 0
    app.change(lane=lanes[min(max(at + step, 0), len(lanes) - 1)])


lane_up = action_of("lane_up", "Move the cursor to the lane above.", partial(_lane, step=-1))
lane_down = action_of("lane_down", "Move the cursor to the lane below.", partial(_lane, step=1))


@action("grouping")
def next_grouping(app: StateApp) -> None:
    """Group lanes by Activity, Data and Compute, by event, or by model."""
    ways = list(Grouping)
    app.regroup(ways[(ways.index(app.state.grouping) + 1) % len(ways)])


@action("maximize")
def maximize(app: StateApp) -> None:
    """Give the whole screen to the part that has the focus, or share it again."""
    app.change(maximized=None if app.state.maximized is not None else app.focused_area)


@action("expand")
def expand(app: StateApp) -> None:
    """Show all rows of the lane, or only the first few."""
    app.change(expanded=app.state.expanded ^ {app.state.lane})


focus_next = action_of("focus_next", "Move the focus to the next pane.", lambda app: app.screen.focus_next())
focus_previous = action_of(
    "focus_previous", "Move the focus to the previous pane.", lambda app: app.screen.focus_previous()
)


@action("legend")
def show_legend(app: StateApp) -> None:
    """Show what the colors, letters and signs on the lanes mean."""
    drawn = {code for lane in app.lanes.lanes if lane.events is not None for code in np.unique(lane.events.categories)}
    app.push_screen(LegendScreen([category for category in LOOKS if category in drawn]))


switch_theme = action_of("theme", "Switch between dark and light theme.", StateApp.switch_theme)
draw_anew = action_of("redraw", "Redraw the screen, where another program wrote over it.", StateApp.draw_anew)
leave = action_of("quit", "Quit.", StateApp.leave)


@action("next_measure")
def next_measure(app: StateApp) -> None:
    """Switch between findings, mean, p95, sum, count and latency."""
    ways = (None, *Measure, LATENCY)
    app.change(measure=ways[(ways.index(app.state.measure) + 1) % len(ways)], pane="compare")
    app.browse.focus_pane()


@action("other_recording")
def other_recording(app: StateApp) -> None:
    """Switch keys, selection and panes to the other recording."""
    app.switch_recording(1 - app.state.active)
    app.browse.focus_timeline(app.state.active)
    app.say(f"Switched to {app.state.session.name}.")


@action("align")
def align(app: StateApp) -> None:
    """Align both recordings at their starts, or at the first prediction again."""
    state = app.state
    if not any(state.origins) and any(session.first_prediction_ns is None for session in state.sessions):
        raise ActionError("One recording has no predictions, so only the starts can be aligned.")
    origins = (0,) * len(state.sessions) if any(state.origins) else first_predictions(state.sessions)
    moved = replace(state, origins=origins)
    view = moved.bounds if state.view == state.bounds else clamp(state.view, moved.bounds, app.columns)
    app.change(origins=origins, view=view, history=state.history.leaving(state.view))
    app.say("Aligned at the first prediction." if any(origins) else "Aligned at the start.")
