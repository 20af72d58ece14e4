"""What `tracekit inspect` says of a performance report, as GitHub flavored Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors.shared import planned
from tracekit.model_files.performance.facts import ALL_UNITS
from tracekit.report import formatting, performance_words
from tracekit.report.renderers.markdown_text import code, details, escape, paragraphs, table
from tracekit.report.strings import map_strings
from tracekit.units import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.model_files.performance import ComputeUnit, PerformanceReport, PlannedOperation
    from tracekit.report.performance import PerformanceDocument

COSTLIEST = 10


def render_performance_markdown(document: PerformanceDocument, *, unit: ComputeUnit | None) -> str:
    """The whole document, with a line break at its end; `unit` lists only the operations on one compute unit."""
    safe = map_strings(document, lambda _, text: formatting.visible(text))
    report = safe.performance
    listed = report.operations or () if unit is None else report.on(unit)
    title = "All operations" if unit is None else f"Operations on {planned.NAMES[unit]}"
    parts = (
        f"# {escape(report.name)}",
        escape(performance_words.context(report)),
        f"**{escape(performance_words.result(safe))}**",
        _times(report),
        _elsewhere(report),
        _costliest(report),
        escape(performance_words.hand_offs(safe)),
        *map(escape, report.notes),
        performance_words.PLAN_NOTE if report.operations else "",
        details(title, _listed(report, listed)) if listed else "",
    )
    return paragraphs(*parts) + "\n"


def _times(report: PerformanceReport) -> str:
    rows = [
        (
            name,
            *(formatting.duration(getattr(timing, key)) for _, key in performance_words.TIMES),
            formatting.count(timing.count),
            performance_words.first(timing, words) or formatting.ABSENT,
        )
        for name, timing, words in performance_words.timings(report)
    ]
    titles = ("", *(title for title, _ in performance_words.TIMES), "count", "kept apart")
    return paragraphs("## Times", table(titles, rows)) if rows else ""


def _elsewhere(report: PerformanceReport) -> str:
    lines = []
    for words, operations in performance_words.elsewhere(report):
        reasons = performance_words.reasons(operations)
        text = f"{format_count(len(operations), 'operation')} {words}: {performance_words.by_type(operations)}"
        lines.append(f"- {escape(f'{text} ({reasons})' if reasons else text)}")
    return paragraphs("## Not on the Neural Engine", "\n".join(lines)) if lines else ""


def _costliest(report: PerformanceReport) -> str:
    rows = [
        (
            code(entry.name) if entry.name else formatting.ABSENT,
            escape(performance_words.kind(entry)),
            str(entry.unit or formatting.ABSENT),
            performance_words.cost(entry),
        )
        for entry in report.costliest(COSTLIEST)
    ]
    return (
        paragraphs("## Costliest operations", table(("name", "type", "runs on", "estimated"), rows, 3)) if rows else ""
    )


def _listed(report: PerformanceReport, operations: Sequence[PlannedOperation]) -> str:
    rows = [
        (
            str(entry.number),
            code(entry.name) if entry.name else formatting.ABSENT,
            escape(performance_words.kind(entry)),
            *(performance_words.MARKS[report.mark(entry, unit)] for unit in ALL_UNITS),
            performance_words.cost(entry),
        )
        for entry in operations
    ]
    titles = ("", "name", "type", *map(str, ALL_UNITS), "estimated")
    return paragraphs(performance_words.MARKS_NOTE, table(titles, rows, 6))
