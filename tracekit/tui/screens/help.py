"""All keys, from the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from tracekit.tui.action import Group, Scope, key_signs
from tracekit.tui.actions import ACTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tracekit.tui.action import Action

MOUSE: tuple[tuple[str, str], ...] = (
    ("click", "Select the event under the pointer."),
    ("drag", "Move the view; along the overview, go there."),
    ("shift + drag", "Select a range; so does a drag along the ruler. Ends snap to edges of events."),
    ("wheel", "Zoom at the pointer; with shift, pan; over the titles, scroll the lanes."),
    ("double click", "On the title of a lane, show all its rows; on a row of a list, zoom to it."),
)
_WHERE = {Scope.TIMELINE: " (timeline)", Scope.LIST: " (lists)", Scope.APP: ""}


def help_text(actions: Sequence[Action] = ACTIONS) -> Text:
    """Keys, titles and sentences by group."""
    text = Text()
    for group in Group:
        text.append(f"{group}\n", "bold")
        for action in actions:
            if action.group is group:
                text.append(f"  {key_signs(action):<14}", "bold")
                text.append(f"{action.title}{_WHERE[action.scope]}. ")
                text.append(f"{action.help}\n", "dim")
        text.append("\n")
    text.append("Mouse\n", "bold")
    for what, does in MOUSE:
        text.append(f"  {what:<14}", "bold")
        text.append(f"{does}\n", "dim")
    return text


class HelpScreen(ModalScreen[None]):
    """The keys, over what was on screen."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,question_mark,f1", "dismiss", "Close")]

    def compose(self) -> ComposeResult:
        """Text that scrolls."""
        with VerticalScroll(id="help") as box:
            box.border_title = "Keys"
            box.border_subtitle = "esc closes"
            yield Static(help_text())
