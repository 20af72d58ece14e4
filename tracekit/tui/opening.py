"""The steps in which recordings are read and judged for the screen. They run in a thread, and know no widget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from textual.message import Message

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.loads import first_predictions
from tracekit.arrays import BoolArray, IntArray
from tracekit.detectors.outcomes import Finding
from tracekit.grouping import grouped
from tracekit.recording import Progress
from tracekit.report.report import Report, Result
from tracekit.request import ALL, Request, read_trace, shown_of_request
from tracekit.trace.events import Attribution
from tracekit.trace.filter import Shown, narrow
from tracekit.trace.runtimes.phases import PHASES, Phases
from tracekit.trace.trace import Trace
from tracekit.tui.ranges import listed
from tracekit.tui.state import EVIDENCE_FRAMES, Calls, Session, bounds_of

if TYPE_CHECKING:
    from tracekit.comparison.comparison import Comparison
    from tracekit.detectors.framework import Judgment


class Canceled(Exception):  # noqa: N818 - no error: the user wanted it
    """The user gave up waiting."""


@dataclass(frozen=True, slots=True)
class Viewed:
    """What the user asked to see: the arguments of `tracekit view`."""

    paths: tuple[str, ...]
    """One recording, or two to be compared."""
    request: Request = ALL
    theme: str | None = None
    """`dark` or `light`; None: the one that was chosen last."""
    trace_of: Callable[[str, Request], Trace] = read_trace
    """Reads a recording, or waits until one is read."""


@dataclass(eq=False)
class ReadingProgressed(Message):
    """How far reading has come. Only the latest matters."""

    progress: Progress

    def can_replace(self, message: Message) -> bool:
        """A later one makes this one needless."""
        return isinstance(message, ReadingProgressed)


def read(path: str, request: Request = ALL, trace_of: Callable[[str, Request], Trace] = read_trace) -> Session:
    """Open one recording; its report is still to come. Raises `TracekitError` as `tracekit.open_trace` does."""
    opened = trace_of(path, request)
    shown = shown_of_request(opened, request)
    trace, full_trace = (opened, None) if shown is None else (narrow(opened, shown), opened)
    return Session(
        opened.contents.source,
        trace,
        None,
        bounds_of(opened),
        request=replace(request, progress=None),
        full_trace=full_trace,
        shown=shown,
    )


def judge_session(session: Session) -> Session:
    """The recording with its report and its predictions. Nothing is redacted on screen: what leaves it, is."""
    # The detectors are needed only now, when the lanes are on screen.
    from tracekit.api import judge_with_answers

    report, answers = judge_with_answers(session.whole_trace, replace(session.request, redact=False), session.shown)
    evidence = evidence_rows(session.trace, report, answers)
    return replace(session, report=report, evidence=evidence, calls=calls_of(session.whole_trace, session.shown))


def compare_sessions(before: Session, after: Session) -> Comparison:
    """What changed between two recordings that were judged, as `tracekit compare` says it."""
    from tracekit.comparison.comparison import compare
    from tracekit.comparison.measuring import measure

    sides = []
    for session in (before, after):
        if session.report is None:
            raise RuntimeError("a recording without a report cannot be compared")
        sides.append([measure(session.whole_trace, session.report, session.shown)])
    notes = [f"{one.source}: {clause}." for side in sides for one in side for clause in one.unreadable]
    return compare(*sides, floors=before.request.settings.floors, notes=notes)


def evidence_rows(trace: Trace, report: Report, answers: Iterable[Judgment]) -> tuple[dict[str, IntArray], ...]:
    """For each check the rows of `trace` that are its evidence: indices by event frame, ascending, without empty ones.

    O(n log n) in the rows of the trace and of the evidence, for each check with any.
    """
    findings = {
        (answer.detector.id, answer.outcome.model): answer.outcome
        for answer in answers
        if isinstance(answer.outcome, Finding)
    }

    @cache
    def of_table(name: str, table: str) -> tuple[IntArray, IntArray]:
        """Positions of the rows of a frame that are of a table, and their numbers there."""
        rows = listed(trace, name)
        positions = np.flatnonzero(rows.table.is_any(table))
        return positions, rows.row[positions]

    rows = [_rows(check, findings.get((check.id, check.model)), of_table) for check in report.results]
    return tuple(row | _whole_requests(trace.phases, row) for row in rows)


def _rows(
    check: Result, finding: Finding | None, of_table: Callable[[str, str], tuple[IntArray, IntArray]]
) -> dict[str, IntArray]:
    columns = None if finding is None else finding.all_evidence
    listed = grouped((entry.table, entry.row) for entry in check.evidence)
    rows: dict[str, IntArray] = {}
    for table, numbers in (listed if columns is None else columns.rows_by_table()).items():
        for name in EVIDENCE_FRAMES:
            positions, rows_there = of_table(name, table)
            # Most frames hold no row of the table; numpy would sort the numbers to find none of them there.
            there = positions[np.isin(rows_there, numbers)] if positions.size else positions
            if there.size:
                rows[name] = np.union1d(rows[name], there) if name in rows else there
    return rows


def _whole_requests(phases: Phases, evidence: Mapping[str, IntArray]) -> dict[str, IntArray]:
    """Phases that are evidence, with all of a request for which no phase stands from its begin to its end. O(n)."""
    rows = evidence.get(PHASES)
    if rows is None:
        return {}
    first = rows[~phases.phase.is_any("request")[rows]]
    requests = phases.request.filled()
    return {PHASES: np.union1d(rows, np.flatnonzero((requests >= 0) & np.isin(requests, requests[first])))}


def evidence_masks(trace: Trace, evidence: Iterable[Mapping[str, IntArray]]) -> dict[str, BoolArray]:
    """Which rows of each event frame are evidence of any check: shape (rows,) each, frames without any left out."""
    masks: dict[str, BoolArray] = {}
    for rows in evidence:
        for name, indices in rows.items():
            mask = masks.setdefault(name, np.zeros(len(listed(trace, name)), np.bool_))
            mask[indices] = True
    return masks


def calls_of(trace: Trace, shown: Shown | None = None) -> Calls:
    """The predictions of a trace, of what is `shown` of it (None: all), by their rows of what is shown. O(n log n); the
    breakdown that it needs is kept for the trace."""
    parts = breakdown(in_order(trace))
    index = parts.every.id
    if shown is not None:
        is_shown = shown.rows["activity"]
        parts = parts.of(index[is_shown[index]])
        index = np.cumsum(is_shown)[index[is_shown[index]]] - 1
    activity, at = trace.activity, parts.every.id[parts.chosen]
    return Calls(
        index=index,
        starts=activity.start_ns[at],
        durations=activity.duration_ns[at],
        first=first_predictions(trace)[at],
        inferred=activity.attribution.is_any(Attribution.INFERRED)[at],
        time_ns=np.array([sum(parts.part(part).filled(0) for part in group.parts) for group in GROUPS], np.int64),
        incomplete=np.array(
            [np.logical_or.reduce([parts.unknown[part] >= 0 for part in group.parts]) for group in GROUPS], np.bool_
        ),
    )
