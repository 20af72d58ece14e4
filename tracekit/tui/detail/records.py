"""Lists of a few thousand records at most: sorted, and with columns as wide as their texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

from rich.cells import cell_len

from tracekit.render.blocks import plain
from tracekit.report.formatting import ABSENT
from tracekit.tui.detail.columns import FITTED, WIDEST, ListColumn
from tracekit.tui.state import Sort

Record = TypeVar("Record")


@dataclass(frozen=True, eq=False)
class Records(Generic[Record]):
    """Sorted records; see `Rows`."""

    records: Sequence[Record]
    columns: Sequence[ListColumn[Record]]
    sort: Sort
    empty: str

    def __len__(self) -> int:
        return len(self.records)

    def record(self, row: int) -> Record:
        """The record of a row."""
        return self.records[row]


def no_records(empty: str) -> Records[Any]:
    """Nothing to list, and why."""
    return Records((), (), Sort("", descending=False), empty)


def records_of(
    records: Sequence[Record], columns: Sequence[ListColumn[Record]], sort: Sort, empty: str
) -> Records[Record]:
    """Records by a column, those without a value last; each column as wide as its texts. O(n log n)."""
    column = next(column for column in columns if column.title == sort.column)
    if column.ordered:
        records = sort_records(records, partial(sort_value, column), descending=sort.descending)
    return Records(records, [_fit_width(column, records) for column in columns], sort, empty)


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

    known = [record for record in records if value(record) is not None]
    unknown = [record for record in records if value(record) is None]
    return [*sorted(known, key=key, reverse=descending), *unknown]


def _fit_width(column: ListColumn[Record], records: Sequence[Record]) -> ListColumn[Record]:
    # One cell more for the sign of the direction.
    width = max([cell_len(column.title) + 1, *(cell_len(plain(column.text(record))) for record in records)])
    if column.width == FITTED:
        return replace(column, width=min(width, WIDEST))
    return replace(column, max_width=min(width, column.max_width)) if column.width == 0 else column
