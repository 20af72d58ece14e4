"""From rows of payloads to the columns of a `Table`."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tracekit.recording.engineering_types import ANY, DURATIONS, NUMERIC, SENTINEL, Kind, kind_of
from tracekit.recording.export import limits
from tracekit.recording.export.cells import CellError, as_tag, whole_number
from tracekit.recording.limits import MAX_TIME_SUM_NS
from tracekit.recording.quoting import shortened
from tracekit.recording.table import CodedCells, Column, IntegerCells

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tracekit.arrays import BoolArray, CodeArray, IntArray
    from tracekit.recording.export.cells import Values
    from tracekit.recording.table import Cells, CellValue

_FLUSH_CELLS = 1_000_000
"""Payloads collected row by row before they are moved into one array per column."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The tags of one row, checked against the schema once and reused for every row that has the same."""

    number: int
    codes: tuple[int, ...]
    """Code of each cell's tag; 0 where the cell holds no value."""


class ColumnBuilder:
    """Collects the rows of one table.

    Rows arrive as payloads in column order, 8 bytes a cell; each row also names its signature, which tells where it
    holds no value and, for columns of type `any`, what type each cell had.
    """

    def __init__(self, columns: tuple[Column, ...], values: Values) -> None:
        self.columns = columns
        self.rows = 0
        self._payloads = array("q")
        self._signature_numbers = array("H")
        self._values = values
        self._signatures: dict[tuple[str, ...], Signature] = {}
        self._codes: list[tuple[int, ...]] = []
        self._chunks: list[list[npt.NDArray[Any]]] = [[] for _ in columns]
        self._patches: list[tuple[int, int, int]] = []

    def signature(self, tags: tuple[str, ...]) -> Signature:
        """Signature of a row with these tags. Raises `CellError` where the row does not fit the schema."""
        signature = self._signatures.get(tags)
        if signature is not None:
            return signature
        if len(tags) != len(self.columns):
            raise CellError(f"it has {len(tags)} cells, but the schema has {len(self.columns)} columns")
        codes = tuple(self._code(column, tag) for column, tag in zip(self.columns, tags, strict=True))
        if len(self._codes) >= limits.MAX_SIGNATURES:
            raise CellError(f"more than {limits.MAX_SIGNATURES:,} patterns of missing cells in one table")
        signature = self._signatures[tags] = Signature(len(self._codes), codes)
        self._codes.append(codes)
        return signature

    def add(self, signature: Signature, payloads: Sequence[int]) -> None:
        """Take one row: a payload for each column, 0 where the cell holds no value."""
        self._payloads.extend(payloads)
        self._signature_numbers.append(signature.number)
        self.rows += 1
        if self.rows > limits.MAX_ROWS:
            raise CellError(f"more than {limits.MAX_ROWS:,} rows in one table")
        if len(self._payloads) >= _FLUSH_CELLS:
            self._flush()

    def patch(self, row: int, column: int, payload: int) -> None:
        """Replace the payload of a cell that had to wait; `row` from 0."""
        self._patches.append((row, column, payload))

    def cells(self) -> tuple[Cells, ...]:
        """All columns. The builder is used up afterwards."""
        self._flush()
        numbers = np.frombuffer(self._signature_numbers, dtype=np.uint16) if self.rows else np.empty(0, np.uint16)
        codes = np.array(self._codes, dtype=np.uint16).reshape(len(self._codes), len(self.columns))
        if not self.rows:
            # Most tables of a recording are empty, and empty columns of one type are the same.
            places = {column.engineering_type: index for index, column in enumerate(self.columns)}
            empty = {kind: self._column(index, numbers) for kind, index in places.items()}
            return tuple(empty[column.engineering_type] for column in self.columns)
        return tuple(self._column(index, codes[:, index][numbers]) for index in range(len(self.columns)))

    def _code(self, column: Column, tag: str) -> int:
        if tag == SENTINEL:
            return 0
        if tag != column.engineering_type and column.engineering_type != ANY:
            expected = as_tag(column.engineering_type)
            raise CellError(f"column {shortened(column.mnemonic)} contains {as_tag(tag)} where {expected} is expected")
        return self._values.code(tag)

    def _flush(self) -> None:
        """Move collected rows into one array per column: int64 for numbers and `any`, int32 for indexes."""
        if not self._payloads:
            return
        block = np.frombuffer(self._payloads, dtype=np.int64).reshape(-1, len(self.columns))
        for index, (column, chunks) in enumerate(zip(self.columns, self._chunks, strict=True)):
            wide = column.engineering_type == ANY or kind_of(column.engineering_type) in NUMERIC
            chunks.append(block[:, index].astype(np.int64 if wide else np.int32))
        self._payloads = array("q")

    def _column(self, index: int, codes: npt.NDArray[np.uint16]) -> Cells:
        chunks = self._chunks[index]
        payloads: IntArray = np.concatenate(chunks) if chunks else np.empty(0, np.int64)
        self._chunks[index] = []
        for row, column, payload in self._patches:
            if column == index:
                payloads[row] = payload
        valid = codes != 0
        engineering_type = self.columns[index].engineering_type
        if engineering_type == ANY:
            return self._any_cells(payloads, codes, valid)
        if kind_of(engineering_type) in NUMERIC:
            if engineering_type in DURATIONS and float(payloads.sum(dtype=np.float64)) > MAX_TIME_SUM_NS:
                raise CellError(f"the times of column {shortened(self.columns[index].mnemonic)} add up to too much")
            return IntegerCells(payloads, valid)
        coded = _coded(payloads, valid, self._values.distinct)
        return _numbers_or_text(coded) if kind_of(engineering_type) is Kind.NUMBER else coded

    def _any_cells(self, payloads: IntArray, codes: npt.NDArray[np.uint16], valid: BoolArray) -> Cells:
        """Cells that brought their own types: numbers where all of them are whole numbers, else text."""
        present = np.unique(codes[valid])
        if len(present) and all(self._values.kinds[code] in NUMERIC for code in present):
            return IntegerCells(payloads, valid)
        pairs, inverse = np.unique(np.stack([codes.astype(np.int64), payloads]), axis=1, return_inverse=True)
        texts: list[CellValue] = [self._values.text(int(code), int(each)) if code else "" for code, each in pairs.T]
        if (numbers := _whole_numbers(texts, pairs[0] != 0)) is not None:
            return IntegerCells(numbers[inverse.reshape(-1)], valid)
        distinct = {text: position for position, text in enumerate(dict.fromkeys(texts))}
        positions = np.array([distinct[text] for text in texts], dtype=np.int64)
        return _coded(positions[inverse.reshape(-1)] if len(texts) else payloads, valid, list(distinct))


