"""The events of the recording one by one: any number of them, in one list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.report.formatting import duration, moment
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.detail.pane import DetailPane
from tracekit.tui.detail.rowlist import Cell, Column, RowList
from tracekit.tui.filtering import passing
from tracekit.tui.messages import EventSelected, ZoomWanted
from tracekit.tui.state import EventRef

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from textual.app import ComposeResult

    from tracekit.trace.model import Trace
    from tracekit.tui.state import EventFilter, State
    from tracekit.tui.theme import Palette
    from tracekit.tui.timeline.viewport import Span

    IntArray = npt.NDArray[np.int64]

_COLUMNS = (
    Column("start", 12, right=True),
    Column("duration", 10, right=True),
    Column("lane", 13, drop=2),
    Column("event", 0),
    Column("model", 18),
    Column("device", 6, drop=3),
    Column("process", 16, drop=4),
)


@dataclass(frozen=True, eq=False)
class EventRows:
    """Rows of all event frames, by start."""

    trace: Trace
    frames: npt.NDArray[np.int8]
    """Shape (n,): places in `EVENT_FRAMES`."""
    index: IntArray
    """Shape (n,): indices in those frames."""
    sorted_by = None
    empty = "No event fits the range and the filter."

    @property
    def columns(self) -> Sequence[Column]:
        """Columns."""
        return _COLUMNS

    def __len__(self) -> int:
        return len(self.index)

    def ref(self, row: int) -> EventRef:
        """The event of a row."""
        return EventRef(EVENT_FRAMES[self.frames[row]], int(self.index[row]))

    def row(self, ref: EventRef) -> int | None:
        """Where an event stands; None where it is not in the list."""
        if ref.frame not in EVENT_FRAMES:
            return None
        found = np.flatnonzero((self.index == ref.index) & (self.frames == EVENT_FRAMES.index(ref.frame)))
        return int(found[0]) if found.size else None

    def cells(self, row: int, palette: Palette) -> Sequence[Cell]:
        """One event."""
        ref = self.ref(row)
        frame = getattr(self.trace, ref.frame)
        values = {name: frame[name].iat[ref.index] for name in ("start_ns", "duration_ns", *_TEXTS)}
        texts = {name: values[name] if isinstance(values[name], str) else "" for name in _TEXTS}
        return [
            Cell(moment(int(values["start_ns"]))),
            Cell(duration(int(values["duration_ns"]))),
            Cell(texts["lane"], palette.dim),
            Cell(texts["label"]),
            Cell(texts["model"]),
            Cell(texts["device"], palette.dim),
            Cell(texts["process"], palette.dim),
        ]


_TEXTS = ("lane", "label", "model", "device", "process")


def event_rows(trace: Trace, chosen: EventFilter, span: Span | None) -> EventRows:
    """Events that pass the filter and lie in the range at least in part, by start. O(n log n)."""
    frames, index, starts = [], [], []
    for number, name in enumerate(EVENT_FRAMES):
        frame = getattr(trace, name)
        begun = frame["start_ns"].to_numpy()
        places = np.flatnonzero(passing(frame, chosen, span))
        frames.append(np.full(len(places), number, np.int8))
        index.append(places)
        starts.append(begun[places])
    order = np.argsort(np.concatenate(starts), kind="stable")
    return EventRows(trace, np.concatenate(frames)[order], np.concatenate(index)[order])


class EventsPane(DetailPane):
    """All events, or those of the range and the filter."""

    PANE = "events"
    TITLE = "Events"

    def __init__(self) -> None:
        super().__init__()
        self._rows: EventRows | None = None
        self._made_from: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """One list."""
        yield RowList()

    def focus_target(self) -> RowList:
        """The list."""
        return self.query_one(RowList)

    def show(self, state: State) -> None:
        """List the events with the cursor on the selected one."""
        made_from = (state.session.trace, state.filter, state.range)
        if self._rows is None or made_from != self._made_from:
            self._rows = event_rows(state.session.trace, state.filter, state.range)
            self._made_from = made_from
        rows = self._rows
        event = state.selection.event
        here = self.query_one(RowList).cursor
        if event is None or (here < len(rows) and rows.ref(here) == event):
            self.query_one(RowList).show(rows)
        else:
            self.query_one(RowList).show(rows, rows.row(event))

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        """Select an event."""
        message.stop()
        if self._rows is not None:
            self.post_message(EventSelected(self._rows.ref(message.row)))

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """Zoom to it."""
        message.stop()
        self.post_message(ZoomWanted())
