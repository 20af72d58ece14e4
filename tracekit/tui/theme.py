"""Colors, dark and light, and which is kept for the next run.

Categories have the colors of pages; widgets have those of Okabe and Ito, made for people with any color vision.
Terminals with 16 colors choose how each of them looks: the tests use those of VGA, which Rich counts with, and those of
xterm. Rich would send them the nearest of the 16, so that two of the other palettes' colors could become one.

Source: M. Okabe, K. Ito, "Color Universal Design", https://jfly.uni-koeln.de/color/.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rich._palettes import STANDARD_PALETTE
from rich.style import Style
from textual.theme import Theme

from tracekit.lanes.categories import Category
from tracekit.named_files import read_file
from tracekit.render.blocks import Role
from tracekit.render.html import page_colors

SIXTEEN_COLORS: tuple[str, ...] = tuple(STANDARD_PALETTE[number].hex for number in range(16))
"""By number, as in the sequences of ECMA-48: the dark ones from 0, the bright ones from 8."""
BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, LIGHT_GRAY = SIXTEEN_COLORS[:8]
GRAY, BRIGHT_RED, BRIGHT_GREEN, BRIGHT_YELLOW, BRIGHT_BLUE, BRIGHT_MAGENTA, BRIGHT_CYAN, WHITE = SIXTEEN_COLORS[8:]
_BRIGHT_ENOUGH_FOR_BLACK = (GREEN, YELLOW, CYAN, BRIGHT_RED, BRIGHT_MAGENTA)
_TOO_ALIKE = {(LIGHT_GRAY, GRAY), (GRAY, LIGHT_GRAY), (RED, LIGHT_GRAY)}
"""Text and its ground, with a contrast of about 3."""


@dataclass(frozen=True, slots=True)
class Palette:
    """Colors that a theme gives to what Textual knows nothing of."""

    text: str
    dim: str
    background: str
    gutter: str
    """Behind titles of lanes, and the ruler."""
    pinned: str
    """Behind titles of pinned lanes."""
    cursor: str
    """Behind the column and the lane that have the cursor."""
    range: str
    """Behind the columns of the selected range."""
    finding: str
    """Behind intervals that are evidence of a finding."""
    accent: str
    """Keys, the pane on screen, and what has the focus."""
    severity: str
    """Severities and evidence: no other thing is orange."""
    better: str
    """Text: a number that changed for the better."""
    worse: str
    code: str
    """Text: source code."""
    ink: str
    """Text on a bar, but for those in `other_inks`."""
    selected: str
    """Bar of the selected event."""
    selected_ink: str
    categories: Mapping[Category, str]
    other_inks: Mapping[Category, str]

    def ink_on(self, category: Category) -> str:
        """The color of text on a bar of a category."""
        return self.other_inks.get(category, self.ink)

    def of(self, role: Role) -> str | None:
        """The color of a piece of text; None for that of plain text."""
        severities = dict.fromkeys((Role.CRITICAL, Role.HIGH, Role.MEDIUM), self.severity)
        changes = {Role.GOOD: self.better, Role.BAD: self.worse}
        quiet = dict.fromkeys((Role.DIM, Role.LOW, Role.OPEN), self.dim)
        return {Role.STRONG: self.accent, **quiet, **severities, **changes}.get(role)

    def text_on(self, ground: str, color: str | None) -> str:
        """The color of text, but that of plain text (as for None) where a terminal with 16 colors would hide it."""
        return self.text if color is None or (color, ground) in _TOO_ALIKE else color


_SIXTEEN: dict[Category, tuple[str, str]] = {
    Category.OTHER: (LIGHT_GRAY, BRIGHT_MAGENTA),
    Category.LOAD: (BRIGHT_RED, RED),
    Category.LOAD_CACHED: (YELLOW, YELLOW),
    Category.COMPILE: (BRIGHT_GREEN, GREEN),
    Category.PREDICTION: (BRIGHT_CYAN, BRIGHT_BLUE),
    Category.VALIDATION: (BRIGHT_BLUE, BLUE),
    Category.INPUT_COPY: (BRIGHT_YELLOW, YELLOW),
    Category.CAST: (BRIGHT_GREEN, BRIGHT_RED),
    Category.OUTPUT: (CYAN, GREEN),
    Category.ANE_COPY: (BRIGHT_MAGENTA, MAGENTA),
    Category.CPU: (BRIGHT_CYAN, BRIGHT_BLUE),
    Category.GPU: (GREEN, GREEN),
    Category.ANE: (BRIGHT_MAGENTA, MAGENTA),
    Category.MPS: (BRIGHT_YELLOW, YELLOW),
    Category.APP: (BRIGHT_BLUE, BLUE),
    Category.FOREIGN: (CYAN, CYAN),
    Category.GOOD: (GREEN, GREEN),
    Category.FAIR: (BRIGHT_YELLOW, YELLOW),
    Category.SERIOUS: (BRIGHT_MAGENTA, MAGENTA),
    Category.CRITICAL: (BRIGHT_RED, RED),
    Category.LOW: (BRIGHT_BLUE, CYAN),
    Category.MEDIUM: (BRIGHT_CYAN, BRIGHT_BLUE),
    Category.HIGH: (BRIGHT_GREEN, GREEN),
    Category.FADED: (GRAY, GRAY),
    Category.INFERRED: (CYAN, CYAN),
    Category.PHASE: (BRIGHT_GREEN, GREEN),
    Category.OPERATION: (BRIGHT_YELLOW, YELLOW),
}
"""Of each category, on terminals with 16 colors, with black text on it where the theme is dark, and with white
text where it is light, but for `_BRIGHT_ENOUGH_FOR_BLACK`. Others have the colors of pages (`web/src/report.css`)."""

_ROLES: dict[str, tuple[str, str, str, str]] = {
    "text": ("#e4e4e4", "#1c1c1c", WHITE, BLACK),
    "dim": ("#a6a6a6", "#555555", LIGHT_GRAY, GRAY),
    "background": ("#121212", "#ffffff", BLACK, WHITE),
    "gutter": ("#1c1c1c", "#f2f2f2", BLACK, WHITE),
    "pinned": ("#262626", "#e4e4e4", BLACK, WHITE),
    "cursor": ("#363636", "#d4d4d4", GRAY, LIGHT_GRAY),
    "range": ("#1f3a56", "#cfe3f7", BLUE, BRIGHT_CYAN),
    "finding": ("#5f1f00", "#ffd7bf", GRAY, BRIGHT_YELLOW),
    "accent": ("#9cc7ff", "#0b4f9e", BRIGHT_CYAN, BLUE),
    "severity": ("#e69f00", "#8f3d00", BRIGHT_YELLOW, RED),
    "better": ("#5fd0ab", "#00573f", BRIGHT_GREEN, BLUE),
    "worse": ("#d9a0ff", "#7a1fa2", BRIGHT_MAGENTA, MAGENTA),
    "code": ("#58d1eb", "#00627d", BRIGHT_CYAN, BLUE),
    "ink": ("#000000", "#ffffff", BLACK, WHITE),
    "selected": ("#ffffff", "#000000", WHITE, BLACK),
    "selected_ink": ("#000000", "#ffffff", BLACK, WHITE),
}
"""The other fields of each palette: dark, light, and the same with 16 colors."""


_ON_DARK, _ON_LIGHT, _ON_BLACK, _ON_WHITE = range(4)
"""Places of a palette in these tables; the last two are for terminals with 16 colors."""


def _palette(ground: int) -> Palette:
    of_pages, is_light = page_colors(), ground in (_ON_LIGHT, _ON_WHITE)
    categories = {category: colors[is_light] for category, colors in _SIXTEEN.items()}
    if ground in (_ON_DARK, _ON_LIGHT):
        categories = {
            category: of_pages[f"c-{category.name.lower().replace('_', '-')}"][not is_light] for category in Category
        }
    bright = [category for category, color in categories.items() if color in _BRIGHT_ENOUGH_FOR_BLACK]
    inks = dict.fromkeys(bright, BLACK) if ground == _ON_WHITE else {}
    return Palette(categories=categories, other_inks=inks, **{name: colors[ground] for name, colors in _ROLES.items()})


PALETTES: dict[bool, Palette] = {True: _palette(_ON_DARK), False: _palette(_ON_LIGHT)}
"""By whether the theme is dark."""
SIXTEEN: dict[bool, Palette] = {True: _palette(_ON_BLACK), False: _palette(_ON_WHITE)}
"""For terminals with 16 colors, by whether the theme is dark."""

DARK, LIGHT = "tracekit-dark", "tracekit-light"
DARK_16, LIGHT_16 = f"{DARK}-16", f"{LIGHT}-16"


def theme_named(*, dark: bool, sixteen_colors: bool) -> str:
    """Name of the dark or light theme, of those for 16 colors where the terminal has no more."""
    return (DARK_16 if dark else LIGHT_16) if sixteen_colors else (DARK if dark else LIGHT)


def palette_of(theme: Theme) -> Palette:
    """Colors that a theme gives to what Textual knows nothing of."""
    return (SIXTEEN if theme.name in (DARK_16, LIGHT_16) else PALETTES)[theme.dark]


_WIDGETS: dict[str, tuple[str, str, str, str]] = {
    "primary": ("#56b4e9", "#0072b2", BRIGHT_CYAN, BLUE),
    "secondary": ("#009e73", "#009e73", GREEN, GREEN),
    "success": ("#009e73", "#009e73", GREEN, GREEN),
    "accent": _ROLES["accent"],
    "warning": ("#f0e442", "#8a6d00", BRIGHT_YELLOW, RED),
    "error": ("#ff8080", "#b3001b", BRIGHT_RED, RED),
    "foreground": _ROLES["text"],
    "background": _ROLES["background"],
    "surface": _ROLES["gutter"],
    "panel": ("#262626", "#e4e4e4", BLUE, LIGHT_GRAY),
}
"""What Textual gives its own widgets, in the same order."""


def _theme(name: str, ground: int) -> Theme:
    colors: dict[str, Any] = {role: of_grounds[ground] for role, of_grounds in _WIDGETS.items()}
    return Theme(name=name, dark=ground in (_ON_DARK, _ON_BLACK), **colors)


THEMES: tuple[Theme, ...] = tuple(map(_theme, (DARK, LIGHT, DARK_16, LIGHT_16), range(4)))


@cache
def style(
    color: str | None,
    background: str | None = None,
    *,
    bold: bool = False,
    underline: bool = False,
    reverse: bool = False,
) -> Style:
    """A style of Rich; each combination is made once."""
    return Style(
        color=color, bgcolor=background, bold=bold or None, underline=underline or None, reverse=reverse or None
    )


def theme_file() -> Path:
    """Where the theme is kept, by the rules of XDG: beside what other programs remember."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "tracekit" / "theme"


def remembered_theme() -> str | None:
    """The theme that was chosen last; None where none is known, or what is there is none."""
    with suppress(OSError, UnicodeDecodeError, RuntimeError):
        theme = read_file(theme_file(), 64).decode().strip()
        return theme if theme in ("dark", "light") else None
    return None


def remember_theme(theme: str) -> None:
    """Keep a theme. Where nothing can be written, it holds for this run only."""
    with suppress(OSError, RuntimeError):
        file = theme_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{theme}\n", "utf-8")
