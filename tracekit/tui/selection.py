"""What a state is about: what is selected, where a walk goes on, where a range ends. Actions and widgets share it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tracekit.analysis.frames.late import late_frames
from tracekit.analysis.ledger.explain import compiled_for, waited_for, why
from tracekit.analysis.ledger.order import in_order
from tracekit.lanes.events import Events
from tracekit.lanes.process import TITLES
from tracekit.report.late_lane import LATE
from tracekit.trace.events import Kind
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.state import EVIDENCE_FRAMES, NOTHING, EventRef, FindingRef, Selection, Session, State, WaitsRef
from tracekit.tui.timeline.tracks import snapped
from tracekit.tui.viewport import Span, span_between
from tracekit.units import format_bytes


def selected_span(state: State) -> Span | None:
    """Where the range lies, else the selected interval or event, else the whole evidence of the selected finding."""
    if state.range is not None:
        return state.range
    event, finding = state.selection.event, state.selection.finding
    check = state.session.check(finding)
    number = None if finding is None else finding.evidence
    if event is not None and (check is None or number is None):
        return state.session.span(event)
    if check is None or not check.evidence:
        return None
    # An interval may be longer than the event that stands for it, as that of a request.
    evidence = check.evidence if number is None else check.evidence[number : number + 1]
    return span_between(min(e.start_ns for e in evidence), max(e.end_ns for e in evidence))


def finding_here(state: State) -> FindingRef | None:
    """The selected finding; in the list of findings, where the cursor begins at the first one, that."""
    report = state.session.report
    if state.selection.finding is None and state.pane == "findings" and report is not None and report.summary.findings:
        return FindingRef(0)
    return state.selection.finding


_NAMES = ("path", "label", "state", "hang_type", "function", "name")


def name_of(row: Mapping[str, Any]) -> str | None:
    """What a row of any frame is called, the phase of a runtime by its signpost; None where it has no name."""
    if "bytes" in row:
        return f"{TITLES[row['kind']]}: {format_bytes(int(row['bytes']))}"
    return next((name for name in map(row.get, _NAMES) if isinstance(name, str)), None)


def evidence_of(session: Session, event: EventRef) -> FindingRef | None:
    """The first finding that was made from this row, with the interval where the report lists it. O(evidence)."""
    first = next(findings_of(session, event), None)
    return None if first is None else interval_of(session, first, event) or FindingRef(first)


def findings_of(session: Session, event: EventRef) -> Iterator[int]:
    """Indices of the checks that this row, or one of this prediction's rows, is evidence of. O(log evidence) each, and
    O(rows in the time of the prediction)."""
    # The row and, where it is a prediction, those that belong to it.
    own = {event.frame: np.array([event.index])}
    for name in EVENT_FRAMES if event.frame == "activity" else ():
        lane, span = session.trace.events[name], session.span(event)
        first, after = np.searchsorted(lane.start_ns, (span.start_ns, span.end_ns))
        inside = first + np.flatnonzero(lane.prediction.take(slice(first, after)).filled() == event.index)
        own[name] = np.append(own.get(name, inside[:0]), inside)
    for check, rows in enumerate(session.evidence if session.report is not None else ()):
        pairs = ((rows[name], own[name]) for name in rows.keys() & own.keys())
        if any((np.searchsorted(of, at) < np.searchsorted(of, at, side="right")).any() for of, at in pairs):
            yield check


def interval_of(session: Session, check: int, event: EventRef) -> FindingRef | None:
    """The interval of a check, of those that the report lists, that was made from this row. O(evidence)."""
    if session.report is None or event.frame not in EVIDENCE_FRAMES:
        return None
    row = session.row(event)
    source = (row["table"], row["row"])
    evidence = session.report.results[check].evidence
    return next((FindingRef(check, at) for at, row in enumerate(evidence) if (row.table, row.row) == source), None)


def prediction_of(session: Session, event: EventRef, *, by_order: bool = False) -> int | None:
    """Row of `Trace.activity` of the outermost prediction that a row belongs to: itself, where it is one. `by_order`:
    whether the order of submission, too, may tell that."""
    if event.frame == LATE:
        # Row of `Trace.activity` of the prediction that held a late frame up; None where it is none, or not shown.
        call = int(late_frames(session.whole_trace).call[event.index])
        if call >= 0 and session.shown is not None:
            shown = session.shown.rows["activity"]
            call = int(shown[:call].sum()) if shown[call] else -1
        return call if call >= 0 and session.calls is not None and session.calls.position(call) is not None else None
    if event.frame not in EVENT_FRAMES:
        return None
    trace = in_order(session.trace) if by_order else session.trace
    calls, parents = session.calls, session.trace.activity.prediction
    index = event.index if event.frame == "activity" else -1
    above = trace.events[event.frame].prediction.item(event.index)
    while above is not None:
        index = above
        above = parents.item(index)
    return index if calls is not None and calls.position(index) is not None else None


def prediction_here(state: State, under_cursor: EventRef | None) -> int | None:
    """Row of `Trace.activity` of the prediction that a question is about: of the event, or of the finding's longest
    evidence; the slowest one of a model, of a finding about something else of it, or of a row of statistics. None where
    there is none."""
    session, selection = state.session, state.selection
    if selection == NOTHING:
        selection = state.inspector_selection if under_cursor is None else Selection(event=under_cursor)
    event, calls = selection.event, session.calls
    check = session.check(selection.finding)
    if event is None and check is not None and check.evidence:
        event = session.locate(check.evidence[0])
    prediction = None if event is None else prediction_of(session, event, by_order=True)
    if prediction is not None or (event is not None and check is None):
        return prediction
    source = selection.row.source if selection.row is not None else None
    about = selection.model if check is None else check.model
    model = about if source is None or source.kind != Kind.PREDICTION else source.model
    if calls is None or model is None:
        return None
    fitting = session.trace.activity.model.is_any(model)[calls.index]
    if selection.row is not None and selection.row.warm:
        fitting &= ~calls.first
    return int(calls.index[np.where(fitting, calls.durations, -1).argmax()]) if fitting.any() else None


def waits_of(session: Session, prediction: int) -> WaitsRef:
    """A row of `Trace.activity` with what it waited for, as far as that is shown."""
    explained = why(session.whole_trace, session.label_in_whole_trace(prediction))
    if explained is None:
        return WaitsRef(prediction, ())
    rows = waited_for(session.whole_trace, explained)
    if session.shown is not None:
        mask = session.shown.rows["hardware"]
        rows = np.cumsum(mask)[rows[mask[rows]]] - 1
    return WaitsRef(prediction, tuple(rows.tolist()), tuple(compiled_for(session.trace, explained).tolist()))


def walk_start(state: State, *, forward: bool) -> tuple[EventRef | None, int]:
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


def range_end(state: State, events: Events | None, columns: int) -> Span:
    """Where a range would begin or end now: the selected event where the cursor is on it, else the instant of the
    cursor, or the edge of one of these events that is next to it on a screen of so many columns of time."""
    span = state.session.span(state.selection.event) if state.selection.event is not None else None
    if span is not None and span.start_ns <= state.cursor_ns < span.end_ns:
        return span
    # An instant has no length, so that a range from edge to edge is exact.
    return Span(snapped(events, state.cursor_ns, state.view.span_ns // columns), 0)
