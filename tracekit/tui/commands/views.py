"""Moving over the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.tui import viewport
from tracekit.tui.action import action
from tracekit.tui.selection import selected_span

if TYPE_CHECKING:
    from tracekit.tui.state_app import StateApp


@action("zoom_in")
def zoom_in(app: StateApp) -> None:
    """Zoom in 2x at the cursor."""
    _zoom(app, viewport.ZOOM_STEP)


@action("zoom_out")
def zoom_out(app: StateApp) -> None:
    """Zoom out 2x at the cursor."""
    _zoom(app, 1 / viewport.ZOOM_STEP)


def _zoom(app: StateApp, factor: float) -> None:
    state = app.state
    inside = state.view.start_ns <= state.cursor_ns < state.view.end_ns
    at = state.cursor_ns if inside else state.view.start_ns + state.view.span_ns // 2
    app.go(viewport.zoom(state.view, factor, at, state.bounds, app.columns))


@action("pan_left")
def pan_left(app: StateApp) -> None:
    """Pan left by a quarter of the screen."""
    app.go(viewport.pan(app.state.view, -viewport.PAN_STEP, app.state.bounds, app.columns))


@action("pan_right")
def pan_right(app: StateApp) -> None:
    """Pan right by a quarter of the screen."""
    app.go(viewport.pan(app.state.view, viewport.PAN_STEP, app.state.bounds, app.columns))


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
        app.say(f"Nothing selected; {select}set a range with v.")
        return
    app.go(viewport.around(span, app.state.bounds, app.columns), step=False)


@action("back")
def back(app: StateApp) -> None:
    """Go back to the view before the last jump, or before a series of steps."""
    app.revisit(*app.state.history.back(app.state.view))


@action("forward")
def forward(app: StateApp) -> None:
    """Go forward again."""
    app.revisit(*app.state.history.forward(app.state.view))


@action("lane_up")
def lane_up(app: StateApp) -> None:
    """Move the cursor to the lane above."""
    _lane(app, -1)


@action("lane_down")
def lane_down(app: StateApp) -> None:
    """Move the cursor to the lane below."""
    _lane(app, 1)


def _lane(app: StateApp, step: int) -> None:
    # Those without rows share a line, and have nothing to go to.
    lanes = [lane.id for lane in app.lanes.lanes if lane.events is not None]
    if not lanes:
        return
    at = lanes.index(app.state.lane) if app.state.lane in lanes else 0
    app.change(lane=lanes[min(max(at + step, 0), len(lanes) - 1)])
