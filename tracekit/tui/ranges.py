"""Statistics of a range of time, with the functions of the report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tracekit.analysis.aggregation import aggregate, aggregate_hardware, sort_rows
from tracekit.report.formatting import duration, moment
from tracekit.trace.filter import cut_to_range

if TYPE_CHECKING:
    from tracekit.analysis.aggregation import AggregationRow
    from tracekit.tui.state import Session
    from tracekit.tui.timeline.viewport import Span

RULE = "what starts in it, predictions with all that belongs to them"
"""What counts for a range; see `tracekit.trace.filter.cut_to_range`."""


def aggregation(session: Session, span: Span | None) -> tuple[AggregationRow, ...] | None:
    """The aggregation of a range, or of all; None where that is still to come. O(n log n) for a range.

    Of a range, warm predictions are not told apart: the loads that they followed may lie before it.
    """
    if span is None:
        return session.report.aggregation if session.report is not None else None
    trace = cut_to_range(session.trace, span.start_ns, span.end_ns)
    rows = (*aggregate(trace), *aggregate_hardware(trace))
    return sort_rows((replace(row, warm=None) for row in rows), "total")


def range_words(span: Span) -> str:
    """Where a range lies: `range of 1.20 s, 00:01.000 – 00:02.200`."""
    return f"range of {duration(span.span_ns)}, {moment(span.start_ns)} – {moment(span.end_ns)}"
