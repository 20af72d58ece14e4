"""The rows of a table as they lie in a bundle, and their fields as columns.

bulkstore   header, then rows in order of insertion, padded with zero rows to a whole block
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from tracekit.recording.bundle import DamageError, limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tracekit.arrays import RecordArray, UnsignedArray
    from tracekit.recording.bundle.files import BundleFiles
    from tracekit.recording.bundle.stores import Store


_HEADER: Final = struct.Struct("<8I")
_MAGIC: Final = 0x12340A0A
_VERSION: Final = 3


def read_fields(files: BundleFiles, store: Store, names: Sequence[str]) -> dict[str, UnsignedArray]:
    """These fields of all rows of a store, in order of insertion: shape (rows,) each. Raises `DamageError`.

    Rows are split into columns while they are read, so that they are nowhere held as they lie in the file.
    """
    if store.damage:
        raise DamageError(store.damage)
    if store.rows:
        _check_size(files, store)
    columns: dict[str, UnsignedArray] = {name: np.empty(store.rows, store.record[name]) for name in names}
    first = 0
    for records in _blocks(files, store) if store.rows else ():
        for name, column in columns.items():
            column[first : first + len(records)] = records[name]
        first += len(records)
    return columns


def with_rows_checked(files: BundleFiles, store: Store) -> Store:
    """The store, with the damage that the beginning of its rows file shows."""
    try:
        if not store.damage:
            _check_rows_file(files, store)
    except DamageError as damage:
        return replace(store, damage=str(damage))
    return store


def _check_rows_file(files: BundleFiles, store: Store) -> None:
    """A table without rows needs no file. Raises `DamageError`."""
    path = _path(store)
    if path not in files.sizes:
        if store.rows:
            raise DamageError(f"{store.rows:,} rows were recorded, but their file is missing from the bundle")
        return
    _header(files, store)


def _path(store: Store) -> str:
    return f"{store.path}/bulkstore"


def _check_size(files: BundleFiles, store: Store) -> None:
    stored, wanted = files.stored_size(_path(store)), store.rows * store.record.itemsize
    if wanted > limits.MAX_ROWS_BYTES:
        raise DamageError(f"its rows take more than {limits.MAX_ROWS_BYTES:,} bytes")
    if wanted > max(limits.INFLATION_FREE_BYTES, limits.MAX_INFLATION * stored):
        raise DamageError(f"{store.rows:,} rows do not fit in the {stored:,} bytes that are stored")


def _blocks(files: BundleFiles, store: Store) -> Iterator[RecordArray]:
    """All rows as records, some at a time. What the file declares is checked to be what it holds, once it is read to
    its end: where it is damaged, its own checksum says so."""
    first, block = _header(files, store)
    size, skipped, left, length = store.record.itemsize, first, store.rows, 0
    waiting, last, more = b"", b"", False
    for piece in files.pieces(_path(store), _expected_bytes(first, block, store)):
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


def _expected_bytes(first: int, block: int, store: Store) -> int:
    """Size of the rows file: its header and as many whole blocks as the rows need."""
    return first - (-store.rows * store.record.itemsize // block) * block
