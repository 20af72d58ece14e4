"""Columns as codes into their distinct values, in order of first appearance: one way for all readers.

No step of it is taken row by row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, CodeArray, IndexArray, Int32Array
from tracekit.recording.table import Cells, CellValue, CodedCells, IntegerCells

_SPARSE: Final = 8
"""Numbers more than so many times the rows apart are sorted, not counted."""
_PART: Final = 1 << 15
"""Rows that are coded at a time, so that what they are turned into stays in the caches of a processor."""
_WHOLE_NUMBER: Final = re.compile(r"\s*(-?[0-9]{1,20})\s*")


def number_codes(numbers: CodeArray, valid: BoolArray) -> tuple[CodeArray, Int32Array]:
    """Distinct numbers, and the code of each row; -1 where not `valid`. Valid numbers are not negative.

    O(rows) where the numbers are close to one another, as references are; else O(rows log rows).
    """
    if valid.all():
        return _number_all(numbers)
    distinct, distinct_codes = _number_all(numbers[valid])
    codes = np.full(len(numbers), -1, np.int32)
    codes[valid] = distinct_codes
    return distinct, codes


def _number_all(used: CodeArray) -> tuple[CodeArray, Int32Array]:
    if not len(used) or (lowest := int(used.min())) == (highest := int(used.max())):
        return used[:1], np.zeros(len(used), np.int32)
    if not (used[1:] < used[:-1]).any():
        # As in a column whose every row has a value of its own.
        is_new = np.append(True, used[1:] > used[:-1])
        return used[is_new], np.cumsum(is_new, dtype=np.int32) - np.int32(1)
    # Numbers far from 0 are moved there.
    base = lowest if lowest > len(used) else 0
    if highest - base >= _SPARSE * len(used) + 65_536:
        return _number_sparse(used)
    distinct, codes = _number_dense(used - base if base else used, highest - base + 1)
    return distinct.astype(used.dtype) + base, codes


def _number_dense(used: CodeArray, size: int) -> tuple[IndexArray, Int32Array]:
    """As `number_codes`, for numbers below `size`."""
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
    return distinct, codes


def _first_rows(used: CodeArray, size: int) -> IndexArray:
    """Where each number below `size` stands first; -1 for those that are not there."""
    first = np.full(size, -1, np.intp)
    # Assigned back to front, so that the earliest row wins.
    first[used[::-1]] = np.arange(len(used) - 1, -1, -1)
    return first


def _number_sparse(used: CodeArray) -> tuple[CodeArray, Int32Array]:
    distinct, first, inverse = np.unique(used, return_index=True, return_inverse=True)
    order = np.argsort(first)
    code = np.empty(len(distinct), np.int32)
    code[order] = np.arange(len(distinct), dtype=np.int32)
    return distinct[order], code[inverse]


def merge_codes(codes: Int32Array, values: Sequence[CellValue]) -> CodedCells:
    """Codes into distinct values, where several codes may stand for one value."""
    if len(set(values)) == len(values):
        return CodedCells(codes, tuple(values))
    new_codes: dict[CellValue, int] = {}
    target = [new_codes.setdefault(value, len(new_codes)) for value in values]
    # Code -1 takes the last entry.
    return CodedCells(np.array([*target, -1], np.int32)[codes], tuple(new_codes))


def any_cells(codes: Int32Array, values: Sequence[str | int | None]) -> Cells:
    """Cells that bring their own type: numbers where all of them are whole numbers, else text. None is no value."""
    texts = [str(value) for value in values if value is not None]
    renumbered = np.full(len(values) + 1, -1, np.int32)
    renumbered[[index for index, value in enumerate(values) if value is not None]] = np.arange(len(texts))
    cells = merge_codes(renumbered[codes], texts)
    return numbers_or_texts(cells) if texts else cells


def numbers_or_texts(cells: CodedCells) -> Cells:
    """Numbers in 64 bits of two's complement where every value is a whole number, else the texts as they are."""
    numbers = []
    for value in cells.values:
        match = _WHOLE_NUMBER.fullmatch(str(value))
        number = int(match[1]) if match else 1 << 64
        if not -(1 << 63) <= number < 1 << 64:
            return cells
        numbers.append(number - (1 << 64) if number >= 1 << 63 else number)
    # Code -1, no value, is the last entry.
    return IntegerCells(np.array([*numbers, 0], np.int64)[cells.codes], cells.codes >= 0)
