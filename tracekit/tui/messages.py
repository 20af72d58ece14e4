"""What widgets post to the app. Widgets never change the state; the app does, and shows it again to all of them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from tracekit.tui.state import EventFilter, EventRef, FindingRef, RowRef, Selection, Sort
    from tracekit.tui.viewport import Span, Viewport


class OfRecording(Message):
    """Means something in one recording alone: `recording` is its index, None the active one. Another one may be active
    by the time that it arrives."""

    recording: int | None = None


@dataclass(eq=False)
class EventSelected(OfRecording):
    """A row of a frame was chosen. `reveal`: whether the timeline is to move to it."""

    ref: EventRef
    _: KW_ONLY
    reveal: bool = True


@dataclass(eq=False)
class PredictionSelected(OfRecording):
    """A prediction was chosen as a whole; `index` counts the rows of `Trace.activity`."""

    index: int


@dataclass(eq=False)
class FindingSelected(OfRecording):
    """A check of the report was chosen, or one interval of its evidence."""

    ref: FindingRef


@dataclass(eq=False)
class ModelSelected(OfRecording):
    """A model of the report was chosen."""

    name: str


@dataclass(eq=False)
class RowSelected(OfRecording):
    """A row of the aggregation was chosen."""

    ref: RowRef


@dataclass(eq=False)
class FirstRowListed(OfRecording):
    """What the first row of a list stands for; None: it has none, or none that could be selected."""

    pane: str
    selection: Selection | None


@dataclass(eq=False)
class Sorted(Message):
    """The list of a pane is to be sorted."""

    pane: str
    sort: Sort


@dataclass(eq=False)
class EventsWanted(Message):
    """The events that pass a filter are to be listed."""

    chosen: EventFilter


@dataclass(eq=False)
class CheckToggled(OfRecording):
    """The evidence of a check is to be listed, or no longer; `check` is its index in the report."""

    check: int


@dataclass(eq=False)
class RangeSelected(Message):
    """A range of time was chosen, in times of the recording whose index is `session`."""

    span: Span
    session: int


@dataclass(eq=False)
class ViewMoved(Message):
    """Another part is to be seen, in times of the recording whose index is `session`."""

    view: Viewport
    session: int


@dataclass(eq=False)
class CursorMoved(Message):
    """The cursor was put on a time of a lane of one of the recordings."""

    time_ns: int
    lane: str
    session: int


@dataclass(eq=False)
class RecordingChosen(Message):
    """One of two recordings got the keys; `session` is its index."""

    session: int


@dataclass(eq=False)
class LaneToggled(Message):
    """A lane is to show all its rows, or no longer."""

    lane: str


@dataclass(eq=False)
class PaneChosen(Message):
    """Another pane of the detail area is to be shown."""

    pane: str


class ZoomWanted(Message):
    """The timeline is to zoom to what is selected."""


@dataclass(eq=False)
class InspectorWanted(Message):
    """The inspector is to be shown or hidden, as there is room for it now."""

    _: KW_ONLY
    wanted: bool


class RedrawWanted(Message):
    """The size or the rows of a list changed, so that the same state looks different. One answer does for several."""

    def can_replace(self, message: Message) -> bool:
        """Whether another message asks for the same."""
        return isinstance(message, RedrawWanted)
