"""From findings to their evidence and back, and from an event to its prediction."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tracekit.tui.action import action, action_of
from tracekit.tui.commands.detail import toggle_inspector
from tracekit.tui.commands.select import missing_event_words
from tracekit.tui.commands.views import fit_selection
from tracekit.tui.selection import evidence_of, finding_here, prediction_here, prediction_of, rows_waited_for
from tracekit.tui.state import EventRef, FindingRef, Selection, WaitsRef
from tracekit.tui.timeline.tracks import nearest
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.report.report import Result
    from tracekit.tui.state_app import StateApp


def _walk(app: StateApp, step: int) -> None:
    waits = app.state.selection.waits
    if waits is not None and waits.rows:
        _walk_waits(app, waits, step)
        return
    ref = finding_here(app.state)
    check = app.state.session.check(ref) if ref is not None else None
    if ref is None or check is None:
        app.say(NO_FINDING)
        return
    if not check.evidence:
        app.say("This check has no intervals.")
        return
    first = 0 if step > 0 else len(check.evidence) - 1
    index = first if ref.evidence is None else ref.evidence + step
    if not 0 <= index < len(check.evidence):
        app.say(_end(check, last=step > 0))
        return
    _show(app, FindingRef(ref.check, index))


def _walk_waits(app: StateApp, waits: WaitsRef, step: int) -> None:
    last = len(waits.rows) - 1
    at = (0 if step > 0 else last) if waits.step is None else waits.step + step
    if not 0 <= at <= last:
        app.say(f"This is the {'last' if step > 0 else 'first'} of {format_count(last + 1, 'wait')}.")
        return
    app.select(Selection(event=EventRef("hardware", waits.rows[at]), waits=replace(waits, step=at)))


_STEP = "Select the {} interval of the finding's evidence, or of what a prediction waited for."
next_evidence = action_of("next_evidence", _STEP.format("next"), partial(_walk, step=1))
previous_evidence = action_of("previous_evidence", _STEP.format("previous"), partial(_walk, step=-1))


def _end(check: Result, *, last: bool) -> str:
    """What to say where there is no further interval: beyond the last one there may be some that nobody kept."""
    listed = len(check.evidence)
    if check.evidence_total <= listed:
        return f"This is the {'last' if last else 'first'} of {format_count(listed, 'interval')}."
    if not last:
        return f"This is the longest of {check.evidence_total:,} intervals."
    return f"This is the last of the {listed} longest; the report keeps no more of {check.evidence_total:,} intervals."


NO_FINDING = "No finding selected; press 1 and choose one."


@action("to_finding")
def to_finding(app: StateApp) -> None:
    """Go to the finding that the event or interval is evidence of."""
    state = app.state
    finding, event = state.selection.finding, state.selection.event
    if finding is not None and finding.evidence is not None:
        _show(app, FindingRef(finding.check))
        return
    if event is None:
        app.say(missing_event_words(app))
        return
    evidence = evidence_of(state.session, event)
    if evidence is not None:
        _show(app, evidence)
        return
    if state.session.report is None:
        app.say(NOT_YET)
        return
    app.say("The selected event is not evidence of a finding.")


NOT_YET = "The checks are still running; try again when the findings appear."


@action("to_related")
def to_related(app: StateApp) -> None:
    """Go to a related finding: a possible cause or effect."""
    ref, report = finding_here(app.state), app.state.session.report
    check = app.state.session.check(ref) if ref is not None else None
    if report is None or check is None or not check.related:
        app.say("The selected finding has no related findings.")
        return
    wanted = [(other.id, other.model) for other in check.related]
    indices = [
        at
        for at, other in enumerate(report.results)
        if other.outcome == "finding" and (other.id, other.model) in wanted
    ]
    # The next one further down, so that several are gone through in turn.
    _show(app, FindingRef(next((at for at in indices if ref is not None and at > ref.check), indices[0])))


@action("to_prediction")
def to_prediction(app: StateApp) -> None:
    """Go to the prediction that the event belongs to, and zoom to it."""
    session, event = app.state.session, app.state.selection.event
    if event is None:
        app.say(missing_event_words(app))
        return
    index = prediction_of(session, event)
    if index is None:
        app.say("The selected event does not belong to a known prediction.")
        return
    app.select(Selection(event=EventRef("activity", index), prediction=index))
    fit_selection.run(app)


@action("why")
def explain(app: StateApp) -> None:
    """Show why the prediction took as long as it did, and mark what it waited for.

    Of a model, its slowest prediction; of something that a prediction waited for, the prediction that it is of.
    """
    session, cursor = app.state.session, app.state.cursor_ns
    if session.calls is None:
        app.say(NOT_YET)
        return
    events = app.lanes.events_of(app.state.lane)
    position = nearest(events, cursor) if events is not None else None
    under_cursor = None
    if events is not None and position is not None and events.starts[position] <= cursor < events.ends[position]:
        under_cursor = EventRef(events.frame, int(events.index[position]))
    index = prediction_here(app.state, under_cursor)
    if index is None:
        app.say("No prediction here; press 4 and choose one.")
        return
    waits = WaitsRef(index, rows_waited_for(session, index))
    app.change(maximized=None)
    if not app.state.inspector:
        toggle_inspector.run(app)
    app.select(Selection(event=EventRef("activity", index), prediction=index, waits=waits))
    fit_selection.run(app)
    if waits.rows:
        app.say(f"It waited for {format_count(len(waits.rows), 'interval')}; . and , step through them.")


def _show(app: StateApp, ref: FindingRef) -> None:
    app.change(pane="findings", opened=ref.check)
    app.select(Selection(finding=ref))
