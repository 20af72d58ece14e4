"""How the lines of a timeline are drawn, and the titles in front of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment

from tracekit.report.formatting import shorten, visible
from tracekit.tui.text import pointer
from tracekit.tui.theme import style

if TYPE_CHECKING:
    from tracekit.tui.theme import Palette
    from tracekit.tui.timeline.lanes import TimelineLane
    from tracekit.tui.timeline.layout import ScreenLine


@dataclass(frozen=True, slots=True)
class TimelineStyle:
    """How the lines of one timeline are drawn."""

    palette: Palette
    gutter: int
    """Cells for titles."""
    columns: int
    """Columns of time."""
    monochrome: bool
    """Whether there are no colors."""
    leads: bool
    """Whether the recording that is drawn is the active one."""
    has_keys: bool = False
    """Whether keys move the cursor of the lanes."""

    def title(self, text: str, ground: str) -> Segment:
        """What stands in front of a line."""
        look = style(self.palette.text_on(ground, self.palette.dim), ground)
        return Segment(set_cell_size(shorten(text, self.gutter - 1), self.gutter), look)

    def line_title(self, text: str, line: ScreenLine, ground: str, hidden: str = "") -> Segment:
        """What stands in front of a line of the lanes, with the rows that are out of sight beyond it."""
        return self.title(self._title_with_hidden(text, line, hidden), ground)

    def lane_title(self, lane: TimelineLane, line: ScreenLine, *, current: bool, hidden: str = "") -> Segment:
        """The name of a lane, set off where it has the cursor. hidden: the sign that rows of it are joined."""
        text = self._title_with_hidden(f"{self.pointer(current)}{visible(lane.title)}", line, hidden)
        ground = self.palette.cursor if current else self.palette.pinned if lane.pinned else self.palette.gutter
        return Segment(set_cell_size(text, self.gutter), style(self.palette.text, ground, bold=current))

    def pointer(self, current: bool) -> str:
        """The sign of the lane with the cursor, a blank before others."""
        return pointer(keys=self.has_keys) if current else " "

    def _title_with_hidden(self, title: str, line: ScreenLine, hidden: str) -> str:
        """A title (after the sign of the lane) with, at the right end, the rows out of sight beyond the line.

        hidden: the sign at the very end, for rows of the lane that are joined.
        """
        room = self.gutter - 1
        tail = beyond(line, " {} {} more") + hidden
        if cell_len(title) + cell_len(tail) > room:
            tail = beyond(line, " {}{}") + hidden
        left = max(room - cell_len(tail), 1)
        return set_cell_size(title[:1] + shorten(title[1:], left - 1), left) + tail


def beyond(line: ScreenLine, words: str) -> str:
    """How many rows are out of sight above and below a line; `words` has places for an arrow and a number."""
    return "".join(words.format(sign, count) for sign, count in (("▴", line.above), ("▾", line.below)) if count)
