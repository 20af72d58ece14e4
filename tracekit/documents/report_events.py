"""What a report says of events: statistics by model and event, operations of the app, runtimes beside Core ML. The
lists of the terminal UI take the same columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from tracekit.analysis.operations import Operation, Part
from tracekit.analysis.quantities import MODEL
from tracekit.documents.columns import absent_note, durations, elapsed, names, numbers, quantity, words
from tracekit.grouping import grouped
from tracekit.render.blocks import Column, Line, Role, Section, Span, items, join, section, table
from tracekit.report import operations
from tracekit.report.call_sites import line_of
from tracekit.report.formatting import duration
from tracekit.trace.events import Level
from tracekit.trace.instruments.catalogue import lane_title
from tracekit.units import format_count, format_percent

if TYPE_CHECKING:
    from tracekit.analysis.aggregation import AggregationRow
    from tracekit.analysis.runtimes import PhaseSummary
    from tracekit.analysis.statistics import Statistics
    from tracekit.report.report import Report


TITLE = "Events by model"
ELAPSED = "elapsed"
OVERLAP_NOTE = (
    "sum: durations added up, as in Instruments; elapsed: time covered by at least one row, shown where rows overlap"
)
WARM = ", warm"
"""Ends the name of a warm line."""
STAGE = ", as a stage"
"""Ends the name of what a model did as a stage of a pipeline, beside which the app may call it as well."""
WARM_NOTE = "warm: excludes the first prediction after each load"
PART_NOTES = {
    Part.NOT_RUNNING: "not running: the thread waited for something else than Core ML and the GPU, or for a CPU",
    Part.NOT_VISIBLE: "not visible: no call stacks of the thread; record with --instrument 'Time Profiler'",
    Part.GPU: "GPU at work: whether the app waited for it shows only with call stacks",
}
"""What a part does not say."""
OPERATIONS, PHASES = 8, 14
"""Operations and phases in the short text."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """A line of the aggregation: a row, or the warm part of one."""

    source: AggregationRow
    event: str
    statistics: Statistics

    @property
    def resolution_ns(self) -> int:
        """How exactly begin and end are known."""
        return self.source.resolution_ns


def event_rows(row: AggregationRow) -> tuple[EventRow, ...]:
    """The line of a row and, where some of its predictions were warm and some not, the line of the warm ones."""
    event = f"{row.label}{STAGE}" if row.level == Level.SUB else row.label
    first = EventRow(row, event, row.statistics)
    if row.warm is None or row.warm.count == row.statistics.count:
        return (first,)
    return (first, EventRow(row, f"{event}{WARM}", row.warm))


def event_columns(rows: Iterable[EventRow]) -> tuple[Column[EventRow], ...]:
    """The lane and the numbers of events. `elapsed` only where it adds something to `sum`."""
    drops = {"mean": 1, "min": 9, "p50": 7, "p90": 10, "p95": 4, "p99": 8, "max": 5, "stdev": 11}
    covered = any(row.statistics.elapsed_ns != row.statistics.total_ns for row in rows)
    return (
        words("lane", lambda row: lane_title(row.source.lane), drop=6),
        numbers("count", lambda row: row.statistics.count),
        durations("sum", lambda row: row.statistics.total_ns, drop=2),
        *([elapsed(ELAPSED, lambda row: row.statistics, drop=3)] if covered else ()),
        *(durations(title, attrgetter(f"statistics.{title}_ns"), drop=drops[title]) for title in drops),
    )


def events_section(aggregation: Sequence[AggregationRow], *, paged: bool = False) -> Section | None:
    """Statistics by model and event, in the order in which models first occur; None without rows."""
    by_model = grouped((row.model, line) for row in aggregation for line in event_rows(row))
    rows = [row for of_model in by_model.values() for row in of_model]
    columns: tuple[Column[EventRow], ...] = (
        names("model", lambda row: row.source.model, "unattributed", drop=1, heading=True),
        words("event", lambda row: row.event),
        *event_columns(rows),
    )
    notes = [OVERLAP_NOTE] if any(column.title == ELAPSED for column in columns) else []
    notes += [WARM_NOTE] if any(row.event.endswith(WARM) for row in rows) else []
    grid = table(TITLE, columns, rows)
    return section(TITLE, grid, items(notes, role=Role.DIM), absent_note(grid), folded=True, paged=paged, name="events")


def operations_section(report: Report) -> Section | None:
    """How long the operations of the app take, and where their time goes; None where its signposts show none."""
    timed = [operation for operation in report.operations if operation.statistics is not None]
    columns: tuple[Column[Operation], ...] = (
        names("operation", lambda operation: operation.name),
        numbers("count", lambda operation: operation.statistics.count if operation.statistics else None),
        quantity(MODEL["p50_ns"].title, "p50_ns"),
        quantity(MODEL["p95_ns"].title, "p95_ns", drop=1),
        durations("mean", lambda row: row.statistics.mean_ns if row.statistics else None, drop=2),
    )
    # `ProcessFrame: mean 33.1 ms, of it Core ML 12.4 ms, app code 8.2 ms, mostly `resize` at Frame.swift:88`; and what
    # the parts do not say, each once, and what has no end or overlaps.
    times: list[Line] = []
    recorded = {part.part for operation in timed for part in operation.parts}
    notes = [note for part, note in PART_NOTES.items() if part in recorded]
    for operation in timed:
        where, place = operation.place, ""
        if where is not None:
            at = f" at {line_of(where)}" if where.file is not None else ""
            place = f", mostly `{where.function}`{at} ({format_percent(operation.place_share)} of its samples)"
        parts = "; ".join(
            f"{name} {mean}{place if name == operations.PART_WORDS[Part.APP_CODE] else ''}"
            for name, mean in operations.parts_words(operation.parts)
        )
        mean = duration(operation.statistics.mean_ns if operation.statistics else None)
        times.append((Span(operation.name, Role.CODE), f": mean {mean}", f", of it {parts}" if parts else ""))
        if operation.unfinished:
            notes.append(
                f"{operation.name}: {format_count(operation.unfinished, 'interval')} without an end, not counted"
            )
        if operation.at_once and operation.statistics is not None:
            count = operation.statistics.count
            notes.append(
                f"{operation.name}: {operation.at_once} of {count} overlap; what ran meanwhile counts for each"
            )
    return section(
        "Operations",
        table("Operations", columns, timed, brief=OPERATIONS),
        items(times, brief=OPERATIONS),
        items(notes, role=Role.DIM),
        name="operations",
        note="the app's own signposts",
    )


def requests_section(report: Report) -> Section | None:
    """How fast language models answered, a column for each; None where no request was recorded."""
    columns: tuple[Column[str], ...] = (
        words("number", lambda name: operations.REQUEST_TITLES[name]),
        *(
            Column(
                request.name, partial(operations.request_number, request), partial(operations.request_value, request)
            )
            for request in report.requests
        ),
    )
    names_there = [
        name
        for name in operations.REQUEST_TITLES
        if any(operations.request_value(request, name) is not None for request in report.requests)
    ]
    alone = report.requests[0] if len(report.requests) == 1 else None
    numbers_of_one = alone and "; ".join(
        f"{operations.REQUEST_TITLES[name]} {operations.request_number(alone, name)}" for name in names_there
    )
    instead = items([(Span(alone.name, Role.STRONG), f": {numbers_of_one}")]) if alone else None
    grid = table("Language models", columns, names_there, instead=instead, quantities=True)
    notes = (
        "; ".join((*([] if alone else [request.name]), *operations.request_notes(request)))
        for request in report.requests
    )
    return section("Language models", grid, items(notes), absent_note(grid), name="language-models")


def runtimes_section(report: Report) -> Section | None:
    """Which runtimes ran beside Core ML, what shows that, and how long their phases take."""
    rows = [(runtime.name, phase) for runtime in report.runtimes for phase in runtime.phases]
    columns: tuple[Column[tuple[str, PhaseSummary]], ...] = (
        words("runtime", lambda row: row[0], heading=True),
        words("phase", lambda row: row[1].phase),
        names("name", lambda row: row[1].signpost, drop=1),
        numbers("count", lambda row: row[1].count),
        durations("median", lambda row: row[1].statistics.p50_ns if row[1].statistics else None),
        durations("p95", lambda row: row[1].statistics.p95_ns if row[1].statistics else None, drop=2),
        durations("sum", lambda row: row[1].statistics.total_ns if row[1].statistics else None, drop=3),
    )
    recognized = [runtime for runtime in report.runtimes if not runtime.phases]
    grid = table("Runtimes", columns, rows, brief=PHASES)
    unfinished = sum(phase.unfinished for _, phase in rows)
    notes = (
        f"{unfinished} without an end: counted, and in no duration" if unfinished else "",
        operations.UNCHECKED if rows and not report.requests else "",
        *(f"{runtime.name}: {operations.UNVALIDATED_WORDS}" for runtime in report.runtimes if runtime.unvalidated),
    )
    # Requests are told, and these are their parts.
    told = {request.runtime for request in report.requests}
    return section(
        "Runtimes",
        grid,
        items(join((Span(runtime.name, Role.STRONG), runtime.reason), ": ") for runtime in recognized),
        items(notes, role=Role.DIM),
        absent_note(grid),
        name="runtimes",
        folded=all(runtime.name in told for runtime in report.runtimes),
    )
