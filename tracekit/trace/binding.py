"""From the columns of a table to arrays and categoricals, by name.

Which columns a table has differs between versions of Instruments, so binders ask by mnemonic. A required column that
is absent raises `MissingColumn`, unless the table has no rows to lose; an optional one reads as null in every row.
Work is done on codes and distinct values, never row by row in Python.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np
import pandas as pd

from tracekit import columns
from tracekit.arrays import BoolArray, CodeArray, IntArray
from tracekit.columns import Codes, Numbers, Texts, codes_of, no_numbers
from tracekit.errors import UnreadableRecording
from tracekit.recording.table import Cells, CellValue, Process, Table, Thread

FEW = 32
"""Most categories of a categorical that shares them with others."""


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


def nullable(cells: Numbers) -> pd.arrays.IntegerArray:
    """The numbers as a pandas `Int64` array, null where the recording holds no value."""
    return pd.arrays.IntegerArray(cells.values.astype(np.int64), ~cells.known)


def text(cells: Codes[CellValue]) -> pd.Categorical:
    """The texts as a categorical. Empty text stays text; only cells without a value are null."""
    if not cells.values or not isinstance(cells.values[0], str):
        return recode(cells.codes, [str(value) for value in cells.values])
    # Distinct by contract, so the mapping of `recode` would only cost time; labels may be a million.
    return pd.Categorical.from_codes(cells.codes, dtype=_dtype(cells.values))


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


def recode(codes: CodeArray, texts: Sequence[str | None], order: Iterable[str] = ()) -> pd.Categorical:
    """A categorical with `texts[code]` in each row: null where the code is -1 or the text is None. `order` fixes the
    first categories; other texts follow in order of appearance. Distinct codes may share a text."""
    category_codes: dict[str, int] = {name: index for index, name in enumerate(dict.fromkeys(map(str, order)))}
    # A hundred thousand codes may share few texts.
    code_of: dict[str | None, int] = {}
    for item in dict.fromkeys(texts):
        code_of[item] = -1 if item is None else category_codes.setdefault(str(item), len(category_codes))
    target = np.array([*map(code_of.__getitem__, texts), -1], np.min_scalar_type(-len(category_codes) - 1))
    return pd.Categorical.from_codes(target[codes], dtype=_dtype(category_codes))


def _dtype(categories: Collection[object]) -> pd.CategoricalDtype[Any]:
    """The type with these categories. To make one takes as long as all else about a short column."""
    make = _kept_dtype if len(categories) <= FEW else _kept_dtype.__wrapped__
    return make(tuple(categories))


@lru_cache(maxsize=256)
def _kept_dtype(categories: tuple[object, ...]) -> pd.CategoricalDtype[Any]:
    return pd.CategoricalDtype(pd.Index(categories, dtype=object))


def constant(value: str | None, rows: int, order: Iterable[str] = ()) -> pd.Categorical:
    """A categorical that holds one value, or null, in every row."""
    return recode(np.zeros(rows, np.int32), [value], order)


def values_by_code(codes: CodeArray, values: Sequence[int | None]) -> pd.arrays.IntegerArray:
    """A pandas `Int64` array with `values[code]` in each row: null where the code is -1 or the value is None."""
    filled = np.array([0 if value is None else value for value in values] + [0], np.int64)
    null = np.array([value is None for value in values] + [True], np.bool_)
    return pd.arrays.IntegerArray(filled[codes], null[codes])


def flags(codes: CodeArray, values: Iterable[bool]) -> BoolArray:
    """`values[code]` in each row; False where the code is -1."""
    known: BoolArray = np.array([*values, False], np.bool_)
    return known.take(codes)


def processes(table: Table, mnemonic: str = "process") -> tuple[pd.Categorical, pd.arrays.IntegerArray]:
    """Process names and ids of a column; null where it is absent or holds no value."""
    cells = optional_values(table, mnemonic)
    owners = [value.process if isinstance(value, Thread) else value for value in cells.values]
    names = [owner.name if isinstance(owner, Process) else owner if owner is None else str(owner) for owner in owners]
    pids = [owner.pid if isinstance(owner, Process) else None for owner in owners]
    return recode(cells.codes, names), values_by_code(cells.codes, pids)
