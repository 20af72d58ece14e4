"""What a list shows: rows, columns as documents have them, which of those have room, and what stands above them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Final, Generic, TypeVar

from rich.cells import cell_len

from tracekit.render.blocks import Column, Line, Row, plain
from tracekit.report.formatting import ABSENT
from tracekit.tui.state import Sort

FITTED: Final = -1
GAP = 2
"""Blank cells between columns."""
WEIGHTY = 5
"""Up to this `drop`, a column matters more than all letters of names."""


@dataclass(frozen=True, slots=True)
class ListColumn(Column[Row]):
    """A column of a document, and the room that it takes in a list."""

    width: int = FITTED
    """Cells; 0 for the one column that takes what is left. `FITTED`: as many as its longest text, see `records_of`."""
    prose: bool = False
    """Whether long values lose their end; otherwise their middle, as names do."""
    ordered: bool = True
    """Whether rows can be sorted by it."""
    min_width: int = 16
    """Cells that it needs where `width` is 0."""
    max_width: int = 0
    """Cells that it takes where there is room, before columns whose `drop` is above `WEIGHTY` get any, and before the
    column of width 0 takes the rest; 0: no more than `width`."""
    bar: Callable[[Row], Callable[[int], str] | None] | None = None
    """What draws signs of `tracekit.analysis.breakdown.summary.GROUPS` in so many cells, in place of the text."""
    short: Callable[[Row, int], str] | None = None
    """The text in so many cells, where it does not fit and should not just lose its middle."""


def listed_column(column: Column[Row], **looks: Any) -> ListColumn[Row]:
    """A column of a document as one of a list."""
    return ListColumn(**{field.name: getattr(column, field.name) for field in fields(column)} | looks)


WIDEST = 24
"""Cells that a column of names takes at most, unless it is the one that takes what is left."""
_MODEL_WIDTH = 16
"""Cells in which most names of models differ."""


def model_column(names: Iterable[str | None], text: Callable[[Row], Line], drop: int = 0) -> ListColumn[Row]:
    """The column of the models of a recording: as wide as the longest name in all lists alike, where there is room."""
    # One cell more than the title for the sign of the direction.
    longest = min(max([6, *(cell_len(name) for name in names if name)]), WIDEST)
    return ListColumn("model", text, words=True, drop=drop, width=min(longest, _MODEL_WIDTH), max_width=longest)


def column_widths(columns: Sequence[ListColumn[Any]], width: int, hidden: frozenset[str] = frozenset()) -> list[int]:
    """Cells of each column in a list of that width; 0 for those that are hidden or had to go."""
    visible = [at for at, column in enumerate(columns) if column.title not in hidden]

    def needed_width(*, in_full: bool) -> int:
        rooms = (max(columns[at].width or columns[at].min_width, columns[at].max_width * in_full) for at in visible)
        return 1 + sum(rooms) + GAP * max(len(visible) - 1, 0)

    while any(columns[at].drop for at in visible):
        if needed_width(in_full=any(columns[at].drop > WEIGHTY for at in visible)) <= width:
            break
        visible.remove(max(visible, key=lambda at: columns[at].drop))
    spare = max(width - needed_width(in_full=False), 0)
    widths = [0] * len(columns)
    # What has a short text takes what the others leave.
    for at in sorted(visible, key=lambda at: columns[at].short is not None and not columns[at].prose):
        column = columns[at]
        more = min(max(column.max_width - column.width, 0), spare) if column.width else 0
        widths[at] = (column.width or column.min_width) + more
        spare -= more
    return [room + spare if room and not column.width else room for room, column in zip(widths, columns, strict=True)]


def headings(columns: Sequence[ListColumn[Any]], sort: Sort, widths: Sequence[int]) -> list[str]:
    """Titles of the columns, with the sign of the sort. Where the column that rows are sorted by is not on screen,
    another one names it: the order would make no sense otherwise."""
    titles = [column.title for column in columns]
    if not any(widths):
        return titles
    at = titles.index(sort.column)
    by = f"{titles[at]}{'▾' if sort.descending else '▴'}"
    titles = [
        "" if column.short is not None and room < len(title) else title
        for title, column, room in zip(titles, columns, widths, strict=True)
    ]
    if widths[at] and titles[at]:
        titles[at] = by
        return titles
    sign, visible = by[-1], [index for index, room in enumerate(widths) if room and titles[index]]
    named = [index for index in visible if columns[index].words] or visible
    ways = [(index, f"{titles[index]}, by {by}") for index in named]
    ways += [(index, f"{titles[index]} {sign}{by[:-1]}") for index in named]
    fitting = ((index, text) for index, text in ways if cell_len(text) <= widths[index])
    # What a column of names holds is clear without its title.
    index, text = next(fitting, (named[0], f"by {by}"))
    titles[index] = text
    return titles


Record = TypeVar("Record")


@dataclass(frozen=True, eq=False)
class Rows(Generic[Record]):
    """What a list shows. Made again, as a value, when what it shows changes."""

    columns: Sequence[ListColumn[Record]]
    """From left to right."""
    sort: Sort
    empty: str
    """What to say where there are no rows."""

    def __len__(self) -> int:
        raise NotImplementedError

    def record(self, row: int) -> Record:
        """What the columns make the cells of a row from."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Records(Rows[Record]):
    """Sorted records."""

    records: Sequence[Record]

    def __len__(self) -> int:
        return len(self.records)

    def record(self, row: int) -> Record:
        """The record of a row."""
        return self.records[row]


def no_records(empty: str) -> Records[Any]:
    """Nothing to list, and why."""
    return Records((), Sort("", descending=False), empty, ())


def records_of(
    records: Sequence[Record], columns: Sequence[ListColumn[Record]], sort: Sort, empty: str, first: Sort | None = None
) -> Records[Record]:
    """Records by a column, those without a value last; each column as wide as its texts. O(n log n). `first`: the order
    where the wanted column is none of these."""
    titles = [column.title for column in columns]
    sort = first if first is not None and sort.column not in titles else sort
    column = columns[titles.index(sort.column)]
    if column.ordered:
        records = sort_records(records, partial(sort_value, column), descending=sort.descending)
    fitted = []
    for column in columns:
        # One cell more for the sign of the direction.
        width = max([cell_len(column.title) + 1, *(cell_len(plain(column.text(record))) for record in records)])
        if column.width == FITTED:
            fitted.append(replace(column, width=min(width, WIDEST)))
        elif column.width == 0:
            fitted.append(replace(column, max_width=min(width, column.max_width)))
        else:
            fitted.append(column)
    return Records(fitted, sort, empty, records)


def sort_value(column: ListColumn[Record], record: Record) -> Any:
    """What a record is sorted by in a column: its value, else its text; None where it has none."""
    if column.value is not None:
        return column.value(record)
    text = plain(column.text(record))
    return None if text == ABSENT else text


def sort_records(records: Sequence[Record], value: Callable[[Record], Any], *, descending: bool) -> list[Record]:
    """Records by a value, texts without regard to case, equal ones as they come, those without one last. O(n log n)."""

    def key(record: Record) -> Any:
        sort_value = value(record)
        return sort_value.casefold() if isinstance(sort_value, str) else sort_value

    with_value = [record for record in records if value(record) is not None]
    unknown = [record for record in records if value(record) is None]
    return [*sorted(with_value, key=key, reverse=descending), *unknown]