def _numbers_or_text(coded: CodedCells) -> Cells:
    """Numbers where every cell that holds a value is a whole number, else the texts as they are."""
    try:
        numbers = [whole_number(str(text), ANY) for text in coded.values]
    except CellError:
        return coded
    # Code -1, no value, is the last entry.
    return IntegerCells(np.array([*numbers, 0], np.int64)[coded.codes], coded.codes >= 0)


def _whole_numbers(texts: list[CellValue], valid: BoolArray) -> IntArray | None:
    """The texts as numbers, 0 where not `valid`; None where one of them is no whole number or there is none."""
    if not valid.any():
        return None
    try:
        numbers = [whole_number(str(text), ANY) if each else 0 for text, each in zip(texts, valid, strict=True)]
    except CellError:
        return None
    return np.array(numbers, dtype=np.int64)


def _coded(indexes: CodeArray, valid: BoolArray, distinct: list[CellValue]) -> CodedCells:
    """Indexes into the distinct values of the file as codes into those of the column, by first appearance.

    Time and memory O(rows + distinct values of the file).
    """
    used = indexes[valid]
    first = np.full(len(distinct), len(used), dtype=np.int64)
    # Assigned back to front, so that the earliest row wins.
    first[used[::-1]] = np.arange(len(used) - 1, -1, -1)
    present = np.flatnonzero(first < len(used))
    order = present[np.argsort(first[present], kind="stable")]
    renumbered = np.zeros(len(distinct), dtype=np.int32)
    renumbered[order] = np.arange(len(order), dtype=np.int32)
    codes = np.full(len(indexes), -1, dtype=np.int32)
    codes[valid] = renumbered[used]
    return CodedCells(codes, tuple(distinct[index] for index in order))
