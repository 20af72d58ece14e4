"""Rows as DataFrames of pandas, the form in which users of the API, notebooks and plug-ins get them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from tracekit.arrays import IntArray
from tracekit.by_frame import unchanging
from tracekit.columns import Codes, Column, Flags, Numbers, Reals, Type

AnyRows = TypeVar("AnyRows")

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


_KEPT: weakref.WeakKeyDictionary[Any, pd.DataFrame] = weakref.WeakKeyDictionary()


def kept_frame(rows: Any) -> pd.DataFrame:
    """The frame of rows, made once, for rooms that still read frames."""
    if rows not in _KEPT:
        columns = rows.columns()
        index = _index(columns["id"]) if "id" in columns else None
        cells = {name: array_of(cells) for name, cells in columns.items() if name != "id"}
        _KEPT[rows] = unchanging(pd.DataFrame(cells, index=index, copy=False))
    return _KEPT[rows]


def rows_of(cls: Callable[..., AnyRows], frame: pd.DataFrame) -> AnyRows:
    """Rows of a frame that has their columns and, as index, their id."""
    names = cls.__dataclass_fields__  # type: ignore[attr-defined]
    made = cls(
        **{name: frame.index.to_numpy(np.int64) if name == "id" else cells_of(frame[name].array) for name in names}
    )
    if list(frame) == [name for name in names if name != "id"]:
        _KEPT[made] = unchanging(frame)
    return made


def cells_of(array: Any) -> Any:
    """The cells of an array of pandas as a column of rows."""
    if isinstance(array, pd.Categorical):
        return Codes(array.codes, tuple(array.categories.to_numpy(object).tolist()))
    if isinstance(array, pd.arrays.IntegerArray):
        return Numbers(array.to_numpy(np.int64, na_value=0), ~array.isna())
    if isinstance(array, pd.arrays.BooleanArray):
        return Flags(array.to_numpy(np.bool_, na_value=False), ~array.isna())
    return array.to_numpy()
