"""What a report says of events: statistics by model and event. The lists of the terminal UI take the same columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from tracekit.documents.columns import absent_note, durations, elapsed, names, numbers, words
from tracekit.grouping import grouped
from tracekit.render.blocks import Column, Role, Section, items, section, table
from tracekit.trace.events import Level

if TYPE_CHECKING:
    from tracekit.analysis.aggregation import AggregationRow
    from tracekit.analysis.statistics import Statistics

TITLE = "Events by model"
ELAPSED = "elapsed"
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
    resolution_ns: int
    """How exactly begin and end are known."""


def event_rows(row: AggregationRow) -> tuple[EventRow, ...]:
    """The line of a row and, where some of its predictions were warm and some not, the line of the warm ones."""
    event = f"{row.label}{STAGE}" if row.level == Level.SUB else row.label
    first = EventRow(row.model, event, row.lane, row.statistics, row.resolution_ns)
    if row.warm is None or row.warm.count == row.statistics.count:
        return (first,)
    return (first, EventRow(row.model, f"{event}{WARM}", row.lane, row.warm, row.resolution_ns))


def event_columns(rows: Iterable[EventRow]) -> tuple[Column[EventRow], ...]:
    """The lane and the numbers of events. `elapsed` only where it adds something to `sum`."""
    drops = {"mean": 1, "min": 9, "p50": 7, "p90": 10, "p95": 4, "p99": 8, "max": 5, "stdev": 11}
    covered = any(row.statistics.elapsed_ns != row.statistics.total_ns for row in rows)
    return (
        words("lane", lambda row: row.lane, drop=6),
        numbers("count", lambda row: row.statistics.count),
        durations("sum", lambda row: row.statistics.total_ns, drop=2),
        *([elapsed(ELAPSED, lambda row: row.statistics, drop=3)] if covered else ()),
        *(durations(title, attrgetter(f"statistics.{title}_ns"), drop=drops[title]) for title in drops),
    )


def events_section(aggregation: Sequence[AggregationRow]) -> Section | None:
    """Statistics by model and event, in the order in which models first occur; None without rows."""
    by_model = grouped((row.model, line) for row in aggregation for line in event_rows(row))
    rows = [row for of_model in by_model.values() for row in of_model]
    columns: tuple[Column[EventRow], ...] = (
        names("model", lambda row: row.model, "unattributed", drop=1, heading=True),
        words("event", lambda row: row.event),
        *event_columns(rows),
    )
    notes = [OVERLAP_NOTE] if any(column.title == ELAPSED for column in columns) else []
    notes += [WARM_NOTE] if any(row.event.endswith(WARM) for row in rows) else []
    grid = table(TITLE, columns, rows)
    return section(TITLE, grid, items(notes, role=Role.DIM), absent_note(grid), folded=True, name="events")
