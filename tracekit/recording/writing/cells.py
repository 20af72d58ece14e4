"""Cells of a table as lists of Python values, a part of the rows at a time.

What costs time happens once per distinct value; a row then costs a look-up per column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tracekit.recording.engineering_types import ANY, Kind, kind_of
from tracekit.recording.table import IntegerCells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tracekit.arrays import AnyArray, Int32Array
    from tracekit.recording.table import Column, Table

CHUNK_ROWS: Final = 65_536
"""Rows rendered at a time, so that memory does not grow with the table."""


_SIGNED: Final = frozenset({"int32", "int64", "time-since-epoch"})
"""Types whose numbers may be negative. All others are unsigned in Apple's list of types, a negative argument of a
signpost included: Instruments itself shows 2^64 - n for it."""


def is_unsigned(engineering_type: str) -> bool:
    """Whether numbers of that type above 2^63 - 1 stand in the table in two's complement."""
    numeric = engineering_type == ANY or kind_of(engineering_type) in (Kind.INTEGER, Kind.NUMBER)
    return numeric and engineering_type not in _SIGNED


def parts(rows: int) -> Iterator[slice]:
    """Slices that cover all rows in order."""
    return (slice(start, min(start + CHUNK_ROWS, rows)) for start in range(0, rows, CHUNK_ROWS))


def column_names(columns: Sequence[Column]) -> list[str]:
    """Mnemonics as keys: a repeated one gets a number, so that none is lost."""
    names: list[str] = []
    for column in columns:
        name, number = column.mnemonic, 1
        while name in names:
            number += 1
            name = f"{column.mnemonic}-{number}"
        names.append(name)
    return names


def renderers(table: Table, as_text: Callable[[str], object], missing: object) -> list[Callable[[slice], list[object]]]:
    """One function per column that gives the values of a part of the rows.

    Numbers become `int`; texts, processes and threads become `as_text` of what Instruments shows. `missing` stands
    where the recording holds no value.
    """
    return [
        _integers(column, cells, missing)
        if isinstance(cells, IntegerCells)
        else _texts(cells.codes, [as_text(str(value)) for value in cells.values], missing)
        for column, cells in zip(table.columns, table.cells, strict=True)
    ]


def _integers(column: Column, cells: IntegerCells, missing: object) -> Callable[[slice], list[object]]:
    unsigned = is_unsigned(column.engineering_type)

    def rendered(part: slice) -> list[object]:
        values: AnyArray = cells.values[part]
        if unsigned:
            values = values.astype(np.uint64)
        absent = ~cells.valid[part]
        if absent.any():
            values = values.astype(object)
            values[absent] = missing
        numbers: list[object] = values.tolist()
        return numbers

    return rendered


def _texts(codes: Int32Array, texts: list[object], missing: object) -> Callable[[slice], list[object]]:
    # Code -1, no value, is the last entry.
    lookup = np.array([*texts, missing], dtype=object)

    def rendered(part: slice) -> list[object]:
        texts: list[object] = lookup[codes[part]].tolist()
        return texts

    return rendered
