"""What an action of the terminal UI is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracekit.tui.app import ViewApp


class Scope(StrEnum):
    """Where the keys of an action work."""

    APP = "app"
    """Everywhere, except while text is typed."""
    TIMELINE = "timeline"
    """While the timeline has the focus."""
    LIST = "list"
    """While a list of the detail area has the focus."""


class Section(StrEnum):
    """Sections of the help screen and the palette, in order."""

    MOVE = "Move and zoom"
    SELECT = "Select and walk"
    FIND = "Search and bookmarks"
    DETAIL = "Detail"
    EXPORT = "Copy and save"
    COMPARE = "Two recordings"
    APP = "View and program"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that the user can do."""

    id: str
    keys: tuple[str, ...]
    """Keys as Textual names them; the first is the one that the footer shows."""
    title: str
    """Two or three words."""
    section: Section
    help: str
    """One sentence."""
    run: Callable[[ViewApp], None]
    scope: Scope = Scope.APP
    footer: bool = False
    early: bool = False
    """Whether it can be done before a recording is open."""


_KEY_SIGNS = {
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "question_mark": "?",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "escape": "esc",
    "slash": "/",
    "full_stop": ".",
    "comma": ",",
    "apostrophe": "'",
    "pageup": "page up",
    "pagedown": "page down",
}


def key_signs(action: Action) -> str:
    """Keys as they stand on a keyboard: `w + =`."""
    return "  ".join(_KEY_SIGNS.get(key, key) for key in action.keys)
