"""Colors of categories on terminals that have 16 colors.

Rich sends such a terminal the nearest of the 16, so that two of the other palettes' colors can become one. These are
among the 16 themselves. Terminals choose how each of them looks: the tests use the colors of VGA, which Rich counts
with, and those of xterm.
"""

from __future__ import annotations

from rich._palettes import STANDARD_PALETTE

from tracekit.lanes.categories import Category

COLORS: tuple[str, ...] = tuple(STANDARD_PALETTE[number].hex for number in range(16))
"""By number, as in the sequences of ECMA-48: the dark ones from 0, the bright ones from 8."""

(
    BLACK,
    RED,
    GREEN,
    YELLOW,
    BLUE,
    MAGENTA,
    CYAN,
    LIGHT_GRAY,
    GRAY,
    BRIGHT_RED,
    BRIGHT_GREEN,
    BRIGHT_YELLOW,
    BRIGHT_BLUE,
    BRIGHT_MAGENTA,
    BRIGHT_CYAN,
    WHITE,
) = COLORS

ON_BLACK: dict[Category, str] = {
    Category.OTHER: LIGHT_GRAY,
    Category.LOAD: BRIGHT_RED,
    Category.LOAD_CACHED: YELLOW,
    Category.COMPILE: BRIGHT_GREEN,
    Category.PREDICTION: BRIGHT_CYAN,
    Category.VALIDATION: BRIGHT_BLUE,
    Category.INPUT_COPY: BRIGHT_YELLOW,
    Category.CAST: BRIGHT_GREEN,
    Category.OUTPUT: CYAN,
    Category.ANE_COPY: BRIGHT_MAGENTA,
    Category.CPU: BRIGHT_CYAN,
    Category.GPU: GREEN,
    Category.ANE: BRIGHT_MAGENTA,
    Category.MPS: BRIGHT_YELLOW,
    Category.APP: BRIGHT_BLUE,
    Category.FOREIGN: CYAN,
    Category.GOOD: GREEN,
    Category.FAIR: BRIGHT_YELLOW,
    Category.SERIOUS: BRIGHT_MAGENTA,
    Category.CRITICAL: BRIGHT_RED,
    Category.LOW: BRIGHT_BLUE,
    Category.MEDIUM: BRIGHT_CYAN,
    Category.HIGH: BRIGHT_YELLOW,
    Category.FADED: GRAY,
    Category.INFERRED: BRIGHT_BLUE,
}
"""With black text on them."""

ON_WHITE: dict[Category, str] = {
    Category.OTHER: BRIGHT_MAGENTA,
    Category.LOAD: RED,
    Category.LOAD_CACHED: YELLOW,
    Category.COMPILE: GREEN,
    Category.PREDICTION: BRIGHT_BLUE,
    Category.VALIDATION: BLUE,
    Category.INPUT_COPY: YELLOW,
    Category.CAST: BRIGHT_RED,
    Category.OUTPUT: GREEN,
    Category.ANE_COPY: MAGENTA,
    Category.CPU: BRIGHT_BLUE,
    Category.GPU: GREEN,
    Category.ANE: MAGENTA,
    Category.MPS: YELLOW,
    Category.APP: BLUE,
    Category.FOREIGN: CYAN,
    Category.GOOD: GREEN,
    Category.FAIR: YELLOW,
    Category.SERIOUS: MAGENTA,
    Category.CRITICAL: RED,
    Category.LOW: CYAN,
    Category.MEDIUM: BRIGHT_BLUE,
    Category.HIGH: YELLOW,
    Category.FADED: GRAY,
    Category.INFERRED: CYAN,
}
"""With white text on the dark ones, black on `BRIGHT_ENOUGH_FOR_BLACK`."""

BRIGHT_ENOUGH_FOR_BLACK = (GREEN, YELLOW, CYAN, BRIGHT_RED, BRIGHT_MAGENTA)

TOO_ALIKE = {(LIGHT_GRAY, GRAY), (GRAY, LIGHT_GRAY), (RED, LIGHT_GRAY)}
"""Text and its ground, with a contrast of about 3."""
