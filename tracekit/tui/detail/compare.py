"""Two recordings: the status of their findings, and their events in numbers, before and after."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tracekit.analysis.comparison import FEW, Difference, Measure, Presence, differences, recorded_lanes
from tracekit.compare.findings import FindingChange, Status
from tracekit.compare.latency import Answer
from tracekit.compare.models import ModelComparison
from tracekit.compare.renderers.words import percent_change
from tracekit.report.columns import STAGE, WARM
from tracekit.report.formatting import ABSENT, duration, quantity
from tracekit.trace.events import Level
from tracekit.tui.detail.answers import ANSWER_FIELDS
from tracekit.tui.detail.columns import WEIGHTY
from tracekit.tui.detail.listing import ListPane, unnarrowed
from tracekit.tui.detail.records import WIDEST, Field, Records, records_of
from tracekit.tui.messages import EventsWanted, FindingSelected, ModelSelected, PaneChosen, RowSelected
from tracekit.tui.ranges import aggregation, holds_events, none_words, range_words
from tracekit.tui.state import LATENCY, EventFilter, FindingRef, RowRef, Selection, Sort
from tracekit.tui.text import longest_that_fits
from tracekit.units import format_count, format_duration, format_estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.message import Message

    from tracekit.compare.comparison import Comparison
    from tracekit.report.report import Check
    from tracekit.tui.state import State
    from tracekit.tui.theme import Palette

Compared = Records[FindingChange] | Records[Difference] | Records[ModelComparison]

BY_MODEL = Sort("model", descending=False)
BY_STATUS = Sort("status", descending=False)
BY_DIFFERENCE = Sort("difference", descending=True)


def _savings(change: FindingChange, *, after: bool) -> str:
    """What its fix saves on one side, or that it was not found there."""
    ns = change.savings_after_ns if after else change.savings_before_ns
    if ns is not None:
        return format_estimate(ns)
    statuses = (Status.STILL_THERE, Status.NEW) if after else (Status.STILL_THERE, Status.FIXED)
    return change.severity if change.status in statuses else ABSENT


def _models(change: FindingChange) -> str:
    names = [name for name in change.models if name is not None]
    return ABSENT if not names else names[0] if len(names) == 1 else format_count(len(names), "model")


def _status_color(change: FindingChange, palette: Palette) -> str | None:
    return {Status.NEW: palette.worse, Status.FIXED: palette.better}.get(change.status)


FINDING_FIELDS: tuple[Field[FindingChange], ...] = (
    Field(
        "status",
        lambda change: list(Status).index(change.status),
        lambda change: change.status,
        right=False,
        color=_status_color,
    ),
    Field("finding", lambda change: change.id, lambda change: change.id, right=False, flexible=True),
    Field("model", _models, _models, right=False, drop=1),
    Field("before", lambda change: change.savings_before_ns, lambda change: _savings(change, after=False)),
    Field("after", lambda change: change.savings_after_ns, lambda change: _savings(change, after=True)),
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

    def size(row: Difference) -> tuple[bool, float] | None:
        # Those of the app's own models come first: of all else the app calls nothing itself.
        value = row.change(measure).difference
        return None if value is None else (row.model is not None, abs(value))

    def color(row: Difference, palette: Palette) -> str | None:
        ratio = row.change(measure).ratio
        if measure is Measure.COUNT or row.few or ratio is None or abs(ratio - 1) < NOTABLE:
            return None
        return palette.worse if ratio > 1 else palette.better

    return (
        Field("event", _event, _event, right=False, flexible=True, min_width=_MIN_EVENT_WIDTH, wanted=WIDEST),
        Field("model", _model, lambda row: row.model or ABSENT, right=False, drop=WEIGHTY + 1 if one_model else 0),
        Field("lane", lambda row: row.lane, lambda row: row.lane, right=False, drop=WEIGHTY + 2 if one_model else 3),
        Field("before", lambda row: row.change(measure).before, side(after=False)),
        Field("after", lambda row: row.change(measure).after, side(after=True)),
        Field("difference", size, difference, drop=1, color=color),
        Field("ratio", lambda row: row.change(measure).ratio, lambda row: ratio_text(row, measure), color=color),
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


NOTABLE = 0.05
"""Least change of a number that has a color (heuristic): that of `tracekit compare`."""
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


def status_counts(comparison: Comparison) -> str:
    """Findings by status, in words: `1 finding fixed, 1 new`. A check counts once, however many models it is about."""
    changes = dict.fromkeys((change.status, change.id) for change in comparison.findings)
    counts = list(Counter(status for status, _ in changes).items())
    first = [f"{format_count(count, 'finding')} {status}" for status, count in counts[:1]]
    return ", ".join([*first, *(f"{count} {status}" for status, count in counts[1:])]) or "no findings in either"


def changed_most(comparison: Comparison) -> ModelComparison | None:
    """The model whose latency changed most: of those for which that is certain, else of all on both sides."""
    known = [model for model in comparison.models if model.latency.ratio]
    sure = [model for model in known if model.latency.answer in (Answer.REGRESSED, Answer.IMPROVED)]
    return max(sure or known, key=lambda model: abs(math.log(model.latency.ratio or 1)), default=None)


def change_words(comparison: Comparison) -> tuple[str, Answer] | None:
    """The latency of the model that changed most, `Prediction 12.44 → 8.68 ms (−30%)`, and what the comparison says of
    it; None where there is no such model."""
    model = changed_most(comparison)
    if model is None:
        return None
    change = model.latency
    before, after = format_duration(change.before_ns or 0), format_duration(change.after_ns or 0)
    if before.split(" ")[-1] == after.split(" ")[-1]:
        before = before.split(" ")[0]
    whose = f" of {model.name}" if len(comparison.models) > 1 else ""
    sure = "" if change.answer in (Answer.REGRESSED, Answer.IMPROVED) else f", {change.answer}"
    return f"Prediction{whose} {before} → {after} ({percent_change(change.ratio)}{sure})", change.answer


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
        return (state.sessions, state.comparison, state.measure, span, state.sorts.get(self.PANE))

    def make(self, state: State) -> Compared | None:
        """Findings or numbers, once both are judged."""
        before, after = state.sessions
        if state.comparison is None:
            return None
        sort = state.sorts.get(self.PANE)
        if state.measure is None:
            return records_of(
                state.comparison.findings,
                FINDING_FIELDS,
                _fitting(sort, FINDING_FIELDS, BY_STATUS),
                "No findings in either recording.",
            )
        if state.measure == LATENCY:
            by = _fitting(sort, ANSWER_FIELDS, BY_MODEL)
            return records_of(state.comparison.models, ANSWER_FIELDS, by, "No models.")
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
            unfair = state.comparison.unfair if state.comparison is not None else ()
            if unfair:
                about = f"not a fair comparison: {', '.join(one.what for one in unfair)} differ"
                return longest_that_fits([f"u: {listed}   {about}", f"u: {about}", "u: not a fair comparison"], room)
            about = "   median latency, whole recordings"
            return longest_that_fits([f"u: {listed}{about}", f"u: {listed}", listed], room)
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

    def chosen(self, rows: Compared, row: int) -> Message | None:
        """Look at the same of the active recording: the check, whatever it says there, the model, or the numbers."""
        selection = self.selection_of(rows, row)
        if selection is None:
            return None
        if selection.finding is not None:
            return FindingSelected(selection.finding)
        if selection.model is not None:
            return ModelSelected(selection.model)
        return RowSelected(selection.row) if selection.row is not None else None

    def selection_of(self, rows: Compared, row: int) -> Selection | None:
        """What a row stands for in the active recording."""
        return _stands_for(rows.records[row], self._state) if self._state is not None else None

    def enter_words(self) -> str:
        """What enter does."""
        by_findings = self._state is not None and self._state.measure is None
        return "Show finding" if by_findings else "List events"

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


def _stands_for(line: FindingChange | Difference | ModelComparison, state: State) -> Selection | None:
    """What to select in the active recording; None where it has none of it, or numbers that range or filter made."""
    report = state.session.report
    if report is None:
        return None
    if isinstance(line, FindingChange):
        here = (at for at, check in enumerate(report.checks) if _is_about(line, check))
        return next((Selection(finding=FindingRef(at)) for at in here), None)
    if isinstance(line, ModelComparison):
        return Selection(model=line.name) if line.name in [model.name for model in report.models] else None
    numbers = (line.before, line.after)[state.active]
    refs = (RowRef(row, warm) for row in report.aggregation for warm in (False, True))
    found = (ref for ref in refs if numbers is (ref.source.warm if ref.warm else ref.source.statistics))
    return next((Selection(row=ref) for ref in found), None) if numbers is not None else None


def _is_about(line: FindingChange | Difference | ModelComparison, check: Check) -> bool:
    """Whether a line stands for a check; an answer for the recording as a whole stands for all its models."""
    if not isinstance(line, FindingChange) or line.id != check.id:
        return False
    return check.model is None or check.model in line.models


def _fitting(sort: Sort | None, fields: Sequence[Field[Any]], otherwise: Sort) -> Sort:
    """The sort that the user chose, where the list has its column."""
    return sort if sort is not None and sort.column in [field.title for field in fields] else otherwise
