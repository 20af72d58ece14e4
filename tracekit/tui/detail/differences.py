"""Columns of what two recordings are compared by: the status of findings, events in numbers, and whether the latency of
each model changed, as `tracekit compare` answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tracekit.analysis.comparison import Difference, Measure, Presence
from tracekit.comparison import models, words
from tracekit.comparison.findings import FindingChange, FindingStatus
from tracekit.documents.report_events import STAGE, WARM
from tracekit.render.blocks import Role, Span
from tracekit.report.formatting import ABSENT, duration, quantity
from tracekit.trace.events import Level
from tracekit.tui.detail.columns import WEIGHTY, WIDEST, ListColumn
from tracekit.units import format_estimate

if TYPE_CHECKING:
    from tracekit.comparison.models import ModelComparison


NOTABLE = 0.05
"""Least change of a number that is better or worse (heuristic): that of `tracekit compare`."""
_TIMES, _BETTER, _WORSE = "×", "better", "worse"
_MIN_EVENT_WIDTH = 13
"""Cells of an event that leave room for the ratio beside the inspector."""
MIN_MODEL_WIDTH = 10
"""Cells of the name of a model."""
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


def _status(change: FindingChange) -> Span:
    roles = {FindingStatus.NEW: Role.BAD, FindingStatus.FIXED: Role.GOOD}
    return Span(change.status, roles.get(change.status, Role.PLAIN))


FINDING_COLUMNS: tuple[ListColumn[FindingChange], ...] = (
    ListColumn("status", _status, lambda change: list(FindingStatus).index(change.status), words=True),
    ListColumn("finding", lambda change: change.id, words=True, width=0, max_width=16),
    ListColumn("model", lambda change: words.finding_models(change) or ABSENT, words=True, drop=1),
    ListColumn("before", lambda change: _savings(change, after=False), lambda change: change.savings_before_ns),
    ListColumn("after", lambda change: _savings(change, after=True), lambda change: change.savings_after_ns),
)


def _answer(model: ModelComparison) -> str:
    return str(model.latency.answer if model.presence is models.Presence.BOTH else model.presence)


ANSWER_COLUMNS: tuple[ListColumn[ModelComparison], ...] = (
    ListColumn("model", lambda row: row.name, words=True, width=0, min_width=MIN_MODEL_WIDTH, max_width=16),
    ListColumn("answer", _answer, words=True),
    ListColumn("before", lambda row: duration(row.latency.before_ns), lambda row: row.latency.before_ns, drop=1),
    ListColumn("after", lambda row: duration(row.latency.after_ns), lambda row: row.latency.after_ns, drop=1),
    ListColumn("change", lambda row: words.percent_change(row.latency.ratio), lambda row: row.latency.ratio),
    ListColumn("95% within recordings", lambda row: words.interval(row.latency), lambda row: row.latency.low, drop=2),
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
        ListColumn("event", _event, words=True, width=0, min_width=_MIN_EVENT_WIDTH, max_width=WIDEST),
        ListColumn("model", lambda row: row.model or ABSENT, words=True, drop=WEIGHTY + 1 if one_model else 0),
        ListColumn("lane", lambda row: row.lane, words=True, drop=WEIGHTY + 2 if one_model else 3),
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


def _event(row: Difference) -> str:
    return f"{row.label}{STAGE if row.level == Level.SUB else ''}{WARM if row.warm else ''}"
