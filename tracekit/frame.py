"""Rows as DataFrames of pandas, the form in which users of the API, notebooks and plug-ins get them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pandas as pd

from tracekit.arrays import IntArray
from tracekit.columns import Codes, Column, Flags, Numbers, Reals, Type

_DTYPES = {
    Type.NUMBER: "int64",
    Type.NULLABLE_NUMBER: "Int64",
    Type.REAL: "float64",
    Type.FLAG: "bool",
    Type.NULLABLE_FLAG: "boolean",
    Type.TEXT: "category",
}

FEW = 32
"""Most categories whose type is kept: to make one takes as long as all else about a short column."""


def frame_of(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Columns of rows as a frame of its own, which `id` becomes the index of. O(n x columns)."""
    index = _index(columns["id"]) if "id" in columns else None
    return pd.DataFrame(
        {name: array_of(cells) for name, cells in columns.items() if name != "id"}, index=index, copy=True
    )


def dtypes_of(columns: Iterable[Column]) -> dict[str, str]:
    """The names of the columns of a frame, in order, with the dtypes of pandas."""
    return {column.name: _DTYPES[column.type] for column in columns if column.name != "id"}


def array_of(cells: Any) -> Any:
    """The cells of a column as pandas holds them, not copied."""
    if isinstance(cells, Numbers):
        return pd.arrays.IntegerArray(cells.values, ~cells.known)
    if isinstance(cells, Reals):
        return pd.arrays.FloatingArray(cells.values, ~cells.known)
    if isinstance(cells, Flags):
        return pd.arrays.BooleanArray(cells.values, ~cells.known)
    return categorical(cells) if isinstance(cells, Codes) else cells


def categorical(cells: Codes[Any]) -> pd.Categorical:
    """The cells as a categorical, not copied; categories of the type object."""
    make = _kept_dtype if len(cells.values) <= FEW else _kept_dtype.__wrapped__
    return pd.Categorical.from_codes(cells.codes, dtype=make(cells.values))


@lru_cache(maxsize=256)
def _kept_dtype(categories: Sequence[object]) -> pd.CategoricalDtype[Any]:
    return pd.CategoricalDtype(pd.Index(categories, dtype=object))


def _index(ids: IntArray) -> pd.Index[Any]:
    # As of rows that are taken from those of a lane.
    return pd.RangeIndex(int(ids.max(initial=-1)) + 1).take(ids)
