"""The keys at the bottom of a screen: what they do here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.reactive import reactive

from tracekit.tui.action_line import ActionLine
from tracekit.tui.keys import SHORTCUTS, key_signs


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
    while shown and sum(cell_len(key.sign) + cell_len(key.words) + 3 for key in (*shown, *ALWAYS)) > width:
        shown.pop()
    return [*shown, *ALWAYS]


class KeysFooter(ActionLine):
    """One line. Textual's own footer makes widgets again whenever the focus moves, and loses the last keys first."""

    keys: reactive[tuple[FooterKey, ...]] = reactive(())
    """What keys do now, the most useful first."""

    def parts(self) -> list[tuple[str, list[Segment]]]:
        """As many of the keys as fit."""
        base = self.rich_style
        strong = base + Style(bold=True, color=self.app.theme_variables["accent"])
        return [
            (key.action, [Segment(f" {key.sign}", strong), Segment(f" {key.words} ", base)])
            for key in keys_that_fit(self.keys, self.size.width)
        ]
