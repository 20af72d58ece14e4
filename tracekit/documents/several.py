"""What is said of several recordings: a line each, and how many there are of each kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.documents import columns
from tracekit.documents.report import tone_of
from tracekit.render.blocks import Document, Role, Span, present, table
from tracekit.report.groups import INCONCLUSIVE, count_checks, with_outcome
from tracekit.trace.coverage import unreadable_tables
from tracekit.units import format_count, format_estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.render.blocks import Column, Line
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline

UNREAD = "not readable"
KINDS = ("with findings", "without findings", INCONCLUSIVE, UNREAD)


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
    kinds = Counter(map(_kind, entries))
    words = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])
    summary = f"{format_count(len(entries), 'recording')}: {words}"
    grid = table("Recordings", COLUMNS, entries)
    return Document("Recordings", summary, Role.PLAIN, blocks=present((grid,)), closing=summary)


def _kind(entry: Analyzed) -> str:
    """One of `KINDS`. A recording that was opened is not readable where that is why nothing is known of it."""
    if entry.report is None or (not entry.report.summary.evaluated and unreadable_tables(entry.report.tables)):
        return UNREAD
    if not entry.report.summary.evaluated:
        return INCONCLUSIVE
    return "with findings" if entry.report.summary.findings else "without findings"


def _verdict(entry: Analyzed) -> Line:
    kind = _kind(entry)
    if entry.report is None or kind == UNREAD:
        return Span(kind, Role.BAD)
    if kind == INCONCLUSIVE:
        return Span(kind, Role.OPEN)
    totals = count_checks(entry.report.results)
    words = f"{format_count(totals.findings, 'finding')} ({totals.worst})" if totals.findings else "no findings"
    return Span(words, tone_of(entry.report) if totals.findings else Role.GOOD)


def _checks(entry: Analyzed) -> str:
    """The checks that found something, how many did not, or why nothing is known."""
    if entry.report is None:
        return entry.error
    kind, totals = _kind(entry), count_checks(entry.report.results)
    if kind == UNREAD:
        return "; ".join(unreadable_tables(entry.report.tables))
    if kind == INCONCLUSIVE:
        return f"{format_count(totals.not_evaluated, 'check')} not evaluated"
    found = dict.fromkeys(check.id for check in with_outcome(entry.report.results, "finding"))
    return ", ".join(found) or f"{totals.passed} passed, {totals.not_evaluated} not evaluated"


COLUMNS: tuple[Column[Analyzed], ...] = (
    columns.words("recording", lambda entry: entry.name),
    columns.words("verdict", _verdict),
    columns.numbers(
        "est. savings",
        lambda entry: entry.report.summary.savings_ns if entry.report else None,
        lambda savings_ns: format_estimate(savings_ns) if savings_ns else "",
        drop=1,
    ),
    columns.words("checks", _checks),
)
