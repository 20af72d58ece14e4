"""What `tracekit inspect` says of a performance report or a compute plan: times, and where operations run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracekit.detectors.shared import planned
from tracekit.documents import columns
from tracekit.model_files.performance.facts import ALL_UNITS, ComputeUnit, PerformanceReport, PlannedOperation, Timing
from tracekit.render.blocks import Column, Document, Paragraph, Role, Section, Span, items, present, section, table
from tracekit.report import performance as words
from tracekit.report.formatting import ABSENT, duration, quantity
from tracekit.report.performance import InspectedPerformance
from tracekit.units import format_count, format_share

_Timed = tuple[str, Timing, str]
"""What was timed, its times, and what the values kept apart are."""
COSTLIEST = 5
MEDIANS = {"prediction": "p50_ns", "load": "load_ns", "load, cached": "load_ns"}
"""Ids of the medians of what was timed."""
NAME: Column[PlannedOperation] = columns.names("name", lambda entry: entry.name, drop=3)
COST: Column[PlannedOperation] = Column("est. cost", words.cost, lambda entry: entry.estimated_ns, drop=1)
COSTLIEST_COLUMNS: tuple[Column[PlannedOperation], ...] = (
    COST,
    columns.words("runs on", lambda entry: str(entry.unit or ABSENT)),
    columns.words("type", words.kind, drop=2),
    NAME,
)


def performance_report_document(inspected: InspectedPerformance, unit: ComputeUnit | None = None) -> Document:
    """The report; `unit` lists the operations on one compute unit instead of the costliest."""
    report = inspected.performance
    listed = report.operations or () if unit is None else report.on(unit)
    costliest = table("Costliest operations", COSTLIEST_COLUMNS, report.costliest(COSTLIEST)) if unit is None else None
    return Document(
        title=report.name,
        verdict=words.result(inspected),
        tone=Role.GOOD,
        context=(Paragraph(words.context(report), Role.DIM),),
        blocks=present(
            _times(report),
            _units(inspected) if report.operations else None,
            section("Not on the Neural Engine", items(_elsewhere(report)), name="elsewhere"),
            section("Costliest operations", costliest, note="estimated", name="costliest"),
            _operations(report, listed, unit),
            section("Notes", items((*report.notes, words.PLAN_NOTE if report.operations else "")), name="notes"),
        ),
    )


def _times(report: PerformanceReport) -> Section | None:
    timed = list(words.timings(report))
    kept = (f"{name.partition(',')[0]}, {first}" for name, timing, of in timed if (first := words.first(timing, of)))
    shown: tuple[Column[_Timed], ...] = (
        columns.words("", lambda row: row[0]),
        *(_time(title, key, drop) for drop, (title, key) in enumerate(words.TIMES, 1)),
        columns.numbers("count", lambda row: row[1].count, drop=2),
    )
    return section("Times", table("Times", shown, timed), items(kept), name="times")


def _time(title: str, key: str, drop: int) -> Column[_Timed]:
    def text(row: _Timed) -> Span:
        return Span(duration(getattr(row[1], key)), quantity=MEDIANS.get(row[0], "") if key == "median_ns" else "")

    return Column(title, text, lambda row: getattr(row[1], key), drop=drop)


def _units(inspected: InspectedPerformance) -> Section | None:
    summary = inspected.summary
    total = summary.operations or 0
    shown: tuple[Column[str], ...] = (
        columns.words("compute unit", str),
        columns.numbers("operations", lambda unit: summary.units[unit]),
        columns.numbers("share", lambda unit: summary.units[unit] / total, format_share, drop=1),
        columns.numbers("est. cost", summary.cost.get, lambda cost: quantity(cost, "share"), drop=2),
    )
    rows = [str(unit) for unit in planned.NAMES if unit in summary.units]
    hand_offs = words.hand_offs(inspected)
    grid = table("Operations by compute unit", shown, rows)
    return section("Where operations run", grid, Paragraph(hand_offs) if hand_offs else None, name="units")


def _elsewhere(report: PerformanceReport) -> Iterator[str]:
    """Operations that do not run on the Neural Engine, and why."""
    for what, operations in words.elsewhere(report):
        reasons = words.reasons(operations)
        text = f"{format_count(len(operations), 'operation')} {what}: {words.by_type(operations)}"
        yield f"{text} ({reasons})" if reasons else text


def _operations(
    report: PerformanceReport, listed: Sequence[PlannedOperation], unit: ComputeUnit | None
) -> Section | None:
    if unit is not None and not listed:
        return section(f"Operations on {planned.NAMES[unit]}", Paragraph("none"))

    def mark(of: ComputeUnit) -> Column[PlannedOperation]:
        return columns.words(str(of), lambda entry: words.MARKS[report.mark(entry, of)])

    shown: tuple[Column[PlannedOperation], ...] = (
        columns.numbers("", lambda entry: entry.number, str),
        NAME,
        columns.words("type", words.kind),
        *map(mark, ALL_UNITS),
        COST,
    )
    title = "All operations" if unit is None else f"Operations on {planned.NAMES[unit]}"
    grid = table(title, shown, listed)
    note = Paragraph(words.MARKS_NOTE, Role.DIM) if grid else None
    return section(title, grid, note, folded=unit is None)
