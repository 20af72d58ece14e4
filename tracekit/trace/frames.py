"""What rooms that still read frames ask of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from tracekit.arrays import BoolArray, IntArray
from tracekit.by_frame import kept_of


def cells(frame: pd.DataFrame, name: str) -> ExtensionArray:
    """The cells of a column, not copied: as `frame[name].array`, which is found once for each frame."""
    kept = kept_of(frame)
    if name not in kept:
        kept[name] = frame[name].array
    found: ExtensionArray = kept[name]
    return found


def categorical(column: pd.Series | ExtensionArray) -> pd.Categorical:
    """The cells of a categorical column, not copied."""
    cells = column if isinstance(column, ExtensionArray) else column.array
    assert isinstance(cells, pd.Categorical)  # noqa: S101 - tells mypy what the dtype says
    return cells


def is_any(column: pd.Series | ExtensionArray, *values: str) -> BoolArray:
    """Shape (rows,): a row of a categorical column holds one of the values; null is none of them. O(rows), in a tenth
    of the time that comparisons of pandas take on a few hundred rows."""
    cells = categorical(column)
    codes, categories = cells.codes, cells.categories
    first, *others = [categories.get_loc(value) for value in values if value in categories] or [-2]
    chosen: BoolArray = codes == first
    for other in others:
        chosen |= codes == other
    return chosen


def or_minus_one(column: pd.Series | ExtensionArray) -> IntArray:
    """Numbers of a nullable column, shape (rows,): -1 where there is none. Ids and positions are never negative."""
    array = column if isinstance(column, ExtensionArray) else column.array
    numbers: IntArray = array.to_numpy(np.int64, na_value=-1)
    return numbers


def texts_in(column: pd.Series | ExtensionArray) -> set[str]:
    """The texts that rows of a categorical column hold. O(rows)."""
    return set(held_texts(column))


def held_texts(column: pd.Series | ExtensionArray) -> Iterator[str]:
    """Each text that rows of a categorical column hold, once. O(rows), in a tenth of the time that pandas takes."""
    cells = categorical(column)
    # The first entry stands for the code -1.
    held = np.bincount(cells.codes + np.intp(1), minlength=len(cells.categories) + 1)[1:] > 0
    return map(str, cells.categories.to_numpy()[held].tolist())


def rows_at(frame: pd.DataFrame, index: IntArray) -> pd.DataFrame:
    """The rows at ascending positions; those that stand side by side, as with one model they do, are not copied. The
    frame itself where they are all of its rows."""
    if len(index) == len(frame):
        return frame
    if not len(index):
        return frame.iloc[:0]
    first, after = int(index[0]), int(index[-1]) + 1
    if after - first == len(index):
        return frame.iloc[first:after]
    return pd.DataFrame({key: cells(frame, key).take(index) for key in frame.columns}, frame.index[index], copy=False)


def rows_where(frame: pd.DataFrame, chosen: BoolArray) -> pd.DataFrame:
    """The rows that are chosen, shape (rows,): as `frame[chosen]`, in a third of the time where they stand side by side
    or are none."""
    return rows_at(frame, np.flatnonzero(chosen))
