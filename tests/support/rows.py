"""Rows as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracekit.rows import Rows


def values_of(rows: Rows, column: str) -> list[Any]:
    """The cells of a column; None for null."""
    cells = rows.columns()[column]
    return cells.tolist() if isinstance(cells, np.ndarray) else [cells.item(at) for at in range(len(cells))]


def records_of(rows: Rows) -> list[dict[str, Any]]:
    """The cells of each row by column."""
    names = rows.columns()
    cells = zip(*(values_of(rows, name) for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in cells]
