"""While a recording is read, and when it cannot be opened."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from tracekit.recording import Progress
from tracekit.report.formatting import visible
from tracekit.tui.action_line import KeysFooter
from tracekit.tui.screens.modal import SizedScreen
from tracekit.tui.text import cut

_BAR = 40
"""Cells of the bar."""
_SHARE = 6
"""Cells of `  100%`."""


def progress_text(progress: Progress, width: int) -> str:
    """A bar, or the size read where the whole is not known, and below it the file, in `width` cells."""
    if progress.total_bytes:
        bar = max(min(_BAR, width - _SHARE), 0)
        filled = progress.done_bytes * bar // progress.total_bytes
        share = progress.done_bytes * 100 // progress.total_bytes
        amount = f"{'█' * filled}{'░' * (bar - filled)}  {share}%"
    else:
        amount = f"{progress.done_bytes / 1e6:,.1f} MB read"
    return f"{amount}\n\n{cut(visible(progress.source), width)}"


class OpeningScreen(SizedScreen[None], inherit_bindings=False):
    """How far reading has come, and how to give up.

    Without Textual's progress bar: it moves fifteen times a second by itself, in the time that reading needs.
    """

    def __init__(self, names: str) -> None:
        super().__init__()
        self._names = names

    def compose(self) -> ComposeResult:
        """A bar in the middle."""
        with Vertical(id="opening"):
            yield Static(visible(f"Opening {self._names}"), markup=False)
            yield Static("", id="progress", markup=False)
            yield Static("q cancels", classes="dim")

    def show(self, progress: Progress) -> None:
        """Show how far it has come."""
        line = self.query_one("#progress", Static)
        # Its size never changes, so that nothing is laid out again while all else waits.
        line.update(progress_text(progress, line.content_size.width), layout=False)


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
