"""The tabs of the detail area, on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from tracekit.tui.messages import PaneChosen
from tracekit.tui.theme import PALETTES, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events


class TabLine(Widget):
    """Titles of the panes with their keys; the one on screen stands out."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self._tabs: Sequence[tuple[str, str]] = ()
        self._current = ""

    def show(self, tabs: Sequence[tuple[str, str]], current: str) -> None:
        """Draw tabs: pane and text."""
        if (tabs, current) != (self._tabs, self._current):
            self._tabs, self._current = tabs, current
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line."""
        del y
        palette = PALETTES[self.app.current_theme.dark]
        segments = []
        for pane, text in self._tabs:
            current = pane == self._current
            look = style(
                palette.text if current else palette.dim,
                palette.background if current else palette.pinned,
                bold=current,
            )
            segments.append(Segment(f" {text} ", look))
        rest = Segment(
            " " * max(self.size.width - sum(cell_len(s.text) for s in segments), 0), style(None, palette.pinned)
        )
        return Strip([*segments, rest]).adjust_cell_length(self.size.width)

    def on_click(self, event: events.Click) -> None:
        """Choose a pane."""
        left = 0
        for pane, text in self._tabs:
            left += cell_len(text) + 2
            if event.x < left:
                self.post_message(PaneChosen(pane))
                return
