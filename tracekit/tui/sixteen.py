"""Colors of terminals that have 16 of them.

Rich sends such a terminal the nearest of the 16, so that two of the other palettes' colors can become one. Terminals
choose how each of them looks: the tests use the colors of VGA, which Rich counts with, and those of xterm.
"""

from __future__ import annotations

from rich._palettes import STANDARD_PALETTE

COLORS: tuple[str, ...] = tuple(STANDARD_PALETTE[number].hex for number in range(16))
"""By number, as in the sequences of ECMA-48: the dark ones from 0, the bright ones from 8."""

BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, LIGHT_GRAY = COLORS[:8]
GRAY, BRIGHT_RED, BRIGHT_GREEN, BRIGHT_YELLOW, BRIGHT_BLUE, BRIGHT_MAGENTA, BRIGHT_CYAN, WHITE = COLORS[8:]

BRIGHT_ENOUGH_FOR_BLACK = (GREEN, YELLOW, CYAN, BRIGHT_RED, BRIGHT_MAGENTA)

TOO_ALIKE = {(LIGHT_GRAY, GRAY), (GRAY, LIGHT_GRAY), (RED, LIGHT_GRAY)}
"""Text and its ground, with a contrast of about 3."""
