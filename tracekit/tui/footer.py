"""The keys at the bottom of a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Footer

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.screen import Screen

_Keys = list[tuple[str, str, bool]]


class KeysFooter(Footer):
    """Textual's, which makes its widgets again whenever the focus moves; here only where other keys are to be shown."""

    _made_of: _Keys | None = None

    def compose(self) -> ComposeResult:
        """A widget for each key."""
        if self._bindings_ready:
            self._made_of = self._keys()
        yield from super().compose()

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Answer the signal that other keys may be active."""
        if screen is not self.screen or self._keys() != self._made_of:
            super().bindings_changed(screen)

    def _keys(self) -> _Keys:
        """What is shown: key, description, and whether it can be used."""
        active = self.screen.active_bindings.values()
        return [(each.binding.key, each.binding.description, each.enabled) for each in active if each.binding.show]
