"""What rooms that still read frames ask of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, wraps

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from tracekit.arrays import BoolArray, CodeArray, IndexArray, IntArray
from tracekit.by_frame import kept_of
from tracekit.columns import columns_of as columns_of_rows
from tracekit.frame import dtypes_of
from tracekit.trace.events import Calls, Events, Origin

ColumnValues = IntArray | BoolArray | ExtensionArray
EVENT_DTYPES = dtypes_of(columns_of_rows(Events))
"""Columns of an event frame."""
CALL_DTYPES = {name: dtype for name, dtype in dtypes_of(columns_of_rows(Calls)).items() if name not in EVENT_DTYPES}
"""What `Trace.activity` has beyond them."""


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


def resolution_of(*calls: pd.DataFrame) -> int:
    """How exactly times of calls are known, in ns: the time between two samples of call stacks, else 0. O(rows)."""
    known = (cells(rows, "resolution_ns") for rows in calls if len(rows) and "resolution_ns" in rows)
    return max((int(times.to_numpy(np.int64, na_value=0).max()) for times in known), default=0)


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


def or_null(numbers: IntArray) -> pd.arrays.IntegerArray:
    """A nullable column of numbers, shape (rows,), of which -1 is none: what `or_minus_one` takes apart."""
    return pd.arrays.IntegerArray(np.maximum(numbers, 0), numbers < 0)


def hardware_only(calls: pd.DataFrame) -> BoolArray:
    """Shape (rows,): a row of the Activity lane whose call only hardware shows, so that it was longer. O(rows)."""
    return is_any(calls["origin"], Origin.HARDWARE)


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


def places_of(labels: pd.Index, rows: CodeArray) -> IndexArray:
    """`labels.get_indexer` of labels from 0 on, and -1 for none: most of those up to the largest need no hash table."""
    last = int(labels.to_numpy().max(initial=0))
    if isinstance(labels, pd.RangeIndex) or last > 8 * (len(labels) + len(rows)):
        return labels.get_indexer(pd.Index(rows))
    place = np.full(last + 2, -1, np.intp)
    place[labels] = np.arange(len(labels))
    return place[np.minimum(rows, last + 1)]


def columns_of(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Some columns of a frame, not copied: as `frame[names]`, in a third of the time where there are many others."""
    return pd.DataFrame({name: frame[name].array for name in names}, index=frame.index, copy=False)


def made_once(make: Callable[[], pd.DataFrame]) -> Callable[[], pd.DataFrame]:
    """What makes a frame without rows, which nothing but the first call does: each call gets a copy of that frame."""
    kept = cache(make)
    return wraps(make)(lambda: kept().copy(deep=False))


def reorder(frame: pd.DataFrame, order: IndexArray) -> pd.DataFrame:
    """The rows of a frame indexed 0..n-1 in another order of them all, indexed so again; itself if they stand so."""
    if (order[1:] > order[:-1]).all():
        return frame
    return frame.take(order).reset_index(drop=True)


def sort_order(frame: pd.DataFrame) -> IndexArray:
    """Places of the rows by start, then longest first, then as they stand. O(n log n)."""
    start = frame["start_ns"].to_numpy()
    order = np.argsort(start, kind="stable")
    if "duration_ns" not in frame:
        return order
    # Tables come in order of time, which makes the sort above cheap; few rows begin together.
    sorted_start = start[order]
    alike = sorted_start[1:] == sorted_start[:-1]
    together = np.flatnonzero(np.append(alike, False) | np.append(False, alike))
    rows = order[together]
    order[together] = rows[np.lexsort((-frame["duration_ns"].to_numpy()[rows], start[rows]))]
    return order


def concat_frames(frames: Sequence[pd.DataFrame], columns: Iterable[str]) -> pd.DataFrame:
    """Some columns of the frames, one frame below the other, indexed 0..n-1. O(n)."""
    return pd.DataFrame({name: _stack(frames, name) for name in columns}, copy=False)


def _stack(frames: Sequence[pd.DataFrame], name: str) -> ColumnValues:
    parts = [frame[name] for frame in frames]
    dtype = parts[0].dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return joined_categories([categorical(part) for part in parts])
    if isinstance(dtype, np.dtype):
        return np.concatenate([part.to_numpy() for part in parts])
    if isinstance(dtype, pd.Int64Dtype):
        # As pandas joins them, in a tenth of the time on a few hundred rows.
        null = np.concatenate([part.array.isna() for part in parts])
        numbers = np.concatenate([part.array.to_numpy(np.int64, na_value=0) for part in parts])
        return pd.arrays.IntegerArray(numbers, null)
    joined: ExtensionArray = pd.concat(parts, ignore_index=True).array
    return joined


def joined_categories(parts: Sequence[pd.Categorical]) -> pd.Categorical:
    """Categoricals as one, with the categories in order of appearance. O(rows + categories), in a hundredth of the time
    that pandas' `union_categoricals` takes where each part has many categories of its own."""
    if len(parts) == 1:
        return parts[0]
    if all(part.dtype is parts[0].dtype for part in parts):
        return pd.Categorical.from_codes(np.concatenate([part.codes for part in parts]), dtype=parts[0].dtype)
    texts = [part.categories.to_numpy(dtype=object) for part in parts]
    categories = pd.Index(np.concatenate(texts), dtype=object)
    # Labels of one table are seldom those of another, and to compare them takes a third of the time to number them. The
    # index keeps its answer, which pandas asks for again.
    new_codes = np.arange(len(categories))
    if not categories.is_unique:
        new_codes, categories = pd.factorize(categories)
    starts = np.cumsum([0, *(len(names) for names in texts)])
    # The entry behind the last stands for the code -1.
    codes = [
        np.append(new_codes[first:after], -1)[part.codes]
        for part, first, after in zip(parts, starts, starts[1:], strict=False)
    ]
    return pd.Categorical.from_codes(np.concatenate(codes), categories=categories)


def sorted_by_start(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame sorted by start, then longest first, then order of the rows, indexed 0..n-1."""
    return reorder(frame, sort_order(frame))


def ends_of(frame: pd.DataFrame, end_ns: int) -> IntArray:
    """When rows end: shape (rows,). Without a duration they are instants; without an end they last until `end_ns`."""
    starts = frame["start_ns"].to_numpy()
    if "duration_ns" not in frame:
        return starts
    ends: IntArray = starts + frame["duration_ns"].array.to_numpy(np.int64, na_value=0)
    return np.where(frame["duration_ns"].isna(), np.maximum(end_ns, starts), ends)
