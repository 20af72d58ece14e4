"""What a report says of events: statistics by model and event. The lists of the terminal UI take the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.render.blocks import Column, Paragraph, Role, Span, items, section, table
from tracekit.report import formatting
from tracekit.trace.events import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tracekit.analysis.aggregation import AggregationRow
    from tracekit.analysis.statistics import Statistics
    from tracekit.render.blocks import Section

OVERLAP_NOTE = (
    "sum: durations added up, as in Instruments; elapsed: time covered by at least one row, shown where rows overlap"
)
"""Explains the two columns wherever both are shown."""
WARM = ", warm"
"""Ends the name of a warm line."""
STAGE = ", as a stage"
"""Ends the name of what a model did as a stage of a pipeline, beside which the app may call it as well."""
WARM_NOTE = "warm: excludes the first prediction after each load"
"""Explains the warm rows wherever they are shown."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """A line of the aggregation: a row, or the warm part of one."""

    model: str | None
    event: str
    lane: str
    statistics: Statistics


def event_rows(row: AggregationRow) -> tuple[EventRow, ...]:
    """The line of a row and, where some of its predictions were warm and some not, the line of the warm ones."""
    event = f"{row.label}{STAGE}" if row.level == Level.SUB else row.label
    first = EventRow(row.model, event, row.lane, row.statistics)
    if row.warm is None or row.warm.count == row.statistics.count:
        return (first,)
    return (first, EventRow(row.model, f"{event}{WARM}", row.lane, row.warm))


def event_columns(rows: Iterable[EventRow]) -> tuple[Column[EventRow], ...]:
    """The lane and the numbers of events. `elapsed` only where it adds something to `sum`."""
    times = {"sum": 2, "mean": 1, "min": 9, "p50": 7, "p90": 10, "p95": 4, "p99": 8, "max": 5, "stdev": 11}
    names = {"sum": "total_ns"}
    columns = [_time(title, names.get(title, f"{title}_ns"), drop) for title, drop in times.items()]
    if any(row.statistics.elapsed_ns != row.statistics.total_ns for row in rows):
        columns.insert(1, Column("elapsed", _elapsed, _elapsed_ns, drop=3))
    lane: Column[EventRow] = Column("lane", lambda row: row.lane, words=True, drop=6)
    return (lane, Column("count", lambda row: f"{row.statistics.count:,}", lambda row: row.statistics.count), *columns)


def _time(title: str, name: str, drop: int) -> Column[EventRow]:
    def value(row: EventRow) -> float | None:
        number: float | None = getattr(row.statistics, name)
        return number

    return Column(title, lambda row: formatting.duration(value(row)), value, drop=drop)


def _elapsed_ns(row: EventRow) -> int | None:
    """Elapsed time; None where it is the sum."""
    numbers = row.statistics
    return numbers.elapsed_ns if numbers.elapsed_ns != numbers.total_ns else None


def _elapsed(row: EventRow) -> str:
    elapsed_ns = _elapsed_ns(row)
    return "" if elapsed_ns is None else formatting.duration(elapsed_ns)


def events_section(aggregation: Sequence[AggregationRow]) -> Section | None:
    """Statistics by model and event, in the order in which models first occur; None without rows."""
    by_model: dict[str | None, list[EventRow]] = {}
    for row in aggregation:
        by_model.setdefault(row.model, []).extend(event_rows(row))
    rows = [row for of_model in by_model.values() for row in of_model]
    columns = event_columns(rows)
    names: tuple[Column[EventRow], ...] = (
        Column("model", _model, words=True, drop=1, heading=True),
        Column("event", lambda row: row.event, words=True),
    )
    notes = [OVERLAP_NOTE] if any(column.title == "elapsed" for column in columns) else []
    notes += [WARM_NOTE] if any(row.event.endswith(WARM) for row in rows) else []
    absent = any(column.text(row) == formatting.ABSENT for row in rows for column in columns)
    unknown = Paragraph(formatting.ABSENT_NOTE, Role.DIM) if absent else None
    grid = table("Events by model", (*names, *columns), rows)
    explained = items(notes, role=Role.DIM)
    return section("Events by model", grid, explained, unknown, folded=True, name="events") if grid else None


def _model(row: EventRow) -> Span:
    return Span(row.model, Role.CODE) if row.model else Span("unattributed")
