"""Rows as DataFrames of pandas, the form in which users of the API, notebooks and plug-ins get them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from tracekit.columns import Codes, Flags, Numbers, Reals


def frame_of(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Columns of rows as a frame of its own, which `id` becomes the index of. O(n x columns)."""
    cells = {name: _array(cells) for name, cells in columns.items() if name != "id"}
    if "id" not in columns:
        return pd.DataFrame(cells, copy=True)
    ids = columns["id"]
    # As of rows that are taken from those of a lane.
    return pd.DataFrame(cells, pd.RangeIndex(int(ids.max(initial=-1)) + 1).take(ids), copy=True)


def _array(cells: Any) -> Any:
    if isinstance(cells, Codes):
        return pd.Categorical.from_codes(cells.codes, pd.Index(cells.values, dtype=object))
    if isinstance(cells, Numbers):
        return pd.arrays.IntegerArray(cells.values, ~cells.known)
    if isinstance(cells, Reals):
        return pd.arrays.FloatingArray(cells.values, ~cells.known)
    return pd.arrays.BooleanArray(cells.values, ~cells.known) if isinstance(cells, Flags) else cells
