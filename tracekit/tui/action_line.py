"""A line of texts, each of which runs an action where it is clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from rich.style import Style
    from textual import events


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
