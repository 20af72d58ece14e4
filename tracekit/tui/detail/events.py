"""The events of the recording, and the predictions that the app called, one by one: any number of them in one list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.arrays import Int8Array, IntArray
from tracekit.columns import joined_codes
from tracekit.render.blocks import Line, Role, Span
from tracekit.report.formatting import ABSENT, duration, moment
from tracekit.trace.instruments.catalogue import lane_title
from tracekit.trace.trace import Trace, cached_by_trace
from tracekit.tui import viewport
from tracekit.tui.detail.columns import WEIGHTY, ListColumn, Rows, model_column
from tracekit.tui.detail.pane import ListPane
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.ranges import REACHES, count_wordings, listed, narrowing_wordings, none_words, passing, ranks
from tracekit.tui.state import EVIDENCE_FRAMES, Calls, EventFilter, EventRef, Selection, Sort, State
from tracekit.tui.text import longest_that_fits
from tracekit.units import format_count

Event = Mapping[str, Any]
"""Columns of a frame of `EVIDENCE_FRAMES`, by name."""


def _text(name: str, role: Role = Role.PLAIN, shown: Callable[[str], str] = str) -> Callable[[Event], Line]:
    return lambda event: Span(shown(event[name]) if isinstance(event[name], str) else "", role)


def event_columns(trace: Trace, sort: Sort) -> tuple[ListColumn[Event], ...]:
    """From left to right, without those of which the recording has nothing, unless rows are sorted by one."""
    columns: tuple[ListColumn[Event], ...] = (
        ListColumn("start", lambda event: moment(int(event["start_ns"])), width=11),
        ListColumn("duration", lambda row: duration(row["duration_ns"], row.get("resolution_ns", 0)), width=10),
        ListColumn("lane", _text("lane", Role.DIM, lane_title), words=True, width=13, drop=2),
        ListColumn("event", _text("label"), words=True, width=0, min_width=18),
        model_column(trace.models.name, _text("model")),
        ListColumn("device", _text("device", Role.DIM), words=True, width=6, drop=3),
        ListColumn("process", _text("process", Role.DIM), words=True, width=16, drop=4),
    )
    return tuple(column for column in columns if column.title in _known_columns(trace) | {sort.column})


def event_record(trace: Trace, ref: EventRef) -> Event:
    """An event, for these columns."""
    columns = listed(trace, ref.frame).columns()
    return {name: columns[name].item(ref.index) for name in _SORTED.values()}


@dataclass(frozen=True, eq=False)
class EventRows(Rows[Event]):
    """Rows of all frames of events and phases, by start."""

    trace: Trace
    frames: Int8Array
    """Shape (n,): indices in `EVIDENCE_FRAMES`."""
    index: IntArray
    """Shape (n,): indices in those frames."""

    def __len__(self) -> int:
        return len(self.index)

    def ref(self, row: int) -> EventRef:
        """The event of a row."""
        return EventRef(EVIDENCE_FRAMES[self.frames[row]], int(self.index[row]))

    def start(self, row: int) -> int:
        """When the event of a row starts, in ns."""
        ref = self.ref(row)
        return int(listed(self.trace, ref.frame).start_ns[ref.index])

    def row(self, ref: EventRef) -> int | None:
        """Where an event stands; None where it is not in the list."""
        if ref.frame not in EVIDENCE_FRAMES:
            return None
        rows = np.flatnonzero((self.index == ref.index) & (self.frames == EVIDENCE_FRAMES.index(ref.frame)))
        return int(rows[0]) if rows.size else None

    def record(self, row: int) -> Event:
        """The event of a row."""
        return event_record(self.trace, self.ref(row))


FIRST_SORT = Sort("start", descending=False)


def event_rows(trace: Trace, chosen: EventFilter, span: viewport.Span | None, sort: Sort = FIRST_SORT) -> EventRows:
    """Events that pass the filter and lie in the range at least in part; equal ones by start. O(n log n)."""
    rows_of_frames = [np.flatnonzero(passing(trace, name, chosen, span)) for name in EVIDENCE_FRAMES]
    frames = np.repeat(np.arange(len(EVIDENCE_FRAMES), dtype=np.int8), [len(rows) for rows in rows_of_frames])
    index = np.concatenate(rows_of_frames)
    by_start = np.argsort(_key(trace, rows_of_frames, "start_ns"), kind="stable")
    if sort != FIRST_SORT:
        key = _key(trace, rows_of_frames, _SORTED[sort.column])[by_start]
        by_start = by_start[np.argsort(-key if sort.descending else key, kind="stable")]
    has_events = any(len(listed(trace, name)) for name in EVIDENCE_FRAMES)
    empty = none_words("event", span, chosen, trace, known=has_events)
    return EventRows(event_columns(trace, sort), sort, empty, trace, frames[by_start], index[by_start])


_TEXTS = {"lane": "lane", "event": "label", "model": "model", "device": "device", "process": "process"}
_SORTED = {"start": "start_ns", "duration": "duration_ns", **_TEXTS}
"""Columns of events by title."""


@cached_by_trace
def _known_columns(trace: Trace) -> frozenset[str]:
    lanes = [rows.columns() for rows in (listed(trace, name) for name in EVIDENCE_FRAMES) if len(rows)]
    timed = {"start", "duration"} if lanes else set[str]()
    return frozenset(timed | {title for title, name in _TEXTS.items() if any(lane[name].known.any() for lane in lanes)})


def _key(trace: Trace, rows_of_frames: Sequence[IntArray], column: str) -> IntArray:
    """Numbers in the order of a column, for the chosen rows of all frames: shape (chosen,)."""
    columns = [listed(trace, name).columns()[column] for name in EVIDENCE_FRAMES]
    if column.endswith("_ns"):
        return np.concatenate([cells[at] for cells, at in zip(columns, rows_of_frames, strict=True)])
    return ranks(joined_codes([cells.take(at) for cells, at in zip(columns, rows_of_frames, strict=True)]))


class EventsPane(ListPane[EventRows]):
    """All events, or those of the range and the filter."""

    PANE = "events"
    TITLE = "Events"
    WAITING = "Loading…"
    MADE_FROM = ("session.trace", "filter", "range")
    FIRST_SORT = FIRST_SORT
    ENTER = "Zoom in"

    def make(self, state: State) -> EventRows:
        """The rows of all events that pass range and filter, sorted."""
        return event_rows(state.session.trace, state.filter, state.range, self.sort(state))

    def heading(self, state: State, rows: EventRows, room: int) -> str:
        """How many, and of what."""
        count = format_count(len(rows), "event")
        ways = count_wordings(state.range, state.filter, (REACHES,))
        return longest_that_fits([f"{count} · {way}" for way in ways], room)

    def _row_of(self, rows: EventRows, state: State) -> int | None:
        event = state.selection.event
        here = self.query_one(RowList).cursor
        if event is None:
            return None
        # Most often it is the row with the cursor, which spares looking through all.
        return here if here < len(rows) and rows.ref(here) == event else rows.row(event)

    def _selection_of(self, rows: EventRows, row: int) -> Selection:
        return Selection(event=rows.ref(row))


@dataclass(frozen=True, eq=False)
class CallRows(Rows[int]):
    """Chosen predictions in order."""

    calls: Calls
    order: IntArray
    """Shape (rows,): positions in `calls`."""

    def __len__(self) -> int:
        return len(self.order)

    def index(self, row: int) -> int:
        """The row of `Trace.activity` that a row of the list shows."""
        return int(self.calls.index[self.order[row]])

    def row(self, index: int) -> int | None:
        """Where a row of `Trace.activity` stands; None where it is not in the list. O(n)."""
        position = self.calls.position(index)
        rows = np.flatnonzero(self.order == position) if position is not None else np.zeros(0, np.int64)
        return int(rows[0]) if rows.size else None

    def record(self, row: int) -> int:
        """The position of a row in `calls`."""
        return int(self.order[row])


def _call_columns(trace: Trace, calls: Calls, longest_ns: int) -> tuple[ListColumn[int], ...]:
    """From left to right; a record is a position in `calls`. Bars are as long as predictions beside the longest."""

    activity = trace.activity

    def model(at: int) -> str:
        return activity.model.item(int(calls.index[at])) or ABSENT

    def length(at: int) -> str:
        return duration(int(calls.durations[at]), int(activity.resolution_ns[calls.index[at]]))

    def phase(at: int) -> Span:
        if calls.inferred[at]:
            return Span(ABSENT, Role.DIM)
        return Span("first", Role.STRONG) if calls.first[at] else Span("warm", Role.DIM)

    def bar(at: int, room: int) -> str:
        share = int(calls.durations[at]) / longest_ns
        return calls.parts(at).bar(max(round(room * share), 1)).ljust(room)

    def attribution(at: int) -> Span:
        return Span(activity.attribution.item(int(calls.index[at])) or "", Role.DIM)

    return (
        ListColumn("start", lambda at: moment(int(calls.starts[at])), width=12),
        ListColumn("duration", length, width=10),
        model_column(trace.models.name, model),
        ListColumn("phase", phase, words=True, width=5),
        ListColumn("attribution", attribution, words=True, drop=WEIGHTY + 1, width=11),
        ListColumn(
            "where time went",
            lambda at: calls.parts(at).sentence,
            words=True,
            width=0,
            prose=True,
            ordered=False,
            max_width=24,
            bar=lambda at: partial(bar, at) if calls.parts(at).slices else None,
        ),
    )


def call_rows(state: State, calls: Calls, sort: Sort) -> CallRows:
    """Predictions that pass the filter and lie in the range at least in part, sorted. O(n log n)."""
    trace = state.session.trace
    passed = np.flatnonzero(passing(trace, "activity", state.filter, state.range)[calls.index])
    keys: dict[str, IntArray] = {
        "start": calls.starts,
        "duration": calls.durations,
        "model": ranks(trace.activity.model)[calls.index],
        "phase": np.where(calls.inferred, 2, np.where(calls.first, 0, 1)),
        "attribution": ranks(trace.activity.attribution)[calls.index],
    }
    key = keys[sort.column][passed]
    order = passed[np.argsort(-key if sort.descending else key, kind="stable")]
    empty = none_words("prediction", state.range, state.filter, trace, known=len(calls) > 0)
    columns = _call_columns(trace, calls, int(calls.durations[order].max(initial=1)))
    return CallRows(columns, sort, empty, calls, order)


def signs(calls: Calls) -> str:
    """What the signs of the bars stand for, as far as they occur."""
    return ", ".join(
        f"{group.sign} {group.name}" for group, time in zip(GROUPS, calls.time_ns, strict=True) if time.any()
    )


class PredictionsPane(ListPane[CallRows]):
    """Predictions, with those of the range and the filter alone where there are such."""

    PANE = "predictions"
    TITLE = "Predictions"
    SHORT = "Pred."
    WAITING = "Breaking predictions down…"
    MADE_FROM = ("session", "filter", "range")
    FIRST_SORT = Sort("duration", descending=True)
    ENTER = "Zoom in"

    def make(self, state: State) -> CallRows | None:
        """The list, once the predictions are known one by one."""
        calls = state.session.calls
        return None if calls is None else call_rows(state, calls, self.sort(state))

    def heading(self, state: State, rows: CallRows, room: int) -> str:
        """How many, of what, whether they were inferred, and what the signs of the bars mean."""
        legend, number = signs(rows.calls) if len(rows) else "", int(rows.calls.inferred[rows.order].sum())
        inferred = "" if not number else "inferred" if number == len(rows) else f"{number:,} inferred"
        wordings = ((format_count(len(rows), "prediction"), inferred), (f"{len(rows):,}", inferred), (inferred,))
        counts = [", ".join(filter(None, parts)) for parts in wordings if any(parts)]
        ways = product((legend, ""), counts, narrowing_wordings(state.range, state.filter))
        return longest_that_fits([" · ".join(filter(None, (count, of, signed))) for signed, count, of in ways], room)

    def _row_of(self, rows: CallRows, state: State) -> int | None:
        event = state.selection.event
        return rows.row(event.index) if event is not None and event.frame == "activity" else None

    def _selection_of(self, rows: CallRows, row: int) -> Selection:
        return Selection(event=EventRef("activity", rows.index(row)), prediction=rows.index(row))
