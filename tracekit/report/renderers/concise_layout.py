"""How lines of the short report fill the screen."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

LABEL_CELLS = 10
"""Cells of the column of severities."""
NARROW = 70
"""Below this width the text of a finding starts at the left."""
_CONSOLE = Console(width=10_000, force_terminal=False, color_system=None, legacy_windows=False)


@dataclass(frozen=True, slots=True)
class Layout:
    """Width of the screen in cells, and text laid out for it."""

    width: int

    @property
    def indent(self) -> int:
        """Where the text of a finding begins."""
        return LABEL_CELLS if self.width >= NARROW else 2

    @staticmethod
    def cells(text: str) -> int:
        """Cells that a text takes on the screen."""
        return cell_len(text)

    def wrapped(self, text: Text) -> list[Text]:
        """Lines of a text."""
        return self.hanging(text, 0)

    def hanging(self, text: Text, indent: int, *, max_lines: int | None = None) -> list[Text]:
        """Lines of a text that goes on at `indent`; at most `max_lines`, the last of which then ends in `…`."""
        begin = len(text.plain) - len(text.plain.lstrip())
        body = text[begin:]
        first = self.width - begin
        lines = list(body.wrap(_CONSOLE, max(first, 8), overflow="fold"))
        if len(lines) > 1 and begin != indent:
            # What is left of the text has the room of the other lines.
            rest = body[len(lines[0].plain) :]
            rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
            lines = [lines[0], *rest.wrap(_CONSOLE, max(self.width - indent, 8), overflow="fold")]
        if max_lines is not None and len(lines) > max_lines:
            last = lines[max_lines - 1]
            last.truncate(max(self.width - indent - 1, 1))
            lines = [*lines[: max_lines - 1], last.append("…")]
        for line in lines:
            line.rstrip()
        return [Text(" " * (indent if number else begin)).append_text(line) for number, line in enumerate(lines)]

    def heading(self, title: str, note: str) -> list[Text]:
        """A heading with what its columns are."""
        text = Text(title, style="bold").append(f"  {note}" if note else "", style="not bold dim")
        return self.hanging(text, 2)
