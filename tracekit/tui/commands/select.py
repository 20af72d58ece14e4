"""Choosing events and ranges; from findings to their evidence and back, and from an event to its prediction."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from tracekit.analysis.quantities import sample_quantiles
from tracekit.arrays import BoolArray
from tracekit.lanes.events import Events
from tracekit.report.formatting import duration, extreme_word
from tracekit.report.report import Result
from tracekit.tui import selection
from tracekit.tui.commands.views import fit_selection, toggle_inspector
from tracekit.tui.inspection.event import distances
from tracekit.tui.keys import ActionError, action, action_of
from tracekit.tui.ranges import NO_EVENTS
from tracekit.tui.state import NOTHING, EventRef, FindingRef, Selection
from tracekit.tui.state_app import StateApp
from tracekit.tui.timeline.tracks import nearest, step
from tracekit.tui.viewport import span_between
from tracekit.units import format_count

SLOW_QUANTILE = 0.95
"""Events longer than this share of their label in the lane are slow."""
NO_PREDICTIONS = "No predictions in this recording: W explains those of Core ML."
NOT_YET = "The checks are still running; try again when the findings appear."


def _selected_event(app: StateApp) -> EventRef:
    """The selected event. Raises `ActionError` where there is none."""
    event = app.state.selection.event
    if event is None:
        raise ActionError("No event selected; press n or click one." if app.lanes.hold_events else NO_EVENTS)
    return event


def _events_of_lane(app: StateApp) -> Events:
    """The events of the lane with the cursor. Raises `ActionError` where it has none."""
    events = app.lanes.events_of(app.state.lane)
    if events is None:
        words = "This lane has no events; choose another with ↑ and ↓."
        raise ActionError(words if app.lanes.hold_events else NO_EVENTS)
    return events


def selected_check(app: StateApp) -> tuple[FindingRef, Result]:
    """The selected finding and its check. Raises `ActionError` where there is none."""
    ref = selection.finding_here(app.state)
    check = app.state.session.check(ref)
    if ref is None or check is None:
        raise ActionError("No finding selected; press 1 and choose one.")
    return ref, check


def _event_at(events: Events, position: int) -> EventRef:
    return EventRef(events.frame, int(events.index[position]))


@action("select_here")
def select_here(app: StateApp) -> None:
    """Select the event under the cursor."""
    events = _events_of_lane(app)
    position = nearest(events, app.state.cursor_ns)
    if position is not None:
        app.select(Selection(event=_event_at(events, position)))


@action("mark")
def mark(app: StateApp) -> None:
    """Start a range at the selected event; at another event, finish it.

    The range runs from the outer edge of one event to the outer edge of the other. Where the cursor was put beside the
    event, it counts, at the edge of an event of the lane that is next to it on screen.
    """
    state, here = app.state, selection.range_end(app.state, app.lanes.events_of(app.state.lane), app.browse.columns)
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
    app.change(range=app.state.session.span(_selected_event(app)), mark=None, ends=None)


@action("clear")
def clear(app: StateApp) -> None:
    """Share the screen again, then clear mark, range, selection."""
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


def _to_event(app: StateApp, *, forward: bool, slow: bool = False) -> None:
    events = _events_of_lane(app)
    events_of = slow_events(events) if slow else None
    selected, time_ns = selection.walk_start(app.state, forward=forward)
    position = events.position(selected.index) if selected is not None and selected.frame == events.frame else None
    if position is None:
        # As if the cursor stood just before the first event that begins at it or later.
        begun = int(np.searchsorted(events.starts, time_ns))
        position = begun - 1 if forward else begun
    target = step(events, position, forward, events_of)
    if target is None:
        raise ActionError(f"No {'later' if forward else 'earlier'} {'slow ' if slow else ''}event in this lane.")
    app.select(Selection(event=_event_at(events, target)))


next_event = action_of("next_event", "Select the next event in the lane.", partial(_to_event, forward=True))
previous_event = action_of(
    "previous_event", "Select the previous event in the lane.", partial(_to_event, forward=False)
)
next_slow = action_of(
    "next_slow",
    "Select the next slow event in the lane (above p95).",
    partial(_to_event, forward=True, slow=True),
)
previous_slow = action_of(
    "previous_slow", "Select the previous slow event in the lane.", partial(_to_event, forward=False, slow=True)
)


def _to_interval(app: StateApp, step: int) -> None:
    waits = app.state.selection.waits
    if waits is not None and waits.rows:
        last = len(waits.rows) - 1
        at = (0 if step > 0 else last) if waits.step is None else waits.step + step
        if not 0 <= at <= last:
            raise ActionError(f"This is the {'last' if step > 0 else 'first'} of {format_count(last + 1, 'wait')}.")
        app.select(Selection(event=EventRef("hardware", waits.rows[at]), waits=replace(waits, step=at)))
        return
    ref, check = selected_check(app)
    if not check.evidence:
        raise ActionError("This check has no intervals.")
    first = 0 if step > 0 else len(check.evidence) - 1
    index = first if ref.evidence is None else ref.evidence + step
    if not 0 <= index < len(check.evidence):
        raise ActionError(_end(check, last=step > 0))
    _show(app, FindingRef(ref.check, index))


_STEP = "Select the {} interval of the finding, or of a prediction's waits."
next_evidence = action_of("next_evidence", _STEP.format("next"), partial(_to_interval, step=1))
previous_evidence = action_of("previous_evidence", _STEP.format("previous"), partial(_to_interval, step=-1))


def _end(check: Result, *, last: bool) -> str:
    """What to say where there is no further interval: beyond the last one there may be some that nobody kept."""
    listed = len(check.evidence)
    if check.evidence_total <= listed:
        return f"This is the {'last' if last else 'first'} of {format_count(listed, 'interval')}."
    most = extreme_word(check.evidence)
    if not last:
        return f"This is the {most} of {check.evidence_total:,} intervals."
    return f"This is the last of the {listed} {most}; the report keeps no more of {check.evidence_total:,} intervals."


@action("to_finding")
def to_finding(app: StateApp) -> None:
    """Go to the finding of the event or interval."""
    session, finding = app.state.session, app.state.selection.finding
    if finding is not None and finding.evidence is not None:
        _show(app, FindingRef(finding.check))
        return
    evidence = selection.evidence_of(session, _selected_event(app))
    if evidence is None:
        raise ActionError(NOT_YET if session.report is None else "The selected event is not evidence of a finding.")
    _show(app, evidence)


@action("to_related")
def to_related(app: StateApp) -> None:
    """Go to a related finding: a possible cause or effect."""
    (ref, check), report = selected_check(app), app.state.session.report
    if report is None or not check.related:
        raise ActionError("The selected finding has no related findings.")
    wanted = [("finding", other.id, other.model) for other in check.related]
    indices = [at for at, check in enumerate(report.results) if (check.outcome, check.id, check.model) in wanted]
    # The next one further down, so that several are gone through in turn.
    _show(app, FindingRef(next((at for at in indices if at > ref.check), indices[0])))


@action("to_prediction")
def to_prediction(app: StateApp) -> None:
    """Go to the prediction of the event."""
    index = selection.prediction_of(app.state.session, _selected_event(app))
    if index is None:
        raise ActionError("The selected event does not belong to a known prediction.")
    app.select(Selection(event=EventRef("activity", index), prediction=index))
    fit_selection.run(app)


@action("why")
def explain(app: StateApp) -> None:
    """Show why the prediction was slow.

    Of a model, its slowest prediction; of something that a prediction waited for, the prediction that it is of.
    """
    session, cursor = app.state.session, app.state.cursor_ns
    if session.calls is None:
        raise ActionError(NOT_YET)
    events = app.lanes.events_of(app.state.lane)
    position = nearest(events, cursor) if events is not None else None
    under_cursor = None
    if events is not None and position is not None and events.starts[position] <= cursor < events.ends[position]:
        under_cursor = _event_at(events, position)
    index = selection.prediction_here(app.state, under_cursor)
    if index is None:
        raise ActionError("No prediction here; press 4 and choose one." if len(session.calls) else NO_PREDICTIONS)
    waits = selection.waits_of(session, index)
    app.change(maximized=None)
    app.select(Selection(event=EventRef("activity", index), prediction=index, waits=waits))
    if not app.state.inspector:
        toggle_inspector.run(app)
    fit_selection.run(app)
    if waits.rows:
        app.say(f"It waited for {format_count(len(waits.rows), 'interval')}; . and , step through them.")
    elif waits.pipelines:
        app.say(f"{format_count(len(waits.pipelines), 'Metal pipeline')} compiled during it; the lanes mark them.")


def _show(app: StateApp, ref: FindingRef) -> None:
    app.change(pane="findings", opened=ref.check)
    app.select(Selection(finding=ref))
