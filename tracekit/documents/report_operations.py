"""What a report says of operations of the app and of runtimes beside Core ML."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tracekit.analysis.operations import Part
from tracekit.analysis.quantities import MODEL
from tracekit.documents.columns import absent_note, durations, names, numbers, quantity, words
from tracekit.render.blocks import Column, Line, Role, Section, Span, items, join, section, table
from tracekit.report.formatting import duration
from tracekit.report.operations import (
    REQUEST_TITLES,
    UNCHECKED,
    UNVALIDATED_WORDS,
    operation_notes,
    part_words,
    place_words,
    request_notes,
    request_number,
    request_value,
)

if TYPE_CHECKING:
    from tracekit.analysis.operations import Operation
    from tracekit.analysis.runtimes import PhaseSummary
    from tracekit.analysis.statistics import Statistics
    from tracekit.report.report import Report

OPERATIONS, PHASES = 8, 14
"""Operations and phases in the short text."""


def operations_section(report: Report) -> Section | None:
    """How long the operations of the app take, and where their time goes; None where its signposts show none."""
    known = [each for each in report.operations if each.statistics is not None]
    columns: tuple[Column[Operation], ...] = (
        names("operation", lambda each: each.name),
        numbers("count", lambda each: each.statistics.count if each.statistics else None),
        quantity(MODEL["p50_ns"].title, "p50_ns"),
        quantity(MODEL["p95_ns"].title, "p95_ns", drop=1),
        durations("mean", lambda each: each.statistics.mean_ns if each.statistics else None, drop=2),
    )
    return section(
        "Operations",
        table("Operations", columns, known, brief=OPERATIONS),
        items(map(_where_time_goes, known), brief=OPERATIONS),
        items(operation_notes(known), role=Role.DIM),
        name="operations",
        note="the app's own signposts",
    )


def _where_time_goes(operation: Operation) -> Line:
    """`ProcessFrame: mean 33.1 ms, of it Core ML 12.4 ms, app code 8.2 ms, mostly `resize` at Frame.swift:88`."""
    assert operation.statistics is not None  # noqa: S101 - chosen by it
    parts = []
    for part in operation.parts:
        place = place_words(operation) if part.part == Part.APP_CODE else ""
        parts.append(", ".join(filter(None, (part_words(part), place))))
    head = (Span(operation.name, Role.CODE), f": mean {duration(operation.statistics.mean_ns)}")
    return (*head, f", of it {'; '.join(parts)}" if parts else "")


def requests_section(report: Report) -> Section | None:
    """How fast language models answered, a column for each; None where no request was recorded."""
    columns: tuple[Column[str], ...] = (
        words("number", lambda name: REQUEST_TITLES[name]),
        *(Column(each.name, partial(request_number, each), partial(request_value, each)) for each in report.requests),
    )
    shown = [name for name in REQUEST_TITLES if any(request_value(each, name) is not None for each in report.requests)]
    alone = report.requests[0] if len(report.requests) == 1 else None
    said = alone and "; ".join(f"{REQUEST_TITLES[name]} {request_number(alone, name)}" for name in shown)
    instead = items([((Span(alone.name, Role.STRONG), f": {said}"))]) if alone else None
    grid = table("Language models", columns, shown, instead=instead)
    notes = ("; ".join((*([] if alone else [each.name]), *request_notes(each))) for each in report.requests)
    return section("Language models", grid, items(notes), absent_note(grid), name="language-models")


def runtimes_section(report: Report) -> Section | None:
    """Which runtimes ran beside Core ML, what shows that, and how long their phases take."""
    rows = [(runtime.name, phase, phase.statistics) for runtime in report.runtimes for phase in runtime.phases]
    columns: tuple[Column[tuple[str, PhaseSummary, Statistics | None]], ...] = (
        words("runtime", lambda row: row[0], heading=True),
        words("phase", lambda row: row[1].phase),
        names("name", lambda row: row[1].signpost, drop=1),
        numbers("count", lambda row: row[1].count),
        durations("median", lambda row: row[2].p50_ns if row[2] else None),
        durations("p95", lambda row: row[2].p95_ns if row[2] else None, drop=2),
        durations("sum", lambda row: row[2].total_ns if row[2] else None, drop=3),
    )
    recognized = [each for each in report.runtimes if not each.phases]
    grid = table("Runtimes", columns, rows, brief=PHASES)
    unfinished = sum(phase.unfinished for _, phase, _ in rows)
    notes = (
        f"{unfinished} without an end: counted, and in no duration" if unfinished else "",
        UNCHECKED if rows and not report.requests else "",
        *(f"{each.name}: {UNVALIDATED_WORDS}" for each in report.runtimes if each.unvalidated),
    )
    # Requests are told, and these are their parts.
    told = {each.runtime for each in report.requests}
    return section(
        "Runtimes",
        grid,
        items(join((Span(each.name, Role.STRONG), each.reason), ": ") for each in recognized),
        items(notes, role=Role.DIM),
        absent_note(grid),
        name="runtimes",
        folded=all(each.name in told for each in report.runtimes),
    )
