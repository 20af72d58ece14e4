"""Columns as codes into their distinct values, in order of first appearance: one way for all readers.

No step of it is taken row by row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, CodeArray, Int32Array
from tracekit.columns import Codes, Numbers, codes_of
from tracekit.recording.table import Cells, CellValue
from tracekit.rows import first_codes

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
