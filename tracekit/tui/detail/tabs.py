"""The tabs of the detail area, on one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from tracekit.tui.messages import PaneChosen
from tracekit.tui.text import cut, with_focus_sign
from tracekit.tui.theme import palette_of, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events


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


class TabLine(Widget):
    """Titles of the panes with their keys; the one on screen stands out."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self._tabs: Sequence[Tab] = ()
        self._current = ""
        self._focused = False

    def show(self, tabs: Sequence[Tab], current: str) -> None:
        """Draw these tabs, with that of the pane `current` marked."""
        if (tabs, current) != (self._tabs, self._current):
            self._tabs, self._current = tabs, current
            self.refresh()

    def set_focused(self, *, focused: bool) -> None:
        """Whether the keys are on the pane below."""
        if focused != self._focused:
            self._focused = focused
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The titles of all tabs in one line, as wide as the screen."""
        del y
        palette = palette_of(self.app.current_theme)
        segments = []
        for tab, text in zip(self._tabs, tab_texts(self._tabs, self.size.width), strict=True):
            current = tab.pane == self._current
            look = style(
                palette.text if current else palette.dim,
                palette.background if current else palette.pinned,
                bold=current,
            )
            if current and self._focused:
                look = style(palette.accent, palette.background, bold=True, reverse=True)
            segments.append(Segment(text, look))
        rest = Segment(
            " " * max(self.size.width - sum(cell_len(s.text) for s in segments), 0), style(None, palette.pinned)
        )
        line = with_focus_sign([*segments, rest], palette) if self._focused else [*segments, rest]
        return Strip(line).adjust_cell_length(self.size.width)

    def on_click(self, event: events.Click) -> None:
        """Choose the pane whose tab is under the mouse."""
        left = 0
        for tab, text in zip(self._tabs, tab_texts(self._tabs, self.size.width), strict=True):
            left += cell_len(text)
            if event.x < left:
                self.post_message(PaneChosen(tab.pane))
                return
