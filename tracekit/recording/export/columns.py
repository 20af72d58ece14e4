"""From rows of payloads to the columns of a `Table`."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracekit.arrays import AnyArray, CodeArray, UInt16Array
from tracekit.columns import Numbers
from tracekit.recording.engineering_types import ANY, DURATIONS, NUMERIC, SENTINEL, Kind, kind_of
from tracekit.recording.export import limits
from tracekit.recording.export.cells import CellError, Values, as_tag
from tracekit.recording.limits import MAX_TIME_SUM_NS
from tracekit.recording.quoting import excerpt
from tracekit.recording.table import Cells, Column, any_cells, number_codes, numbers_or_texts
from tracekit.sorting import distinct_numbers

_FLUSH_CELLS = 1_000_000
"""Payloads collected row by row before they are moved into one array per column."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The tags of one row, checked against the schema once and reused for every row that has the same."""

    number: int
    codes: tuple[int, ...]
    """Code of each cell's tag; 0 where the cell holds no value."""
    known: tuple[dict[str | None, int], ...]
    """`Values.known` of each cell's code."""


@dataclass(frozen=True, slots=True)
class Payloads:
    """The rows of one table."""

    signatures: UInt16Array
    """Shape (signatures, columns): code of each cell's tag, 0 where it holds no value."""
    numbers: UInt16Array
    """Shape (rows,): signature of each row."""
    columns: list[CodeArray]
    """Payloads of each column, shape (rows,): numbers, or indexes into the distinct values; 0 for no value."""


class ColumnBuilder:
    """Collects the rows of one table.

    Rows arrive as payloads in column order, 8 bytes a cell; each row also names its signature, which says where it
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
        self._chunks: list[list[AnyArray]] = [[] for _ in columns]
        self._patches: list[tuple[int, int, int]] = []

    def signature(self, tags: tuple[str, ...]) -> Signature:
        """Signature of a row with these tags. Raises `CellError` where the row does not fit the schema."""
        signature = self._signatures.get(tags)
        if signature is not None:
            return signature
        if len(tags) != len(self.columns):
            raise CellError(f"it has {len(tags)} cells, but the schema has {len(self.columns)} columns")
        codes = []
        for column, tag in zip(self.columns, tags, strict=True):
            if column.engineering_type != ANY and tag not in (SENTINEL, column.engineering_type):
                expected = as_tag(column.engineering_type)
                raise CellError(
                    f"column {excerpt(column.mnemonic)} contains {as_tag(tag)} where {expected} is expected"
                )
            codes.append(0 if tag == SENTINEL else self._values.code(tag))
        if len(self._codes) >= limits.MAX_SIGNATURES:
            raise CellError(f"more than {limits.MAX_SIGNATURES:,} patterns of missing cells in one table")
        signature = self._signatures[tags] = Signature(
            len(self._codes), tuple(codes), tuple(map(self._values.known.__getitem__, codes))
        )
        self._codes.append(signature.codes)
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

    def finish(self) -> Payloads:
        """All rows. The builder is used up afterwards."""
        self._flush()
        columns: list[CodeArray] = []
        self._chunks.reverse()
        while self._chunks:
            # Each column's parts are freed before the next column is put together.
            columns.append(np.concatenate(chunks) if (chunks := self._chunks.pop()) else np.empty(0, np.int64))
        for row, column, payload in self._patches:
            columns[column] = columns[column].astype(np.int64, copy=False)
            columns[column][row] = payload
        codes = np.array(self._codes, dtype=np.uint16).reshape(len(self._codes), len(self.columns))
        return Payloads(codes, np.array(self._signature_numbers, dtype=np.uint16), columns)

    def _flush(self) -> None:
        """Move collected rows into one array per column, of integers as small as the column needs."""
        if not self._payloads:
            return
        block = np.frombuffer(self._payloads, dtype=np.int64).reshape(-1, len(self.columns))
        for payloads, chunks in zip(block.T, self._chunks, strict=True):
            ends = np.array([payloads.min(), payloads.max()])
            size = next(kind for kind in (np.int16, np.int32, np.int64) if (ends.astype(kind) == ends).all())
            chunks.append(payloads.astype(size))
        self._payloads = array("q")


def cells_of(columns: tuple[Column, ...], rows: Payloads, values: Values) -> tuple[Cells, ...]:
    """Rows as the columns of a table. The payloads are used up. Raises `CellError` where values cannot be meant so."""
    if not len(rows.numbers):
        # Most tables of a recording are empty, and empty columns of one type are the same.
        nothing: UInt16Array = np.empty(0, np.uint16)
        empty = {column.engineering_type: column for column in columns}
        made = {kind: _cells(column, np.empty(0, np.int64), nothing, values) for kind, column in empty.items()}
        return tuple(made[column.engineering_type] for column in columns)
    cells = []
    # Each column is dropped when its cells are made of it.
    rows.columns.reverse()
    for index, column in enumerate(columns):
        codes = rows.signatures[:, index]
        same = codes.min() == codes.max()
        cells.append(_cells(column, rows.columns.pop(), codes[:1] if same else codes[rows.numbers], values))
    return tuple(cells)


def _cells(column: Column, payloads: CodeArray, codes: UInt16Array, values: Values) -> Cells:
    """codes: code of the tag of each cell, or one for all of them; 0 where there is no value."""
    valid = np.broadcast_to(codes != 0, len(payloads))
    if column.engineering_type == ANY:
        codes = np.broadcast_to(codes, len(payloads))
        present = distinct_numbers(codes[valid])
        if len(present) and all(values.kinds[code] in NUMERIC for code in present):
            return Numbers(payloads.astype(np.int64, copy=False), valid)
        pairs, inverse = np.unique(np.stack([codes.astype(np.int64), payloads]), axis=1, return_inverse=True)
        distinct, numbers = number_codes(inverse.reshape(-1), valid)
        return any_cells(numbers, [values.text(code, payload) for code, payload in pairs.T[distinct].tolist()])
    kind = kind_of(column.engineering_type)
    if kind in NUMERIC:
        if column.engineering_type in DURATIONS and float(payloads.sum(dtype=np.float64)) > MAX_TIME_SUM_NS:
            raise CellError(f"the times of column {excerpt(column.mnemonic)} add up to too much")
        return Numbers(payloads.astype(np.int64, copy=False), valid)
    distinct, numbers = number_codes(payloads, valid)
    coded = values.coded_cells(numbers, distinct.astype(np.int64))
    return numbers_or_texts(coded) if kind is Kind.NUMBER else coded
