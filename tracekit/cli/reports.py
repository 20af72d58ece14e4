"""What a report, and tables that could not be read, mean for the exit status of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.cli.ending import ExitStatus
from tracekit.cli.output import narrate
from tracekit.detectors.pages import Pattern
from tracekit.report.formatting import listed
from tracekit.report.report import SEVERITIES
from tracekit.trace.coverage import unreadable_tables
from tracekit.units import format_count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from tracekit.report.report import Report, Result
    from tracekit.trace.coverage import Listed


def status_of(report: Report, fail_on: str | None, *, quiet: bool = False) -> ExitStatus:
    """Exit status for a report. An incomplete result outweighs the gate: it may hide something worse."""
    if report.summary.errors:
        narrate(
            "tracekit: incomplete: a check ended with an error "
            f"({report.summary.errors} of {len(report.results)} answers); see NOT EVALUATED in the report"
        )
        return ExitStatus.UNUSABLE
    if tell_unreadable(report.recording.source, report.tables):
        return ExitStatus.UNUSABLE
    if not report.summary.evaluated:
        return ExitStatus.INCONCLUSIVE
    reached = reached_checks(report, fail_on)
    if reached and fail_on is not None:
        if not quiet:
            narrate(f"tracekit: {_gate_words(reached, fail_on)}")
        return ExitStatus.GATE_FAILED
    return ExitStatus.DONE


def tell_unreadable(source: str, tables: Iterable[Listed], schemas: Collection[str] | None = None) -> bool:
    """Name the tables of a recording that could not be read on standard error; whether there are any. Those of an
    instrument count, or of the given schemas."""
    clauses = unreadable_tables(tables) if schemas is None else unreadable_tables(tables, schemas)
    for clause in clauses:
        narrate(f"tracekit: {source}: {clause}")
    return bool(clauses)


def reached_checks(report: Report, fail_on: str | None) -> list[Result]:
    """Findings of this severity or worse; none without a gate."""
    if fail_on is None:
        return []
    severities = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return [check for check in report.results if check.severity in severities]


def _gate_words(reached: Sequence[Result], fail_on: str) -> str:
    """Which findings made the gate fail, and which of them say nothing of the app."""
    ids = dict.fromkeys(check.id for check in reached)
    words = f"failed: {format_count(len(ids), 'finding')} at or above {fail_on}: {listed(ids)}"
    health = list(dict.fromkeys(check.id for check in reached if check.pattern == Pattern.RECORDING))
    if health:
        words += f"; {listed(health)}: about the recording, not the app; record again, or use --skip"
    return words
