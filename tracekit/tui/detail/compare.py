"""Two recordings: the status of their findings, and their events in numbers, before and after."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tracekit.analysis.comparison import FEW, Difference, Measure, Presence, differences, recorded_lanes
from tracekit.compare.models import ModelComparison
from tracekit.report.columns import STAGE, WARM
from tracekit.report.finding_diff import FindingChange, FindingStatus, finding_changes
from tracekit.report.formatting import ABSENT, OUTCOMES, duration, quantity
from tracekit.trace.events import Level
from tracekit.tui.detail.columns import WEIGHTY
from tracekit.tui.detail.listing import ListPane, unnarrowed
from tracekit.tui.detail.records import WIDEST, Field, Records, records_of
from tracekit.tui.messages import EventsWanted, FindingSelected, PaneChosen
from tracekit.tui.ranges import aggregation, holds_events, none_words, range_words
from tracekit.tui.state import LATENCY, EventFilter, FindingRef, Sort
from tracekit.tui.text import longest_that_fits
from tracekit.units import format_estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.message import Message

    from tracekit.report.report import Check, Report
    from tracekit.tui.state import State

Compared = Records[FindingChange] | Records[Difference] | Records[ModelComparison]

BY_MODEL = Sort("model", descending=False)
BY_STATUS = Sort("status", descending=False)
BY_DIFFERENCE = Sort("difference", descending=True)


def _result(check: Check | None) -> str:
    """A check in a word or two: the time that its fix saves at most, or its outcome."""
    if check is None:
        return ABSENT
    if check.outcome != "finding":
        return OUTCOMES[check.outcome]
    return format_estimate(check.cost.ns) if check.cost is not None else str(check.severity)


def _cost(check: Check | None) -> int | None:
    return check.cost.ns if check is not None and check.cost is not None else None


FINDING_FIELDS: tuple[Field[FindingChange], ...] = (
    Field("status", lambda change: list(FindingStatus).index(change.status), lambda change: change.status, right=False),
    Field("finding", lambda change: change.check.id, lambda change: change.check.id, right=False, flexible=True),
    Field("model", lambda change: change.check.model, lambda change: change.check.model or ABSENT, right=False, drop=1),
    Field("before", lambda change: _cost(change.before), lambda change: _result(change.before)),
    Field("after", lambda change: _cost(change.after), lambda change: _result(change.after)),
)


def number_fields(measure: Measure, *, one_model: bool = False) -> tuple[Field[Difference], ...]:
    """Columns for one measure. Where the recordings hold `one_model` alone, its name goes before those of events are
    cut."""
    unit = "count" if measure is Measure.COUNT else "ns"

    def side(after: bool) -> Callable[[Difference], str]:
        def text(row: Difference) -> str:
            if (row.after if after else row.before) is None:
                return "not recorded" if row.presence.startswith("not recorded") else "none"
            return quantity(row.change(measure)[after], unit)

        return text

    def difference(row: Difference) -> str:
        value = row.change(measure).difference
        sign = "+" if value is not None and value > 0 else ""
        return f"{sign}{quantity(value, unit)}"

    def size(row: Difference) -> float | None:
        value = row.change(measure).difference
        return None if value is None else abs(value)

    return (
        Field("event", _event, _event, right=False, flexible=True, min_width=_MIN_EVENT_WIDTH, wanted=WIDEST),
        Field("model", _model, lambda row: row.model or ABSENT, right=False, drop=WEIGHTY + 1 if one_model else 0),
        Field("lane", lambda row: row.lane, lambda row: row.lane, right=False, drop=WEIGHTY + 2 if one_model else 3),
        Field("before", lambda row: row.change(measure).before, side(after=False)),
        Field("after", lambda row: row.change(measure).after, side(after=True)),
        Field("difference", size, difference, drop=1),
        Field("ratio", lambda row: row.change(measure).ratio, lambda row: ratio_text(row, measure)),
    )


def ratio_text(row: Difference, measure: Measure) -> str:
    """How many times as much, never a number that rounding made 0; in words where one side holds none of it."""
    if row.presence in _PRESENCES:
        return _PRESENCES[row.presence]
    before, after = change = row.change(measure)
    if change.ratio is None:
        return "from 0" if before == 0 and after else ABSENT
    if not after:
        return "to 0"
    sign = "≈" if row.few else "×"
    if change.ratio < _MIN_RATIO:
        return f"{sign} < {_MIN_RATIO}"
    return f"{sign} {change.ratio:,.{0 if change.ratio >= 100 else 2}f}"


_MIN_EVENT_WIDTH = 13
"""Cells of an event that leave room for the ratio beside the inspector."""
_MIN_RATIO = 0.01
"""Two decimals tell ratios of about one apart; what is smaller is told as smaller."""
_PRESENCES = {
    Presence.ONLY_BEFORE: "gone",
    Presence.ONLY_AFTER: "new",
    Presence.NOT_RECORDED_BEFORE: ABSENT,
    Presence.NOT_RECORDED_AFTER: ABSENT,
}


def _model(row: Difference) -> str:
    return row.model or ""


def _event(row: Difference) -> str:
    return f"{row.label}{STAGE if row.level == Level.SUB else ''}{WARM if row.warm else ''}"


def status_counts(before: Report, after: Report) -> str:
    """Findings by status, in words: `1 fixed, 1 new`. A check counts once, however many models it is about."""
    changes = dict.fromkeys((change.status, change.check.id) for change in finding_changes(before, after))
    counts = Counter(status for status, _ in changes)
    return ", ".join(f"{count} {status}" for status, count in counts.items()) or "no findings in either"


class ComparePane(ListPane[Compared]):
    """One list, of findings or of events by one measure."""

    PANE = "compare"
    TITLE = "Compare"
    SHORT = "Diff"
    RECORDINGS = 2
    WAITING = "Running checks…"
    HEADED = True

    def made_from(self, state: State) -> tuple[object, ...]:
        """Both recordings, the order, and for numbers the range."""
        is_number = isinstance(state.measure, Measure)
        span = (state.range, state.filter, state.origins, state.active) if is_number else None
        return (state.sessions, state.measure, span, state.sorts.get(self.PANE))

    def make(self, state: State) -> Compared | None:
        """Findings or numbers, once both are judged."""
        before, after = state.sessions
        if before.report is None or after.report is None:
            return None
        sort = state.sorts.get(self.PANE)
        if state.measure is None:
            changes = finding_changes(before.report, after.report)
            return records_of(
                changes, FINDING_FIELDS, _fitting(sort, FINDING_FIELDS, BY_STATUS), "No findings in either recording."
            )
        if state.measure == LATENCY:
            from tracekit.tui.detail.answers import ANSWER_FIELDS, answers

            found = answers(before, after)
            return records_of(found, ANSWER_FIELDS, _fitting(sort, ANSWER_FIELDS, BY_MODEL), "No models.")
        measure = Measure(state.measure)
        models = {model for session in state.sessions for model in session.trace.models["name"]}
        fields = number_fields(measure, one_model=len(models) <= 1)
        spans = [state.range and state.range.moved(state.shift(index)) for index in range(2)]
        rows = [
            aggregation(session, span, state.filter) or () for session, span in zip(state.sessions, spans, strict=True)
        ]
        rows_compared = differences(rows[0], rows[1], recorded_lanes(before.trace), recorded_lanes(after.trace))
        known = any(holds_events(session.trace) for session in state.sessions)
        empty = none_words("event", state.range, state.filter, known=known, source="either recording")
        return records_of(rows_compared, fields, _fitting(sort, fields, BY_DIFFERENCE), empty)

    def heading(self, state: State, rows: Compared, room: int) -> str:
        """What is compared, and what else could be."""
        del rows
        ways = ("findings", *Measure, LATENCY)
        shown = state.measure or "findings"
        listed = " · ".join(f"[{way}]" if way == shown else way for way in ways)
        if state.measure is None:
            first = f"{scope} · " if (scope := unnarrowed(state)) else ""
            columns = ("   est. savings before and after", "   est. savings", "")
            return longest_that_fits([*(f"{first}u: {listed}{each}" for each in columns), f"{first}{listed}"], room)
        if state.measure == LATENCY:
            about = "   median latency, whole recordings"
            return longest_that_fits([f"u: {listed}{about}", f"u: {listed}", listed], room)
        few, abouts = f"   ≈ n < {FEW}", [""]
        if state.range is not None:
            abouts = [f"   {range_words(state.range)}", f"   range of {duration(state.range.span_ns)}", "   in range"]
        lines = [f"u: {listed}{few}{about}" for about in abouts]
        return longest_that_fits([*lines, f"{listed}{abouts[-1]}"], room)

    def row_of(self, rows: Compared, state: State) -> int | None:
        """The finding that is selected in the active recording."""
        report, chosen = state.session.report, state.selection.finding
        if report is None or chosen is None:
            return None
        check = report.checks[chosen.check]
        matches = (at for at in range(len(rows)) if check in _sides(rows.records[at]))
        return next(matches, None)

    def chosen(self, rows: Compared, row: int) -> Message | None:
        """Look at the check of the active recording, whatever it says there."""
        state = self._state
        if state is None or state.session.report is None:
            return None
        checks = list(state.session.report.checks)
        here = [check for check in _sides(rows.records[row]) if check in checks]
        return FindingSelected(FindingRef(checks.index(here[0]))) if here else None

    def opened(self, rows: Compared, row: int) -> Message | None:
        """Go on to the findings, or to the events of a row."""
        line = rows.records[row]
        if isinstance(line, FindingChange):
            return PaneChosen("findings")
        if isinstance(line, Difference):
            chosen = EventFilter(text=line.label, model=line.model or "", kind=line.kind)
        else:
            chosen = EventFilter(model=line.name)
        before = self._state.filter if self._state is not None else chosen
        return EventsWanted(replace(chosen, device=before.device, min_ns=before.min_ns, max_ns=before.max_ns))


def _sides(line: FindingChange | Difference | ModelComparison) -> list[Check]:
    """The checks of a line."""
    if not isinstance(line, FindingChange):
        return []
    return [check for check in (line.before, line.after) if check is not None]


def _fitting(sort: Sort | None, fields: Sequence[Field[Any]], otherwise: Sort) -> Sort:
    """The sort that the user chose, where the list has its column."""
    return sort if sort is not None and sort.column in [field.title for field in fields] else otherwise
