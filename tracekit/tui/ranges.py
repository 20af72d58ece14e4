"""Statistics of what a range of time and a filter let through, with the functions of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.analysis.aggregation import aggregate, aggregate_hardware, sort_rows
from tracekit.report.formatting import duration, moment
from tracekit.trace.filter import EVENT_FRAMES, rows_in_range
from tracekit.tui.filtering import passing
from tracekit.tui.query import filter_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.analysis.aggregation import AggregationRow
    from tracekit.trace.trace import Trace
    from tracekit.tui.state import EventFilter, Session
    from tracekit.tui.viewport import Span

STARTS = "events starting in range"
RULE = f"{STARTS}; predictions with their children"
"""What counts for a range in statistics; see `tracekit.trace.filter.only_range`."""
REACHES = "events overlapping it"
"""What lists of events and predictions hold for a range."""


def aggregation(session: Session, span: Span | None, chosen: EventFilter) -> tuple[AggregationRow, ...] | None:
    """The aggregation of what passes the filter, in a range or in all; None where that is still to come.

    O(n log n), except where it is that of the report. Warm predictions are those of the whole recording: a load before
    the range, or one that does not pass the filter, is a load.
    """
    if span is None and not chosen.active:
        return session.report.aggregation if session.report is not None else None
    trace = session.judged
    counted = {name: session.in_judged(name, passing(session.trace, name, chosen, None)) for name in EVENT_FRAMES}
    if span is not None:
        within = rows_in_range(trace, span.start_ns, span.end_ns)
        counted = {name: mask & within[name] for name, mask in counted.items()}
    return sort_rows((*aggregate(trace, counted), *aggregate_hardware(trace, counted)), "total")


def range_words(span: Span) -> str:
    """Where a range lies: `range of 1.20 s, 00:01.000 – 00:02.200`."""
    return f"range of {duration(span.span_ns)}, {moment(span.start_ns)} – {moment(span.end_ns)}"


def counted_words(span: Span | None, chosen: EventFilter) -> str:
    """What is counted: all, or what the range and the filter let through."""
    return counted_ways(span, chosen)[0]


def counted_ways(span: Span | None, chosen: EventFilter, rules: Sequence[str] = (RULE, STARTS)) -> tuple[str, ...]:
    """The same in ever fewer words; `rules` say what counts for a range."""
    only = f", filter: {filter_words(chosen)}" if chosen.active else ""
    if span is None:
        return (f"whole recording{only}",)
    short = f"range of {duration(span.span_ns)}"
    ways = (*(f"{range_words(span)}: {rule}" for rule in rules), f"{short}: {rules[-1]}", short)
    return tuple(f"{way}{only}" for way in ways)


def narrowed_ways(span: Span | None, chosen: EventFilter) -> tuple[str, ...]:
    """What range and filter let through of a list of what lies in a range, in ever fewer words; empty without them."""
    only = f"filter: {filter_words(chosen)}" if chosen.active else ""
    if span is None:
        return (only, "filtered") if only else ("",)
    return (*counted_ways(span, chosen, (REACHES,)), "in range, filtered" if only else "in range")


def holds_events(trace: Trace) -> bool:
    """Whether there is any event at all."""
    return any(len(getattr(trace, name)) for name in EVENT_FRAMES)


def none_words(
    what: str, span: Span | None, chosen: EventFilter, *, known: bool, source: str = "this recording"
) -> str:
    """Why a list of what there is (`event`) holds none: only what is on is named, with the key that drops it.

    known: whether any is there without range and filter, which keep nothing away otherwise.
    """
    if not known:
        return f"No {what}s in {source}; 6 shows its coverage."
    if span is not None and chosen.active:
        return f"No {what}s match in this range; c clears the filter, esc the range."
    if chosen.active:
        return f"No {what}s match; c clears the filter."
    return f"No {what}s in this range; esc clears it."
