"""What of a view was recorded: it travels with every answer, so that no rows never stand for what was not recorded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.recording.table import TableState
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.query.views import Source, View


@dataclass(frozen=True, slots=True)
class ViewCoverage:
    """What has to be known about the rows of a view."""

    view: str
    recorded: bool
    """Whether the absence of a row means that nothing happened."""
    note: str
    """What is missing and how to get it; empty where nothing is."""


def coverage_of(view: View, rows: int, source: Source) -> ViewCoverage:
    """Whether a view with so many rows holds what happened."""
    trace = source.trace
    entries = [each for each in trace.coverage if each.instrument in view.instruments]
    gaps = [each for each in entries if each.state is not TableState.ROWS and (not each.recorded or each.advice)]
    notes = [f"{each.conclusion} {each.advice}".strip() for each in gaps]
    recorded = len(gaps) < len(entries) or not entries
    if rows and gaps and "Core ML" in view.instruments:
        notes, recorded = ["Core ML recorded no calls; these are inferred, see the column origin."], True
    if view.name in ("findings", "evidence"):
        summary = source.report().summary
        recorded = summary.evaluated
        if summary.not_evaluated:
            notes.append(f"{format_count(summary.not_evaluated, 'check')} not evaluated: see the view checks.")
    return ViewCoverage(view.name, recorded, " ".join(notes))


def notes_of(coverage: Iterable[ViewCoverage]) -> list[str]:
    """A sentence for each view with something missing."""
    return [f"{each.view}: {each.note}" for each in coverage if each.note]
