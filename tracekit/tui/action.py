"""What an action of the terminal UI is, and what it may ask of the app."""

from __future__ import annotations

import inspect
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tracekit.tui.keys import Shortcut, shortcut_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.geometry import Size
    from textual.screen import Screen
    from textual.widget import Widget

    from tracekit.lanes.lanes import Grouping
    from tracekit.tui.detail.pane import DetailPane
    from tracekit.tui.opening import Viewed
    from tracekit.tui.state import Area, EventRef, FindingRef, State
    from tracekit.tui.theme import Palette
    from tracekit.tui.timeline.lanes import Lanes
    from tracekit.tui.viewport import History, Viewport

Result = TypeVar("Result")


class ActionHost(Protocol):
    """The app, as actions know it."""

    @property
    def viewed(self) -> Viewed:
        """What the user asked to see."""
        ...

    @property
    def state(self) -> State:
        """What is shown."""
        ...

    @property
    def lanes(self) -> Lanes:
        """Lanes of the active recording."""
        ...

    @property
    def columns(self) -> int:
        """Columns of time on screen."""
        ...

    @property
    def palette(self) -> Palette:
        """Colors of the theme."""
        ...

    @property
    def size(self) -> Size:
        """Cells of the terminal."""
        ...

    @property
    def focused(self) -> Widget | None:
        """The widget that has the keys."""
        ...

    @property
    def focused_area(self) -> Area:
        """The part of the screen that has the keys."""
        ...

    @property
    def pane(self) -> DetailPane:
        """The pane that is on screen, or would be but for the inspector."""
        ...

    def change(self, **fields: Any) -> None:
        """Replace fields of the state, and show it."""
        ...

    def go(self, view: Viewport, *, step: bool = True) -> None:
        """Look at another part. Steps that follow one another count as one for going back."""
        ...

    def revisit(self, view: Viewport, history: History) -> None:
        """Look again where one was."""
        ...

    def switch_recording(self, index: int) -> None:
        """Be about another recording."""
        ...

    def select_event(self, ref: EventRef) -> None:
        """Select an event, put the cursor on its beginning, and show it."""
        ...

    def select_finding(self, ref: FindingRef) -> None:
        """Select a finding; with an interval of its evidence, the event that it was made from."""
        ...

    def regroup(self, grouping: Grouping) -> None:
        """Group the lanes in another way."""
        ...

    def say(self, text: str) -> None:
        """Put a sentence on the status line, until the next action."""
        ...

    def focus_pane(self) -> None:
        """Put the keys on the pane that is on screen."""
        ...

    def focus_inspector(self) -> None:
        """Put the keys on the inspector where it is in the place of the pane, else on the pane."""
        ...

    def focus_timeline(self, recording: int) -> None:
        """Put the keys on the timeline of a recording."""
        ...

    def focus_area(self, step: int) -> None:
        """Move the focus to the next pane, or with -1 to the previous one."""
        ...

    def ask(self, screen: Screen[Result], then: Callable[[Result | None], None]) -> None:
        """Show a screen over the others; what it gives goes to a function, None where the user gave up."""
        ...

    def in_background(self, work: Callable[[], Result], then: Callable[[Result], None]) -> None:
        """Do something long in a thread, then show what came of it."""
        ...

    def copy_to_clipboard(self, text: str) -> None:
        """Put a text on the clipboard of the terminal."""
        ...

    def switch_theme(self) -> None:
        """Switch between light and dark."""
        ...

    def show_help(self) -> None:
        """Show all keys."""
        ...

    def show_palette(self) -> None:
        """Let the user find an action by name."""
        ...

    def draw_anew(self) -> None:
        """Draw all of the screen, whatever is there."""
        ...

    def leave(self) -> None:
        """End; a read that is under way is given up."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(Shortcut):
    """One thing that the user can do."""

    help: str
    """One sentence."""
    run: Callable[[ActionHost], None]


def action(identity: str) -> Callable[[Callable[[ActionHost], None]], Action]:
    """Makes a function what the shortcut of that id does. The first paragraph of its docstring is the help."""

    def made(run: Callable[[ActionHost], None]) -> Action:
        sentence = inspect.cleandoc(run.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
        return Action(**asdict(shortcut_named(identity)), help=sentence, run=run)

    return made
