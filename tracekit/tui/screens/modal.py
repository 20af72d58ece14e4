"""Screens over the main one."""

from __future__ import annotations

from typing import Generic

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType

from tracekit.tui.screens.sized import SizedScreen


class Modal(SizedScreen[ScreenResultType], ModalScreen[ScreenResultType], Generic[ScreenResultType]):
    """Closes once: keys and clicks that came before the screen was gone would close the one below it too."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close with a result, unless that was done."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()
