"""Choosing events and ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.report.formatting import duration
from tracekit.tui.action import Action, Scope, Section
from tracekit.tui.inspection.range import distances
from tracekit.tui.state import NOTHING, EventRef
from tracekit.tui.timeline.tracks import edge, nearest, step
from tracekit.tui.timeline.viewport import Span, span_between

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray
    from tracekit.tui.app import ViewApp
    from tracekit.tui.state import State
    from tracekit.tui.timeline.lanes import Lanes
    from tracekit.tui.timeline.tracks import Events

SLOW_QUANTILE = 0.95
"""Events longer than this share of their label in the lane are slow."""
NO_EVENT = "No event is selected: choose one with n, enter or a click."
"""What to say where something is asked of the selected event, and there is none."""
_EMPTY_LANE = "This lane has no events. Choose another with the arrow keys, up and down."


def next_event(app: ViewApp) -> None:
    """Select the next event of the lane."""
    _walk(app, forward=True)


def previous_event(app: ViewApp) -> None:
    """Select the previous event of the lane."""
    _walk(app, forward=False)


def next_slow(app: ViewApp) -> None:
    """Select the next event that is slow for its label."""
    _walk(app, forward=True, slow=True)


def previous_slow(app: ViewApp) -> None:
    """Select the previous event that is slow for its label."""
    _walk(app, forward=False, slow=True)


def select_here(app: ViewApp) -> None:
    """Select the event at the cursor, the innermost one; failing that, the nearest."""
    events = _events(app)
    if events is None:
        app.say(_EMPTY_LANE)
        return
    place = nearest(events, app.state.cursor_ns)
    if place is not None:
        app.select_event(EventRef(events.frame, int(events.index[place])))


def mark(app: ViewApp) -> None:
    """Set one end of a range at the selected event, or at the cursor; the second time, the other end.

    The range runs from the outer edge of one event to the outer edge of the other. Where the cursor was put beside the
    event, it counts, at the edge of an event of the lane that is next to it on screen.
    """
    state, here = app.state, end_here(app.state, _events(app), app.columns)
    if state.mark is None:
        app.change(mark=here, range=None, ends=None)
        app.say("Range begins here. Go to its other end and press v again; escape drops it.")
        return
    first, second = sorted((state.mark, here), key=lambda span: (span.start_ns, span.end_ns))
    whole = span_between(first.start_ns, max(first.end_ns, second.end_ns))
    app.change(mark=None, range=whole, ends=(first, second))
    measured = ", ".join(f"{name} {duration(length)}" for name, length in distances(first, second))
    app.say(f"Range of {duration(whole.span_ns)}: {measured}.")


def end_here(state: State, events: Events | None, columns: int) -> Span:
    """Where a range would begin or end now: the selected event where the cursor is on it, else the instant of the
    cursor, or the edge of one of these events that is next to it on a screen of so many columns of time."""
    span = state.session.span(state.selection.event) if state.selection.event is not None else None
    if span is not None and span.start_ns <= state.cursor_ns < span.end_ns:
        return span
    within = state.view.span_ns // columns
    snapped = edge(events, state.cursor_ns, within) if events is not None else None
    # An instant has no length, so that a range from edge to edge is exact.
    return Span(state.cursor_ns if snapped is None else snapped, 0)


def range_of_event(app: ViewApp) -> None:
    """Make the selected event the range."""
    event = app.state.selection.event
    if event is None:
        app.say(NO_EVENT)
        return
    app.change(range=app.state.session.span(event), mark=None, ends=None)


def clear(app: ViewApp) -> None:
    """Drop the mark, else the range, else the selection."""
    if app.state.mark is not None:
        app.change(mark=None)
    elif app.state.range is not None:
        app.change(range=None, ends=None)
    else:
        app.change(selection=NOTHING)


def slow(events: Events) -> BoolArray:
    """Which events last longer than `SLOW_QUANTILE` of those with their label in the lane: shape (n,). O(n log n)."""
    durations = events.ends - events.starts
    found = np.zeros(len(events), np.bool_)
    order = np.argsort(events.labels, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(events.labels[order])) + 1):
        found[places] = durations[places] > np.quantile(durations[places], SLOW_QUANTILE)
    return found


def _walk(app: ViewApp, *, forward: bool, slow: bool = False) -> None:
    events = _events(app)
    if events is None:
        app.say(_EMPTY_LANE)
        return
    chosen = app.slow_events(events) if slow else None
    selected, time_ns = standing(app.state, forward=forward)
    place = events.place(selected.index) if selected is not None and selected.frame == events.frame else None
    if place is None:
        # As if the cursor stood just before the first event that begins at it or later.
        begun = int(np.searchsorted(events.starts, time_ns))
        place = begun - 1 if forward else begun
    found = step(events, place, forward, chosen)
    if found is None:
        app.say(f"No {'slow ' if slow else ''}event {'after' if forward else 'before'} this one in the lane.")
        return
    app.select_event(EventRef(events.frame, int(events.index[found])))


def standing(state: State, *, forward: bool) -> tuple[EventRef | None, int]:
    """Where walking goes on from: the selected event, and the time of the cursor.

    Who moved the cursor away from the event, or the view away from both, wants to go on from there: then no event, and
    the edge of the view that is entered first where the cursor is out of it.
    """
    view, event = state.view, state.selection.event
    if event is not None:
        span = state.session.span(event)
        seen = span.start_ns < view.end_ns and span.end_ns > view.start_ns
        if seen and span.start_ns <= state.cursor_ns < span.end_ns:
            return event, state.cursor_ns
    if view.start_ns <= state.cursor_ns < view.end_ns:
        return None, state.cursor_ns
    return None, view.start_ns if forward else view.end_ns


def _events(app: ViewApp) -> Events | None:
    return events_of(app.state, app.lanes())


def events_of(state: State, lanes: Lanes) -> Events | None:
    """Events of the lane with the cursor; None where it has none."""
    lane = next((lane for lane in lanes.lanes if lane.id == state.lane), None)
    return lane.events if lane is not None else None


ACTIONS: tuple[Action, ...] = (
    Action(
        "next_event",
        ("n",),
        "Next event",
        Section.SELECT,
        "Select the next event of the lane.",
        next_event,
        footer=True,
    ),
    Action(
        "previous_event",
        ("N", "p"),
        "Previous event",
        Section.SELECT,
        "Select the previous event of the lane.",
        previous_event,
    ),
    Action(
        "next_slow",
        ("e",),
        "Next slow event",
        Section.SELECT,
        "Select the next event that takes longer than 95 % of its kind in the lane.",
        next_slow,
    ),
    Action(
        "previous_slow",
        ("E",),
        "Previous slow event",
        Section.SELECT,
        "Select the previous event that takes longer than 95 % of its kind in the lane.",
        previous_slow,
    ),
    Action(
        "select_here",
        ("enter",),
        "Select",
        Section.SELECT,
        "Select the event under the cursor.",
        select_here,
        Scope.TIMELINE,
    ),
    Action(
        "mark",
        ("v",),
        "Mark range",
        Section.SELECT,
        "Mark the beginning of a range at the selected event; the second time, its end.",
        mark,
        footer=True,
    ),
    Action(
        "range_of_event", ("V",), "Range of event", Section.SELECT, "Make the selected event the range.", range_of_event
    ),
    Action("clear", ("escape",), "Clear", Section.SELECT, "Drop the mark, then the range, then the selection.", clear),
)
