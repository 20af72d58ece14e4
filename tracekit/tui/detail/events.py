"""The events of the recording one by one: any number of them, in one list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from tracekit.render.blocks import Line, Role, Span
from tracekit.report.formatting import duration, moment
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.detail.columns import ListColumn, model_column
from tracekit.tui.detail.pane import ListPane
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.messages import ZoomWanted
from tracekit.tui.ranges import REACHES, count_wordings, holds_events, none_words, passing, ranks
from tracekit.tui.state import EventFilter, EventRef, Selection, Sort, State
from tracekit.tui.text import longest_that_fits
from tracekit.units import format_count

if TYPE_CHECKING:
    from textual.message import Message

    from tracekit.arrays import Int8Array, IntArray
    from tracekit.trace.trace import Trace
    from tracekit.tui import viewport


Event = Mapping[str, Any]
"""Columns of an event frame, by name."""


def _text(name: str, role: Role = Role.PLAIN) -> Callable[[Event], Line]:
    return lambda event: Span(event[name] if isinstance(event[name], str) else "", role)


@dataclass(frozen=True, eq=False)
class EventRows:
    """Rows of all event frames, by start."""

    trace: Trace
    frames: Int8Array
    """Shape (n,): indices in `EVENT_FRAMES`."""
    index: IntArray
    """Shape (n,): indices in those frames."""
    sort: Sort
    empty: str = ""

    @cached_property
    def columns(self) -> Sequence[ListColumn[Event]]:
        """From left to right."""
        return (
            ListColumn("start", lambda event: moment(int(event["start_ns"])), width=11),
            ListColumn("duration", lambda row: duration(row["duration_ns"], row.get("resolution_ns", 0)), width=10),
            ListColumn("lane", _text("lane", Role.DIM), words=True, width=13, drop=2),
            ListColumn("event", _text("label"), words=True, width=0, min_width=18),
            model_column(self.trace.models["name"], _text("model")),
            ListColumn("device", _text("device", Role.DIM), words=True, width=6, drop=3),
            ListColumn("process", _text("process", Role.DIM), words=True, width=16, drop=4),
        )

    def __len__(self) -> int:
        return len(self.index)

    def ref(self, row: int) -> EventRef:
        """The event of a row."""
        return EventRef(EVENT_FRAMES[self.frames[row]], int(self.index[row]))

    def start(self, row: int) -> int:
        """When the event of a row starts, in ns."""
        ref = self.ref(row)
        return int(getattr(self.trace, ref.frame)["start_ns"].to_numpy()[ref.index])

    def row(self, ref: EventRef) -> int | None:
        """Where an event stands; None where it is not in the list."""
        if ref.frame not in EVENT_FRAMES:
            return None
        rows = np.flatnonzero((self.index == ref.index) & (self.frames == EVENT_FRAMES.index(ref.frame)))
        return int(rows[0]) if rows.size else None

    def record(self, row: int) -> Event:
        """The event of a row."""
        ref = self.ref(row)
        frame = getattr(self.trace, ref.frame)
        return {name: frame[name].iloc[ref.index] for name in _SORTED.values()}


FIRST_SORT = Sort("start", descending=False)


def event_rows(trace: Trace, chosen: EventFilter, span: viewport.Span | None, sort: Sort = FIRST_SORT) -> EventRows:
    """Events that pass the filter and lie in the range at least in part; equal ones by start. O(n log n)."""
    rows_of_frames = [np.flatnonzero(passing(trace, name, chosen, span)) for name in EVENT_FRAMES]
    frames = np.repeat(np.arange(len(EVENT_FRAMES), dtype=np.int8), [len(rows) for rows in rows_of_frames])
    index = np.concatenate(rows_of_frames)
    by_start = np.argsort(_key(trace, rows_of_frames, "start_ns"), kind="stable")
    if sort != FIRST_SORT:
        key = _key(trace, rows_of_frames, _SORTED[sort.column])[by_start]
        by_start = by_start[np.argsort(-key if sort.descending else key, kind="stable")]
    empty = none_words("event", span, chosen, known=holds_events(trace))
    return EventRows(trace, frames[by_start], index[by_start], sort, empty)


_SORTED = {
    "start": "start_ns",
    "duration": "duration_ns",
    "lane": "lane",
    "event": "label",
    "model": "model",
    "device": "device",
    "process": "process",
}
"""Columns of the frames by title."""


def _key(trace: Trace, rows_of_frames: Sequence[IntArray], column: str) -> IntArray:
    """Numbers in the order of a column, for the chosen rows of all frames: shape (chosen,)."""
    frames: list[pd.DataFrame] = [getattr(trace, name) for name in EVENT_FRAMES]
    if column.endswith("_ns"):
        return np.concatenate([frame[column].to_numpy()[at] for frame, at in zip(frames, rows_of_frames, strict=True)])
    texts = pd.concat([frame[column].iloc[at].astype(object) for frame, at in zip(frames, rows_of_frames, strict=True)])
    return ranks(texts.astype("category"))


class EventsPane(ListPane[EventRows]):
    """All events, or those of the range and the filter."""

    PANE = "events"
    TITLE = "Events"
    ENTER = "Zoom in"

    def inputs(self, state: State) -> tuple[object, ...]:
        """Everything that chooses or sorts."""
        return (state.session.trace, state.filter, state.range, state.sorts.get(self.PANE, FIRST_SORT))

    def make(self, state: State) -> EventRows:
        """The rows of all events that pass range and filter, sorted."""
        sort = state.sorts.get(self.PANE, FIRST_SORT)
        return event_rows(state.session.trace, state.filter, state.range, sort)

    def heading(self, state: State, rows: EventRows, room: int) -> str:
        """How many, and of what."""
        count = format_count(len(rows), "event")
        ways = count_wordings(state.range, state.filter, (REACHES,))
        return longest_that_fits([f"{count} · {way}" for way in ways], room)

    def row_of(self, rows: EventRows, state: State) -> int | None:
        """The event that is selected."""
        event = state.selection.event
        here = self.query_one(RowList).cursor
        if event is None:
            return None
        # Most often it is the row with the cursor, which spares looking through all.
        return here if here < len(rows) and rows.ref(here) == event else rows.row(event)

    def selection_of(self, rows: EventRows, row: int) -> Selection:
        """The event of a row."""
        return Selection(event=rows.ref(row))

    def open_message(self, rows: EventRows, row: int) -> Message:
        """Zoom to it."""
        del rows, row
        return ZoomWanted()
