"""Choosing events and ranges."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.quantities import sample_quantiles
from tracekit.report.formatting import duration
from tracekit.tui.action import action, action_of
from tracekit.tui.inspection.event import distances
from tracekit.tui.ranges import NO_EVENTS
from tracekit.tui.selection import range_end, walk_start
from tracekit.tui.state import NOTHING, EventRef, Selection
from tracekit.tui.timeline.tracks import nearest, step
from tracekit.tui.viewport import span_between

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray
    from tracekit.lanes.events import Events
    from tracekit.tui.state_app import StateApp

SLOW_QUANTILE = 0.95
"""Events longer than this share of their label in the lane are slow."""


def missing_event_words(app: StateApp) -> str:
    """What to say where something is asked of the selected event, and there is none."""
    return "No event selected; press n or click one." if app.lanes.hold_events else NO_EVENTS


def _no_events(app: StateApp) -> str:
    """What to say where an event of the lane is asked for, and it has none."""
    return "This lane has no events; choose another with ↑ and ↓." if app.lanes.hold_events else NO_EVENTS


@action("select_here")
def select_here(app: StateApp) -> None:
    """Select the event under the cursor."""
    events = app.lanes.events_of(app.state.lane)
    if events is None:
        app.say(_no_events(app))
        return
    position = nearest(events, app.state.cursor_ns)
    if position is not None:
        app.select(Selection(event=EventRef(events.frame, int(events.index[position]))))


@action("mark")
def mark(app: StateApp) -> None:
    """Start a range at the selected event; at another event, finish it.

    The range runs from the outer edge of one event to the outer edge of the other. Where the cursor was put beside the
    event, it counts, at the edge of an event of the lane that is next to it on screen.
    """
    state, here = app.state, range_end(app.state, app.lanes.events_of(app.state.lane), app.columns)
    if state.mark is None:
        app.change(mark=here, range=None, ends=None)
        app.say("Range start set. Move to the end, v again; esc cancels.")
        return
    first, second = sorted((state.mark, here), key=lambda span: (span.start_ns, span.end_ns))
    marked_range = span_between(first.start_ns, max(first.end_ns, second.end_ns))
    app.change(mark=None, range=marked_range, ends=(first, second))
    measured = ", ".join(f"{name} {duration(length)}" for name, length in distances(first, second))
    app.say(f"Range of {duration(marked_range.span_ns)}: {measured}.")


@action("range_of_event")
def range_of_event(app: StateApp) -> None:
    """Make the selected event the range."""
    event = app.state.selection.event
    if event is None:
        app.say(missing_event_words(app))
        return
    app.change(range=app.state.session.span(event), mark=None, ends=None)


@action("clear")
def clear(app: StateApp) -> None:
    """Share the screen again, then clear mark, then range, then selection."""
    if app.state.maximized is not None:
        app.change(maximized=None)
    elif app.state.mark is not None:
        app.change(mark=None)
    elif app.state.range is not None:
        app.change(range=None, ends=None)
    else:
        app.change(selection=NOTHING)


@lru_cache(maxsize=1)
def slow_events(events: Events) -> BoolArray:
    """Which events last longer than `SLOW_QUANTILE` of those with their label in the lane: shape (n,). O(n log n).

    Kept for the lane that is walked along.
    """
    durations = events.ends - events.starts
    is_slow = np.zeros(len(events), np.bool_)
    order = np.argsort(events.labels, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(events.labels[order])) + 1):
        is_slow[rows] = durations[rows] > sample_quantiles(durations[rows], SLOW_QUANTILE)
    return is_slow


def _walk(app: StateApp, *, forward: bool, slow: bool = False) -> None:
    events = app.lanes.events_of(app.state.lane)
    if events is None:
        app.say(_no_events(app))
        return
    chosen = slow_events(events) if slow else None
    selected, time_ns = walk_start(app.state, forward=forward)
    position = events.position(selected.index) if selected is not None and selected.frame == events.frame else None
    if position is None:
        # As if the cursor stood just before the first event that begins at it or later.
        begun = int(np.searchsorted(events.starts, time_ns))
        position = begun - 1 if forward else begun
    target = step(events, position, forward, chosen)
    if target is None:
        app.say(f"No {'later' if forward else 'earlier'} {'slow ' if slow else ''}event in this lane.")
        return
    app.select(Selection(event=EventRef(events.frame, int(events.index[target]))))


next_event = action_of("next_event", "Select the next event in the lane.", partial(_walk, forward=True))
previous_event = action_of("previous_event", "Select the previous event in the lane.", partial(_walk, forward=False))
next_slow = action_of(
    "next_slow",
    "Select the next slow event in the lane (above the p95 of its kind).",
    partial(_walk, forward=True, slow=True),
)
previous_slow = action_of(
    "previous_slow", "Select the previous slow event in the lane.", partial(_walk, forward=False, slow=True)
)
