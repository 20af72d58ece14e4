"""What `tracekit inspect` says of a performance report or a compute plan: times, and where operations run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tracekit.detectors.shared import planned
from tracekit.documents import columns
from tracekit.model_files.performance.facts import (
    ALL_UNITS,
    ComputeUnit,
    Mark,
    PerformanceReport,
    PlannedOperation,
    Timing,
)
from tracekit.render.blocks import Column, Document, Paragraph, Role, Section, Span, items, present, section, table
from tracekit.report.formatting import ABSENT, duration, frames, quantity
from tracekit.report.performance import InspectedPerformance
from tracekit.units import format_count, format_names, format_share, format_time

_Timed = tuple[str, Timing, str]
"""What was timed, its times, and what the values kept apart are."""
COSTLIEST = 5
TIMES = (("median", "median_ns"), ("mean", "mean_ns"), ("min", "min_ns"), ("max", "max_ns"), ("std dev", "stdev_ns"))
"""Columns of times, and the statistics in them."""
MEDIANS = {"prediction": "p50_ns", "load": "load_ns", "load, cached": "load_ns"}
"""Ids of the medians of what was timed."""
MARKS = {Mark.RAN: "runs", Mark.COULD_RUN: "can", Mark.INCOMPATIBLE: "cannot", Mark.UNKNOWN: ABSENT}
MARKS_NOTE = (
    "runs: planned there; can: compatible, and placed elsewhere; cannot: incompatible with the unit in this "
    f"configuration; {ABSENT}: unknown, as for units that the report was not made for"
)
PLAN_NOTE = (
    "Where operations run is the plan of this device and system; a compatible operation may be placed elsewhere "
    "because of transfers, which is not an error. Record the app to see what happened."
)


def _kind(operation: PlannedOperation) -> str:
    return operation.type or "unknown type"


def _cost(operation: PlannedOperation) -> str:
    """Estimated time and share."""
    share = format_share(operation.cost) if operation.cost is not None else ""
    time = format_time(operation.estimated_ns) if operation.estimated_ns is not None else ""
    return ", ".join(filter(None, (time, share))) or ABSENT


NAME: Column[PlannedOperation] = columns.names("name", lambda entry: entry.name, drop=3)
COST: Column[PlannedOperation] = Column("est. cost", _cost, lambda entry: entry.estimated_ns, drop=1)
COSTLIEST_COLUMNS: tuple[Column[PlannedOperation], ...] = (
    COST,
    columns.words("runs on", lambda entry: str(entry.unit or ABSENT)),
    columns.words("type", _kind, drop=2),
    NAME,
)


def performance_report_document(inspected: InspectedPerformance, unit: ComputeUnit | None = None) -> Document:
    """The report; `unit` lists the operations on one compute unit instead of the costliest."""
    report = inspected.performance
    listed = report.operations or () if unit is None else report.on(unit)
    device = ", ".join(filter(None, (report.device, report.system))) or "unknown device"
    context = " · ".join((report.name, device, planned.requested_units(report), str(report.form)))
    costliest = table("Costliest operations", COSTLIEST_COLUMNS, report.costliest(COSTLIEST)) if unit is None else None
    elsewhere: list[str] = []
    engine = ComputeUnit.NEURAL_ENGINE
    could = tuple(entry for entry in report.operations or () if report.mark(entry, engine) == Mark.COULD_RUN)
    for what, operations in (("cannot run there", report.incompatible_with(engine)), ("can run there", could)):
        by_type = ", ".join(f"{name} {count:,}" for name, count in Counter(map(_kind, operations)).most_common())
        # In the words of the report.
        reasons = dict.fromkeys(text for entry in operations for on, text in entry.reasons if on == engine)
        if operations:
            text = f"{format_count(len(operations), 'operation')} {what}: {by_type}"
            elsewhere.append(f"{text} ({'; '.join(reasons)})" if reasons else text)
    # Where nothing is kept apart, it is unknown which of the loads were cached.
    load = "load, cached" if report.load is not None and report.load.first_ns else "load"
    every = (
        ("prediction", report.prediction, "first of each experiment"),
        (load, report.load, "not cached"),
        ("compile", report.compile, "first"),
    )
    timed = [(name, timing, apart) for name, timing, apart in every if timing is not None]
    kept = (
        f"{name.partition(',')[0]}, {apart}: {format_names([*map(format_time, timing.first_ns)])}"
        for name, timing, apart in timed
        if timing.first_ns
    )
    cells: tuple[Column[_Timed], ...] = (
        columns.words("", lambda row: row[0]),
        *(_time(title, key, drop) for drop, (title, key) in enumerate(TIMES, 1)),
        columns.numbers("count", lambda row: row[1].count, drop=2),
    )
    return Document(
        title=report.name,
        verdict=result(inspected),
        tone=Role.GOOD,
        context=(Paragraph(context, Role.DIM),),
        blocks=present(
            section("Times", table("Times", cells, timed), items(kept), name="times"),
            _units(inspected) if report.operations else None,
            section("Not on the Neural Engine", items(elsewhere), name="elsewhere"),
            section("Costliest operations", costliest, note="estimated", name="costliest"),
            _operations(report, listed, unit),
            section("Notes", items((*report.notes, PLAN_NOTE if report.operations else "")), name="notes"),
        ),
    )


def result(inspected: InspectedPerformance) -> str:
    """The result in one line: latency, rate, and where the operations run."""
    report, rate, speed = inspected.performance, inspected.summary.fps, "Prediction not timed"
    if report.prediction is not None and report.prediction.median_ns is not None:
        speed = f"{format_time(report.prediction.median_ns)} per prediction (median)"
        speed += f", fast enough for {frames(rate)} fps" if rate else ""
    return f"{speed} · {planned.placement(report) or 'no operations listed'}"


def _time(title: str, key: str, drop: int) -> Column[_Timed]:
    def text(row: _Timed) -> Span:
        return Span(duration(getattr(row[1], key)), quantity=MEDIANS.get(row[0], "") if key == "median_ns" else "")

    return Column(title, text, lambda row: getattr(row[1], key), drop=drop)


def _units(inspected: InspectedPerformance) -> Section | None:
    summary = inspected.summary
    total = summary.operations or 0
    cells: tuple[Column[str], ...] = (
        columns.words("compute unit", str),
        columns.numbers("operations", lambda unit: summary.units[unit]),
        columns.numbers("share", lambda unit: summary.units[unit] / total, format_share, drop=1),
        columns.numbers("est. cost", summary.cost.get, lambda cost: quantity(cost, "share"), drop=2),
    )
    rows = [str(unit) for unit in planned.NAMES if unit in summary.units]
    hand_offs = "no hand-offs: all operations run on one compute unit"
    if summary.hand_offs:
        # The most frequent first.
        listed = ", ".join(f"{entry.source} → {entry.target} {entry.count:,}" for entry in summary.hand_offs)
        count = format_count(sum(entry.count for entry in summary.hand_offs), "hand-off")
        hand_offs = f"{count} in the order of the report: {listed}"
    grid = table("Operations by compute unit", cells, rows)
    return section("Where operations run", grid, Paragraph(hand_offs) if summary.units else None, name="units")


def _operations(
    report: PerformanceReport, listed: Sequence[PlannedOperation], unit: ComputeUnit | None
) -> Section | None:
    if unit is not None and not listed:
        return section(f"Operations on {planned.NAMES[unit]}", Paragraph("none"))

    def mark(of: ComputeUnit) -> Column[PlannedOperation]:
        return columns.words(str(of), lambda entry: MARKS[report.mark(entry, of)])

    cells: tuple[Column[PlannedOperation], ...] = (
        columns.numbers("", lambda entry: entry.number, str),
        NAME,
        columns.words("type", _kind),
        *map(mark, ALL_UNITS),
        COST,
    )
    title = "All operations" if unit is None else f"Operations on {planned.NAMES[unit]}"
    grid = table(title, cells, listed)
    note = Paragraph(MARKS_NOTE, Role.DIM) if grid else None
    return section(title, grid, note, folded=unit is None)
