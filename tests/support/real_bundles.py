"""Real bundles of the corpus, and their cells as tests compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.columns import Numbers
from tracekit.recording.table import Process

if TYPE_CHECKING:
    import numpy as np

    from tracekit.recording.contents import Recording
    from tracekit.recording.table import Table

CORE_ML = ("hello_coreml", "quick_probe", "fp16_w8_60s_all")
ALL = (*CORE_ML, "output")


def only(recording: Recording, schema: str, **attributes: str) -> Table:
    """The one table of this schema and these attributes."""
    (table,) = recording.tables(schema, **attributes)
    return table


def numbers(table: Table, mnemonic: str) -> np.ndarray:
    """Cells of a column of numbers, shape (rows,)."""
    cells = table.column(mnemonic)
    assert isinstance(cells, Numbers)
    return cells.values


def row(table: Table, index: int) -> tuple[object, ...]:
    """Cells of a row, processes as texts."""
    return tuple(str(value) if isinstance(value, Process) else value for value in (c.item(index) for c in table.cells))


def names(table: Table, mnemonic: str) -> list[str]:
    """Cells of a column as texts, row by row."""
    cells = table.column(mnemonic)
    return [str(cells.item(index)) for index in range(table.rows)]
