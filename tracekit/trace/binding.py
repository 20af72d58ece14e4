"""From the columns of a table to columns of rows, by name.

Which columns a table has differs between versions of Instruments, so binders ask by mnemonic. A required column that
is absent raises `MissingColumn`, unless the table has no rows to lose; an optional one reads as null in every row.
Work is done on codes and distinct values, never row by row in Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np

from tracekit import columns
from tracekit.arrays import BoolArray, CodeArray, IntArray
from tracekit.columns import Codes, Numbers, Texts, codes_of, no_numbers
from tracekit.errors import UnreadableRecording
from tracekit.recording.table import Cells, CellValue, Process, Table, Thread


def required_integers(table: Table, mnemonic: str) -> Numbers:
    """Numbers that meaning depends on. Raises `MissingColumn`, or `UnreadableRecording` for something else."""
    if not table.rows:
        return optional_integers(table, mnemonic)
    cells = table.column(mnemonic)
    if not isinstance(cells, Numbers):
        raise UnreadableRecording(
            f"column '{mnemonic}' of table '{table.schema}' does not contain numbers; export that table again with "
            "xctrace, complete and unedited"
        )
    return cells


def optional_integers(table: Table, mnemonic: str) -> Numbers:
    """Numbers of a column; no value in any row where the column is absent or holds no numbers."""
    cells = table.column(mnemonic) if table.has(mnemonic) else None
    if isinstance(cells, Numbers):
        return cells
    return no_numbers(table.rows)


def required_values(table: Table, mnemonic: str) -> Codes[CellValue]:
    """Repeating values of a column that the table's meaning depends on. Raises `MissingColumn`."""
    return as_coded(table.column(mnemonic)) if table.rows else optional_values(table, mnemonic)


def optional_values(table: Table, mnemonic: str) -> Codes[CellValue]:
    """Repeating values of a column; no value in any row where the column is absent."""
    if table.has(mnemonic):
        return as_coded(table.column(mnemonic))
    return columns.constant(None, table.rows)


def as_coded(cells: Cells) -> Codes[CellValue]:
    """The cells as codes into distinct values; numbers become their decimal text."""
    if isinstance(cells, Codes):
        return cells
    distinct, inverse = np.unique(cells.values[cells.known], return_inverse=True)
    codes = np.full(len(cells), -1, np.int32)
    codes[cells.known] = inverse
    return Codes(codes, tuple(str(value) for value in distinct.tolist()))


def as_texts(cells: Codes[CellValue]) -> Texts:
    """The texts of a column, or those of its values. Empty text stays text."""
    if not cells.values or not isinstance(cells.values[0], str):
        return codes_of(cells.codes, [str(value) for value in cells.values])
    # Distinct by contract, so to number them would only cost time; labels may be a million.
    return Codes(cells.codes, cast("tuple[str, ...]", cells.values))


def owners(table: Table, mnemonic: str = "process") -> tuple[Texts, Numbers]:
    """Process names and ids of a column; null where it is absent or holds no value."""
    cells = optional_values(table, mnemonic)
    processes = [value.process if isinstance(value, Thread) else value for value in cells.values]
    names = [process.name if isinstance(process, Process) else process for process in processes]
    pids = [process.pid if isinstance(process, Process) else None for process in processes]
    return columns.codes_of(cells.codes, names), columns.numbers_by_code(cells.codes, pids)


def durations(table: Table) -> IntArray:
    """Durations in ns, shape (rows,): 0, Apple's own sentinel, where a cell holds none. Raises `MissingColumn` where a
    table with rows has no such column, and `UnreadableRecording` where it holds something else than numbers."""
    if not table.rows:
        return optional_integers(table, "duration").values
    cells = table.column("duration")
    if isinstance(cells, Codes) and not cells.values:
        return np.zeros(table.rows, np.int64)
    return required_integers(table, "duration").values


def flags(codes: CodeArray, values: Iterable[bool]) -> BoolArray:
    """`values[code]` in each row; False where the code is -1."""
    known: BoolArray = np.array([*values, False], np.bool_)
    return known.take(codes)
