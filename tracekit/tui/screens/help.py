"""All keys, from the table of actions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, Static

from tracekit.lanes.categories import FILLINGS, Category
from tracekit.tui.keys import SHORTCUTS, Action, Scope, Section, key_signs
from tracekit.tui.screens.small import Modal
from tracekit.tui.text import hanging
from tracekit.tui.theme import Palette, palette_of, style
from tracekit.tui.timeline.glyphs import LITTLE

MOUSE: tuple[tuple[str, str], ...] = (
    ("click", "Select the event under the pointer."),
    ("drag", "Pan; on the overview, go to that time."),
    ("shift + drag", "Select a range, as along the ruler; ends snap to events."),
    ("wheel", "Zoom at the pointer; with shift, pan; over titles, scroll."),
    ("double click", "On a title, show all rows; on a list row, enter."),
)
SIGNS: tuple[tuple[str, str], ...] = (
    ("underlined", "evidence of a finding, or a prediction with what it waited for"),
    ("▼", "cursor, on the time axis"),
    ("◆", "start of the range that is being selected"),
    ("◇", "bookmark"),
    ("▸ ▹", "row and lane with the cursor; filled where the keyboard focus is, and for the active recording of two"),
    ("+", "lane with more rows than shown; its last row combines the rest"),
    ("▾ ▴", "how many rows are hidden below and above"),
    ("╱╱╱", "before the start or after the end of the shorter recording"),
)
"""What stands on and around the lanes, with colors and without."""
COLOR_SIGNS = (("▁ ▄ █", "events narrower than two columns: share of the column in which any is running"),)
LETTER_SIGNS: tuple[tuple[str, str], ...] = (
    ("[LLLL]", "one event; L or LL at one or two columns, [L when it touches the previous bar"),
    ("L", "events narrower than a column, running for a third of it or more"),
    (LITTLE, "the same, for less than a third of the column"),
    ("[====]", "range, on the time axis"),
    ("[ ]", "visible part, on the overview"),
    ("reversed", "selected event"),
)
_SCROLLING = {"up": "up", "down": "down", "pageup": "page_up", "pagedown": "page_down"}
_KEYS = 16
"""Cells for keys."""
_WHERE = {Scope.TIMELINE: " (timeline)", Scope.LIST: " (lists)", Scope.APP: ""}


def help_text(palette: Palette, actions: Sequence[Action], wanted: str = "", *, monochrome: bool = False) -> Group:
    """Keys and what they do by section, the mouse, and what colors, letters and signs on the lanes mean.

    wanted: a key, or words; only what has it is listed then. monochrome: whether there are no colors.
    """
    sections = [
        (
            section,
            [
                (key_signs(action), f"{action.help.removesuffix('.')}{_WHERE[action.scope]}.", action.title)
                for action in actions
                if action.section is section
            ],
        )
        for section in Section
    ]
    blocks: list[RenderableType] = []
    for title, lines in (*sections, ("Mouse", [(what, does, "") for what, does in MOUSE])):
        found = [
            (Text(f"  {signs}", "bold"), Text(does)) for signs, does, name in lines if _has(wanted, signs, name, does)
        ]
        blocks += [Text(title, "bold"), hanging(found, _KEYS), ""] if found else []
    if wanted:
        return Group(*(blocks or [Text(f"No key for “{wanted}”.", "dim")]))
    return Group(*blocks, Text("On the lanes", "bold"), legend_text(palette, Category, monochrome=monochrome))


def _has(wanted: str, signs: str, *words: str) -> bool:
    """Whether a line of the help is about a key, or has all the words, which stand for their beginnings too."""
    text = " ".join((signs, *words)).casefold()
    return wanted in signs.split() or (len(wanted) != 1 and all(word in text for word in wanted.casefold().split()))


def legend_text(palette: Palette, categories: Iterable[Category], *, monochrome: bool) -> Group:
    """What colors, letters and signs on the lanes mean."""
    looks = []
    for category in categories:
        filling = " " if monochrome else FILLINGS.get(category, " ")
        bar = f" {category.letter} {filling * 3}", style(palette.ink_on(category), palette.categories[category])
        looks.append((Text.assemble("  ", bar), Text(category.title)))
    if not monochrome:
        looks.append((Text.assemble("  ", (" " * 5, style(None, palette.selected))), Text("selected event")))
    signs = (
        (Text(f"  {sign}"), Text(meaning)) for sign, meaning in (*(LETTER_SIGNS if monochrome else COLOR_SIGNS), *SIGNS)
    )
    return Group(hanging(looks, _KEYS), "", hanging(signs, _KEYS))


class HelpScreen(Modal[None]):
    """The keys, over what was on screen; what is typed searches them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "dismiss", "Close", priority=True),
        *(Binding(key, f"scroll('{way}')", priority=True) for key, way in _SCROLLING.items()),
    ]

    def __init__(self, actions: Sequence[Action], first_line: float = 0) -> None:
        super().__init__()
        self._actions, self._first_line = actions, first_line

    @property
    def first_line(self) -> float:
        """Line that the text is scrolled to."""
        return self.query_one(VerticalScroll).scroll_y

    def on_mount(self) -> None:
        """Scroll there, once there is a text to scroll."""
        box = self.query_one(VerticalScroll)
        box.call_after_refresh(box.scroll_to, y=self._first_line, animate=False)

    def compose(self) -> ComposeResult:
        """A line to type into, and the keys as one text that scrolls."""
        with Vertical(id="help") as box:
            box.border_title = "Keys"
            box.border_subtitle = "esc closes"
            yield Input(placeholder="Type a key or a word to search", compact=True)
            with VerticalScroll(can_focus=False):
                yield Static(self._text(""))

    def _text(self, wanted: str) -> Group:
        return help_text(palette_of(self.app.current_theme), self._actions, wanted, monochrome=self.app.no_color)

    def on_input_changed(self, message: Input.Changed) -> None:
        """List what has the text; the key that opened the help closes it."""
        if "?" in message.value:
            self.dismiss()
        self.query_one(Static).update(self._text(message.value.strip()))

    def action_scroll(self, way: str) -> None:
        """Scroll the keys: `up`, `down`, `page_up`, `page_down`."""
        getattr(self.query_one(VerticalScroll), f"scroll_{way}")(animate=False)


class LegendScreen(Modal[None]):
    """What colors and signs mean, below the lanes, which stay in sight."""

    BINDINGS: ClassVar[list[BindingType]] = [(",".join(("escape", "q", *SHORTCUTS["legend"].keys)), "dismiss", "Close")]

    def __init__(self, categories: Sequence[Category]) -> None:
        super().__init__()
        self._categories = categories

    def compose(self) -> ComposeResult:
        """One text in a box that scrolls."""
        with VerticalScroll(id="legend") as box:
            box.border_title, box.border_subtitle = "On these lanes", "esc closes"
            palette = palette_of(self.app.current_theme)
            yield Static(legend_text(palette, self._categories, monochrome=self.app.no_color))
