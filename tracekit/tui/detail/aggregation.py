"""Model Activity Aggregation: statistics by lane, event and model, of the selected range or of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tracekit.analysis.aggregation import HARDWARE_TITLES, NO_EVENT, SORT_COLUMNS, AggregationRow
from tracekit.documents.report_events import EventRow, event_columns, event_rows
from tracekit.report.formatting import ABSENT, shorten
from tracekit.trace.events import DEVICE_NAMES, Device, Kind
from tracekit.tui.detail.columns import WIDEST, ListColumn, Records, records_of
from tracekit.tui.detail.pane import ListPane
from tracekit.tui.messages import ChangeWanted
from tracekit.tui.ranges import aggregation, count_wordings, holds_events, none_words
from tracekit.tui.state import EventFilter, RowRef, Selection, Sort, State
from tracekit.tui.text import longest_that_fits
from tracekit.units import format_count

if TYPE_CHECKING:
    from textual.message import Message

    from tracekit.render.blocks import Column

FIRST_SORT = Sort("sum", descending=True)
"""As Instruments sorts it at first."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the aggregation, or its warm part."""

    source: AggregationRow
    shown: EventRow

    @property
    def ref(self) -> RowRef:
        """The row, for the inspector."""
        return RowRef(self.source, self.shown.statistics is self.source.warm)


def lines_of(rows: Sequence[AggregationRow]) -> list[Line]:
    """The lines that the report shows too, in its order."""
    return [Line(row, shown) for row in rows for shown in event_rows(row)]


def aggregation_records(rows: Sequence[AggregationRow], sort: Sort, empty: str) -> Records[Line]:
    """The list, with the columns of the report; `empty` is said where there are no rows."""
    lines = lines_of(rows)
    columns: list[ListColumn[Line]] = [
        ListColumn(
            "event",
            lambda line: line.shown.event,
            words=True,
            width=0,
            min_width=_MIN_EVENT,
            max_width=WIDEST,
            short=short_event,
        ),
        ListColumn("model", lambda line: line.source.model or ABSENT, words=True),
    ]
    columns += [_column(column) for column in event_columns([line.shown for line in lines])]
    if sort.column not in [column.title for column in columns]:
        sort = FIRST_SORT
    return records_of(lines, columns, sort, empty)


def short_event(line: Line, room: int) -> str:
    """The event in so many cells: of work for a process, its number and whether it is nested survive."""
    event, process = line.shown.event, line.source.process
    for title, unit in _UNITS.items():
        if event.startswith(title):
            event = f"{unit}{event.removeprefix(title)}"
    left = room - cell_len(event) + cell_len(process) if process is not None and process in event else 0
    if process is not None and _MIN_PROCESS <= left < cell_len(process):
        event = event.replace(process, shorten(process, left))
    return shorten(event, room)


_UNITS = {
    HARDWARE_TITLES[Kind.ANE_EXEC]: DEVICE_NAMES[Device.ANE],
    HARDWARE_TITLES[Kind.GPU_EXEC]: DEVICE_NAMES[Device.GPU],
}
"""What short titles of work on a unit begin with, by what the full ones do."""
_MIN_EVENT, _MIN_PROCESS = 18, 6
"""Cells in which most names of events, and of processes, differ."""


def _column(column: Column[EventRow]) -> ListColumn[Line]:
    """A column of the report's table."""
    name = SORT_COLUMNS.get(column.title)

    def value(line: Line) -> float | None:
        number: float | None = getattr(line.shown.statistics, name or "")
        return number

    return ListColumn(
        column.title,
        lambda line: column.text(line.shown),
        value if name is not None else None,
        words=column.words,
        drop=column.drop,
    )


class AggregationPane(ListPane[Records[Line]]):
    """One row for each lane, event and model."""

    PANE = "aggregation"
    TITLE = "Aggregation"
    SHORT = "Stats"
    WAITING = "Computing statistics…"
    ENTER = "List events"

    def inputs(self, state: State) -> tuple[object, ...]:
        """The recording, the range, the filter and the order."""
        return (state.session, state.range, state.filter, state.sorts.get(self.PANE, FIRST_SORT))

    def make(self, state: State) -> Records[Line] | None:
        """The aggregation of what range and filter let through, or the report's."""
        rows = aggregation(state.session, state.range, state.filter)
        if rows is None:
            return None
        empty = none_words("event", state.range, state.filter, known=holds_events(state.session.trace))
        return aggregation_records(rows, state.sorts.get(self.PANE, FIRST_SORT), empty)

    def heading(self, state: State, rows: Records[Line], room: int) -> str:
        """How many rows, and which events they count."""
        count = format_count(len(rows), "row")
        words = count_wordings(state.range, state.filter)
        return longest_that_fits([*(f"{count} · {way}" for way in words), *words], room)

    def row_of(self, rows: Records[Line], state: State) -> int | None:
        """The row that is selected."""
        chosen = state.selection.row
        return next((at for at, line in enumerate(rows.records) if chosen is not None and line.ref == chosen), None)

    def selection_of(self, rows: Records[Line], row: int) -> Selection:
        """The row of the report's aggregation that a row shows."""
        return Selection(row=rows.records[row].ref)

    def open_message(self, rows: Records[Line], row: int) -> Message:
        """List the events of a row, of those that count."""
        chosen = filter_of(rows.records[row].source)
        return ChangeWanted(pane="events", filter=chosen.within(self.state.filter))


def filter_of(row: AggregationRow) -> EventFilter:
    """The events that a row counts."""
    text = row.label if row.label != NO_EVENT else ""
    return EventFilter(text=text, model=row.model or "", kind=row.kind)
