"""About an event: exact times, what it is, how sure it is whose, and the code of the app that made the call; about the
range, and what it was measured between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from tracekit.analysis.code.sites import site_of
from tracekit.report.call_sites import THREADS, busy_words, place
from tracekit.report.formatting import duration, exact_moment, moment
from tracekit.report.phases import inferred_facts
from tracekit.trace.events import Attribution
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.trace.runtimes.phases import PHASES
from tracekit.tui.inspection.blocks import exact, section
from tracekit.tui.inspection.histogram import histogram_blocks
from tracekit.tui.ranges import durations_in_range
from tracekit.tui.selection import findings_of
from tracekit.units import format_count

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracekit.tui.state import EventRef, Session, State
    from tracekit.tui.viewport import Span


ATTRIBUTION_WORDS = {
    Attribution.EXACT: "exact (row names the model)",
    Attribution.LABEL: "by label (which names the model)",
    Attribution.CONTAINED: "by time (inside exactly one prediction)",
    Attribution.AMBIGUOUS: "ambiguous (inside several predictions)",
    Attribution.FOREIGN: "another process, not the target",
    Attribution.UNATTRIBUTED: "unattributed",
    Attribution.INFERRED: "inferred (Core ML recorded none)",
}
"""How sure it is that a row belongs to the model and prediction it is shown with."""

_PLAIN = ("start_ns", "duration_ns", "form", "name", "process", "thread", "table", "row")
"""Columns of phases that are shown otherwise, or not."""
_NAMED = ("lane", "kind", "model", "instance", "parent_model", "device", "process", "pid", "depth", "operation")


def event_blocks(session: Session, ref: EventRef) -> Iterator[RenderableType]:
    """All that is known of a row."""
    row = session.row(ref)
    label = next((row[name] for name in ("label", "state", "hang_type", "function", "name") if name in row), None)
    span = session.span(ref)
    length = row.get("duration_ns", 0)
    known = [("duration", "no end recorded" if pd.isna(length) else exact(int(length)))]
    known.append(("start", exact_moment(span.start_ns)))
    known += [] if pd.isna(length) else [("end", exact_moment(span.start_ns + int(length)))]
    if ref.frame == PHASES:
        said = (name for name in row.index if name not in _PLAIN)
        known += [(name.replace("_", " "), str(row[name])) for name in said if not pd.isna(row[name])]
        known.append(("source", f"{row['table']}, row {row['row']}"))
    if ref.frame in EVENT_FRAMES:
        known += [(name.replace("_", " "), str(row[name])) for name in _NAMED if not pd.isna(row[name])]
        if not pd.isna(row["prediction"]):
            known.append(("prediction", _prediction(session, int(row["prediction"]))))
        known.append(("attribution", ATTRIBUTION_WORDS[Attribution(row["attribution"])]))
        if ref.frame == "activity":
            known += next(inferred_facts(session.frame(ref.frame).iloc[[ref.index]]))
        if row["guessed"]:
            known.append(("note", "kind inferred from the beginning of an unrecognized event name"))
        known.append(("source", f"{row['table']}, row {row['row']}"))
        checks = session.report.results if session.report is not None else ()
        known += [("evidence of", f"{checks[at].title} (F to jump)") for at in findings_of(session, ref)]
    yield from section(label if isinstance(label, str) else "unnamed event", known)


def _prediction(session: Session, index: int) -> str:
    """The prediction that contains a row."""
    activity = session.trace.activity
    length = duration(int(activity["duration_ns"].iloc[index]))
    return f"{length} at {moment(int(activity['start_ns'].iloc[index]))} (P to jump)"


def caller_blocks(session: Session, index: int) -> Iterator[RenderableType]:
    """Who made the call of a row of `Trace.activity`; nothing where call stacks do not show it, or before the checks,
    which read them, are done."""
    site = site_of(session.whole_trace, session.label_in_whole_trace(index)) if session.report is not None else None
    if site is None:
        return
    known = [("function", place(site)), *(("called by", place(each)) for each in site.called_by)]
    known += [("thread", THREADS[site.thread])] if site.thread in THREADS else []
    known.append(("busy with", busy_words(site) or f"unknown ({format_count(site.samples, 'sample')})"))
    if site.ambiguous:
        known.append(("note", "ambiguous: another thread made such a call meanwhile"))
    yield from section("Called from", known)


def range_blocks(state: State, span: Span, ends: tuple[Span, Span] | None) -> Iterator[RenderableType]:
    """Length and ends; for two events, the distances between their edges; the predictions that start in it."""
    known = [
        ("length", exact(span.span_ns)),
        ("from", exact_moment(span.start_ns)),
        ("to", exact_moment(span.end_ns)),
        *((name, exact(length)) for name, length in (distances(*ends) if ends is not None else ())),
        ("statistics", "2 to show, ctrl+y to copy"),
    ]
    yield from section("Range", known)
    yield from histogram_blocks(durations_in_range(state, span), "predictions starting in it")


def distances(first: Span, second: Span) -> Iterator[tuple[str, int]]:
    """From edge to edge of two events, the earlier first: names and ns."""
    gap = second.start_ns - first.end_ns
    yield ("gap", gap) if gap >= 0 else ("overlap", min(first.end_ns, second.end_ns) - second.start_ns)
    yield "start – start", second.start_ns - first.start_ns
    yield "end – end", second.end_ns - first.end_ns
