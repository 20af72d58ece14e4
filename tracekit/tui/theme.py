"""Colours, dark and light. Categories use the palette of Okabe and Ito, which people with any colour vision tell apart.

Source: M. Okabe, K. Ito, "Color Universal Design", https://jfly.uni-koeln.de/color/.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from rich.style import Style
from textual.theme import Theme

from tracekit.tui.categories import Category

if TYPE_CHECKING:
    from collections.abc import Mapping

ORANGE = "#e69f00"
SKY = "#56b4e9"
GREEN = "#009e73"
YELLOW = "#f0e442"
BLUE = "#0072b2"
VERMILLION = "#d55e00"
PURPLE = "#cc79a7"


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours that a theme gives to what Textual knows nothing of."""

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
    ink: str
    """Text on a bar."""
    selected: str
    """Bar of the selected event."""
    selected_ink: str
    categories: Mapping[Category, str]


_DARK_CATEGORIES: dict[Category, str] = {
    Category.OTHER: "#9a9a9a",
    Category.LOAD: VERMILLION,
    Category.LOAD_CACHED: ORANGE,
    Category.COMPILE: PURPLE,
    Category.PREDICTION: SKY,
    Category.VALIDATION: "#9a9a9a",
    Category.INPUT_COPY: YELLOW,
    Category.CAST: ORANGE,
    Category.OUTPUT: GREEN,
    Category.ANE_COPY: PURPLE,
    Category.CPU: SKY,
    Category.GPU: GREEN,
    Category.ANE: PURPLE,
    Category.MPS: YELLOW,
    Category.APP: BLUE,
    Category.FOREIGN: "#7a7a7a",
    Category.GOOD: GREEN,
    Category.FAIR: YELLOW,
    Category.SERIOUS: ORANGE,
    Category.CRITICAL: VERMILLION,
    Category.LOW: "#7a7a7a",
    Category.MEDIUM: SKY,
    Category.HIGH: YELLOW,
    Category.FADED: "#3a3a3a",
    Category.INFERRED: "#c4dcec",
}

_DARKER = {YELLOW: "#b3a600", SKY: "#2f9bdc", ORANGE: "#d08f00", "#9a9a9a": "#7d7d7d", "#7a7a7a": "#8f8f8f"}
"""Colours too pale for a white ground, and what stands for them there."""

PALETTES: dict[bool, Palette] = {
    True: Palette(
        text="#e4e4e4",
        dim="#8a8a8a",
        background="#121212",
        gutter="#1c1c1c",
        pinned="#262626",
        cursor="#3a3a3a",
        range="#1f3a56",
        finding="#5f1f00",
        accent=ORANGE,
        ink="#000000",
        selected="#ffffff",
        selected_ink="#000000",
        categories=_DARK_CATEGORIES,
    ),
    False: Palette(
        text="#1c1c1c",
        dim="#6c6c6c",
        background="#ffffff",
        gutter="#f2f2f2",
        pinned="#e4e4e4",
        cursor="#d0d0d0",
        range="#cfe3f7",
        finding="#ffd7bf",
        accent="#b34f00",
        ink="#000000",
        selected="#000000",
        selected_ink="#ffffff",
        categories={category: _DARKER.get(color, color) for category, color in _DARK_CATEGORIES.items()},
    ),
}
"""By whether the theme is dark."""

DARK, LIGHT = "tracekit-dark", "tracekit-light"

THEMES: tuple[Theme, ...] = (
    Theme(
        name=DARK,
        primary=SKY,
        secondary=GREEN,
        accent=ORANGE,
        warning=YELLOW,
        error=VERMILLION,
        success=GREEN,
        foreground="#e4e4e4",
        background="#121212",
        surface="#1c1c1c",
        panel="#262626",
        dark=True,
    ),
    Theme(
        name=LIGHT,
        primary=BLUE,
        secondary=GREEN,
        accent="#b34f00",
        warning="#8a6d00",
        error="#b34f00",
        success=GREEN,
        foreground="#1c1c1c",
        background="#ffffff",
        surface="#f2f2f2",
        panel="#e4e4e4",
        dark=False,
    ),
)


@cache
def style(
    color: str | None, background: str | None = None, *, bold: bool = False, underline: bool = False, dim: bool = False
) -> Style:
    """A style, made once."""
    return Style(color=color, bgcolor=background, bold=bold or None, underline=underline or None, dim=dim or None)
