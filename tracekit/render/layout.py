"""How lines and tables fill the screen: columns that do not fit go, words wrap in their place, names are shortened."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich._wrap import divide_line
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.style import Style
from rich.text import Text

from tracekit.characters import shorten, visible
from tracekit.render.blocks import Column, Line, Table, plain

if TYPE_CHECKING:
    from rich.console import Console

LABEL_CELLS = 10
"""Cells of the column of severities."""
NARROW = 70
"""Below this width the text of a finding starts at the left."""
LEAST_ROOM = 8
"""Fewest cells that a text wraps in."""
GLUE = "\ue000"
"""A blank at which no line breaks, between a number and its unit. It becomes a blank when the page is done; no text of
a recording can hold one, because private characters are replaced like control characters."""
KEPT = "\ue001"
"""The same within a command, which stays on one line even where that is too short for it: the terminal wraps it then,
without a break that would be copied."""
_COMMAND = re.compile(
    r"`[^`]+`|--instrument (?:'[^']*'|\w+)|(?:^|(?<=  ·  ))(?:tracekit|xcrun) .*?(?=  ·  |\Z)", re.DOTALL
)
"""What is typed, or an option with its value."""
_WHOLE = re.compile(rf"(?<!\S)(?:\S*{KEPT}\S*|https?://\S+)")
"""Commands and addresses."""
_BLANKS = re.compile(f"[{GLUE}{KEPT}]")
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:s|ms|µs|ns|%|[KMG]B|bytes)(?!\w))")
_CLAUSE = re.compile(r"; |(?<=\.) (?=[A-Z])")
GAP = 2
NAME_ROOM = 12
"""Cells that a column of words keeps before a column of numbers goes."""
NAME_LINES = 4
"""Lines that a name has before it is shortened."""
WORDS_ROOM = 24
"""The same for a last column of words, which wraps."""
FIRST_SHARE = 0.45
"""Share of the width that the first column may take before a column of numbers goes."""
NOTHING = ("", "–")
_Fitting = Sequence[tuple[Column[Any], int]]
"""Columns that fit, each with its width in cells."""


def keep_units(text: str) -> str:
    """Text whose numbers stay beside their units."""
    return _BEFORE_UNIT.sub(GLUE, text)


def keep_commands(text: str) -> str:
    """Text whose commands stay on one line."""
    return _COMMAND.sub(lambda match: match[0].replace(" ", KEPT), text)


def wrapped(text: Text, width: int) -> list[Text]:
    """Lines of a text, at most `width` cells long but for what stays whole."""
    fold = all(cell_len(match[0]) <= width for match in _WHOLE.finditer(text.plain))
    # As `Text.wrap` does it, which asks for a console, and that takes as long to load as to lay out a short report.
    parts = text.split(allow_blank=True) if fold else [text]
    lines = [line for part in parts for line in part.divide(divide_line(part.plain, width, fold=fold))]
    for line in lines:
        line.rstrip()
    return lines


def lines_text(lines: Iterable[Text], color: bool) -> str:
    """Lines as text, with a line break at the end; `color` writes ANSI styles, whatever the environment says."""
    texts = []
    for line in lines:
        # Rich forgets the style of a whole text that has no other.
        parts = Text().append_text(line).render(_console()) if color else ()
        styled = ((style or Style()).render(text, color_system=ColorSystem.STANDARD) for text, style, _ in parts)
        texts.append("".join(styled) if color else line.plain)
    return "".join(f"{_BLANKS.sub(' ', text).rstrip()}\n" for text in texts)


@cache
def _console() -> Console:
    from rich.console import Console

    return Console(width=10_000, force_terminal=False, color_system=None, legacy_windows=False)


@dataclass(frozen=True, slots=True)
class Layout:
    """Width of the screen in cells, and text laid out for it."""

    width: int

    @property
    def indent(self) -> int:
        """Where the text of a finding begins."""
        return LABEL_CELLS if self.width >= NARROW else 2

    def hang(self, text: Text, indent: int, *, max_lines: int | None = None) -> list[Text]:
        """Lines that go on at `indent`. Beyond `max_lines` the last sentences or clauses go, but never the first."""
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


def table_lines(block: Table[Any], layout: Layout, indent: int, styled: Callable[[Line], Text]) -> list[Text]:
    """The lines of a table. `styled` gives the looks of a cell."""
    parts = _parts(block, layout.width - indent, styled) if block.parts else [block]
    tables = [_lines(part, layout, indent, styled) for part in parts]
    return [line for number, lines in enumerate(tables) for line in ([Text(), *lines] if number else lines)]


def _lines(block: Table[Any], layout: Layout, indent: int, styled: Callable[[Line], Text]) -> list[Text]:
    inner = GAP if any(column.heading for column in block.columns) else 0
    fitting, texts = _fit(block, layout.width - indent - inner, styled)
    titles = [Text(visible(column.title, multiline=True), "dim") for column, _ in fitting]
    lines = _row(titles, fitting, indent + inner, at_bottom=True) if any(titles) else []
    done = 0
    for heading, rows in _groups(block):
        if heading:
            lines += [Text()] if lines and done else []
            lines.append(Text(" " * indent).append(shorten(visible(heading), layout.width - indent), "bold"))
        for cells in texts[done : done + len(rows)]:
            done += 1
            is_total = block.total and done == len(block.rows)
            bold = [Text(cell.plain, "bold") for cell in cells] if is_total else cells
            lines += _row(bold, fitting, indent + (inner if heading else 0))
    legends = (Text(f"{' ' * indent}{column.legend}", "dim") for column, _ in fitting if column.legend)
    return [*lines, *legends]


def _groups(block: Table[Any]) -> list[tuple[str, list[Any]]]:
    """The rows below each heading, in order; one without heading where rows stand alone."""
    heading = next((column for column in block.columns if column.heading), None)
    by_text = groupby(block.rows, key=lambda row: plain(heading.text(row)) if heading else "")
    return [(text, list(rows)) for text, rows in by_text]


def _parts(block: Table[Any], room: int, styled: Callable[[Line], Text]) -> Iterator[Table[Any]]:
    """Columns in groups that fit, each after the first column, with the groups of rows of which they show anything."""
    headings = [column for column in block.columns if column.heading]
    first, *others = (column for column in block.columns if not column.heading)
    named = min(_width(first, [styled(first.text(row)) for row in block.rows]), max(room // 3, NAME_ROOM)) + GAP
    parts: list[list[Column[Any]]] = []
    used = room
    for column in others:
        needed = _width(column, [styled(column.text(row)) for row in block.rows])
        cells = min(needed, room - named) + GAP
        if used + cells > room + GAP or not parts:
            parts.append([])
            used = named
        parts[-1].append(column)
        used += cells
    for part in parts:
        rows = [
            row
            for _, group in _groups(block)
            if any(plain(column.text(row)) not in NOTHING for row in group for column in part)
            for row in group
        ]
        yield replace(block, columns=(*headings, first, *part), rows=tuple(rows), parts=False)


def _width(column: Column[Any], texts: Sequence[Text]) -> int:
    titles = visible(column.title, multiline=True).split("\n")
    return max([*map(cell_len, titles), *(cell_len(text.plain) for text in texts)])


def _fit(block: Table[Any], room: int, styled: Callable[[Line], Text]) -> tuple[_Fitting, list[list[Text]]]:
    texts = {column: [styled(column.text(row)) for row in block.rows] for column in block.columns}
    named = [column for column in block.columns if not column.heading]
    columns = [column for column in named if not block.rows or any(text.plain for text in texts[column])]
    needed = {column: _width(column, texts[column]) for column in columns}
    while sum(_least(columns, needed, room)) + GAP * (len(columns) - 1) > room:
        last = max(columns, key=lambda column: column.drop)
        if not last.drop:
            break
        columns.remove(last)
    widths = _least(columns, needed, room)
    spare = room - sum(widths) - GAP * (len(columns) - 1)
    for at, column in enumerate(columns):
        more = min(needed[column] - widths[at], max(spare, 0))
        widths[at], spare = widths[at] + more, spare - more
    while spare < 0 and max(widths) > 1:
        widest = widths.index(max(widths))
        widths[widest], spare = widths[widest] - 1, spare + 1
    cells = [[texts[column][at] for column in columns] for at in range(len(block.rows))]
    return list(zip(columns, widths, strict=True)), cells


def _least(columns: Sequence[Column[Any]], needed: dict[Column[Any], int], room: int) -> list[int]:
    """Fewest cells of each column: numbers and drawings are shown whole."""
    words = [max(NAME_ROOM, int(room * FIRST_SHARE)), *[NAME_ROOM] * (len(columns) - 2), WORDS_ROOM]
    return [
        min(needed[column], cells) if column.words and not column.legend else needed[column]
        for column, cells in zip(columns, words, strict=False)
    ]


def _row(cells: Sequence[Text], fitting: _Fitting, indent: int, *, at_bottom: bool = False) -> list[Text]:
    """The lines of a row; cells of fewer lines stand at its top, or `at_bottom`."""
    last = len(cells) - 1
    parts = []
    for at, (cell, (column, width)) in enumerate(zip(cells, fitting, strict=True)):
        part = wrapped(cell, width)
        whole = at_bottom or (column.words and at == last) or not (column.is_name or " " not in cell.plain)
        if len(part) > NAME_LINES and not whole:
            # Words wrap; a long name is shortened.
            part = [Text(shorten(cell.plain, width), cell.style)]
        parts.append(part)
    height = max(map(len, parts), default=0)
    lines = []
    for number in range(height):
        line = Text(" " * indent)
        for part, (column, width) in zip(parts, fitting, strict=True):
            at = number - (height - len(part) if at_bottom else 0)
            piece = part[at] if 0 <= at < len(part) else Text()
            gap = " " * (width - cell_len(piece.plain))
            line.append_text(Text.assemble(*((piece, gap) if column.words else (gap, piece)), " " * GAP))
        line.rstrip()
        lines.append(line)
    return lines
