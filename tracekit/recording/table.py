"""A table of a recording, column by column.

Columns stand in schema order and are bound by position: one schema may hold the same engineering type several times.
All readers produce these classes, so that nothing downstream knows which file a number came from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, CodeArray, Int32Array
from tracekit.columns import Codes, Numbers, codes_of
from tracekit.errors import MissingColumn
from tracekit.rows import first_codes

NOT_EXPORTED = "listed in the table of contents but not exported"
"""Reason of an unreadable table that may be sound."""


class TableState(StrEnum):
    """What a recording can say of one table. Only `ROWS` supports a number; the others never mean zero."""

    MISSING = "missing"
    """The table was never recorded, or the input does not show that it was."""
    EMPTY = "empty"
    """The table was recorded and holds no row."""
    ROWS = "rows"
    """At least one row."""
    UNREADABLE = "unreadable"
    """The table exists, but its rows cannot be had; the reason says why."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process cell. `pid` is None where the recording gives a name alone."""

    name: str
    pid: int | None = None

    def __str__(self) -> str:
        """Text as Instruments shows it: `name (pid)`."""
        return self.name if self.pid is None else f"{self.name} ({self.pid})"


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread cell. `text` is the display text as recorded; it names the main thread where that is known."""

    text: str
    tid: int | None = None
    process: Process | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a schema, as the recording itself describes it."""

    mnemonic: str
    """Stable name, for example `start` or `event-label`. Binders look columns up by it."""
    engineering_type: str
    """Apple's type of the cells, for example `start-time`. Types repeat inside a schema."""
    name: str = ""
    """Title shown by Instruments."""


CellValue = str | Process | Thread


class LateCells(Codes[CellValue]):
    """Values that repeat, whose distinct ones are made when they are first asked for."""

    __slots__ = ("_made", "_make")
    _made: tuple[CellValue, ...]
    _make: Callable[[], tuple[CellValue, ...]] | None

    def __init__(self, codes: Int32Array, make: Callable[[], tuple[CellValue, ...]]) -> None:
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "_make", make)

    @property
    def values(self) -> tuple[CellValue, ...]:
        """As `Codes.values`."""
        # Made values are in place before what makes them is let go, since another thread may ask too.
        make = self._make
        if make is not None:
            object.__setattr__(self, "_made", make())
            object.__setattr__(self, "_make", None)
        return self._made


Cells = Numbers | Codes[CellValue]
"""A column: no value where the recording holds none (`sentinel`). The distinct values of `Codes`, in order of first
appearance, are all `str`, all `Process` or all `Thread`."""

NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Table:
    """One table of one run: state, columns and cells."""

    schema: str
    run: int
    """1-based number of the run."""
    state: TableState
    columns: tuple[Column, ...] = ()
    cells: tuple[Cells, ...] = ()
    """One entry per column, each of length `rows`."""
    rows: int = 0
    attributes: Mapping[str, str] = field(default_factory=lambda: NO_ATTRIBUTES)
    """Attributes of the table of contents that distinguish tables of one schema, for example `category`."""
    position: int | None = None
    """1-based position among the tables of its run (`table[N]`), where the input states it."""
    source: str = ""
    """Name of the file or archive member it was read from, without folders."""
    reason: str = ""
    """Why the table is `missing` or `unreadable`, or which columns it lacks and why; empty otherwise."""

    def has(self, mnemonic: str) -> bool:
        """Whether the schema has a column of that name."""
        return any(column.mnemonic == mnemonic for column in self.columns)

    def column(self, mnemonic: str) -> Cells:
        """Cells of the first column of that name. Raises `MissingColumn` where there is none."""
        for column, cells in zip(self.columns, self.cells, strict=True):
            if column.mnemonic == mnemonic:
                return cells
        raise MissingColumn(self.schema, mnemonic, tuple(column.mnemonic for column in self.columns))


_WHOLE_NUMBER: Final = re.compile(r"\s*(-?[0-9]{1,20})\s*")


def number_codes(numbers: CodeArray, valid: BoolArray) -> tuple[CodeArray, Int32Array]:
    """Distinct numbers, and the code of each row; -1 where not `valid`. O(rows)."""
    used = numbers if valid.all() else numbers[valid]
    distinct: CodeArray
    if not (used[1:] < used[:-1]).any():
        # As in a column whose every row has a value of its own, or all of them the same one.
        is_new = np.ones(len(used), np.bool_)
        np.greater(used[1:], used[:-1], out=is_new[1:])
        distinct, codes = used[np.flatnonzero(is_new)], np.cumsum(is_new, dtype=np.int32) - np.int32(1)
    else:
        codes, held = first_codes(used.astype(np.int64))
        distinct = held.astype(used.dtype)
    if len(used) == len(numbers):
        return distinct, codes.astype(np.int32, copy=False)
    all_codes = np.full(len(numbers), -1, np.int32)
    all_codes[valid] = codes
    return distinct, all_codes


def merge_codes(codes: CodeArray, values: Sequence[CellValue]) -> Codes[CellValue]:
    """Codes into distinct values, where several codes may stand for one value."""
    return Codes(codes, tuple(values)) if len(set(values)) == len(values) else codes_of(codes, values)


def any_cells(codes: Int32Array, values: Sequence[str | int | None]) -> Cells:
    """Cells that bring their own type: numbers where all of them are whole numbers, else text. None is no value."""
    texts = [str(value) for value in values if value is not None]
    renumbered = np.full(len(values) + 1, -1, np.int32)
    renumbered[[index for index, value in enumerate(values) if value is not None]] = np.arange(len(texts))
    cells = merge_codes(renumbered[codes], texts)
    return numbers_or_texts(cells) if texts else cells


def numbers_or_texts(cells: Codes[CellValue]) -> Cells:
    """Numbers in 64 bits of two's complement where every value is a whole number, else the texts as they are."""
    numbers = []
    for value in cells.values:
        match = _WHOLE_NUMBER.fullmatch(str(value))
        number = int(match[1]) if match else 1 << 64
        if not -(1 << 63) <= number < 1 << 64:
            return cells
        numbers.append(number - (1 << 64) if number >= 1 << 63 else number)
    # Code -1, no value, is the last entry.
    return Numbers(np.array([*numbers, 0], np.int64)[cells.codes], cells.codes >= 0)
