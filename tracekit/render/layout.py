"""How lines of text fill the screen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

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
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:s|ms|µs|ns|%|[KMG]B|bytes)(?!\w))")
_CLAUSE = re.compile(r"; |(?<=\.) (?=[A-Z])")
"""Where a text can end early."""
CONSOLE = Console(width=10_000, force_terminal=False, color_system=None, legacy_windows=False)


def keep_units(text: str) -> str:
    """Text whose numbers stay beside their units."""
    return _BEFORE_UNIT.sub(GLUE, text)


def lines_text(lines: Iterable[Text], color: bool) -> str:
    """Lines as text, with a line break at the end; `color` writes ANSI styles, whatever the environment says."""
    texts = (_ansi(line) if color else line.plain for line in lines)
    return "".join(f"{text.replace(GLUE, ' ').rstrip()}\n" for text in texts)


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
        lines = list(body.wrap(CONSOLE, max(first, LEAST_ROOM), overflow="fold"))
        if len(lines) > 1 and begin != indent:
            # What is left of the text has the room of the other lines.
            rest = body[len(lines[0].plain) :]
            rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
            lines = [lines[0], *rest.wrap(CONSOLE, max(self.width - indent, LEAST_ROOM), overflow="fold")]
        for line in lines:
            line.rstrip()
        return [Text(" " * (indent if number else begin)).append_text(line) for number, line in enumerate(lines)]
