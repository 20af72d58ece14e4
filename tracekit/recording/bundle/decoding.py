"""From records to columns, by numpy: no step of it is taken row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.recording.bundle import DamageError
from tracekit.recording.bundle.rows import read_fields
from tracekit.recording.bundle.stores import TIME
from tracekit.recording.bundle.types import Storage
from tracekit.recording.bundle.values import since_epoch
from tracekit.recording.coding import any_cells, merged, numbered
from tracekit.recording.engineering_types import DURATIONS
from tracekit.recording.limits import MAX_TIME_NS, MAX_TIME_SUM_NS
from tracekit.recording.table import IntegerCells

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tracekit.arrays import BoolArray, UInt64Array, UnsignedArray
    from tracekit.recording.bundle.files import BundleFiles
    from tracekit.recording.bundle.stores import Store, StoredColumn
    from tracekit.recording.bundle.types import EngineeringType
    from tracekit.recording.bundle.values import RunValues
    from tracekit.recording.table import Cells


def decode(files: BundleFiles, store: Store, values: RunValues) -> tuple[Cells, ...]:
    """Cells of a table, rows in order of time and, where times are equal, of insertion. Raises `DamageError`."""
    values.budget.begin(store.path)
    fields = ordered_fields(files, store, [each.field for each in store.columns])
    return tuple(cells_of(each, fields[each.field], values) for each in store.columns)


def ordered_fields(files: BundleFiles, store: Store, names: Iterable[str]) -> Mapping[str, UnsignedArray]:
    """These fields of all rows, and their times, in order of time and, where times are equal, of insertion."""
    fields = read_fields(files, store, tuple(dict.fromkeys((TIME, *names))))
    times = fields[TIME]
    if (times[1:] < times[:-1]).any():
        order = np.argsort(times, kind="stable")
        for name in fields:
            fields[name] = fields[name][order]
    return fields


def ordered_columns(files: BundleFiles, store: Store, *mnemonics: str) -> list[UInt64Array]:
    """Columns of a table that must have them, in the same order. Raises `DamageError`."""
    field_of = {each.column.mnemonic: each.field for each in store.columns}
    if missing := [name for name in mnemonics if name not in field_of]:
        raise DamageError(f"{store.spec.schema} has no column '{missing[0]}'")
    fields = ordered_fields(files, store, [field_of[name] for name in mnemonics])
    return [fields[field_of[name]].astype(np.uint64, copy=False) for name in mnemonics]


def cells_of(stored: StoredColumn, numbers: UnsignedArray, values: RunValues) -> Cells:
    """Cells of one column from what its fields hold. Raises `DamageError`."""
    kind = stored.type
    valid = valid_numbers(kind, numbers)
    if kind.storage is Storage.INTEGER or kind.mnemonic == "time-since-epoch":
        return _integers(stored, numbers, valid)
    distinct, codes = numbered(numbers, valid)
    if kind.mnemonic == "any":
        return any_cells(codes, values.labels.values(distinct.astype(np.int64)) if len(distinct) else [])
    return merged(codes, values.distinct(kind, distinct.astype(np.uint64)))


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
