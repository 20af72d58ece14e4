"""Sorting and searching of integers: the results of numpy, in less time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from tracekit.arrays import AnyArray, BoolArray, CodeArray, FloatArray, IndexArray, IntArray

_MANY = 3_000
"""Below so many values numpy alone is faster."""


def few_bits(codes: CodeArray) -> CodeArray:
    """Codes in 16 bits where these hold them: numpy sorts those by counting. O(n)."""
    fits = codes.itemsize > 2 and codes.size and np.iinfo(np.int16).min <= codes.min() and codes.max() < 1 << 15
    return codes.astype(np.int16) if fits else codes


def stable_order(values: IntArray | FloatArray) -> IndexArray:
    """Places of values in no order, ascending, equal ones as they stand: shape (n,). O(n) for integers that differ by
    less than 4 s of ns, as durations do: by the lower and then the upper half of 32 bits; else O(n log n)."""
    if len(values) >= _MANY and values.dtype.kind == "i":
        low = values.min()
        span = int(values.max()) - int(low)
        if span < 1 << 32:
            above = (values - low).astype(np.uint32)
            order = np.argsort(above.astype(np.uint16), kind="stable")
            upper = (above >> 16).astype(np.uint16)
            return order[np.argsort(upper[order], kind="stable")] if span >= 1 << 16 else order
    return np.argsort(values, kind="stable")


def distinct_numbers(values: CodeArray) -> IntArray:
    """The distinct values, ascending. O(n) where they lie close together, as codes do; else O(n log n). `np.unique`
    loads masked arrays first: a fiftieth of the time of a short command."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low <= 4 * len(values):
        return np.flatnonzero(np.bincount(values - low)) + low
    ordered = np.sort(values)
    kept: IntArray = ordered[np.append(True, ordered[1:] != ordered[:-1])].astype(np.int64)
    return kept


def ranks(values: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct values, ascending, and the place of each value among them: shape (n,). O(n) where they lie close
    together, as codes do; else O(n log n)."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low > 4 * len(values):
        return np.unique(values, return_inverse=True)
    above = values - low
    held = np.bincount(above) > 0
    return np.flatnonzero(held) + low, (np.cumsum(held) - 1)[above]


def places(ascending: IntArray, sought: IntArray, side: Literal["left", "right"] = "left") -> IndexArray:
    """`np.searchsorted`: how many of n ascending values lie below each of m (`right`: or are equal to it). Where these
    are many and ascend as well, the two are merged in O(n + m); else O(m log n)."""
    count = len(sought)
    if count < _MANY or 4 * count < len(ascending) or (sought[1:] < sought[:-1]).any():
        return np.searchsorted(ascending, sought, side)
    # The sort merges two runs, and equal values stay as they stand.
    if side == "left":
        is_sought = np.argsort(np.concatenate((sought, ascending)), kind="stable") < count
    else:
        is_sought = np.argsort(np.concatenate((ascending, sought)), kind="stable") >= len(ascending)
    return np.flatnonzero(is_sought) - np.arange(count)


def is_first_of_each(numbers: CodeArray) -> BoolArray:
    """Shape (n,): whether no number before is the same; they are 0 or more. O(n + largest number)."""
    place = np.arange(len(numbers))
    first = np.zeros(int(numbers.max(initial=-1)) + 1, np.intp)
    # Of several values for one place, the one that is written last stays.
    first[numbers[::-1]] = place[::-1]
    is_first: BoolArray = first[numbers] == place
    return is_first


def occurrence(*columns: CodeArray) -> IntArray:
    """Shape (n,): how many rows before each have the same values in all columns. O(n log n)."""
    order = np.lexsort(columns)
    begins = np.append(True, np.logical_or.reduce([np.diff(column[order]) != 0 for column in columns]))[: len(order)]
    first = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    nth = np.empty(len(order), np.int64)
    nth[order] = np.arange(len(order)) - first
    return nth


def group_edges(groups: CodeArray, count: int) -> IntArray:
    """Where each group begins among values whose groups, 0 to `count` - 1, ascend, and their number: shape
    (count + 1,). O(n + count)."""
    return np.append(0, np.cumsum(np.bincount(groups, minlength=count)))


def equal_groups(keys: AnyArray) -> list[IndexArray]:
    """Indexes of equal keys, in order of the keys. O(n log n)."""
    if not len(keys):
        return []
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    return np.split(order, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1)
