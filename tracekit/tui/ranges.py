"""What a range of time and a filter let through, and its statistics, with the functions of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tracekit.analysis.aggregation import NO_EVENT, AggregationRow, aggregate, hardware_titles
from tracekit.analysis.loads import first_predictions
from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Texts
from tracekit.report.formatting import duration, moment
from tracekit.trace.events import Events, Kind, Level
from tracekit.trace.filter import EVENT_FRAMES, rows_in_range
from tracekit.trace.instruments import coreml
from tracekit.trace.runtimes.phases import PHASES
from tracekit.trace.trace import Trace, cached_by_trace
from tracekit.tui.query import filter_words
from tracekit.tui.state import EventFilter, RowRef, Session, State
from tracekit.tui.viewport import Span

STARTS = "events starting in range"
RULE = f"{STARTS}; predictions with their children"
"""What counts for a range in statistics; see `tracekit.trace.filter.only_range`."""
REACHES = "events overlapping it"
"""What lists of events and predictions hold for a range."""
NO_EVENTS = "No events in this recording; 6 shows its coverage."
"""Why nothing can be selected where no lane has an event."""


@cached_by_trace
def _phases(trace: Trace) -> Events:
    phases = trace.phases
    return replace(
        Events.blank(len(phases)),
        id=np.arange(len(phases)),
        start_ns=phases.start_ns,
        duration_ns=phases.ends(trace.run.duration_ns or 0) - phases.start_ns,
        lane=phases.lane,
        kind=phases.phase,
        label=phases.name,
        process=phases.process,
        pid=phases.pid,
        table=phases.table,
        row=phases.row,
    )


def listed(trace: Trace, name: str) -> Events:
    """The rows of one of `EVIDENCE_FRAMES`. Phases are of no model and no device; one without an end lasts until that
    of the recording."""
    return _phases(trace) if name == PHASES else trace.events[name]


def passing(trace: Trace, name: str, chosen: EventFilter, span: Span | None) -> BoolArray:
    """Rows of a frame of `EVIDENCE_FRAMES` that pass the filter and lie in the range at least in part: shape (n,).

    An instant lies in the ranges that hold its time. O(n); each distinct text is looked at once.
    """
    rows = listed(trace, name)
    starts, durations = rows.start_ns, rows.duration_ns
    keep = np.ones(len(rows), np.bool_)
    if span is not None:
        keep &= (starts < span.end_ns) & (np.maximum(starts + durations, starts + 1) > span.start_ns)
    for texts, value in ((rows.model, chosen.model), (rows.kind, chosen.kind), (rows.device, chosen.device)):
        if value is not None:
            keep &= texts.is_any(value) if value else ~texts.known
    if chosen.text:
        # The aggregation calls hardware otherwise than its labels, which name single pieces of work.
        wanted, holds = chosen.text.casefold(), np.zeros(len(rows), np.bool_)
        for texts in (rows.label, rows.model, rows.process, *((rows.kind,) if name == PHASES else ())):
            holds |= texts.passing(lambda text: wanted in text.casefold())
        if name == "hardware":
            titles = _titles(trace)
            holds |= np.array([wanted in text.casefold() for text in titles.texts], np.bool_)[titles.codes]
        keep &= holds
    if chosen.min_ns is not None:
        keep &= durations >= chosen.min_ns
    if chosen.max_ns is not None:
        keep &= durations <= chosen.max_ns
    return keep


_titles = cached_by_trace(hardware_titles)


def aggregation(session: Session, span: Span | None, chosen: EventFilter) -> tuple[AggregationRow, ...] | None:
    """The aggregation of what passes the filter, in a range or in all; None where that is still to come.

    O(n log n), except where it is that of the report. Warm predictions are those of the whole recording: a load before
    the range, or one that does not pass the filter, is a load.
    """
    if span is None and not chosen.active:
        return session.report.aggregation if session.report is not None else None
    trace = session.whole_trace
    counted = {name: session.in_whole_trace(name, passing(session.trace, name, chosen, None)) for name in EVENT_FRAMES}
    if span is not None:
        within = rows_in_range(trace, span.start_ns, span.end_ns)
        counted = {name: mask & within[name] for name, mask in counted.items()}
    return aggregate(trace, counted)


def durations_of_row(state: State, ref: RowRef) -> IntArray:
    """Durations in ns of the events that a row of the aggregation counts: shape (n,). O(n)."""
    session, row, trace = state.session, ref.source, state.session.whole_trace
    name = coreml.INSTRUMENT.frames.get(row.lane, "hardware")
    rows = trace.events[name]
    keep = session.in_whole_trace(name, passing(session.trace, name, state.filter, None)).copy()
    if state.range is not None:
        keep &= rows_in_range(trace, state.range.start_ns, state.range.end_ns)[name]
    wanted = [(rows.lane, row.lane), (rows.kind, row.kind), (rows.model, row.model)]
    if name != "hardware":
        wanted.append((rows.label, None if row.label == NO_EVENT else row.label))
    for texts, value in wanted:
        keep &= ~texts.known if value is None else texts.is_any(value)
    keep &= rows.level.is_any(row.level) | (~rows.level.known & (row.level == Level.TOP))
    if name == "hardware":
        titles = hardware_titles(trace)
        pairs = zip(titles.texts, titles.processes, strict=True)
        keep &= np.array([pair == (row.label, row.process) for pair in pairs], np.bool_)[titles.codes]
    if ref.warm:
        keep &= ~first_predictions(trace)
    return rows.duration_ns[keep]


def durations_of_model(session: Session, name: str) -> IntArray:
    """Durations in ns of the predictions of a model, as a stage too: shape (n,). O(n)."""
    activity = session.trace.activity
    return activity.duration_ns[activity.kind.is_any(Kind.PREDICTION) & activity.model.is_any(name)]


def durations_in_range(state: State, span: Span) -> IntArray:
    """Durations in ns of the predictions that the app called, that pass the filter and start in a range: shape (n,)."""
    activity = state.session.trace.activity
    rows = activity.kind.is_any(Kind.PREDICTION) & activity.level.is_any(Level.TOP)
    rows &= passing(state.session.trace, "activity", state.filter, None)
    rows &= (activity.start_ns >= span.start_ns) & (activity.start_ns < span.end_ns)
    return activity.duration_ns[rows]


def range_words(span: Span) -> str:
    """Where a range lies: `range of 1.20 s, 1.000 s – 2.200 s`."""
    return f"range of {duration(span.span_ns)}, {moment(span.start_ns)} – {moment(span.end_ns)}"


def count_wordings(span: Span | None, chosen: EventFilter, rules: Sequence[str] = (RULE, STARTS)) -> tuple[str, ...]:
    """What is counted, in ever fewer words: all, or what range and filter let through. `rules`: what a range counts."""
    only = f", filter: {filter_words(chosen)}" if chosen.active else ""
    if span is None:
        return (f"whole recording{only}",)
    short = f"range of {duration(span.span_ns)}"
    ways = (*(f"{range_words(span)}: {rule}" for rule in rules), f"{short}: {rules[-1]}", short)
    return tuple(f"{way}{only}" for way in ways)


def narrowing_wordings(span: Span | None, chosen: EventFilter) -> tuple[str, ...]:
    """What range and filter let through of a list of what lies in a range, in ever fewer words; empty without them."""
    only = f"filter: {filter_words(chosen)}" if chosen.active else ""
    if span is None:
        return (only, "filtered") if only else ("",)
    return (*count_wordings(span, chosen, (REACHES,)), "in range, filtered" if only else "in range")


def holds_events(trace: Trace) -> bool:
    """Whether there is any event at all."""
    return any(len(rows) for rows in trace.events.values())


def none_words(
    what: str, span: Span | None, chosen: EventFilter, trace: Trace, *, known: bool, source: str = "this recording"
) -> str:
    """Why a list of what there is (`event`) holds none: only what is on is named, with the key that drops it.

    known: whether any is there without range and filter, which keep nothing away otherwise.
    """
    if not known:
        # Lanes and the list of events show more than statistics do: phases of runtimes.
        narrowed = "Core ML or hardware event" if what == "event" else what
        more = "has its language models" if len(trace.requests) else "shows its coverage"
        return f"No {narrowed}s in {source}; 6 {more}."
    if span is not None and chosen.active:
        return f"No {what}s match in this range; c clears the filter, esc the range."
    if chosen.active:
        return f"No {what}s match; c clears the filter."
    return f"No {what}s in this range; esc clears it."


def ranks(column: Texts) -> IntArray:
    """Place of each text of a column in alphabetical order, rows without one last: shape (n,)."""
    texts = column.values
    order = np.full(len(texts) + 1, len(texts), np.int64)
    order[sorted(range(len(texts)), key=lambda code: (texts[code].casefold(), texts[code]))] = np.arange(len(texts))
    return order[column.codes]
