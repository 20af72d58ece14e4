"""Statistics as rows: by lane, event and model, of the selected range or of all; of each model, as in the report."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from rich.cells import cell_len
from textual.message import Message

from tracekit.analysis.aggregation import HARDWARE_TITLES, NO_EVENT, AggregationRow
from tracekit.analysis.models import ModelSummary
from tracekit.analysis.quantities import MODEL
from tracekit.documents.columns import durations, numbers, quantity
from tracekit.documents.phases import headline
from tracekit.documents.report_events import ELAPSED, EventRow, event_columns, event_rows
from tracekit.documents.time_breakdown import SHOWN, legend, parts_rows
from tracekit.render.blocks import Column
from tracekit.report.formatting import ABSENT, frames, shorten
from tracekit.trace.events import DEVICE_NAMES, Device, Kind
from tracekit.tui.detail.columns import WIDEST, ListColumn, Records, listed_column, records_of
from tracekit.tui.detail.pane import ListPane, full_list_words
from tracekit.tui.messages import ChangeWanted
from tracekit.tui.ranges import aggregation, count_wordings, holds_events, none_words
from tracekit.tui.state import EventFilter, RowRef, Selection, Sort, State
from tracekit.tui.text import longest_that_fits
from tracekit.units import format_count

FIRST_SORT = Sort("sum", descending=True)
"""As Instruments sorts it at first."""


def short_event(line: EventRow, room: int) -> str:
    """The event in so many cells: of work for a process, its number and whether it is nested survive."""
    event, process = line.event, line.source.process
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


class AggregationPane(ListPane[Records[EventRow]]):
    """One row for each lane, event and model."""

    PANE = "aggregation"
    TITLE = "Aggregation"
    SHORT = "Stats"
    WAITING = "Computing statistics…"
    MADE_FROM = ("session", "range", "filter")
    FIRST_SORT = FIRST_SORT
    ENTER = "List events"

    def make(self, state: State) -> Records[EventRow] | None:
        """The aggregation of what range and filter let through, or the report's."""
        rows = aggregation(state.session, state.range, state.filter)
        if rows is None:
            return None
        trace = state.session.trace
        empty = none_words("event", state.range, state.filter, trace, known=holds_events(trace))
        # The list, with the columns of the report; `empty` is said where there are no rows.
        lines = [line for row in rows for line in event_rows(row)]
        # Sorted by it, a line has a place where the cell of the report is empty.
        values = {ELAPSED: {"value": attrgetter("statistics.elapsed_ns")}}
        columns: list[ListColumn[EventRow]] = [
            ListColumn(
                "event",
                lambda line: line.event,
                words=True,
                width=0,
                min_width=_MIN_EVENT,
                max_width=WIDEST,
                short=short_event,
            ),
            ListColumn("model", lambda line: line.source.model or ABSENT, words=True),
            *(listed_column(column, **values.get(column.title, {})) for column in event_columns(lines)),
        ]
        return records_of(lines, columns, self.sort(state), empty, FIRST_SORT)

    def heading(self, state: State, rows: Records[EventRow], room: int) -> str:
        """How many rows, and which events they count."""
        count = format_count(len(rows), "row")
        words = count_wordings(state.range, state.filter)
        return longest_that_fits([*(f"{count} · {way}" for way in words), *words], room)

    def _selection_of(self, rows: Records[EventRow], row: int) -> Selection:
        line = rows.records[row]
        return Selection(row=RowRef(line.source, line.statistics is line.source.warm))

    def open_message(self, rows: Records[EventRow], row: int) -> Message:
        """List the events of a row, of those that count."""
        event_filter = filter_of(rows.records[row].source)
        return ChangeWanted(pane="events", filter=event_filter.within(self.state.filter))


def filter_of(row: AggregationRow) -> EventFilter:
    """The events that a row counts."""
    text = row.label if row.label != NO_EVENT else ""
    return EventFilter(text=text, model=row.model or "", kind=row.kind)


def _bar(model: ModelSummary) -> Callable[[int], str] | None:
    return next((row.bar for row in parts_rows([model])), None)


def _sentence(model: ModelSummary) -> str:
    parts = parts_rows([model])
    return headline(model) if model.phases else next((row.sentence for row in parts), ABSENT)


_NUMBERS: tuple[Column[ModelSummary], ...] = (
    numbers("loads", lambda model: model.loads),
    numbers("cold", lambda model: model.cold_loads, drop=6),
    durations("load mean", lambda model: model.load.mean_ns if model.load else None, drop=3),
    numbers("predictions", lambda model: model.predictions, quantity="predictions"),
    durations("sum", lambda model: model.prediction.total_ns if model.prediction else None, drop=4),
    *(quantity(MODEL[name].title, name, drop=at and at + 4) for at, name in enumerate(SHOWN)),
    durations("max", lambda model: model.prediction.max_ns if model.prediction else None, drop=7),
    quantity("fps", "fps", frames, drop=2),
)
COLUMNS: tuple[ListColumn[ModelSummary], ...] = (
    ListColumn("model", lambda model: model.name, words=True),
    *map(listed_column, _NUMBERS),
    ListColumn("where time goes", _sentence, words=True, drop=1, width=0, max_width=16, ordered=False, bar=_bar),
)


class ModelsPane(ListPane[Records["ModelSummary"]]):
    """One row for each model; the inspector has all its facts."""

    PANE = "models"
    TITLE = "Models"
    MADE_FROM = ("session",)
    FIRST_SORT = FIRST_SORT
    ENTER = "List events"

    def make(self, state: State) -> Records[ModelSummary] | None:
        """The models of the report."""
        report = state.session.report
        empty = none_words("Core ML model", None, EventFilter(), state.session.trace, known=False)
        return None if report is None else records_of(report.models, COLUMNS, self.sort(state), empty)

    def heading(self, state: State, rows: Records[ModelSummary], room: int) -> str:
        """How many, and what the signs of the bars mean."""
        signs = legend(parts_rows(rows.records))
        first = full_list_words(state)
        counts = (format_count(len(rows), "model"), f"{len(rows):,}", "")
        wordings = [(first, count, signs) for count in counts]
        if first:
            wordings.append(("unfiltered", "", signs))
        return longest_that_fits([" · ".join(part for part in parts if part) for parts in wordings], room)

    def _selection_of(self, rows: Records[ModelSummary], row: int) -> Selection:
        return Selection(model=rows.records[row].name)

    def open_message(self, rows: Records[ModelSummary], row: int) -> Message:
        """List the events of a model."""
        return ChangeWanted(pane="events", filter=EventFilter(model=rows.records[row].name))
