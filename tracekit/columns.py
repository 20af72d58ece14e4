"""Columns of rows: texts and values that repeat, numbers and flags that may be null, and what a column holds.

A column without nulls that does not repeat is a plain array. n is the number of cells of a column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, CodeArray, FloatArray, IndexArray, IntArray, ObjectArray

    Places = IndexArray | IntArray | BoolArray | slice
    """Which cells: positions in any order, a mask of shape (n,), or a slice, which copies nothing."""

Value = TypeVar("Value")


_MANY = 10_000
"""Cells of a column from which on its memory counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Codes(Generic[Value]):
    """Values that repeat, as codes into the distinct ones."""

    codes: CodeArray
    """Shape (n,). -1 where there is no value."""
    values: tuple[Value, ...]
    """Distinct values; some may be in no cell."""

    def __len__(self) -> int:
        return len(self.codes)

    def item(self, at: int) -> Value | None:
        """The value of one cell; None where there is none."""
        code = int(self.codes[at])
        return None if code < 0 else self.values[code]

    def take(self, at: Places) -> Codes[Value]:
        """Only these cells. O(cells taken)."""
        return Codes(self.codes[at], self.values)

    @property
    def known(self) -> BoolArray:
        """Shape (n,): whether there is a value."""
        known: BoolArray = self.codes >= 0
        return known

    def is_any(self, *wanted: Value) -> BoolArray:
        """Shape (n,): whether a cell holds one of these values. O(n + values)."""
        first, *others = [self.values.index(value) for value in wanted if value in self.values] or [-2]
        found: BoolArray = self.codes == first
        for code in others:
            found |= self.codes == code
        return found

    def passing(self, test: Callable[[Value], object]) -> BoolArray:
        """Shape (n,): whether there is a value that passes. Each that a cell holds is tested once. O(n + values)."""
        passes = np.zeros(len(self.values) + 1, np.bool_)
        for code in np.flatnonzero(self.counts()).tolist():
            passes[code] = bool(test(self.values[code]))
        return passes[self.codes]

    def counts(self) -> IntArray:
        """Shape (values,): how many cells hold each value. O(n + values)."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    def held(self) -> Iterator[Value]:
        """Each value that a cell holds, once, in the order of `values`. O(n + values)."""
        return (self.values[code] for code in np.flatnonzero(self.counts()).tolist())

    def as_objects(self) -> ObjectArray:
        """Shape (n,): the value of each cell, or None. O(n + values)."""
        objects = np.empty(len(self.values) + 1, np.object_)
        objects[:-1] = self.values
        # The entry behind the last stands for the code -1.
        return objects[self.codes]

    def codes_in(self, values: Sequence[Value]) -> IntArray:
        """Shape (n,): place of each cell's value among other distinct values; -1 where it is none. O(n + values)."""
        place = {value: at for at, value in enumerate(values)}
        target = np.array([*(place.get(value, -1) for value in self.values), -1], np.int64)
        return target[self.codes]

    def changed(self, at: BoolArray, value: Value | None) -> Codes[Value]:
        """The cells, with this value, or none, in those that are chosen: shape (n,). O(n + values)."""
        return codes_of(np.where(at, len(self.values), self.codes), [*self.values, value], self.values)

    def used(self) -> Codes[Value]:
        """The same cells, without values that none of them holds. O(n + values)."""
        counts = self.counts().tolist()
        return codes_of(
            self.codes, [value if count else None for value, count in zip(self.values, counts, strict=True)]
        )

    def recoded(self, change: Callable[[Value], Result | None], order: Iterable[Result] = ()) -> Codes[Result]:
        """Another value in the place of each. As `codes_of`."""
        return codes_of(self.codes, [change(value) for value in self.values], order)


Result = TypeVar("Result")
Texts = Codes[str]


def codes_of(codes: CodeArray, values: Sequence[Value | None], order: Iterable[Value] = ()) -> Codes[Value]:
    """Cells with `values[code]`: no value where the code is -1 or the value is None. `order` fixes the first values;
    others follow in order of appearance. Several codes may have one value. O(n + values)."""
    code_of: dict[Value | None, int] = {value: code for code, value in enumerate(dict.fromkeys(order))}
    for value in values:
        if value is not None and value not in code_of:
            code_of[value] = len(code_of)
    distinct = tuple(value for value in code_of if value is not None)
    target = np.array([*(-1 if value is None else code_of[value] for value in values), -1], _code_type(distinct))
    return Codes(target[codes], distinct)


def _code_type(values: Sequence[object]) -> np.dtype[np.integer]:
    """The narrowest codes into so many values: most columns of a million rows hold few."""
    return np.min_scalar_type(-len(values) - 1)


def coded(values: Sequence[Value | None], order: Iterable[Value] = ()) -> Codes[Value]:
    """The values as a column. As `codes_of`."""
    return codes_of(np.arange(len(values)), values, order)


def constant(value: Value | None, count: int, order: Iterable[Value] = ()) -> Codes[Value]:
    """So many cells that all hold one value, or none."""
    return codes_of(np.zeros(count, np.int32), [value], order)


