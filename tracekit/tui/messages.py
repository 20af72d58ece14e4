"""What widgets post to the app, which alone changes the state and shows it to all of them; and work in a thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeVar

from textual.dom import DOMNode
from textual.message import Message
from textual.worker import get_current_worker

from tracekit.tui.state import Selection
from tracekit.tui.viewport import Span, Viewport


class OfRecording(Message):
    """Is about the recording of this index, None: the active one. Another may be active by the time that it arrives."""

    recording: int | None = None


@dataclass(eq=False)
class Selected(OfRecording):
    """Something was chosen. `reveal`: whether the timeline is to move to it."""

    selection: Selection
    _: KW_ONLY
    reveal: bool = True


@dataclass(eq=False)
class FirstRowListed(OfRecording):
    """What the first row of a list stands for; None: it has none, or none that could be selected."""

    pane: str
    selection: Selection | None


@dataclass(eq=False)
class CheckToggled(OfRecording):
    """The evidence of a check is to be listed, or no longer; `check` is its index in the report."""

    check: int


class ChangeWanted(Message):
    """Fields of the state are to have other values; with another pane, the keys are to be on it."""

    def __init__(self, **fields: Any) -> None:
        super().__init__()
        self.fields = fields


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


class ZoomWanted(Message):
    """The timeline is to zoom to what is selected."""


class RedrawWanted(Message):
    """The size or the rows of a list changed, so that the same state looks different. One answer does for several."""

    def can_replace(self, message: Message) -> bool:
        """Whether another message asks for the same."""
        return isinstance(message, RedrawWanted)


Result = TypeVar("Result")


def in_background(node: DOMNode, work: Callable[[], Result], then: Callable[[Result], None]) -> None:
    """Do something long in a thread, then show what came of it. `work` touches no widget."""

    def run() -> None:
        worker = get_current_worker()
        result = work()

        def show() -> None:
            # The app may have been left meanwhile, and its screens be gone.
            if not worker.is_cancelled:
                then(result)

        if not worker.is_cancelled:
            node.app.call_from_thread(show)

    node.run_worker(run, thread=True)
