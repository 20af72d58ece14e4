"""The rows of a table as they lie in a bundle, and their fields as columns: no step of it is taken row by row.

bulkstore   header, then rows in order of insertion, padded with zero rows to a whole block

References of processes and threads lead to shared arrays, which hold numbers, and these tables to names:

process-info, thread-info        recordings with the Core ML template
developer-thread-name-update     recordings with the Time Profiler template
form.template                    the target and its threads, where none of these tables is there
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, RecordArray, UInt64Array, UnsignedArray
from tracekit.columns import Numbers
from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.files import BundleFiles
from tracekit.recording.bundle.stores import TIME, Store, StoredColumn
from tracekit.recording.bundle.types import EngineeringType, Storage
from tracekit.recording.bundle.values import Names, RunValues, since_epoch
from tracekit.recording.engineering_types import DURATIONS
from tracekit.recording.limits import MAX_TIME_NS, MAX_TIME_SUM_NS
from tracekit.recording.table import Cells, any_cells, merge_codes, number_codes

_HEADER: Final = struct.Struct("<8I")
_MAGIC: Final = 0x12340A0A
_VERSION: Final = 3
NO_NAME = 0xFFFF_FFFF_FFFF_FFFF
"""Name of a thread that has none."""


def read_fields(files: BundleFiles, store: Store, names: Sequence[str]) -> dict[str, UnsignedArray]:
    """These fields of all rows of a store, in order of insertion: shape (rows,) each. Raises `DamageError`.

    Rows are split into columns while they are read, so that they are nowhere held as they lie in the file.
    """
    if store.damage:
        raise DamageError(store.damage)
    if store.rows:
        stored, wanted = files.stored_size(_path(store)), store.rows * store.record.itemsize
        if wanted > limits.MAX_ROWS_BYTES:
            raise DamageError(f"its rows take more than {limits.MAX_ROWS_BYTES:,} bytes")
        if wanted > max(limits.INFLATION_FREE_BYTES, limits.MAX_INFLATION * stored):
            raise DamageError(f"{store.rows:,} rows do not fit in the {stored:,} bytes that are stored")
    columns: dict[str, UnsignedArray] = {name: np.empty(store.rows, store.record[name]) for name in names}
    first = 0
    for records in _blocks(files, store) if store.rows else ():
        for name, column in columns.items():
            column[first : first + len(records)] = records[name]
        first += len(records)
    return columns


def with_row_damage(files: BundleFiles, store: Store) -> Store:
    """The store, with the damage that the beginning of its rows file shows. A table without rows needs no file."""
    damage, layout = store.damage, None
    try:
        if _path(store) in files.sizes and not damage:
            layout = _header(files, store)
        elif store.rows and not damage:
            damage = f"{store.rows:,} rows were recorded, but their file is missing from the bundle"
    except DamageError as error:
        damage = str(error)
    return replace(store, damage=damage, layout=layout)


def _path(store: Store) -> str:
    return f"{store.path}/bulkstore"


def _blocks(files: BundleFiles, store: Store) -> Iterator[RecordArray]:
    """All rows as records, some at a time. What the file declares is checked to be what it holds, once it is read to
    its end: where it is damaged, its own checksum says so."""
    first, block = store.layout or _header(files, store)
    size, skipped, left, length = store.record.itemsize, first, store.rows, 0
    waiting, last, more = b"", b"", False
    # The header, and as many whole blocks as the rows need.
    expected = first - (-store.rows * store.record.itemsize // block) * block
    for piece in files.pieces(_path(store), expected):
        length += len(piece)
        waiting += piece
        if skipped:
            skipped, waiting = max(skipped - len(waiting), 0), waiting[skipped:]
        if count := min(len(waiting) // size, left):
            yield np.frombuffer(waiting, store.record, count)
            left -= count
            last = waiting[(count - 1) * size : count * size]
            waiting = waiting[count * size :]
        if not left:
            more |= waiting != bytes(len(waiting))
            waiting = b""
    if left or (length - first) % block:
        raise DamageError(f"{store.rows:,} rows are declared, and its rows file ends before them")
    if more or not any(last):
        compared = "more" if more else "fewer"
        raise DamageError(f"its rows file contains {compared} than the {store.rows:,} rows that are declared")


def _header(files: BundleFiles, store: Store) -> tuple[int, int]:
    """Place of the first row, and bytes of a block. Raises `DamageError`."""
    beginning = files.beginning(_path(store), _HEADER.size)
    if len(beginning) < _HEADER.size:
        raise DamageError("its rows file is cut off")
    magic, version, _, first, size, block, per_block, _ = _HEADER.unpack_from(beginning)
    if (magic, version) != (_MAGIC, _VERSION):
        raise DamageError(f"its rows file has the unknown format {magic:#x} version {version}")
    if size != store.record.itemsize:
        raise DamageError(f"a row has {size} bytes, and its fields have {store.record.itemsize}")
    if first < 40 or first > 1 << 20 or not per_block or block != size * per_block:
        raise DamageError("the header of its rows file contradicts itself")
    return first, block


def decode(files: BundleFiles, store: Store, values: RunValues) -> tuple[Cells, ...]:
    """Cells of a table, rows in order of time and, where times are equal, of insertion. Raises `DamageError`."""
    values.budget.begin(store.path)
    fields = ordered_fields(files, store, [column.field for column in store.columns])
    return tuple(cells_of(column, fields[column.field], values) for column in store.columns)


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
    field_of = {column.column.mnemonic: column.field for column in store.columns}
    if missing := [name for name in mnemonics if name not in field_of]:
        raise DamageError(f"{store.spec.schema} has no column '{missing[0]}'")
    fields = ordered_fields(files, store, [field_of[name] for name in mnemonics])
    return [fields[field_of[name]].astype(np.uint64, copy=False) for name in mnemonics]


def cells_of(stored: StoredColumn, numbers: UnsignedArray, values: RunValues) -> Cells:
    """Cells of one column from what its fields hold. Raises `DamageError`."""
    kind = stored.type
    valid = valid_numbers(kind, numbers)
    if kind.storage is Storage.INTEGER or kind.mnemonic == "time-since-epoch":
        wide = numbers.astype(np.uint64, copy=False)
        if not valid.all():
            wide = np.where(valid, wide, np.uint64(0))
        if stored.type.is_time and len(wide) and int(wide.max()) > MAX_TIME_NS:
            raise DamageError(
                f"column '{stored.column.mnemonic}' contains {int(wide.max())} ns, longer than any recording"
            )
        if stored.type.mnemonic in DURATIONS and float(wide.sum(dtype=np.float64)) > MAX_TIME_SUM_NS:
            raise DamageError(f"the times of column '{stored.column.mnemonic}' add up to too much")
        if stored.type.storage is Storage.PACKED:
            return Numbers(np.where(valid, since_epoch(wide), 0), valid)
        return Numbers(wide.view(np.int64), valid)
    distinct, codes = number_codes(numbers, valid)
    if kind.mnemonic == "any":
        return any_cells(codes, values.labels.values(distinct.astype(np.int64)) if len(distinct) else [])
    return merge_codes(codes, values.distinct(kind, distinct.astype(np.uint64)))


def valid_numbers(kind: EngineeringType, numbers: UnsignedArray) -> BoolArray:
    """Which cells hold a value."""
    valid = np.ones(len(numbers), np.bool_)
    for null in kind.nulls:
        np.logical_and(valid, numbers != null % (1 << 8 * numbers.itemsize), out=valid)
    return valid


def read_names(files: BundleFiles, stores: Sequence[Store], values: RunValues, target: Names) -> Names:
    """All names that a run states. Where it states two, the later one holds: a process may start another program.

    Raises `DamageError` where a table and the shared arrays disagree: then they are not from the same run.
    """
    names = Names(dict(target.processes), {}, set(target.main_threads))
    for store in stores:
        if store.damage or not store.rows:
            continue
        if store.spec.schema == "process-info":
            references, pids, texts = ordered_columns(files, store, "process", "pid", "process-name")
            _check_numbers(references, pids, values, "process-info", "a process")
            names.processes.update(zip(references.tolist(), values.text_of_strings(texts), strict=True))
        elif store.spec.schema == "thread-info":
            references, tids, packed, main = ordered_columns(files, store, "thread", "tid", "name", "main-thread")
            _check_numbers(references, tids, values, "thread-info", "a thread")
            names.main_threads.update(references[main == 1].tolist())
            _add_thread_names(names, packed, references, values)
        elif store.spec.schema == "developer-thread-name-update":
            (packed,) = ordered_columns(files, store, "thread-name")
            _add_thread_names(names, packed, packed & np.uint64(0xFFFF_FFFF), values)
    return names


def _check_numbers(references: UInt64Array, numbers: UInt64Array, values: RunValues, schema: str, whose: str) -> None:
    """Raise `DamageError` where the shared arrays hold other numbers than a table."""
    if not np.array_equal(values.arrays.prefixes(references.astype(np.int64), 2)[:, 0], numbers):
        raise DamageError(f"{schema} and the shared arrays give different numbers to {whose}")


def _add_thread_names(names: Names, packed: UInt64Array, references: UInt64Array, values: RunValues) -> None:
    named = packed != NO_NAME
    texts = values.text_of_strings(packed[named] >> np.uint64(32))
    names.threads.update((key, text) for key, text in zip(references[named].tolist(), texts, strict=True) if text)
