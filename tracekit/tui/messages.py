"""What widgets post to the app. Widgets never change the state; the app does, and shows it again to all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from tracekit.tui.state import EventFilter, EventRef, FindingRef, RowRef, Selection, Sort
    from tracekit.tui.viewport import Span, Viewport


class OfRecording(Message):
    """Means something in one recording alone: `recording` is its index, None the active one. Another one may be active
    by the time that it arrives."""

    recording: int | None = None


class EventSelected(OfRecording):
    """A row of a frame was chosen. `reveal`: whether the timeline is to move to it."""

    def __init__(self, ref: EventRef, *, reveal: bool = True) -> None:
        super().__init__()
        self.ref = ref
        self.reveal = reveal


class PredictionSelected(OfRecording):
    """A prediction was chosen as a whole; `index` counts the rows of `Trace.activity`."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index


class FindingSelected(OfRecording):
    """A check of the report was chosen, or one interval of its evidence."""

    def __init__(self, ref: FindingRef) -> None:
        super().__init__()
        self.ref = ref


class ModelSelected(OfRecording):
    """A model of the report was chosen."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class RowSelected(OfRecording):
    """A row of the aggregation was chosen."""

    def __init__(self, ref: RowRef) -> None:
        super().__init__()
        self.ref = ref


class FirstRowListed(OfRecording):
    """What the first row of a list stands for; None: it has none, or none that could be selected."""

    def __init__(self, pane: str, selection: Selection | None) -> None:
        super().__init__()
        self.pane = pane
        self.selection = selection


class Sorted(Message):
    """The list of a pane is to be sorted."""

    def __init__(self, pane: str, sort: Sort) -> None:
        super().__init__()
        self.pane = pane
        self.sort = sort


class EventsWanted(Message):
    """The events that pass a filter are to be listed."""

    def __init__(self, chosen: EventFilter) -> None:
        super().__init__()
        self.chosen = chosen


class CheckToggled(OfRecording):
    """The evidence of a check is to be listed, or no longer; `check` is its index in the report."""

    def __init__(self, check: int) -> None:
        super().__init__()
        self.check = check


class RangeSelected(Message):
    """A range of time was chosen, in times of the recording whose index is `session`."""

    def __init__(self, span: Span, session: int) -> None:
        super().__init__()
        self.span = span
        self.session = session


class ViewMoved(Message):
    """Another part is to be seen, in times of the recording whose index is `session`."""

    def __init__(self, view: Viewport, session: int) -> None:
        super().__init__()
        self.view = view
        self.session = session


class CursorMoved(Message):
    """The cursor was put on a time of a lane of one of the recordings."""

    def __init__(self, time_ns: int, lane: str, session: int) -> None:
        super().__init__()
        self.time_ns = time_ns
        self.lane = lane
        self.session = session


class RecordingChosen(Message):
    """One of two recordings got the keys; `session` is its index."""

    def __init__(self, session: int) -> None:
        super().__init__()
        self.session = session


class LaneToggled(Message):
    """A lane is to show all its rows, or no longer."""

    def __init__(self, lane: str) -> None:
        super().__init__()
        self.lane = lane


class PaneChosen(Message):
    """Another pane of the detail area is to be shown."""

    def __init__(self, pane: str) -> None:
        super().__init__()
        self.pane = pane


class ZoomWanted(Message):
    """The timeline is to zoom to what is selected."""


class InspectorWanted(Message):
    """The inspector is to be shown or hidden, as there is room for it now."""

    def __init__(self, *, wanted: bool) -> None:
        super().__init__()
        self.wanted = wanted


class RedrawWanted(Message):
    """The size or the rows of a list changed, so that the same state looks different. One answer does for several."""

    def can_replace(self, message: Message) -> bool:
        """Whether another message asks for the same."""
        return isinstance(message, RedrawWanted)
