"""Screens as large as the terminal is now, alone and over the main one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, Screen, ScreenResultType

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


class Modal(SizedScreen[ScreenResultType], ModalScreen[ScreenResultType], Generic[ScreenResultType]):
    """Closes once: keys and clicks that came before the screen was gone would close the one below it too."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close with a result, unless that was done."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()
