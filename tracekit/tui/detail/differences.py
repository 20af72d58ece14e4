"""Columns of what two recordings are compared by: the status of findings, events in numbers, and whether the latency of
each model changed, as `tracekit compare` answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.analysis.comparison import Difference, Measure, Presence
from tracekit.compare import models, words
from tracekit.compare.findings import FindingChange, FindingStatus
from tracekit.report.columns import STAGE, WARM
from tracekit.report.formatting import ABSENT, duration, quantity
from tracekit.trace.events import Level
from tracekit.tui.detail.columns import WEIGHTY, WIDEST
from tracekit.tui.detail.records import Field
from tracekit.units import format_count, format_estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracekit.compare.models import ModelComparison
    from tracekit.tui.theme import Palette


NOTABLE = 0.05
"""Least change of a number that is better or worse (heuristic): that of `tracekit compare`."""
_TIMES, _BETTER, _WORSE = "×", "better", "worse"
_MIN_EVENT_WIDTH = 13
"""Cells of an event that leave room for the ratio beside the inspector."""
MIN_MODEL_WIDTH = 10
"""Cells of the name of a model."""
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


def _models(change: FindingChange) -> str:
    names = [name for name in change.models if name is not None]
    return ABSENT if not names else names[0] if len(names) == 1 else format_count(len(names), "model")


def _status_color(change: FindingChange, palette: Palette) -> str | None:
    return {FindingStatus.NEW: palette.worse, FindingStatus.FIXED: palette.better}.get(change.status)


FINDING_FIELDS: tuple[Field[FindingChange], ...] = (
    Field(
        "status",
        lambda change: list(FindingStatus).index(change.status),
        lambda change: change.status,
        right=False,
        color=_status_color,
    ),
    Field("finding", lambda change: change.id, lambda change: change.id, right=False, flexible=True),
    Field("model", _models, _models, right=False, drop=1),
    Field("before", lambda change: change.savings_before_ns, lambda change: _savings(change, after=False)),
    Field("after", lambda change: change.savings_after_ns, lambda change: _savings(change, after=True)),
)


def _answer(model: ModelComparison) -> str:
    return str(model.latency.answer if model.presence is models.Presence.BOTH else model.presence)


ANSWER_FIELDS: tuple[Field[ModelComparison], ...] = (
    Field("model", lambda row: row.name, lambda row: row.name, right=False, flexible=True, min_width=MIN_MODEL_WIDTH),
    Field("answer", _answer, _answer, right=False),
    Field("before", lambda row: row.latency.before_ns, lambda row: duration(row.latency.before_ns), drop=1),
    Field("after", lambda row: row.latency.after_ns, lambda row: duration(row.latency.after_ns), drop=1),
    Field("change", lambda row: row.latency.ratio, lambda row: words.percent_change(row.latency.ratio)),
    Field("95% interval", lambda row: row.latency.low, lambda row: words.interval(row.latency), drop=2),
    Field("why", None, lambda row: words.reason(row.latency), right=False, drop=3),
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
        sign = "" if not value else "+" if value > 0 else "−"
        return f"{sign}{quantity(value and abs(value), unit)}"

    def size(row: Difference) -> tuple[bool, float] | None:
        # Those of the app's own models come first: of all else the app calls nothing itself.
        value = row.change(measure).difference
        return None if value is None else (row.model is not None, abs(value))

    def color(row: Difference, palette: Palette) -> str | None:
        return {_BETTER: palette.better, _WORSE: palette.worse}.get(better_or_worse(row, measure))

    def ratio(row: Difference) -> str:
        return ratio_text(row, measure).replace(_TIMES, better_or_worse(row, measure) or _TIMES)

    return (
        Field("event", _event, _event, right=False, flexible=True, min_width=_MIN_EVENT_WIDTH, wanted=WIDEST),
        Field("model", _model, lambda row: row.model or ABSENT, right=False, drop=WEIGHTY + 1 if one_model else 0),
        Field("lane", lambda row: row.lane, lambda row: row.lane, right=False, drop=WEIGHTY + 2 if one_model else 3),
        Field("before", lambda row: row.change(measure).before, side(after=False)),
        Field("after", lambda row: row.change(measure).after, side(after=True)),
        Field("difference", size, difference, drop=1, color=color),
        Field("ratio", lambda row: row.change(measure).ratio, ratio, color=color),
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


def _model(row: Difference) -> str:
    return row.model or ""


def _event(row: Difference) -> str:
    return f"{row.label}{STAGE if row.level == Level.SUB else ''}{WARM if row.warm else ''}"
