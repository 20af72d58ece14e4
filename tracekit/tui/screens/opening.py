"""While a recording is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import ProgressBar, Static

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tracekit.recording import Progress


class OpeningScreen(Screen[None], inherit_bindings=False):
    """How far reading has come, and how to give up."""

    def __init__(self, names: str) -> None:
        super().__init__()
        self._names = names

    def compose(self) -> ComposeResult:
        """A bar in the middle."""
        with Vertical(id="opening"):
            yield Static(f"Opening {self._names}", markup=False)
            yield ProgressBar(show_eta=False)
            yield Static("", id="opening-file", markup=False)
            yield Static("q gives up", classes="dim")

    def tell(self, progress: Progress) -> None:
        """Show how far it has come."""
        self.query_one(ProgressBar).update(total=progress.total_bytes, progress=progress.done_bytes)
        self.query_one("#opening-file", Static).update(progress.source)
