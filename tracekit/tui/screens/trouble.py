"""When a recording cannot be opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.widgets import Static

from tracekit.report.formatting import visible
from tracekit.tui.footer import KeysFooter
from tracekit.tui.screens.sized import SizedScreen

if TYPE_CHECKING:
    from textual.app import ComposeResult


class TroubleScreen(SizedScreen[None], inherit_bindings=False):
    """What is wrong and what to do: the sentence of the error says both."""

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self._sentence = sentence

    def compose(self) -> ComposeResult:
        """The sentence in the middle."""
        with Vertical(id="trouble"):
            yield Static("Can't open this recording", classes="title")
            yield Static(visible(self._sentence), markup=False)
        yield KeysFooter()
