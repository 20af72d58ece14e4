"""The models of the recording, with the facts that the report has of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tracekit.analysis.quantities import MODEL
from tracekit.report.formatting import ABSENT, count, duration, frames
from tracekit.report.phases import headline
from tracekit.report.time_breakdown import SHOWN, legend, parts_rows
from tracekit.tui.detail.columns import ListColumn, Records, records_of
from tracekit.tui.detail.pane import ListPane, full_list_words
from tracekit.tui.messages import ChangeWanted
from tracekit.tui.state import EventFilter, Selection, Sort, State
from tracekit.tui.text import longest_that_fits
from tracekit.units import format_count

if TYPE_CHECKING:
    from textual.message import Message

    from tracekit.analysis.models import ModelSummary
    from tracekit.analysis.statistics import Statistics


def _time(
    title: str, of: Callable[[ModelSummary], Statistics | None], name: str, drop: int = 0
) -> ListColumn[ModelSummary]:
    """A field of statistics that a model may lack."""

    def value(model: ModelSummary) -> float | None:
        number: float | None = getattr(of(model), name, None)
        return number

    return ListColumn(title, lambda model: duration(value(model), model.resolution_ns), value, drop=drop)


def _number_column(name: str, text: Callable[[float | None], str], drop: int = 0) -> ListColumn[ModelSummary]:
    """A number of the model, by its id."""
    title = "fps" if MODEL[name].unit == "fps" else MODEL[name].title

    def value(model: ModelSummary) -> float | None:
        return model.quantities.get(name)

    def words(model: ModelSummary) -> str:
        return duration(value(model), model.resolution_ns) if text is duration else text(value(model))

    return ListColumn(title, words, value, drop=drop, quantity=name)


def _bar(model: ModelSummary) -> Callable[[int], str] | None:
    return next((row.bar for row in parts_rows([model])), None)


def _sentence(model: ModelSummary) -> str:
    parts = parts_rows([model])
    return headline(model) if model.phases else next((row.sentence for row in parts), ABSENT)


COLUMNS: tuple[ListColumn[ModelSummary], ...] = (
    ListColumn("model", lambda model: model.name, words=True),
    ListColumn("loads", lambda model: count(model.loads), lambda model: model.loads),
    ListColumn("cold", lambda model: count(model.cold_loads), lambda model: model.cold_loads, drop=6),
    _time("load mean", lambda model: model.load, "mean_ns", 3),
    ListColumn(
        "predictions", lambda model: count(model.predictions), lambda model: model.predictions, quantity="predictions"
    ),
    _time("sum", lambda model: model.prediction, "total_ns", 4),
    *(_number_column(name, duration, at and at + 4) for at, name in enumerate(SHOWN)),
    _time("max", lambda model: model.prediction, "max_ns", 7),
    _number_column("fps", frames, 2),
    ListColumn("where time goes", _sentence, words=True, drop=1, width=0, max_width=16, ordered=False, bar=_bar),
)


FIRST_SORT = Sort("sum", descending=True)


class ModelsPane(ListPane[Records["ModelSummary"]]):
    """One row for each model; the inspector has all its facts."""

    PANE = "models"
    TITLE = "Models"
    WAITING = "Running checks…"
    ENTER = "List events"

    def inputs(self, state: State) -> tuple[object, ...]:
        """The recording and the order."""
        return (state.session, state.sorts.get(self.PANE, FIRST_SORT))

    def make(self, state: State) -> Records[ModelSummary] | None:
        """The models of the report."""
        report = state.session.report
        if report is None:
            return None
        sort = state.sorts.get(self.PANE, FIRST_SORT)
        return records_of(report.models, COLUMNS, sort, "No rows are attributed to a model.")

    def heading(self, state: State, rows: Records[ModelSummary], room: int) -> str:
        """How many, and what the signs of the bars mean."""
        signs = legend(parts_rows(rows.records))
        first = full_list_words(state)
        counts = (format_count(len(rows), "model"), f"{len(rows):,}", "")
        wordings = [(first, count, signs) for count in counts]
        if first:
            wordings.append(("unfiltered", "", signs))
        return longest_that_fits([" · ".join(part for part in parts if part) for parts in wordings], room)

    def row_of(self, rows: Records[ModelSummary], state: State) -> int | None:
        """The model that is selected."""
        names = [model.name for model in rows.records]
        return names.index(state.selection.model) if state.selection.model in names else None

    def selection_of(self, rows: Records[ModelSummary], row: int) -> Selection:
        """The model of a row."""
        return Selection(model=rows.records[row].name)

    def open_message(self, rows: Records[ModelSummary], row: int) -> Message:
        """List the events of a model."""
        return ChangeWanted(pane="events", filter=EventFilter(model=rows.records[row].name))
