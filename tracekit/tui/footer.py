"""The keys at the bottom of a screen: what they do here."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from tracekit.tui.keys import SHORTCUTS, key_signs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events


class FooterKey(NamedTuple):
    """A key, what it does, and the action that a click runs."""

    sign: str
    words: str
    action: str


ALWAYS = tuple(
    FooterKey(key_signs(shortcut).split("  ")[0], shortcut.title, shortcut.id)
    for shortcut in SHORTCUTS.values()
    if shortcut.footer and shortcut.early
)
"""What is never left out."""


def keys_that_fit(keys: Sequence[FooterKey], width: int) -> list[FooterKey]:
    """As many keys as fit, from the left, and those that are never left out."""
    shown = list(keys)
    while shown and sum(map(_size, (*shown, *ALWAYS))) > width:
        shown.pop()
    return [*shown, *ALWAYS]


def _size(key: FooterKey) -> int:
    return cell_len(key.sign) + cell_len(key.words) + 3


class KeysFooter(Widget):
    """One line. Textual's own footer makes widgets again whenever the focus moves, and loses the last keys first."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self._keys: tuple[FooterKey, ...] = ()

    def show(self, keys: Sequence[FooterKey]) -> None:
        """Show what keys do now, the most useful first."""
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """As many of the keys as fit, in one line."""
        del y
        base = self.rich_style
        strong = base + Style(bold=True, color=self.app.theme_variables["accent"])
        segments = []
        for key in keys_that_fit(self._keys, self.size.width):
            segments += [Segment(f" {key.sign}", strong), Segment(f" {key.words} ", base)]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    async def on_click(self, event: events.Click) -> None:
        """Do what the key does."""
        left = 0
        for key in keys_that_fit(self._keys, self.size.width):
            left += _size(key)
            if event.x < left:
                await self.app.run_action(f"app.run('{key.action}')")
                return
