"""Lines of texts, each of which runs an action where it is clicked: the keys at the bottom, and the tabs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from tracekit.tui.keys import SHORTCUTS, key_signs
from tracekit.tui.text import cut, with_focus_sign
from tracekit.tui.theme import palette_of, style


class ActionLine(Widget):
    """Subclasses say what stands on it."""

    ALLOW_SELECT = False

    def parts(self) -> list[tuple[str, list[Segment]]]:
        """From the left, ids of actions and what stands for each."""
        raise NotImplementedError

    def ground(self) -> Style:
        """How the line looks beside them."""
        return self.rich_style

    def render_line(self, y: int) -> Strip:
        """The parts as one line, as wide as the widget."""
        del y
        line = Strip(segment for _, segments in self.parts() for segment in segments)
        return line.adjust_cell_length(self.size.width, self.ground())

    async def on_click(self, event: events.Click) -> None:
        """Run the action of what is under the mouse."""
        left = 0
        for action, segments in self.parts():
            left += Segment.get_line_length(segments)
            if event.x < left:
                await self.app.run_action(f"app.run('{action}')")
                return


class FooterKey(NamedTuple):
    """A key, what it does, and the action that a click runs."""

    sign: str
    words: str
    action: str


ALWAYS = tuple(
    FooterKey(key_signs(SHORTCUTS[name]).split("  ")[0], SHORTCUTS[name].title, name) for name in ("help", "quit")
)


def keys_that_fit(keys: Sequence[FooterKey], width: int) -> list[FooterKey]:
    """As many keys as fit, from the left, and those that are never left out."""
    fitting = list(keys)
    while fitting and sum(cell_len(key.sign) + cell_len(key.words) + 3 for key in (*fitting, *ALWAYS)) > width:
        fitting.pop()
    return [*fitting, *ALWAYS]


class KeysFooter(ActionLine):
    """One line. Textual's own footer makes widgets again whenever the focus moves, and loses the last keys first."""

    keys: reactive[tuple[FooterKey, ...]] = reactive(())
    """What keys do now, the most useful first."""

    def parts(self) -> list[tuple[str, list[Segment]]]:
        """As many of the keys as fit."""
        base = self.rich_style
        strong = base + Style(bold=True, color=self.app.theme_variables["accent"])
        return [
            (key.action, [Segment(f" {key.sign}", strong), Segment(f" {key.words} ", base)])
            for key in keys_that_fit(self.keys, self.size.width)
        ]


@dataclass(frozen=True, slots=True)
class Tab:
    """What stands on a tab."""

    pane: str
    title: str
    """Key and title."""
    badge: str
    short: str
    """Key and a shorter title, or the same."""


def tab_texts(tabs: Sequence[Tab], width: int) -> list[str]:
    """Texts of the tabs, with less around and in them where they would not fit: first the badges go, that of the first
    tab last, then one long title after the other from the right, and titles are cut at the very last."""
    full = [f"{tab.title} ({tab.badge})" if tab.badge else tab.title for tab in tabs]
    first = [*full[:1], *(tab.title for tab in tabs[1:])]
    shorter = [
        [tab.title if at < index else tab.short for at, tab in enumerate(tabs)] for index in range(len(tabs), -1, -1)
    ]
    cuts = [
        [cut(tab.short, size) for tab in tabs]
        for size in range(max((len(tab.short) for tab in tabs), default=3), 2, -1)
    ]
    ways = [
        [f" {text} " for text in full],
        *([f" {text}" for text in texts] for texts in (full, first, *shorter, *cuts)),
    ]
    return next((texts for texts in ways if sum(map(cell_len, texts)) <= width), ways[-1])


class TabLine(ActionLine):
    """Titles of the panes with their keys; the one on screen stands out."""

    tabs: reactive[Sequence[Tab]] = reactive(())
    current = reactive("")
    focused = reactive(False)

    def ground(self) -> Style:
        """As behind the tabs of panes that are not on screen."""
        return style(None, palette_of(self.app.current_theme).pinned)

    def parts(self) -> list[tuple[str, list[Segment]]]:
        """The titles of all tabs."""
        palette = palette_of(self.app.current_theme)
        looks = {False: style(palette.dim, palette.pinned), True: style(palette.text, palette.background, bold=True)}
        if self.focused:
            looks[True] = style(palette.accent, palette.background, bold=True, reverse=True)
        parts: list[tuple[str, list[Segment]]] = []
        for tab, text in zip(self.tabs, tab_texts(self.tabs, self.size.width), strict=True):
            title = [Segment(text, looks[tab.pane == self.current])]
            parts.append((f"pane_{tab.pane}", with_focus_sign(title, palette) if self.focused and not parts else title))
        return parts
