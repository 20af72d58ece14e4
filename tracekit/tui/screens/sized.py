"""Screens as large as the terminal is now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from textual.screen import Screen, ScreenResultType

if TYPE_CHECKING:
    from textual.geometry import Size


class SizedScreen(Screen[ScreenResultType], Generic[ScreenResultType]):
    """Is laid out for no size but that of the terminal.

    Textual's screens post to themselves each size that they were laid out for. Of two that come at once, each would
    bring back the other, without end, or the first one would stay.
    """

    def _screen_resized(self, size: Size) -> None:
        del size
        super()._screen_resized(self.app.size)
