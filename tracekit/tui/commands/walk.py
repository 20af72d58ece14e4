"""From findings to their evidence and back, and from an event to its prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.action import Action, Section
from tracekit.tui.commands.select import NO_EVENT
from tracekit.tui.commands.views import fit_selection
from tracekit.tui.state import EventRef, FindingRef, Selection
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.report.report import Check
    from tracekit.tui.app import ViewApp
    from tracekit.tui.state import Session, State


def next_evidence(app: ViewApp) -> None:
    """Select the next interval of the finding."""
    _walk(app, 1)


def previous_evidence(app: ViewApp) -> None:
    """Select the previous interval of the finding."""
    _walk(app, -1)


def _walk(app: ViewApp, step: int) -> None:
    ref = finding_here(app.state)
    check = app.state.session.check(ref) if ref is not None else None
    if ref is None or check is None:
        app.say(NO_FINDING)
        return
    if not check.evidence:
        app.say("This check lists no intervals.")
        return
    first = 0 if step > 0 else len(check.evidence) - 1
    place = first if ref.evidence is None else ref.evidence + step
    if not 0 <= place < len(check.evidence):
        app.say(_end(check, last=step > 0))
        return
    _show(app, FindingRef(ref.check, place))


def _end(check: Check, *, last: bool) -> str:
    """What to say where there is no further interval: beyond the last one there may be some that nobody kept."""
    kept = len(check.evidence)
    if check.evidence_total <= kept:
        return f"This is the {'last' if last else 'first'} of {format_count(kept, 'interval')}."
    if not last:
        return f"This is the longest of {check.evidence_total:,} intervals, the first in the list."
    return f"This is the last of the {kept} longest: the report keeps no more of {check.evidence_total:,} intervals."


NO_FINDING = "No finding is selected: choose one in the list of findings, 1."


def finding_here(state: State) -> FindingRef | None:
    """The selected finding; in the list of findings, where the cursor begins at the first one, that."""
    report = state.session.report
    if state.selection.finding is None and state.pane == "findings" and report is not None and report.summary.findings:
        return FindingRef(0)
    return state.selection.finding


def to_finding(app: ViewApp) -> None:
    """From an interval to its finding as a whole; from an event to a finding that it is evidence of."""
    state = app.state
    finding, event = state.selection.finding, state.selection.event
    if finding is not None and finding.evidence is not None:
        _show(app, FindingRef(finding.check))
        return
    if event is None:
        app.say(NO_EVENT)
        return
    found = evidence_of(state.session, event)
    if found is not None:
        _show(app, found)
        return
    if state.session.report is None:
        app.say(NOT_YET)
        return
    whole = all(check.evidence_total <= len(check.evidence) for check in state.session.report.checks)
    app.say(_NO_EVIDENCE if whole else _NOT_KEPT)


NOT_YET = "The detectors are still at work; try again when the findings are there."
_NO_EVIDENCE = "The selected event is evidence of no finding."
_NOT_KEPT = "No finding lists the selected event; where there are many, only the longest are kept."


def to_related(app: ViewApp) -> None:
    """To the finding that can cause the selected one, or that it can cause."""
    ref, report = finding_here(app.state), app.state.session.report
    check = app.state.session.check(ref) if ref is not None else None
    if report is None or check is None or not check.related:
        app.say("No finding with related ones is selected.")
        return
    wanted = [(other.id, other.model) for other in check.related]
    places = [
        at for at, other in enumerate(report.checks) if other.outcome == "finding" and (other.id, other.model) in wanted
    ]
    # The next one further down, so that several are gone through in turn.
    _show(app, FindingRef(next((at for at in places if ref is not None and at > ref.check), places[0])))


def to_prediction(app: ViewApp) -> None:
    """Select the app's prediction that the event belongs to, and zoom to it."""
    session, event = app.state.session, app.state.selection.event
    if event is None:
        app.say(NO_EVENT)
        return
    index = prediction_of(session, event)
    if index is None:
        app.say("The selected event belongs to no prediction that is known.")
        return
    ref = EventRef("activity", index)
    app.select_event(ref)
    app.change(selection=Selection(event=ref, prediction=index))
    fit_selection(app)


def evidence_of(session: Session, event: EventRef) -> FindingRef | None:
    """The first finding with an interval that was made from this row. O(evidence)."""
    if session.report is None or event.frame not in EVENT_FRAMES:
        return None
    row = session.row(event)
    place = (str(row["table"]), int(row["row"]))
    for number, check in enumerate(session.report.checks):
        for at, entry in enumerate(check.evidence):
            if (entry.table, entry.row) == place:
                return FindingRef(number, at)
    return None


def prediction_of(session: Session, event: EventRef) -> int | None:
    """Row of `Trace.activity` of the outermost prediction that a row belongs to: itself, where it is one."""
    if event.frame not in EVENT_FRAMES:
        return None
    calls, row = session.calls, session.row(event)
    parents = session.trace.activity["prediction"]
    index = event.index if event.frame == "activity" else -1
    above = row["prediction"]
    while not pd.isna(above):
        index = int(above)
        above = parents.iloc[index]
    return index if calls is not None and calls.place(index) is not None else None


def _show(app: ViewApp, ref: FindingRef) -> None:
    app.change(pane="findings", opened=ref.check)
    app.select_finding(ref)


ACTIONS: tuple[Action, ...] = (
    Action(
        "next_evidence",
        ("full_stop",),
        "Next interval",
        Section.SELECT,
        "Select the next interval of evidence of the finding.",
        next_evidence,
    ),
    Action(
        "previous_evidence",
        ("comma",),
        "Interval before",
        Section.SELECT,
        "Select the interval of evidence before.",
        previous_evidence,
    ),
    Action(
        "to_finding",
        ("F",),
        "To the finding",
        Section.SELECT,
        "Go from an interval or event to the finding that it is evidence of.",
        to_finding,
    ),
    Action(
        "to_related",
        ("r",),
        "Related finding",
        Section.SELECT,
        "Go to a finding that can cause this one, or that it can cause.",
        to_related,
    ),
    Action(
        "to_prediction",
        ("P",),
        "To the prediction",
        Section.SELECT,
        "Select the prediction that the event belongs to, and zoom to it.",
        to_prediction,
    ),
)