def joined_codes(parts: Sequence[Codes[Value]]) -> Codes[Value]:
    """The cells of several columns, one after the other; values in order of appearance. O(n + values)."""
    first = parts[0]
    if all(part.values is first.values or part.values == first.values for part in parts):
        return Codes(np.concatenate([part.codes for part in parts]), first.values)
    code_of: defaultdict[Value, int] = defaultdict(count().__next__)
    target = [np.array([*map(code_of.__getitem__, part.values), -1], np.int64) for part in parts]
    values = tuple(code_of)
    cells = np.concatenate([codes[part.codes] for codes, part in zip(target, parts, strict=True)])
    return Codes(cells.astype(_code_type(values)), values)


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Whole numbers that may be null: times and durations in ns, ids, counts, booleans as 0 and 1."""

    values: IntArray
    """Shape (n,). 0 where `known` is False. Unsigned 64-bit ids above 2^63 - 1 are stored in two's complement."""
    known: BoolArray
    """Shape (n,). False where there is no value."""

    def __len__(self) -> int:
        return len(self.values)

    def item(self, at: int) -> int | None:
        """The value of one cell; None where there is none."""
        return int(self.values[at]) if self.known[at] else None

    def take(self, at: Places) -> Numbers:
        """Only these cells. O(cells taken)."""
        known = self.known[at]
        if len(known) >= _MANY and not known.any():
            return no_numbers(len(known))
        return Numbers(self.values[at], known)

    def filled(self, value: int = -1) -> IntArray:
        """Shape (n,): the numbers, and this one where there is none. Ids and positions are never negative."""
        return self.values if self.known.all() else np.where(self.known, self.values, value)

    def or_nan(self) -> FloatArray:
        """Shape (n,): the numbers, and NaN where there is none."""
        return np.where(self.known, self.values, np.nan)


def or_null(numbers: IntArray) -> Numbers:
    """Numbers, shape (n,), of which what is negative is null: what `Numbers.filled` takes apart."""
    return Numbers(np.maximum(numbers, 0), numbers >= 0)


def known_where(known: BoolArray, numbers: IntArray) -> Numbers:
    """Numbers, shape (n,), of which only some are known."""
    return Numbers(numbers if known.all() or not numbers.any() else np.where(known, numbers, 0), known)


def all_known(numbers: IntArray) -> Numbers:
    """Numbers, shape (n,), of which none is null."""
    return Numbers(numbers, np.ones(len(numbers), np.bool_))


def no_numbers(count: int) -> Numbers:
    """So many nulls. Where these are many, as in columns that a recording does not fill, they take no memory."""
    if count < _MANY:
        return Numbers(np.zeros(count, np.int64), np.zeros(count, np.bool_))
    return Numbers(np.broadcast_to(np.int64(0), count), np.broadcast_to(np.False_, count))


def numbers_by_code(codes: CodeArray, values: Sequence[int | None]) -> Numbers:
    """Shape (n,): `values[code]`; null where the code is -1 or the value is None."""
    filled = np.array([*(value or 0 for value in values), 0], np.int64)
    known = np.array([*(value is not None for value in values), False], np.bool_)
    return Numbers(filled[codes], known[codes])


@dataclass(frozen=True, slots=True, eq=False)
class Flags:
    """Truths that may be unknown."""

    values: BoolArray
    """Shape (n,). False where `known` is False."""
    known: BoolArray
    """Shape (n,)."""

    def __len__(self) -> int:
        return len(self.values)

    def item(self, at: int) -> bool | None:
        """The value of one cell; None where it is unknown."""
        return bool(self.values[at]) if self.known[at] else None

    def take(self, at: Places) -> Flags:
        """Only these cells. O(cells taken)."""
        return Flags(self.values[at], self.known[at])


@dataclass(frozen=True, slots=True, eq=False)
class Reals:
    """Numbers with a fraction that may be null."""

    values: FloatArray
    """Shape (n,). 0 where `known` is False."""
    known: BoolArray
    """Shape (n,)."""

    def __len__(self) -> int:
        return len(self.values)

    def item(self, at: int) -> float | None:
        """The value of one cell; None where there is none."""
        return float(self.values[at]) if self.known[at] else None

    def take(self, at: Places) -> Reals:
        """Only these cells. O(cells taken)."""
        return Reals(self.values[at], self.known[at])


@dataclass(frozen=True, slots=True, eq=False)
class Keyed:
    """Columns whose names are data."""

    cells: Mapping[str, Texts | Numbers | Reals | IntArray]
    """By name, of one length."""

    def take(self, at: Places) -> Keyed:
        """Only these cells of each column. O(cells taken x columns)."""
        return Keyed(
            {name: cells[at] if isinstance(cells, np.ndarray) else cells.take(at) for name, cells in self.cells.items()}
        )


class Type(StrEnum):
    """What the cells of a column are; the values are those of the annotations of fields."""

    NUMBER = "IntArray"
    NULLABLE_NUMBER = "Numbers"
    REAL = "FloatArray"
    FLAG = "BoolArray"
    NULLABLE_FLAG = "Flags"
    TEXT = "Texts"
    KEYED = "Keyed"


@dataclass(frozen=True, slots=True)
class Column:
    """What a column holds, as frames, SQL, CSV and documentation say it."""

    name: str
    type: Type
    unit: str
    """`ns`, `bytes`; empty where it has none."""
    says: str
    """What its cells mean, in a few words."""
    values: tuple[str, ...] = field(default=(), compare=False)
    """The first of its texts, whether or not a row holds them; where it has a vocabulary."""


def unit_of(name: str) -> str:
    """The unit that the name of a column ends with; empty for none."""
    return "ns" if name.endswith("_ns") else "bytes" if name == "bytes" else ""


class _RowsClass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


def column(says: str, values: Iterable[str] = ()) -> Any:
    """A field of rows that is a column. Its name ends with its unit, if it has one; `values` are its vocabulary."""
    return field(metadata={"says": says, "values": tuple(map(str, values))})


def columns_of(rows: type[_RowsClass]) -> tuple[Column, ...]:
    """The columns of a class of rows, in order. Its annotations are texts, as in all modules of this package."""
    return tuple(
        Column(
            each.name, Type(str(each.type)), unit_of(each.name), each.metadata["says"], each.metadata.get("values", ())
        )
        for each in fields(rows)
    )
