"""Tables as text: columns that do not fit go, names are shortened, and a last column of words wraps in its place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rich.text import Text

from tracekit.characters import visible
from tracekit.render.blocks import groups
from tracekit.report.formatting import ABSENT, shorten
from tracekit.report.renderers.concise_layout import Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tracekit.render.blocks import Column, Line, Table

GAP = 2
NAME_ROOM = 12
"""Cells to which a column of words is shortened before a column of numbers goes."""
WORDS_ROOM = 24
"""The same for a last column of words, which wraps."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """A table whose columns fit."""

    columns: Sequence[Column[Any]]
    cells: dict[int, list[Text]]
    """By `id` of the row."""
    widths: Sequence[int]


def table_lines(block: Table[Any], layout: Layout, indent: int, styled: Callable[[Line], Text]) -> list[Text]:
    """The lines of a table. `styled` gives the looks of a cell."""
    if block.parts:
        tables = [_lines(part, layout, indent, styled) for part in _parts(block, layout.width - indent, styled)]
        return [line for number, lines in enumerate(tables) for line in ([Text(), *lines] if number else lines)]
    return _lines(block, layout, indent, styled)


def _lines(block: Table[Any], layout: Layout, indent: int, styled: Callable[[Line], Text]) -> list[Text]:
    grid = _fitting(block, layout.width - indent - (GAP if block.group else 0), styled)
    titles = [Text(visible(column.title), "dim") for column in grid.columns]
    lines = _row(titles, grid, layout, indent) if any(titles) else []
    for heading, rows in groups(block):
        if heading:
            lines += [Text()] if lines else []
            lines.append(Text(" " * indent).append(shorten(visible(heading), layout.width - indent), "bold"))
        for row in rows:
            cells = grid.cells[id(row)]
            if block.total and row is block.rows[-1]:
                cells = [Text(cell.plain, "bold") for cell in cells]
            lines += _row(cells, grid, layout, indent + (GAP if heading else 0))
    return lines


def _parts(block: Table[Any], room: int, styled: Callable[[Line], Text]) -> Iterator[Table[Any]]:
    """The columns in groups that fit, each after the first column, with the groups of rows of which they show
    anything."""
    first, *others = block.columns
    named = min(_needed(first, block, styled), max(room // 3, NAME_ROOM)) + GAP
    parts: list[list[Column[Any]]] = []
    used = room
    for column in others:
        cells = min(_needed(column, block, styled), room - named) + GAP
        if used + cells > room + GAP or not parts:
            parts.append([])
            used = named
        parts[-1].append(column)
        used += cells
    for part in parts:
        rows = [
            row
            for _, group in groups(block)
            if any(styled(column.text(row)).plain != ABSENT for row in group for column in part)
            for row in group
        ]
        yield replace(block, columns=(first, *part), rows=tuple(rows), parts=False)


def _needed(column: Column[Any], block: Table[Any], styled: Callable[[Line], Text]) -> int:
    """Cells of the widest text of a column."""
    return max(
        [Layout.cells(visible(column.title)), *(Layout.cells(styled(column.text(row)).plain) for row in block.rows)]
    )


def _fitting(block: Table[Any], room: int, styled: Callable[[Line], Text]) -> _Grid:
    columns = list(block.columns)
    needed = {column: _needed(column, block, styled) for column in columns}
    while sum(_least(columns, needed)) + GAP * (len(columns) - 1) > room:
        last = max(columns, key=lambda column: column.drop)
        if not last.drop:
            break
        columns.remove(last)
    widths = _least(columns, needed)
    spare = room - sum(widths) - GAP * (len(columns) - 1)
    for at, column in enumerate(columns):
        more = min(needed[column] - widths[at], max(spare, 0))
        widths[at], spare = widths[at] + more, spare - more
    while spare < 0 and max(widths) > 1:
        widest = widths.index(max(widths))
        widths[widest], spare = widths[widest] - 1, spare + 1
    return _Grid(columns, {id(row): [styled(column.text(row)) for column in columns] for row in block.rows}, widths)


def _least(columns: Sequence[Column[Any]], needed: dict[Column[Any], int]) -> list[int]:
    """Fewest cells of each column: numbers are shown whole."""
    last = len(columns) - 1
    return [
        min(needed[column], WORDS_ROOM if at == last and at else NAME_ROOM) if column.words else needed[column]
        for at, column in enumerate(columns)
    ]


def _row(cells: Sequence[Text], grid: _Grid, layout: Layout, indent: int) -> list[Text]:
    line, begin = Text(" " * indent), indent
    for at, (cell, column, width) in enumerate(zip(cells, grid.columns, grid.widths, strict=True)):
        if column.words and at == len(cells) - 1 and at:
            return layout.hanging(line.append_text(cell), begin)
        shown = cell if Layout.cells(cell.plain) <= width else Text(shorten(cell.plain, width), cell.style)
        gap = " " * (width - Layout.cells(shown.plain))
        line.append_text(Text.assemble(shown, gap, " " * GAP) if column.words else Text.assemble(gap, shown, " " * GAP))
        begin += width + GAP
    line.rstrip()
    return [line]
