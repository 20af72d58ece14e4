"""Spearman's rank correlation of values with their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from tracekit.arrays import FloatArray, IntArray


def rank_correlations(values: IntArray, group: IntArray, groups: int) -> FloatArray:
    """Spearman's rank correlation of values with their order in each group: shape (groups,).

    0 for a group of fewer than 3 values, or of equal ones. `group` ascends, from 0 to `groups` - 1. O(n log n).
    """
    if not len(values):
        return np.zeros(groups)
    size = np.bincount(group, minlength=groups)
    middle = (size[group] + 1) / 2
    rank = pd.Series(values).groupby(group).rank().to_numpy(dtype=np.float64) - middle
    order = np.arange(len(values)) - (np.cumsum(size) - size)[group] + 1 - middle
    shared, of_ranks, of_order = (
        np.bincount(group, weights=product, minlength=groups) for product in (rank * order, rank**2, order**2)
    )
    scale = np.sqrt(of_ranks * of_order)
    known = (size >= 3) & (scale > 0)
    return np.where(known, shared / np.where(known, scale, 1), 0.0)


def ranks(values: IntArray | FloatArray) -> FloatArray:
    """Ranks from 1, equal values sharing the mean of theirs: shape (n,). O(n log n)."""
    return np.asarray(pd.Series(values).rank(), dtype=np.float64)
