"""What is said of several recordings: a line each, and how many there are of each kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.documents.report import tone_of
from tracekit.render.blocks import Column, Document, Role, Span, present, table
from tracekit.report.groups import count_checks
from tracekit.trace.coverage import unreadable_tables
from tracekit.units import format_count, format_estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.render.blocks import Line
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline

KINDS = ("with findings", "without findings", "inconclusive", "not readable")


@dataclass(frozen=True, slots=True)
class Analyzed:
    """One recording of several."""

    name: str
    report: Report | None
    """None where it could not be read."""
    error: str = ""
    timeline: Timeline | None = None
    """Its lanes, where a form draws them."""


def several_document(entries: Sequence[Analyzed]) -> Document:
    """A line per recording, and a summary."""
    columns: tuple[Column[Analyzed], ...] = (
        Column("recording", lambda entry: entry.name, words=True),
        Column("verdict", _verdict, words=True),
        Column("est. savings", _savings, drop=1),
        Column("checks", _checks, words=True),
    )
    kinds = Counter(map(_kind, entries))
    words = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])
    summary = f"{format_count(len(entries), 'recording')}: {words}"
    grid = table("Recordings", columns, entries)
    return Document("Recordings", summary, Role.PLAIN, blocks=present((grid,)), closing=summary)


def _verdict(entry: Analyzed) -> Line:
    if entry.report is None or _unread(entry):
        return Span("not readable", Role.BAD)
    if not entry.report.summary.evaluated:
        return Span("inconclusive", Role.OPEN)
    totals = count_checks(entry.report.results)
    if not totals.findings:
        return Span("no findings", Role.GOOD)
    return Span(f"{format_count(totals.findings, 'finding')} ({totals.worst})", tone_of(entry.report))


def _savings(entry: Analyzed) -> str:
    savings = entry.report.summary.savings_ns if entry.report is not None else None
    return format_estimate(savings) if savings else ""


def _checks(entry: Analyzed) -> str:
    """The checks that found something, how many did not, or why nothing is known."""
    if entry.report is None:
        return entry.error
    if unread := _unread(entry):
        return "; ".join(unread)
    totals = count_checks(entry.report.results)
    if not entry.report.summary.evaluated:
        return f"{format_count(totals.not_evaluated, 'check')} not evaluated"
    if not totals.findings:
        return f"{totals.passed} passed, {totals.not_evaluated} not evaluated"
    return ", ".join(dict.fromkeys(check.id for check in entry.report.results if check.outcome == "finding"))


def _unread(entry: Analyzed) -> tuple[str, ...]:
    """Why nothing is known of a recording that was opened: tables that could not be read."""
    if entry.report is None or entry.report.summary.evaluated:
        return ()
    return unreadable_tables(entry.report.tables)


def _kind(entry: Analyzed) -> str:
    if entry.report is None or _unread(entry):
        return "not readable"
    if not entry.report.summary.evaluated:
        return "inconclusive"
    return "with findings" if entry.report.summary.findings else "without findings"
