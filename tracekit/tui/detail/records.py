"""Lists of a few thousand records at most, whose columns know value and text of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rich.cells import cell_len

from tracekit.tui.detail.columns import WIDEST, Cell, Column
from tracekit.tui.detail.listing import sorted_by

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tracekit.tui.state import Sort
    from tracekit.tui.theme import Palette

Record = TypeVar("Record")

_MIN_WIDTH = 16
"""Cells that the column that takes what is left gets at least, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Field(Generic[Record]):
    """A column of records."""

    title: str
    value: Callable[[Record], Any] | None
    """What rows are sorted by; None where it is not known. No function: rows cannot be sorted by it."""
    text: Callable[[Record], str]
    right: bool = True
    drop: int = 0
    flexible: bool = False
    """Whether it is the one that takes what is left."""
    min_width: int = _MIN_WIDTH
    """Cells that one gets at least."""
    wanted: int = _MIN_WIDTH
    """How many cells that one takes, where its texts need them, before columns of little weight get any."""
    bar: Callable[[Record], Callable[[int], str] | None] | None = None
    color: Callable[[Record, Palette], str | None] | None = None
    """The color of the text, where it has one of its own."""
    short: Callable[[Record, int], str] | None = None
    """The text in so many cells; see `Cell.short`."""
    quantity: str = ""
    """Id of what it shows (`tracekit.analysis.quantities`), where that is one number of a model."""


@dataclass(frozen=True, eq=False)
class Records(Generic[Record]):
    """Sorted records; see `Rows`."""

    records: Sequence[Record]
    fields: Sequence[Field[Record]]
    columns: Sequence[Column]
    sorted_by: tuple[int, bool]
    empty: str

    def __len__(self) -> int:
        return len(self.records)

    def cells(self, row: int, palette: Palette) -> Sequence[Cell]:
        """The cells of a record, one for each column."""
        record = self.records[row]
        return [
            Cell(
                field.text(record),
                field.color(record, palette) if field.color else None,
                bar=field.bar(record) if field.bar else None,
                short=partial(field.short, record) if field.short else None,
            )
            for field in self.fields
        ]


def records_of(records: Sequence[Record], fields: Sequence[Field[Record]], sort: Sort, empty: str) -> Records[Record]:
    """Records by a column, those without a value last. O(n log n)."""
    columns = tuple(_column(field, records) for field in fields)
    by = sorted_by(columns, sort)
    value = fields[by[0]].value
    if value is not None:
        records = ordered(records, value, descending=by[1])
    return Records(records, fields, columns, by, empty)


def ordered(records: Sequence[Record], value: Callable[[Record], Any], *, descending: bool) -> list[Record]:
    """Records by a value, texts without regard to case, equal ones as they come, those without one last. O(n log n)."""

    def key(record: Record) -> Any:
        sort_value = value(record)
        return sort_value.casefold() if isinstance(sort_value, str) else sort_value

    known = [record for record in records if value(record) is not None]
    unknown = [record for record in records if value(record) is None]
    return [*sorted(known, key=key, reverse=descending), *unknown]


def _column(field: Field[Record], records: Sequence[Record]) -> Column:
    ordered = field.value is not None
    # One cell more for the sign of the direction.
    width = max([cell_len(field.title) + 1, *(cell_len(field.text(record)) for record in records)])
    if field.flexible:
        wanted = min(width, field.wanted)
        return Column(field.title, 0, field.right, False, field.drop, ordered, field.min_width, wanted)
    return Column(field.title, min(width, WIDEST), field.right, drop=field.drop, ordered=ordered)
