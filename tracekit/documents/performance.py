"""What `tracekit inspect` says of a performance report or a compute plan: times, and where operations run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors.shared import planned
from tracekit.model_files.performance.facts import ALL_UNITS
from tracekit.render.blocks import Column, Document, Paragraph, Role, Span, items, present, section, table
from tracekit.report import performance as words
from tracekit.report.formatting import ABSENT, count, duration
from tracekit.units import format_count, format_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tracekit.model_files.performance.facts import ComputeUnit, PerformanceReport, PlannedOperation, Timing
    from tracekit.render.blocks import Line, Section
    from tracekit.report.performance import InspectedPerformance

COSTLIEST = 5


def performance_report_document(inspected: InspectedPerformance, unit: ComputeUnit | None = None) -> Document:
    """The report; `unit` lists the operations on one compute unit instead of the costliest."""
    report = inspected.performance
    listed = report.operations or () if unit is None else report.on(unit)
    return Document(
        title=report.name,
        verdict=words.result(inspected),
        tone=Role.GOOD,
        context=(Paragraph(words.context(report), Role.DIM),),
        blocks=present(
            (
                _times(report),
                _units(inspected) if report.operations else None,
                section("Not on the Neural Engine", items(_elsewhere(report)), name="elsewhere"),
                _costliest(report) if unit is None else None,
                _operations(report, listed, unit),
                section("Notes", items(_notes(report)), name="notes"),
            )
        ),
    )


def _times(report: PerformanceReport) -> Section | None:
    timed = list(words.timings(report))

    def column(title: str, key: str, drop: int) -> Column[tuple[str, Timing, str]]:
        return Column(title, lambda row: duration(getattr(row[1], key)), lambda row: getattr(row[1], key), drop=drop)

    known = [
        (title, key) for title, key in words.TIMES if any(getattr(timing, key) is not None for _, timing, _ in timed)
    ]
    columns: list[Column[tuple[str, Timing, str]]] = [
        Column("", lambda row: row[0], words=True),
        *(column(title, key, drop) for drop, (title, key) in enumerate(known)),
        Column("count", lambda row: count(row[1].count), lambda row: row[1].count, drop=1),
    ]
    kept = (f"{name.partition(',')[0]}, {first}" for name, timing, of in timed if (first := words.first(timing, of)))
    return section("Times", table("Times", columns, timed), items(kept), name="times")


def _units(inspected: InspectedPerformance) -> Section | None:
    summary = inspected.summary
    total = summary.operations or 0
    columns: tuple[Column[str], ...] = (
        Column("compute unit", str, words=True),
        Column("operations", lambda unit: f"{summary.units[unit]:,}", lambda unit: summary.units[unit]),
        Column("share", lambda unit: format_share(summary.units[unit] / total), drop=1),
        Column(
            "est. cost",
            lambda unit: format_share(summary.cost[unit]) if unit in summary.cost else ABSENT,
            summary.cost.get,
            drop=2,
        ),
    )
    rows = [str(unit) for unit in planned.NAMES if unit in summary.units]
    hand_offs = words.hand_offs(inspected)
    grid = table("Operations by compute unit", columns, rows)
    return section("Where operations run", grid, Paragraph(hand_offs) if hand_offs else None, name="units")


def _elsewhere(report: PerformanceReport) -> Iterator[Line]:
    """Operations that do not run on the Neural Engine, and why."""
    for what, operations in words.elsewhere(report):
        reasons = words.reasons(operations)
        text = f"{format_count(len(operations), 'operation')} {what}: {words.by_type(operations)}"
        yield f"{text} ({reasons})" if reasons else text


def _name(operation: PlannedOperation) -> Line:
    return Span(operation.name, Role.CODE) if operation.name else ABSENT


def _cost() -> Column[PlannedOperation]:
    return Column("est. cost", words.cost, lambda entry: entry.estimated_ns, drop=1)


def _costliest(report: PerformanceReport) -> Section | None:
    columns: tuple[Column[PlannedOperation], ...] = (
        _cost(),
        Column("runs on", lambda entry: str(entry.unit or ABSENT), words=True),
        Column("type", words.kind, words=True, drop=2),
        Column("name", _name, words=True, drop=3),
    )
    grid = table("Costliest operations", columns, report.costliest(COSTLIEST))
    return section("Costliest operations", grid, note="estimated", name="costliest")


def _operations(
    report: PerformanceReport, listed: Sequence[PlannedOperation], unit: ComputeUnit | None
) -> Section | None:
    """All operations, or those on one compute unit."""
    if unit is not None and not listed:
        return section(f"Operations on {planned.NAMES[unit]}", Paragraph("none"))

    def mark(of: ComputeUnit) -> Column[PlannedOperation]:
        return Column(str(of), lambda entry: words.MARKS[report.mark(entry, of)], words=True)

    columns: tuple[Column[PlannedOperation], ...] = (
        Column("", lambda entry: str(entry.number), lambda entry: entry.number),
        Column("name", _name, words=True, drop=3),
        Column("type", words.kind, words=True),
        *map(mark, ALL_UNITS),
        _cost(),
    )
    title = "All operations" if unit is None else f"Operations on {planned.NAMES[unit]}"
    grid = table(title, columns, listed)
    note = Paragraph(words.MARKS_NOTE, Role.DIM) if grid else None
    return section(title, grid, note, folded=unit is None)


def _notes(report: PerformanceReport) -> Iterator[Line]:
    yield from report.notes
    if report.operations:
        yield words.PLAN_NOTE
