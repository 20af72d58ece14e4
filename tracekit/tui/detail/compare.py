"""Two recordings: the status of their findings, their events in numbers, before and after, and whether the latency of
each model changed, as `tracekit compare` answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.message import Message

from tracekit.analysis.aggregation import AggregationRow
from tracekit.analysis.comparison import FEW, Difference, Measure, Presence, differences, recorded_lanes
from tracekit.comparison import models, words
from tracekit.comparison.findings import FindingChange, FindingStatus
from tracekit.comparison.latency import Answer
from tracekit.comparison.models import ModelComparison
from tracekit.documents.report_events import STAGE, WARM
from tracekit.render.blocks import Role, Span
from tracekit.report.formatting import ABSENT, duration, quantity
from tracekit.report.report import Result
from tracekit.trace.events import Level
from tracekit.trace.instruments.catalogue import lane_title
from tracekit.tui.detail.columns import WEIGHTY, WIDEST, ListColumn, Records, records_of
from tracekit.tui.detail.pane import ListPane, full_list_words
from tracekit.tui.messages import ChangeWanted, RecordingChosen
from tracekit.tui.ranges import aggregation, holds_events, none_words, range_words
from tracekit.tui.state import LATENCY, EventFilter, FindingRef, RowRef, Selection, Sort, State
from tracekit.tui.text import longest_that_fits
from tracekit.units import format_estimate

NOTABLE = 0.05
"""Least change of a number that is better or worse (heuristic): that of `tracekit compare`."""
_TIMES, _BETTER, _WORSE = "×", "better", "worse"
_MIN_EVENT_WIDTH = 13
"""Cells of an event that leave room for the ratio beside the inspector."""
MIN_MODEL_WIDTH = 10
_MOST = 2.0**53
"""ns, more than any difference."""
_MIN_RATIO = 0.01
"""Two decimals distinguish ratios of about one; what is smaller is shown as smaller."""
_PRESENCES = {
    Presence.ONLY_BEFORE: "gone",
    Presence.ONLY_AFTER: "new",
    Presence.NOT_RECORDED_BEFORE: ABSENT,
    Presence.NOT_RECORDED_AFTER: ABSENT,
}


def _savings(change: FindingChange, *, after: bool) -> str:
    """What its fix saves on one side, or that it was not found there."""
    ns = change.savings_after_ns if after else change.savings_before_ns
    if ns is not None:
        return format_estimate(ns)
    statuses = (FindingStatus.STILL_THERE, FindingStatus.NEW if after else FindingStatus.FIXED)
    return change.severity if change.status in statuses else ABSENT


_ROLES = {FindingStatus.NEW: Role.BAD, FindingStatus.FIXED: Role.GOOD}
FINDING_COLUMNS: tuple[ListColumn[FindingChange], ...] = (
    ListColumn(
        "status",
        lambda change: Span(change.status, _ROLES.get(change.status, Role.PLAIN)),
        lambda change: list(FindingStatus).index(change.status),
        words=True,
    ),
    ListColumn("finding", lambda change: change.id, words=True, width=0, max_width=16),
    ListColumn("model", lambda change: words.finding_models(change) or ABSENT, words=True, drop=1),
    ListColumn("before", lambda change: _savings(change, after=False), lambda change: change.savings_before_ns),
    ListColumn("after", lambda change: _savings(change, after=True), lambda change: change.savings_after_ns),
)


_ANSWER_ROLES = {Answer.REGRESSED: Role.BAD, Answer.IMPROVED: Role.GOOD}


def _answer(model: ModelComparison, number: str = "") -> Span:
    """The answer, or a number in its color."""
    answer = model.latency.answer if model.presence is models.Presence.BOTH else model.presence
    return Span(number or str(answer), _ANSWER_ROLES.get(model.latency.answer, Role.PLAIN))


ANSWER_COLUMNS: tuple[ListColumn[ModelComparison], ...] = (
    ListColumn("model", lambda row: row.name, words=True, width=0, min_width=MIN_MODEL_WIDTH, max_width=16),
    ListColumn("answer", _answer, words=True),
    ListColumn("before", lambda row: duration(row.latency.before_ns), lambda row: row.latency.before_ns, drop=1),
    ListColumn("after", lambda row: duration(row.latency.after_ns), lambda row: row.latency.after_ns, drop=1),
    ListColumn(
        "change", lambda row: _answer(row, words.percent_change(row.latency.ratio)), lambda row: row.latency.ratio
    ),
    ListColumn("95% interval", lambda row: words.interval(row.latency), lambda row: row.latency.low, drop=2),
    ListColumn("why", lambda row: words.reason(row.latency), words=True, drop=3, ordered=False),
)


def number_columns(measure: Measure, *, one_model: bool = False) -> tuple[ListColumn[Difference], ...]:
    """Columns for one measure. Where the recordings hold `one_model` alone, its name goes before those of events are
    cut."""
    unit = "count" if measure is Measure.COUNT else "ns"

    def side(after: bool) -> Callable[[Difference], str]:
        def text(row: Difference) -> str:
            if (row.after if after else row.before) is None:
                return "not recorded" if row.presence.startswith("not recorded") else "none"
            return quantity(row.change(measure)[after], unit)

        return text

    def role(row: Difference) -> Role:
        return {_BETTER: Role.GOOD, _WORSE: Role.BAD}.get(better_or_worse(row, measure), Role.PLAIN)

    def event(row: Difference) -> str:
        return f"{row.label}{STAGE if row.level == Level.SUB else ''}{WARM if row.warm else ''}"

    def difference(row: Difference) -> Span:
        value = row.change(measure).difference
        sign = "" if not value else "+" if value > 0 else "−"
        return Span(f"{sign}{quantity(value and abs(value), unit)}", role(row))

    def size(row: Difference) -> float | None:
        # Those of the app's own models come first: of all else the app calls nothing itself.
        value = row.change(measure).difference
        return None if value is None else abs(value) + (_MOST if row.model is not None else 0)

    def ratio(row: Difference) -> Span:
        return Span(ratio_text(row, measure).replace(_TIMES, better_or_worse(row, measure) or _TIMES), role(row))

    return (
        ListColumn("event", event, words=True, width=0, min_width=_MIN_EVENT_WIDTH, max_width=WIDEST),
        ListColumn("model", lambda row: row.model or ABSENT, words=True, drop=WEIGHTY + 1 if one_model else 0),
        ListColumn("lane", lambda row: lane_title(row.lane), words=True, drop=WEIGHTY + 2 if one_model else 3),
        ListColumn("before", side(after=False), lambda row: row.change(measure).before),
        ListColumn("after", side(after=True), lambda row: row.change(measure).after),
        ListColumn("difference", difference, size, drop=1),
        ListColumn("ratio", ratio, lambda row: row.change(measure).ratio),
    )


def better_or_worse(row: Difference, measure: Measure) -> str:
    """Whether a number changed for the better or for the worse, in a word; nothing where neither is known."""
    ratio = row.change(measure).ratio
    if measure is Measure.COUNT or row.few or ratio is None or abs(ratio - 1) < NOTABLE:
        return ""
    return _WORSE if ratio > 1 else _BETTER


def ratio_text(row: Difference, measure: Measure) -> str:
    """How many times as much, never a number that rounding made 0; in words where one side holds none of it."""
    if row.presence in _PRESENCES:
        return _PRESENCES[row.presence]
    before, after = change = row.change(measure)
    if change.ratio is None:
        return "from 0" if before == 0 and after else ABSENT
    if not after:
        return "to 0"
    sign = "≈" if row.few else _TIMES
    if change.ratio < _MIN_RATIO:
        return f"{sign} < {_MIN_RATIO}"
    return f"{sign} {change.ratio:,.{0 if change.ratio >= 100 else 2}f}"


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
    FIRST_SORT = BY_DIFFERENCE
    _aggregations: tuple[Sequence[AggregationRow], ...] = ((), ())
    """What range and filter let through of each recording."""

    def _depends_on(self, state: State) -> tuple[object, ...]:
        is_number = isinstance(state.measure, Measure)
        span = (state.range, state.filter, state.origins, state.active) if is_number else None
        return (state.sessions, state.comparison, state.measure, span, state.sorts.get(self.PANE))

    def make(self, state: State) -> Compared | None:
        """Findings or numbers, once both are judged."""
        before, after = state.sessions
        if state.comparison is None:
            return None
        sort = self.sort(state)
        if state.measure is None:
            empty = "No findings in either recording."
            return records_of(state.comparison.findings, FINDING_COLUMNS, sort, empty, BY_STATUS)
        if state.measure == LATENCY:
            return records_of(state.comparison.models, ANSWER_COLUMNS, sort, "No models.", BY_MODEL)
        measure = Measure(state.measure)
        models = {model for session in state.sessions for model in session.trace.models.name}
        columns = number_columns(measure, one_model=len(models) <= 1)
        spans = [state.range and state.range.moved(state.shift(index)) for index in range(2)]
        rows = self._aggregations = tuple(
            aggregation(session, span, state.filter) or () for session, span in zip(state.sessions, spans, strict=True)
        )
        rows_compared = differences(rows[0], rows[1], recorded_lanes(before.trace), recorded_lanes(after.trace))
        has_events = any(holds_events(session.trace) for session in state.sessions)
        empty = none_words(
            "event", state.range, state.filter, before.trace, known=has_events, source="either recording"
        )
        return records_of(rows_compared, columns, sort, empty, BY_DIFFERENCE)

    def heading(self, state: State, rows: Compared, room: int) -> str:
        """What is compared, and what else could be."""
        del rows
        ways = ("findings", *Measure, LATENCY)
        measure = state.measure or "findings"
        listed = " · ".join(f"[{way}]" if way == measure else way for way in ways)
        if state.measure is None:
            first = f"{scope} · " if (scope := full_list_words(state)) else ""
            columns = ("   est. savings before and after", "   est. savings", "")
            return longest_that_fits([*(f"{first}u: {listed}{column}" for column in columns), f"{first}{listed}"], room)
        if state.measure == LATENCY:
            unfair = state.comparison.unfair if state.comparison is not None else ()
            if unfair:
                about = f"not a fair comparison: {', '.join(one.what for one in unfair)}"
                return longest_that_fits([f"u: {listed}   {about}", f"u: {about}", "u: not a fair comparison"], room)
            about = "   median warm latency, whole recordings"
            within = "; intervals within these recordings"
            return longest_that_fits([*(f"u: {listed}{note}" for note in (about + within, about, "")), listed], room)
        few, abouts = f"   ≈ n < {FEW}", [""]
        if state.range is not None:
            abouts = [f"   {range_words(state.range)}", f"   range of {duration(state.range.span_ns)}", "   in range"]
        lines = [f"u: {listed}{few}{about}" for about in abouts]
        return longest_that_fits([*lines, f"{listed}{abouts[-1]}"], room)

    def _row_of(self, rows: Compared, state: State) -> int | None:
        check = state.session.check(state.selection.finding)
        if check is None:
            return super()._row_of(rows, state)
        return next((at for at in range(len(rows)) if _is_about(rows.records[at], check)), None)

    def _selection_of(self, rows: Compared, row: int) -> Selection | None:
        line, state = rows.records[row], self.state
        here = self._stands_for(line, state)
        there = None if here is not None else self._stands_for(line, state.with_active(1 - state.active))
        return here if there is None else Selection(elsewhere=there)

    def _stands_for(self, line: FindingChange | Difference | ModelComparison, state: State) -> Selection | None:
        """What to select in the active recording; None where it has none of it."""
        report = state.session.report
        if report is None:
            return None
        if isinstance(line, FindingChange):
            results = enumerate(report.results)
            here = (at for at, check in results if check.outcome == "finding" and _is_about(line, check))
            return next((Selection(finding=FindingRef(at)) for at in here), None)
        if isinstance(line, ModelComparison):
            return Selection(model=line.name) if line.name in [model.name for model in report.models] else None
        numbers = (line.before, line.after)[state.active]
        refs = (RowRef(row, warm) for row in self._aggregations[state.active] for warm in (False, True))
        matching_rows = (ref for ref in refs if numbers is (ref.source.warm if ref.warm else ref.source.statistics))
        return next((Selection(row=ref) for ref in matching_rows), None) if numbers is not None else None

    def enter_words(self) -> str:
        """What enter does."""
        return "Show finding" if self.state.measure is None else "List events"

    def open_message(self, rows: Compared, row: int) -> Message:
        """Go on to the findings, or to the events of a row."""
        line, selection = rows.records[row], self._selection_of(rows, row)
        if selection is not None and selection.elsewhere is not None:
            self.post_message(RecordingChosen(1 - self.state.active))
        if isinstance(line, FindingChange):
            return ChangeWanted(pane="findings")
        if isinstance(line, Difference):
            wanted = EventFilter(text=line.label, model=line.model or "", kind=line.kind)
        else:
            wanted = EventFilter(model=line.name)
        return ChangeWanted(pane="events", filter=wanted.within(self.state.filter))


def _is_about(line: FindingChange | Difference | ModelComparison, check: Result) -> bool:
    """Whether a line stands for a check; an answer for the recording as a whole stands for all its models."""
    if not isinstance(line, FindingChange) or line.id != check.id:
        return False
    return check.model is None or check.model in line.models
