"""Cells of tables of bundles, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.recording import open_recording

if TYPE_CHECKING:
    from pathlib import Path

    from tracekit.recording.table import Table


def cells(table: Table, mnemonic: str) -> list[object]:
    """Cells of a column, row by row."""
    column = table.column(mnemonic)
    return [column.item(row) for row in range(table.rows)]


def only(path: Path, schema: str) -> Table:
    """The one table of this schema in the bundle at a path."""
    (table,) = open_recording(path).tables(schema)
    return table
