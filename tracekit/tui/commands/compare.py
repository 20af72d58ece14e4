"""Two recordings side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tracekit.analysis.comparison import Measure
from tracekit.tui.action import action
from tracekit.tui.state import LATENCY, first_predictions
from tracekit.tui.viewport import clamp

if TYPE_CHECKING:
    from tracekit.tui.state_app import StateApp


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
        app.say("One recording has no predictions, so only the starts can be aligned.")
        return
    origins = (0,) * len(state.sessions) if any(state.origins) else first_predictions(state.sessions)
    moved = replace(state, origins=origins)
    view = moved.bounds if state.view == state.bounds else clamp(state.view, moved.bounds, app.columns)
    app.change(origins=origins, view=view, history=state.history.leaving(state.view))
    app.say("Aligned at the first prediction." if any(origins) else "Aligned at the start.")
