"""Building blocks of the text format: headings, hanging paragraphs, tables that shed columns, Markdown of a fix."""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, TypeVar

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tracekit.report.formatting import ABSENT, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import JustifyMethod, RenderableType

    from tracekit.report.columns import Column

Row = TypeVar("Row")

NARROW = 60
"""Below this width, labels stand above their text instead of beside it."""

WIDEST = 120
"""Longer lines are hard to read, however wide the terminal."""

FILE_WIDTH = 100
"""Width where there is no terminal."""

NARROWEST = 30
"""Below this, numbers would have to break."""

_GAP = 2

_NAME_ROOM = (12, 44)
"""Least and greatest width of the column of names."""

GLUE = "\ue000"
"""A blank at which no line breaks, between a number and its unit. It becomes a blank when the page is done; the
report itself cannot hold one, because private characters are replaced like control characters."""

_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:s|ms|µs|ns|%|[KMG]B|bytes)(?!\w))")

LIST_ITEM = re.compile(r"(?:[-*]|\d+\.) ")
"""How an item of a list begins in the text of a fix."""

_INLINE_CODE = re.compile(r"`([^`\n]+)`")


def printed(blocks: Sequence[RenderableType], width: int, color: bool) -> str:
    """Blocks as text. What rich would ask the environment for is given, so that the output is the same anywhere."""
    file = StringIO()
    console = Console(
        file=file,
        width=width,
        height=1000,
        force_terminal=color,
        force_jupyter=False,
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for block in blocks:
        console.print(block)
    return "\n".join(line.rstrip() for line in file.getvalue().replace(GLUE, " ").splitlines()) + "\n"


def glued(text: str) -> str:
    """Text whose numbers stay beside their units."""
    return _BEFORE_UNIT.sub(GLUE, text)


def heading(title: str) -> Text:
    """Title of a section, with an empty line before it."""
    return Text(f"\n{title.upper()}\n", style="bold")


def paragraph(text: Text | str, indent: int = 0) -> RenderableType:
    """Text that wraps inside the width, all lines indented."""
    body = Text(text, overflow="fold") if isinstance(text, str) else text
    return Padding(body, (0, 0, 0, indent))


def labeled(pairs: Iterable[tuple[Text, Text]], width: int, indent: int = 2) -> list[RenderableType]:
    """Texts beside their labels, hanging; above one another where the width is `NARROW`."""
    entries = list(pairs)
    if width < NARROW:
        return [block for label, body in entries for block in (paragraph(label, indent), paragraph(body, indent + 2))]
    grid = Table.grid(padding=(0, _GAP, 0, 0), pad_edge=False)
    room = min(max((label.cell_len for label, _ in entries), default=0), width // 3)
    grid.add_column(width=room, no_wrap=True)
    grid.add_column(overflow="fold")
    for label, body in entries:
        grid.add_row(Text(shorten(label.plain, room), style=label.style), body)
    return [Padding(grid, (0, 0, 0, indent))] if entries else []


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table, and what a note below it may have to explain."""

    block: RenderableType
    titles: tuple[str, ...]
    """Titles of the columns that fitted."""
    absent: bool
    """Whether a value is not there."""


def table(
    names: Sequence[tuple[str, Row | None]],
    columns: Sequence[Column[Row]],
    width: int,
    title: str,
    *,
    indent: int = 2,
    emphasize: Callable[[Row], bool] = lambda _: False,
) -> Drawn:
    """A table with a name and numbers per line. A line without a row is a heading for those below it.

    Columns that do not fit are left out by rank, and names are shortened in the middle; nothing wraps.
    """
    rows = [row for _, row in names if row is not None]
    columns, widths, name_width = _layout(names, columns, rows, width - indent, title)
    grid = Table.grid(padding=0, pad_edge=False)
    grid.add_column(width=name_width, no_wrap=True, vertical="bottom")
    for column, cells in zip(columns, widths, strict=True):
        side: JustifyMethod = "left" if column.left else "right"
        grid.add_column(width=cells + _GAP, justify=side, no_wrap=True, vertical="bottom")
    grid.add_row(Text(title, style="dim"), *(_padded(column, column.title, "dim") for column in columns))
    for name, row in names:
        if row is None:
            grid.add_row(Text(shorten(name, name_width), style="bold"))
        else:
            style = "bold" if emphasize(row) else ""
            cells_of_row = (_padded(column, column.cell(row), style) for column in columns)
            grid.add_row(Text(shorten(name, name_width), style=style), *cells_of_row)
    absent = any(column.cell(row) == ABSENT for column in columns for row in rows)
    return Drawn(Padding(grid, (0, 0, 0, indent)), tuple(column.title for column in columns), absent)


def _layout(
    names: Sequence[tuple[str, Row | None]], columns: Sequence[Column[Row]], rows: Sequence[Row], room: int, title: str
) -> tuple[tuple[Column[Row], ...], tuple[int, ...], int]:
    """The columns that fit, their widths, and the width left for names."""
    # The columns of events know their statistics, and so pandas; a model file has neither.
    from tracekit.report.columns import fitting

    needs = {
        column: max(map(cell_len, [*column.title.split("\n"), *(column.cell(row) for row in rows)]))
        for column in columns
    }
    longest = max(map(cell_len, [title, *(name for name, _ in names)]))
    wanted = min(max(longest, _NAME_ROOM[0]), _NAME_ROOM[1])
    kept = fitting(columns, list(needs.values()), room - min(wanted, max(_NAME_ROOM[0], room * 9 // 20)), _GAP)
    widths = tuple(needs[column] for column in kept)
    return kept, widths, max(min(wanted, room - sum(widths) - _GAP * len(widths)), 1)


def _padded(column: Column[Row], text: str, style: str) -> Text:
    """A cell with the gap on its left."""
    margin = " " * _GAP if column.left else ""
    return Text(f"{margin}{text}", style=style)


def markdown(source: str, indent: int, code: str = "cyan") -> list[RenderableType]:
    """The Markdown of a fix: paragraphs and items wrap, code keeps its lines, also inline code has the style `code`."""
    blocks: list[RenderableType] = []
    for index, part in enumerate(re.split(r"^```.*$\n?", source, flags=re.MULTILINE)):
        if index % 2:
            blocks += [Text(), *_code(part.rstrip(), indent + 2, code)]
            continue
        in_list = False
        for block in _paragraphs(part):
            item = LIST_ITEM.match(block)
            # Items stand together; anything else is set apart.
            blocks += [Text()] if blocks and not (item and in_list) else []
            prose = _prose(block[item.end() :] if item else block, code)
            blocks.append(_item(item[0], prose, indent) if item else paragraph(prose, indent))
            in_list = item is not None
    return blocks


def _code(source: str, indent: int, style: str) -> Iterator[RenderableType]:
    """Lines of code; what has to wrap goes on under the beginning of its line."""
    for line in source.split("\n"):
        body = line.lstrip()
        yield paragraph(Text(body, style=style, overflow="fold"), indent + len(line) - len(body))


def _item(marker: str, prose: Text, indent: int) -> RenderableType:
    """An item of a list, hanging behind its marker."""
    grid = Table.grid(padding=0, pad_edge=False)
    grid.add_column(width=len(marker), no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(marker), prose)
    return Padding(grid, (0, 0, 0, indent))


def _paragraphs(part: str) -> list[str]:
    """Paragraphs and list items of Markdown without code, each on one line."""
    joined = re.sub(r"\n(?!\s*(?:[-*]|\d+\.) |\n)(?<!\n\n)[ \t]*", " ", part.strip())
    return [block.strip() for block in joined.split("\n") if block.strip()]


def _prose(block: str, code: str) -> Text:
    """One paragraph with inline code marked."""
    text = Text(overflow="fold")
    end = 0
    for match in _INLINE_CODE.finditer(block):
        text.append(block[end : match.start()])
        text.append(match.group(1), style=code)
        end = match.end()
    return text.append(block[end:])
