"""Two recordings side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tracekit.analysis.comparison import Measure
from tracekit.tui.action import Action, Section
from tracekit.tui.timeline.viewport import clamp

if TYPE_CHECKING:
    from tracekit.tui.app import ViewApp

_ALONE = "Only one recording is open. To compare two: tracekit view before.trace after.trace"


def show_compare(app: ViewApp) -> None:
    """Show what became of findings and numbers."""
    if _alone(app):
        return
    app.change(pane="compare")
    app.browse.focus_pane()


def next_measure(app: ViewApp) -> None:
    """Compare the next thing."""
    if _alone(app):
        return
    ways = (None, *Measure)
    app.change(measure=ways[(ways.index(app.state.measure) + 1) % len(ways)], pane="compare")
    app.browse.focus_pane()


def other_recording(app: ViewApp) -> None:
    """Make the other recording the one that selection and detail are about."""
    if _alone(app):
        return
    app.activate(1 - app.state.active)
    app.redraw()
    app.browse.focus_timeline(app.state.active)
    app.say(f"Keys and detail are about {app.state.session.name} now.")


def align(app: ViewApp) -> None:
    """Put the first predictions of both under one another, or the starts again."""
    if _alone(app):
        return
    state = app.state
    firsts = [session.first_prediction_ns for session in state.sessions]
    known = tuple(first for first in firsts if first is not None)
    if not any(state.origins) and len(known) < len(firsts):
        app.say("One of the recordings has no prediction, so that only the starts can be aligned.")
        return
    origins = (0,) * len(firsts) if any(state.origins) else known
    moved = replace(state, origins=origins)
    view = moved.bounds if state.view == state.bounds else clamp(state.view, moved.bounds, app.columns)
    app.change(origins=origins, view=view, history=state.history.leaving(state.view))
    app.say("First predictions are aligned." if any(origins) else "Starts of the recordings are aligned.")


def _alone(app: ViewApp) -> bool:
    """Whether there is nothing to compare with; says so."""
    alone = len(app.state.sessions) < 2
    if alone:
        app.say(_ALONE)
    return alone


ACTIONS: tuple[Action, ...] = (
    Action(
        "pane_compare",
        ("7",),
        "Compare",
        Section.COMPARE,
        "Show what became of findings and numbers between two recordings.",
        show_compare,
    ),
    Action(
        "next_measure",
        ("u",),
        "Compare by",
        Section.COMPARE,
        "Compare findings, means, 95th percentiles, sums or counts.",
        next_measure,
    ),
    Action(
        "other_recording",
        ("z",),
        "Other recording",
        Section.COMPARE,
        "Make selection, keys and detail be about the other recording.",
        other_recording,
    ),
    Action(
        "align",
        ("A",),
        "Align",
        Section.COMPARE,
        "Put the first predictions of both recordings under one another, or their starts again.",
        align,
    ),
)
