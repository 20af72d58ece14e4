"""Whether the latency of each model changed between two recordings: the answers of `tracekit compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.compare import words
from tracekit.compare.models import Presence
from tracekit.report.formatting import duration
from tracekit.tui.detail.records import Field

if TYPE_CHECKING:
    from tracekit.compare.models import ModelComparison

MIN_MODEL_WIDTH = 10
"""Cells of the name of a model."""


def _answer(model: ModelComparison) -> str:
    return str(model.latency.answer if model.presence is Presence.BOTH else model.presence)


ANSWER_FIELDS: tuple[Field[ModelComparison], ...] = (
    Field("model", lambda row: row.name, lambda row: row.name, right=False, flexible=True, min_width=MIN_MODEL_WIDTH),
    Field("answer", _answer, _answer, right=False),
    Field("before", lambda row: row.latency.before_ns, lambda row: duration(row.latency.before_ns), drop=1),
    Field("after", lambda row: row.latency.after_ns, lambda row: duration(row.latency.after_ns), drop=1),
    Field("change", lambda row: row.latency.ratio, lambda row: words.percent_change(row.latency.ratio)),
    Field("95% interval", lambda row: row.latency.low, lambda row: words.interval(row.latency), drop=2),
    Field("why", None, lambda row: words.reason(row.latency), right=False, drop=3),
)
