"""Moving over the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.tui.action import Action, Scope, Section
from tracekit.tui.timeline import viewport

if TYPE_CHECKING:
    from tracekit.tui.app import ViewApp
    from tracekit.tui.state import State
    from tracekit.tui.timeline.viewport import Span


def zoom_in(app: ViewApp) -> None:
    """Show half as much."""
    _zoom(app, viewport.ZOOM_STEP)


def zoom_out(app: ViewApp) -> None:
    """Show twice as much."""
    _zoom(app, 1 / viewport.ZOOM_STEP)


def _zoom(app: ViewApp, factor: float) -> None:
    state = app.state
    inside = state.view.start_ns <= state.cursor_ns < state.view.end_ns
    at = state.cursor_ns if inside else state.view.start_ns + state.view.span_ns // 2
    app.go(viewport.zoom(state.view, factor, at, state.bounds, app.columns))


def pan_left(app: ViewApp) -> None:
    """Move to earlier times."""
    app.go(viewport.pan(app.state.view, -viewport.PAN_STEP, app.state.bounds, app.columns))


def pan_right(app: ViewApp) -> None:
    """Move to later times."""
    app.go(viewport.pan(app.state.view, viewport.PAN_STEP, app.state.bounds, app.columns))


def fit(app: ViewApp) -> None:
    """Show all."""
    app.go(app.state.bounds, step=False)


def fit_selection(app: ViewApp) -> None:
    """Zoom to what is selected."""
    span = selected_span(app.state)
    if span is None:
        app.say("Nothing is selected: choose an event with n, enter or a click, or mark a range with v.")
        return
    app.go(viewport.around(span, app.state.bounds, app.columns), step=False)


def selected_span(state: State) -> Span | None:
    """Where the range lies, else the selected event, else the whole evidence of the selected finding."""
    if state.range is not None:
        return state.range
    selection = state.selection
    if selection.event is not None:
        return state.session.span(selection.event)
    check = state.session.check(selection.finding) if selection.finding is not None else None
    if check is None or not check.evidence:
        return None
    return viewport.span_between(min(e.start_ns for e in check.evidence), max(e.end_ns for e in check.evidence))


def back(app: ViewApp) -> None:
    """Return to the view before the last jump."""
    app.revisit(*app.state.history.back(app.state.view))


def forward(app: ViewApp) -> None:
    """Undo going back."""
    app.revisit(*app.state.history.forward(app.state.view))


def lane_up(app: ViewApp) -> None:
    """Put the cursor on the lane above."""
    _lane(app, -1)


def lane_down(app: ViewApp) -> None:
    """Put the cursor on the lane below."""
    _lane(app, 1)


def _lane(app: ViewApp, step: int) -> None:
    lanes = [lane.id for lane in app.lanes().lanes]
    if not lanes:
        return
    at = lanes.index(app.state.lane) if app.state.lane in lanes else 0
    app.change(lane=lanes[min(max(at + step, 0), len(lanes) - 1)])


ACTIONS: tuple[Action, ...] = (
    Action(
        "zoom_in",
        ("w", "plus", "equals_sign"),
        "Zoom in",
        Section.MOVE,
        "Show half as much, around the cursor.",
        zoom_in,
        footer=True,
    ),
    Action(
        "zoom_out",
        ("s", "minus"),
        "Zoom out",
        Section.MOVE,
        "Show twice as much, around the cursor.",
        zoom_out,
        footer=True,
    ),
    Action(
        "pan_left",
        ("a", "left", "h"),
        "Earlier",
        Section.MOVE,
        "Move a quarter of the screen to earlier times.",
        pan_left,
    ),
    Action(
        "pan_right",
        ("d", "right", "l"),
        "Later",
        Section.MOVE,
        "Move a quarter of the screen to later times.",
        pan_right,
    ),
    Action(
        "lane_up", ("up", "k"), "Lane above", Section.MOVE, "Put the cursor on the lane above.", lane_up, Scope.TIMELINE
    ),
    Action(
        "lane_down",
        ("down", "j"),
        "Lane below",
        Section.MOVE,
        "Put the cursor on the lane below.",
        lane_down,
        Scope.TIMELINE,
    ),
    Action("fit", ("0", "home"), "Fit all", Section.MOVE, "Show the whole recording.", fit),
    Action(
        "fit_selection",
        ("f",),
        "Fit selection",
        Section.MOVE,
        "Zoom to the range, else to the selected event, prediction or finding.",
        fit_selection,
    ),
    Action(
        "back",
        ("left_square_bracket",),
        "Back",
        Section.MOVE,
        "Return to the view before the last jump, or before a whole walk.",
        back,
    ),
    Action("forward", ("right_square_bracket",), "Forward", Section.MOVE, "Undo going back.", forward),
)
