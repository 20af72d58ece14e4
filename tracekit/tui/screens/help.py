"""All keys, from the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.console import Group
from rich.text import Text
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from tracekit.tui.action import Scope, Section, key_signs
from tracekit.tui.actions import ACTIONS
from tracekit.tui.categories import FILLINGS, LOOKS
from tracekit.tui.text import hanging
from tracekit.tui.theme import PALETTES, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tracekit.tui.action import Action
    from tracekit.tui.categories import Category
    from tracekit.tui.theme import Palette

MOUSE: tuple[tuple[str, str], ...] = (
    ("click", "Select the event under the pointer."),
    ("drag", "Move the view; along the overview, go there."),
    ("shift + drag", "Select a range; so does a drag along the ruler. Ends snap to edges of events."),
    ("wheel", "Zoom at the pointer; with shift, pan; over the titles, scroll the lanes."),
    ("double click", "On the title of a lane, show all its rows; on a row of a list, as enter."),
)
_KEYS = 16
"""Cells for keys."""
_WHERE = {Scope.TIMELINE: " (timeline)", Scope.LIST: " (lists)", Scope.APP: ""}


def help_text(palette: Palette, actions: Sequence[Action] = ACTIONS) -> Group:
    """Keys, titles and sentences by section, the mouse, and what the colours on the lanes mean."""
    blocks: list[RenderableType] = []
    for section in Section:
        blocks += [Text(section, "bold"), hanging(map(_entry, (a for a in actions if a.section is section)), _KEYS), ""]
    mouse = ((Text(f"  {what}"), Text(does, "dim")) for what, does in MOUSE)
    blocks += [Text("Mouse", "bold"), hanging(mouse, _KEYS), ""]
    looks = ((_swatch(category, palette), Text(look.title)) for category, look in LOOKS.items())
    return Group(*blocks, Text("On the lanes", "bold"), hanging(looks, _KEYS))


def _swatch(category: Category, palette: Palette) -> Text:
    """The colour and the letter of a category."""
    bar = f" {LOOKS[category].letter} {FILLINGS.get(category, ' ') * 3}"
    return Text.assemble("  ", (bar, style(palette.ink, palette.categories[category])))


def _entry(action: Action) -> tuple[Text, Text]:
    title = f"{action.title}{_WHERE[action.scope]}. "
    return Text(f"  {key_signs(action)}", "bold"), Text.assemble(title, (action.help, "dim"))


class HelpScreen(ModalScreen[None]):
    """The keys, over what was on screen."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,question_mark,f1", "dismiss", "Close")]

    def compose(self) -> ComposeResult:
        """Text that scrolls."""
        with VerticalScroll(id="help") as box:
            box.border_title = "Keys"
            box.border_subtitle = "esc closes"
            yield Static(help_text(PALETTES[self.app.current_theme.dark]))
