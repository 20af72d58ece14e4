"""How lines of text fill the screen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rich._wrap import divide_line
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style
from rich.text import Text

LABEL_CELLS = 10
"""Cells of the column of severities."""
NARROW = 70
"""Below this width the text of a finding starts at the left."""
WIDEST = 120
"""Longer lines are hard to read, however wide the terminal."""
NARROWEST = 30
"""Below this, numbers would have to break."""
LEAST_ROOM = 8
"""Fewest cells that a text wraps in."""
GLUE = "\ue000"
"""A blank at which no line breaks, between a number and its unit. It becomes a blank when the page is done; no text of
a recording can hold one, because private characters are replaced like control characters."""
KEPT = "\ue001"
"""The same within a command, which stays on one line even where that is too short for it: the terminal wraps it then,
without a break that would be copied."""
_COMMAND = re.compile(r"`[^`]+`|--instrument (?:'[^']*'|\w+)|^(?:tracekit|xcrun) .*", re.DOTALL)
"""What is typed, or an option with its value."""
_WHOLE = re.compile(rf"\S*{KEPT}\S*|(?<!\S)https?://\S+")
"""Commands and addresses."""
_BLANKS = re.compile(f"[{GLUE}{KEPT}]")
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:s|ms|µs|ns|%|[KMG]B|bytes)(?!\w))")
_CLAUSE = re.compile(r"; |(?<=\.) (?=[A-Z])")
"""Where a text can end early."""
CONSOLE = Console(width=10_000, force_terminal=False, color_system=None, legacy_windows=False)


def keep_units(text: str) -> str:
    """Text whose numbers stay beside their units."""
    return _BEFORE_UNIT.sub(GLUE, text)


def keep_commands(text: str) -> str:
    """Text whose commands stay on one line."""
    return _COMMAND.sub(lambda match: match[0].replace(" ", KEPT), text)


def wrapped(text: Text, width: int) -> list[Text]:
    """Lines of a text, at most `width` cells long but for what stays whole."""
    if any(cell_len(match[0]) > width for match in _WHOLE.finditer(text.plain)):
        lines = list(text.divide(divide_line(text.plain, width, fold=False)))
    else:
        lines = list(text.wrap(CONSOLE, width, overflow="fold"))
    for line in lines:
        line.rstrip()
    return lines


def lines_text(lines: Iterable[Text], color: bool) -> str:
    """Lines as text, with a line break at the end; `color` writes ANSI styles, whatever the environment says."""
    texts = (_ansi(line) if color else line.plain for line in lines)
    return "".join(f"{_BLANKS.sub(' ', text).rstrip()}\n" for text in texts)


def _ansi(line: Text) -> str:
    # Rich forgets the style of a whole text that has no other.
    parts = Text().append_text(line).render(CONSOLE)
    return "".join((style or Style()).render(text, color_system=ColorSystem.STANDARD) for text, style, _ in parts)


@dataclass(frozen=True, slots=True)
class Layout:
    """Width of the screen in cells, and text laid out for it."""

    width: int

    @property
    def indent(self) -> int:
        """Where the text of a finding begins."""
        return LABEL_CELLS if self.width >= NARROW else 2

    def hang(self, text: Text, indent: int, *, max_lines: int | None = None) -> list[Text]:
        """Lines of a text that goes on at `indent`. What has more than `max_lines` loses its last sentences or clauses,
        but never the first."""
        lines = self._wrap(text, indent)
        for end in reversed(list(_CLAUSE.finditer(text.plain))):
            if max_lines is None or len(lines) <= max_lines:
                break
            lines = self._wrap(text[: end.start()], indent)
        return lines

    def _wrap(self, text: Text, indent: int) -> list[Text]:
        begin = len(text.plain) - len(text.plain.lstrip())
        body = text[begin:]
        first = self.width - begin
        lines = wrapped(body, max(first, LEAST_ROOM))
        if len(lines) > 1 and begin != indent:
            # What is left of the text has the room of the other lines.
            rest = body[len(lines[0].plain) :]
            rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
            lines = [lines[0], *wrapped(rest, max(self.width - indent, LEAST_ROOM))]
        return [Text(" " * (indent if number else begin)).append_text(line) for number, line in enumerate(lines)]
