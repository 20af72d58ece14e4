"""What a pane of the detail area is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.visual import VisualType
    from textual.widget import Widget

    from tracekit.tui.state import State


class DetailPane(Vertical):
    """One way of looking at the recording below the timeline.

    A pane draws what `show` gives it and keeps nothing that another part of the screen would have to know. What the
    user chooses in it goes out as a message of `tracekit.tui.messages`; the app changes the state and shows it again.
    """

    PANE: ClassVar[str]
    """Id: value of `State.pane`, and of the action `pane_<id>`."""
    TITLE: ClassVar[str]
    """On its tab."""
    SHORT: ClassVar[str] = ""
    """What stands there where the tabs would not fit otherwise; empty for the title."""
    ENTER: ClassVar[str] = ""
    """What enter does, in a word or two."""
    RECORDINGS: ClassVar[int] = 1
    """How many recordings it needs."""

    def __init__(self) -> None:
        super().__init__(id=f"pane-{self.PANE}")

    def show(self, state: State) -> None:
        """Draw a state. Called when the state changed and this pane is the one on screen, and when it comes on screen.

        It must be cheap where nothing changed that the pane shows: compare by identity what it was made from.
        """
        raise NotImplementedError

    def focus_target(self) -> Widget:
        """The widget that takes the keys when the pane is chosen."""
        raise NotImplementedError

    def enter_words(self) -> str:
        """What enter does in this pane now; nothing where it does nothing."""
        return self.ENTER

    def badge(self, state: State) -> str:
        """A few characters behind the title, for example a count."""
        del state
        return ""


class TextPane(DetailPane):
    """A pane that is one text, which can have the focus to be scrolled."""

    WAITING: ClassVar[str] = "Running checks…"
    """What stands there before the first text."""

    def __init__(self) -> None:
        super().__init__()
        self._inputs: object = None

    def compose(self) -> ComposeResult:
        """The text in a container that scrolls."""
        with VerticalScroll(can_focus=True):
            yield Static(self.WAITING)

    def focus_target(self) -> Widget:
        """The container that scrolls."""
        return self.query_one(VerticalScroll)

    def inputs(self, state: State) -> tuple[object, ...] | None:
        """What the text depends on; None while it cannot be written yet."""
        raise NotImplementedError

    def text(self, state: State) -> VisualType:
        """The text, once there is what it is made from."""
        raise NotImplementedError

    def show(self, state: State) -> None:
        """Write the text again where something that it is made from changed."""
        inputs = self.inputs(state)
        if inputs is not None and inputs != self._inputs:
            self._inputs = inputs
            self.query_one(Static).update(self.text(state))
            self.focus_target().scroll_home(animate=False)
