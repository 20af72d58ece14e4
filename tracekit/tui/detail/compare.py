"""Two recordings: the status of their findings, and their events in numbers, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tracekit.analysis.comparison import FEW, Difference, Measure, differences, recorded_lanes
from tracekit.comparison.findings import FindingChange
from tracekit.comparison.models import ModelComparison
from tracekit.report.formatting import duration
from tracekit.tui.detail.differences import ANSWER_COLUMNS, FINDING_COLUMNS, number_columns
from tracekit.tui.detail.listing import ListPane, full_list_words
from tracekit.tui.detail.records import Records, records_of
from tracekit.tui.messages import ChangeWanted
from tracekit.tui.ranges import aggregation, holds_events, none_words, range_words
from tracekit.tui.state import LATENCY, EventFilter, FindingRef, RowRef, Selection, Sort, State
from tracekit.tui.text import longest_that_fits

if TYPE_CHECKING:
    from textual.message import Message

    from tracekit.report.report import Result
    from tracekit.tui.detail.columns import ListColumn

Compared = Records[FindingChange] | Records[Difference] | Records[ModelComparison]

BY_MODEL = Sort("model", descending=False)
BY_STATUS = Sort("status", descending=False)
BY_DIFFERENCE = Sort("difference", descending=True)


class ComparePane(ListPane[Compared]):
    """One list, of findings or of events by one measure."""

    PANE = "compare"
    TITLE = "Compare"
    SHORT = "Diff"
    RECORDINGS = 2
    WAITING = "Running checks…"

    def inputs(self, state: State) -> tuple[object, ...]:
        """Both recordings, the order, and for numbers the range."""
        is_number = isinstance(state.measure, Measure)
        span = (state.range, state.filter, state.origins, state.active) if is_number else None
        return (state.sessions, state.comparison, state.measure, span, state.sorts.get(self.PANE))

    def make(self, state: State) -> Compared | None:
        """Findings or numbers, once both are judged."""
        before, after = state.sessions
        if state.comparison is None:
            return None
        sort = state.sorts.get(self.PANE)
        if state.measure is None:
            by = _fitting(sort, FINDING_COLUMNS, BY_STATUS)
            return records_of(state.comparison.findings, FINDING_COLUMNS, by, "No findings in either recording.")
        if state.measure == LATENCY:
            by = _fitting(sort, ANSWER_COLUMNS, BY_MODEL)
            return records_of(state.comparison.models, ANSWER_COLUMNS, by, "No models.")
        measure = Measure(state.measure)
        models = {model for session in state.sessions for model in session.trace.models["name"]}
        columns = number_columns(measure, one_model=len(models) <= 1)
        spans = [state.range and state.range.moved(state.shift(index)) for index in range(2)]
        rows = [
            aggregation(session, span, state.filter) or () for session, span in zip(state.sessions, spans, strict=True)
        ]
        rows_compared = differences(rows[0], rows[1], recorded_lanes(before.trace), recorded_lanes(after.trace))
        known = any(holds_events(session.trace) for session in state.sessions)
        empty = none_words("event", state.range, state.filter, known=known, source="either recording")
        return records_of(rows_compared, columns, _fitting(sort, columns, BY_DIFFERENCE), empty)

    def heading(self, state: State, rows: Compared, room: int) -> str:
        """What is compared, and what else could be."""
        del rows
        ways = ("findings", *Measure, LATENCY)
        shown = state.measure or "findings"
        listed = " · ".join(f"[{way}]" if way == shown else way for way in ways)
        if state.measure is None:
            first = f"{scope} · " if (scope := full_list_words(state)) else ""
            columns = ("   est. savings before and after", "   est. savings", "")
            return longest_that_fits([*(f"{first}u: {listed}{each}" for each in columns), f"{first}{listed}"], room)
        if state.measure == LATENCY:
            unfair = state.comparison.unfair if state.comparison is not None else ()
            if unfair:
                about = f"not a fair comparison: {', '.join(one.what for one in unfair)}"
                return longest_that_fits([f"u: {listed}   {about}", f"u: {about}", "u: not a fair comparison"], room)
            about = "   median warm latency, whole recordings"
            within = "; intervals within these recordings"
            return longest_that_fits([*(f"u: {listed}{each}" for each in (about + within, about, "")), listed], room)
        few, abouts = f"   ≈ n < {FEW}", [""]
        if state.range is not None:
            abouts = [f"   {range_words(state.range)}", f"   range of {duration(state.range.span_ns)}", "   in range"]
        lines = [f"u: {listed}{few}{about}" for about in abouts]
        return longest_that_fits([*lines, f"{listed}{abouts[-1]}"], room)

    def row_of(self, rows: Compared, state: State) -> int | None:
        """What is selected in the active recording."""
        chosen = state.selection
        check = state.session.check(chosen.finding) if chosen.finding is not None else None
        if check is None and chosen.row is None and chosen.model is None:
            return None

        def is_meant(line: FindingChange | Difference | ModelComparison) -> bool:
            return _is_about(line, check) if check is not None else _stands_for(line, state) == chosen

        return next((at for at in range(len(rows)) if is_meant(rows.records[at])), None)

    def selection_of(self, rows: Compared, row: int) -> Selection | None:
        """What a row stands for in the active recording."""
        return _stands_for(rows.records[row], self.state)

    def enter_words(self) -> str:
        """What enter does."""
        return "Show finding" if self.state.measure is None else "List events"

    def open_message(self, rows: Compared, row: int) -> Message:
        """Go on to the findings, or to the events of a row."""
        line = rows.records[row]
        if isinstance(line, FindingChange):
            return ChangeWanted(pane="findings")
        if isinstance(line, Difference):
            chosen = EventFilter(text=line.label, model=line.model or "", kind=line.kind)
        else:
            chosen = EventFilter(model=line.name)
        return ChangeWanted(pane="events", filter=chosen.within(self.state.filter))


def _stands_for(line: FindingChange | Difference | ModelComparison, state: State) -> Selection | None:
    """What to select in the active recording; None where it has none of it, or numbers that range or filter made."""
    report = state.session.report
    if report is None:
        return None
    if isinstance(line, FindingChange):
        here = (at for at, check in enumerate(report.results) if _is_about(line, check))
        return next((Selection(finding=FindingRef(at)) for at in here), None)
    if isinstance(line, ModelComparison):
        return Selection(model=line.name) if line.name in [model.name for model in report.models] else None
    numbers = (line.before, line.after)[state.active]
    refs = (RowRef(row, warm) for row in report.aggregation for warm in (False, True))
    matching_rows = (ref for ref in refs if numbers is (ref.source.warm if ref.warm else ref.source.statistics))
    return next((Selection(row=ref) for ref in matching_rows), None) if numbers is not None else None


def _is_about(line: FindingChange | Difference | ModelComparison, check: Result) -> bool:
    """Whether a line stands for a check; an answer for the recording as a whole stands for all its models."""
    if not isinstance(line, FindingChange) or line.id != check.id:
        return False
    return check.model is None or check.model in line.models


def _fitting(sort: Sort | None, columns: Sequence[ListColumn[Any]], otherwise: Sort) -> Sort:
    """The sort that the user chose, where the list has its column."""
    return sort if sort is not None and sort.column in [column.title for column in columns] else otherwise
