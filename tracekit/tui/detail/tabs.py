"""The tabs of the detail area, on one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.reactive import reactive

from tracekit.tui.action_line import ActionLine
from tracekit.tui.text import cut, with_focus_sign
from tracekit.tui.theme import palette_of, style

if TYPE_CHECKING:
    from rich.style import Style


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
    """The pane on screen."""
    focused = reactive(False)
    """Whether the keys are on it."""

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
