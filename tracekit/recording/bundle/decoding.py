"""From records to columns, by numpy: no step of it is taken row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tracekit.recording.bundle import DamageError
from tracekit.recording.bundle.rows import read_fields
from tracekit.recording.bundle.stores import TIME
from tracekit.recording.bundle.types import Storage
from tracekit.recording.bundle.values import since_epoch
from tracekit.recording.engineering_types import DURATIONS
from tracekit.recording.limits import MAX_TIME_NS, MAX_TIME_SUM_NS
from tracekit.recording.table import CodedCells, IntegerCells

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, IndexArray, Int32Array, UInt64Array, UnsignedArray
    from tracekit.recording.bundle.files import BundleFiles
    from tracekit.recording.bundle.stores import Store, StoredColumn
    from tracekit.recording.bundle.types import EngineeringType
    from tracekit.recording.bundle.values import RunValues
    from tracekit.recording.table import Cells, CellValue


_SPARSE: Final = 8
"""Numbers more than so many times the rows apart are sorted, not counted."""
_PART: Final = 1 << 15
"""Rows that are coded at a time, so that what they are turned into stays in the caches of a processor."""


def decode(files: BundleFiles, store: Store, values: RunValues) -> tuple[Cells, ...]:
    """Cells of a table, rows in order of time and, where times are equal, of insertion. Raises `DamageError`."""
    values.budget.begin(store.path)
    fields = read_fields(files, store, tuple(dict.fromkeys((TIME, *(each.field for each in store.columns)))))
    order = order_in_time(fields[TIME])
    return tuple(cells_of(each, fields[each.field][order], values) for each in store.columns)


def order_in_time(times: UnsignedArray) -> slice | IndexArray:
    """What puts rows in order of time and, where times are equal, of insertion."""
    return slice(None) if bool((times[1:] >= times[:-1]).all()) else np.argsort(times, kind="stable")


def cells_of(stored: StoredColumn, numbers: UnsignedArray, values: RunValues) -> Cells:
    """Cells of one column from what its fields hold. Raises `DamageError`."""
    kind = stored.type
    valid = valid_numbers(kind, numbers)
    if kind.storage is Storage.INTEGER or kind.mnemonic == "time-since-epoch":
        return _integers(stored, numbers, valid)
    distinct, codes = numbered(numbers, valid)
    if kind.mnemonic == "any":
        return _any_cells(distinct, codes, values)
    return merged(codes, values.distinct(kind, distinct))


def valid_numbers(kind: EngineeringType, numbers: UnsignedArray) -> BoolArray:
    """Which cells hold a value."""
    valid = np.ones(len(numbers), np.bool_)
    for null in kind.nulls:
        np.logical_and(valid, numbers != np.iinfo(numbers.dtype).max if null < 0 else numbers != null, out=valid)
    return valid


def _integers(stored: StoredColumn, numbers: UnsignedArray, valid: BoolArray) -> IntegerCells:
    wide = numbers.astype(np.uint64, copy=False)
    if not valid.all():
        wide = np.where(valid, wide, np.uint64(0))
    if stored.type.is_time and len(wide) and int(wide.max()) > MAX_TIME_NS:
        raise DamageError(f"column '{stored.column.mnemonic}' contains {int(wide.max())} ns, longer than any recording")
    if stored.type.mnemonic in DURATIONS and float(wide.sum(dtype=np.float64)) > MAX_TIME_SUM_NS:
        raise DamageError(f"the times of column '{stored.column.mnemonic}' add up to too much")
    if stored.type.storage is Storage.PACKED:
        return IntegerCells(np.where(valid, since_epoch(wide), 0), valid)
    return IntegerCells(wide.view(np.int64), valid)


def numbered(numbers: UnsignedArray, valid: BoolArray) -> tuple[UInt64Array, Int32Array]:
    """Distinct numbers in order of first appearance, and the code of each row; -1 where not `valid`.

    O(rows) where the numbers are small, as references are; else O(rows log rows).
    """
    complete = bool(valid.all())
    used = numbers if complete else numbers[valid]
    distinct, distinct_codes = _coded(used)
    if complete:
        return distinct, distinct_codes
    codes = np.full(len(numbers), -1, np.int32)
    codes[valid] = distinct_codes
    return distinct, codes


def _coded(used: UnsignedArray) -> tuple[UInt64Array, Int32Array]:
    if not len(used) or int(used.min()) == (largest := int(used.max())):
        return used[:1].astype(np.uint64), np.zeros(len(used), np.int32)
    return (_counted if largest < _SPARSE * len(used) + 65_536 else _sorted)(used)


def _counted(used: UnsignedArray) -> tuple[UInt64Array, Int32Array]:
    size = int(used.max()) + 1
    seen = np.zeros(size, np.bool_)
    # A part at a time, here and below: each is made an index first, which takes twice the room of the numbers.
    parts = [slice(start, start + _PART) for start in range(0, len(used), _PART)]
    for part in parts:
        seen[used[part]] = True
    present = np.flatnonzero(seen)
    first = _first_rows(used[:_PART], size)[present]
    if (first < 0).any():
        first = _first_rows(used, size)[present]
    distinct = present[np.argsort(first)]
    code = np.empty(size, np.int32)
    code[distinct] = np.arange(len(distinct), dtype=np.int32)
    codes = np.empty(len(used), np.int32)
    for part in parts:
        codes[part] = code[used[part]]
    return distinct.astype(np.uint64), codes


def _first_rows(used: UnsignedArray, size: int) -> IndexArray:
    """Where each number below `size` stands first; -1 for those that are not there."""
    first = np.full(size, -1, np.intp)
    # Assigned back to front, so that the earliest row wins.
    first[used[::-1]] = np.arange(len(used) - 1, -1, -1)
    return first


def _sorted(used: UnsignedArray) -> tuple[UInt64Array, Int32Array]:
    distinct, first, inverse = np.unique(used.astype(np.uint64), return_index=True, return_inverse=True)
    order = np.argsort(first)
    code = np.empty(len(distinct), np.int32)
    code[order] = np.arange(len(distinct), dtype=np.int32)
    return distinct[order], code[inverse.reshape(-1)]


def merged(codes: Int32Array, values: list[CellValue]) -> CodedCells:
    """Codes into distinct values, where several numbers may stand for one value."""
    if len(set(values)) == len(values):
        return CodedCells(codes, tuple(values))
    new_codes: dict[CellValue, int] = {}
    target = [new_codes.setdefault(value, len(new_codes)) for value in values]
    # Code -1 takes the last entry.
    return CodedCells(np.array([*target, -1], np.int32)[codes], tuple(new_codes))


def _any_cells(distinct: UInt64Array, codes: Int32Array, values: RunValues) -> Cells:
    """Cells that bring their own type: numbers where all of them are whole numbers, else text."""
    labels = values.labels.values(distinct.astype(np.int64)) if len(distinct) else []
    present = np.array([*(value is not None for value in labels), False], np.bool_)[codes]
    numbers = [_whole_number(value) for value in labels if value is not None]
    if numbers and None not in numbers:
        parts = iter(numbers)
        wide = np.array([0 if value is None else next(parts) or 0 for value in labels] + [0], np.int64)
        return IntegerCells(wide[codes], present)
    texts: list[CellValue] = [str(value) for value in labels if value is not None]
    renumbered = np.full(len(labels) + 1, -1, np.int32)
    renumbered[[index for index, value in enumerate(labels) if value is not None]] = np.arange(len(texts))
    return merged(renumbered[codes], texts)


def _whole_number(value: str | int) -> int | None:
    """A number, or a text that is one, in 64 bits of two's complement; None for other texts."""
    if isinstance(value, str):
        digits = value.strip().removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= 20):
            return None
        value = int(value)
    if not -(1 << 63) <= value < 1 << 64:
        return None
    return value - (1 << 64) if value >= 1 << 63 else value
