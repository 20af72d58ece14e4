"""What is said of several recordings: a line each, and how many there are of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tracekit.documents import columns
from tracekit.documents.report import tone_of
from tracekit.render.blocks import Column, Document, Role, Span, present, table
from tracekit.report.groups import INCONCLUSIVE, checks_in_words, count_checks, with_outcome
from tracekit.trace.coverage import unreadable_tables
from tracekit.units import format_count, format_estimate

if TYPE_CHECKING:
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline

UNREAD = "not readable"
NOT_CHECKED = "not checked"
"""Of a recording that shows what ran, of which no check could be evaluated."""
KINDS = ("with findings", "without findings", NOT_CHECKED, INCONCLUSIVE, UNREAD)


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
    rows = tuple(map(_row, entries))
    kinds = Counter(row.kind for row in rows)
    words = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])
    summary = f"{format_count(len(entries), 'recording')}: {words}"
    grid = table("Recordings", COLUMNS, rows)
    more = "tracekit analyze RECORDING"
    return Document("Recordings", summary, Role.PLAIN, blocks=present(grid), closing=summary, more=more)


class _Row(NamedTuple):
    """What is said of a recording."""

    name: str
    kind: str
    """One of `KINDS`."""
    verdict: Span
    checks: str
    """Those that found something, how many did not, or why nothing is known."""
    savings_ns: int | None = None


def _row(entry: Analyzed) -> _Row:
    report = entry.report
    if report is None:
        return _Row(entry.name, UNREAD, Span(UNREAD, Role.BAD), entry.error)
    totals, savings_ns = count_checks(report.results), report.summary.savings_ns
    if report.summary.ran:
        words = f"{format_count(totals.findings, 'finding')} ({totals.worst})" if totals.findings else NOT_CHECKED
        kind = KINDS[0] if totals.findings else NOT_CHECKED
        return _Row(entry.name, kind, Span(words, tone_of(report)), report.summary.ran, savings_ns)
    if not report.summary.evaluated:
        # A recording that was opened is not readable where that is why nothing is known of it.
        if unreadable := unreadable_tables(report.tables):
            return _Row(entry.name, UNREAD, Span(UNREAD, Role.BAD), "; ".join(unreadable), savings_ns)
        checks = f"{format_count(totals.not_evaluated, 'check')} not evaluated"
        return _Row(entry.name, INCONCLUSIVE, Span(INCONCLUSIVE, Role.OPEN), checks, savings_ns)
    checks = ", ".join(dict.fromkeys(check.id for check in with_outcome(report.results, "finding")))
    checks = checks or checks_in_words(totals)
    words = f"{format_count(totals.findings, 'finding')} ({totals.worst})" if totals.findings else "no findings"
    kind = "with findings" if report.summary.findings else "without findings"
    verdict = Span(words, tone_of(report) if totals.findings else Role.GOOD)
    return _Row(entry.name, kind, verdict, checks, savings_ns)


COLUMNS: tuple[Column[_Row], ...] = (
    columns.words("recording", lambda row: row.name),
    columns.words("verdict", lambda row: row.verdict),
    columns.optional("est. savings", lambda row: row.savings_ns or None, format_estimate, float, "", drop=1),
    columns.words("checks", lambda row: row.checks),
)
