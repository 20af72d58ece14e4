"""Typed rows: frozen dataclasses whose fields are columns of one length, made with `tracekit.columns.column`.

A row is its position; there is no index. What needs to know later which rows were taken has a column for it, as `id`
of event rows. n is the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from tracekit.columns import (
    Codes,
    Flags,
    Keyed,
    Type,
    codes_of,
    columns_of,
    constant,
    joined_codes,
    no_numbers,
    numbers_by_code,
)

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import BoolArray, CodeArray, IndexArray, IntArray
    from tracekit.columns import Places


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Rows:
    """Columns of one length. A class of rows adds its columns as fields."""

    def __len__(self) -> int:
        return len(getattr(self, _names(self)[0]))

    @classmethod
    def from_rows(cls, rows: Any) -> Self:
        """Of rows of another class the columns that these have; none is copied."""
        return cls(*(getattr(rows, name) for name in cls.__dataclass_fields__))

    def take(self, at: Places) -> Self:
        """Only these rows, by position or mask. Of a slice no column is copied. O(rows taken x columns)."""
        return type(self)(*(_taken(getattr(self, name), at) for name in _names(self)))

    def where(self, chosen: BoolArray) -> Self:
        """The rows that are chosen, shape (n,): these rows themselves where all are, and no copy where they stand side
        by side. O(n + rows taken x columns)."""
        return self.at(np.flatnonzero(chosen))

    def at(self, places: IndexArray) -> Self:
        """The rows at ascending places, as `where`."""
        if len(places) == len(self):
            return self
        if len(places) and int(places[-1]) + 1 - int(places[0]) == len(places):
            return self.take(slice(int(places[0]), int(places[-1]) + 1))
        return self.take(places) if len(places) else self.take(slice(0))

    def columns(self) -> dict[str, Any]:
        """The columns by name, those whose names are data among them."""
        held: dict[str, Any] = {}
        for name in _names(self):
            cells = getattr(self, name)
            held |= cells.cells if isinstance(cells, Keyed) else {name: cells}
        return held

    def frame(self) -> pd.DataFrame:
        """The rows as a DataFrame of pandas: texts as categories, what may be null as `Int64` and `boolean`. A column
        `id` becomes the index."""
        from tracekit.frame import frame_of

        return frame_of(self.columns())

    @classmethod
    def none(cls) -> Self:
        """No rows."""
        return cls.blank(0)

    @classmethod
    def blank(cls, count: int) -> Self:
        """So many rows of nulls; of 0 and False in columns that are never null."""
        kinds = [(column.type, column.values) for column in columns_of(cls)]
        # Columns of one kind share their cells.
        cells = {(kind, values): _BLANK[kind](count, values) for kind, values in dict.fromkeys(kinds)}
        return cls(*map(cells.__getitem__, kinds))

    @classmethod
    def listed(cls, count: int, cells: Mapping[str, Sequence[Any]]) -> Self:
        """Rows of lists of values by column, None for null; blank in other columns. O(count x columns), in Python."""
        made = {
            column.name: listed_cells(column.type, cells[column.name])
            for column in columns_of(cls)
            if column.name in cells
        }
        return replace(cls.blank(count), **made)


AnyRows = TypeVar("AnyRows", bound=Rows)


def _names(rows: Rows) -> tuple[str, ...]:
    return tuple(type(rows).__dataclass_fields__)


def _taken(cells: Any, at: Places) -> Any:
    return cells[at] if isinstance(cells, np.ndarray) else cells.take(at)


_BLANK: dict[Type, Callable[[int, tuple[str, ...]], Any]] = {
    Type.NUMBER: lambda count, _: np.zeros(count, np.int64),
    Type.REAL: lambda count, _: np.zeros(count, np.float64),
    Type.FLAG: lambda count, _: np.zeros(count, np.bool_),
    Type.TEXT: lambda count, values: constant(None, count, values),
    Type.NULLABLE_NUMBER: lambda count, _: no_numbers(count),
    Type.KEYED: lambda _count, _: Keyed({}),
    Type.NULLABLE_FLAG: lambda count, _: Flags(np.zeros(count, np.bool_), np.zeros(count, np.bool_)),
}


def listed_cells(kind: Type, values: Sequence[Any]) -> Any:
    """A column of a list of values, None for null. O(n), in Python."""
    at = np.arange(len(values))
    if kind is Type.TEXT:
        return codes_of(at, values)
    if kind is Type.NULLABLE_NUMBER:
        return numbers_by_code(at, values)
    if kind is Type.NULLABLE_FLAG:
        return Flags(
            np.array([value is True for value in values], np.bool_),
            np.array([value is not None for value in values], np.bool_),
        )
    return np.array(values, {Type.NUMBER: np.int64, Type.REAL: np.float64, Type.FLAG: np.bool_}[kind])


def joined(parts: Sequence[AnyRows], order: IndexArray | None = None) -> AnyRows:
    """The rows of several parts, at least one, below one another, or in an order of them all. Where names of columns
    are data, all have the same ones. O(n x columns)."""
    first = parts[0]
    if len(parts) == 1:
        return first if order is None else in_order(first, order)
    # Column by column, so that not all of the rows are held twice.
    columns = (joined_cells([getattr(part, name) for part in parts]) for name in _names(first))
    return type(first)(*columns) if order is None else type(first)(*(_taken(cells, order) for cells in columns))


def joined_cells(parts: Sequence[Any]) -> Any:
    """The cells of columns of one type, at least one, below one another. O(n)."""
    first = parts[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if isinstance(first, Codes):
        return joined_codes(parts)
    if isinstance(first, Keyed):
        return Keyed({name: joined_cells([part.cells[name] for part in parts]) for name in first.cells})
    return type(first)(np.concatenate([part.values for part in parts]), np.concatenate([part.known for part in parts]))


def start_order(start_ns: IntArray, duration_ns: IntArray | None = None) -> IndexArray:
    """Positions of rows by start, then longest first, then as they stand. O(n log n)."""
    order = np.argsort(start_ns, kind="stable")
    if duration_ns is None:
        return order
    # Tables come in order of time, which makes the sort above cheap; few rows begin together.
    sorted_start = start_ns[order]
    alike = sorted_start[1:] == sorted_start[:-1]
    together = np.flatnonzero(np.append(alike, False) | np.append(False, alike))
    rows = order[together]
    order[together] = rows[np.lexsort((-duration_ns[rows], start_ns[rows]))]
    return order


def in_order(rows: AnyRows, order: IndexArray) -> AnyRows:
    """The rows in another order of them all; themselves if they stand so. O(n x columns)."""
    return rows if (order[1:] > order[:-1]).all() else rows.take(order)


def places_of(ids: IntArray, sought: CodeArray) -> IndexArray:
    """Shape (sought,): the position of each among distinct ids from 0 on; -1 where it is none of them, as below 0.
    O(n + sought + largest id), or O(n log n + sought log n) where that is far larger than both."""
    last = int(ids.max(initial=-1))
    if last == len(ids) - 1 and (ids == np.arange(len(ids))).all():
        return np.where((sought >= 0) & (sought <= last), sought, -1).astype(np.intp)
    if last > 8 * (len(ids) + len(sought)):
        order = np.argsort(ids, kind="stable")
        at = np.minimum(np.searchsorted(ids[order], sought), len(ids) - 1)
        return np.where(ids[order][at] == sought, order[at], -1)
    place = np.full(last + 2, -1, np.intp)
    place[ids] = np.arange(len(ids))
    # The entry behind the last stands for what is none.
    return place[np.where((sought < 0) | (sought > last), last + 1, sought)]


def counts_by(ids: IntArray, of_rows: CodeArray) -> IntArray:
    """Shape (ids,): how many rows have each id; others count for nothing. O(n)."""
    at = places_of(ids, of_rows)
    return np.bincount(at[at >= 0], minlength=len(ids))


def sums_by(ids: IntArray, of_rows: CodeArray, values: IntArray) -> IntArray:
    """Shape (ids,): the values of the rows with each id, added up; exact to 2^53. O(n)."""
    at = places_of(ids, of_rows)
    known = at >= 0
    return np.bincount(at[known], values[known], minlength=len(ids)).astype(np.int64)


def first_codes(values: IntArray) -> tuple[IndexArray, IntArray]:
    """Numbers of n values, equal ones the same, from 0 in the order in which they appear, and the distinct ones in that
    order. O(n) where the values lie close together, as codes do; else O(n log n)."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low > 4 * len(values):
        # Not stably, in half the time: equal values begin at the least of their places.
        order = np.argsort(values)
        ascending = values[order]
        begins = np.append(True, ascending[1:] != ascending[:-1])
        edges = np.flatnonzero(begins)
        by_first = np.argsort(np.minimum.reduceat(order, edges))
        number, codes = np.empty_like(by_first), np.empty_like(order)
        number[by_first] = np.arange(len(by_first))
        codes[order] = number[np.cumsum(begins) - 1]
        return codes, ascending[edges[by_first]]
    above = values - low
    code = np.full(high - low + 1, len(values), np.intp)
    # Of several places for one value, the one that is written last stays.
    code[above[::-1]] = np.arange(len(values))[::-1]
    held = np.flatnonzero(code < len(values))
    order = held[np.argsort(code[held])]
    code[order] = np.arange(len(order))
    return code[above], order + low


def group_ids(columns: Iterable[CodeArray | BoolArray], rows: int) -> IntArray:
    """A number per row that two rows share exactly when they are equal in every column, in order of appearance.
    O(rows) per column of codes, O(rows log rows) per column of other numbers."""
    group, groups = np.zeros(rows, np.int64), 1
    for column in columns if rows else ():
        codes = column.astype(np.int64, copy=False)
        low, values = int(codes.min()), int(codes.max()) - int(codes.min()) + 1
        if values == 1:
            continue
        if values > 4 * rows:
            codes, distinct = first_codes(codes)
            low, values = 0, len(distinct)
            if values == rows:
                return codes
        if groups * values > np.iinfo(np.int64).max:
            group, distinct = first_codes(group)
            groups = len(distinct)
        group, groups = group * values + codes - low, groups * values
    return first_codes(group)[0]


def held_texts(columns: Iterable[Codes[str]]) -> set[str]:
    """The texts that cells of any of the columns hold. O(n)."""
    return {text for cells in columns for text in cells.held()}
