"""Calls of which one begins when another has ended."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from tracekit.arrays import IntArray
from tracekit.trace.events import BOUNDS, SETUP_KINDS, Origin
from tracekit.trace.frames import categorical, is_any


class Follows(NamedTuple):
    """Calls of which the second begins when the first one has ended: shape (pairs,) each."""

    first: IntArray
    second: IntArray


def call_order(activity: pd.DataFrame, sites: pd.DataFrame | None) -> tuple[Follows, ...]:
    """Calls of one thread; loads and what their models do next. Rows are in order of time. O(n log n)."""
    model = activity["model"].cat.codes.to_numpy().astype(np.int64)
    by_thread, by_model = next_of(threads_of(activity, sites)), next_of(model)
    late, early = (activity[name].to_numpy() for name in BOUNDS[1:3])
    loads = is_any(activity["kind"], *SETUP_KINDS)[by_model.first]
    loads &= late[by_model.second] >= early[by_model.first]
    return by_thread, Follows(by_model.first[loads], by_model.second[loads])


def next_of(group: IntArray) -> Follows:
    """Each member of a group, and the next one; -1 is no group."""
    order = np.argsort(group, kind="stable")
    same = (group[order[:-1]] == group[order[1:]]) & (group[order[1:]] >= 0)
    return Follows(order[:-1][same], order[1:][same])


def threads_of(activity: pd.DataFrame, sites: pd.DataFrame | None) -> IntArray:
    """Shape (calls,): a number for the thread of each call; of one that was not sampled that of its model's other
    calls, where it is one. -1 where it is not known."""
    thread = np.full(len(activity), -1)
    if sites is None or sites.empty:
        return thread
    thread[sites.index.to_numpy()] = categorical(sites["thread"]).codes
    by_model = pd.Series(thread).mask(thread < 0).groupby(activity["model"].cat.codes.to_numpy())
    lowest, highest = (by_model.transform(name).to_numpy(np.float64) for name in ("min", "max"))
    alone = (thread < 0) & is_any(activity["origin"], Origin.CALL_STACKS) & (lowest == highest)
    return np.where(alone, np.nan_to_num(lowest, nan=-1), thread).astype(np.int64)


def keep_in_order(activity: pd.DataFrame, follows: tuple[Follows, ...], start: IntArray, end: IntArray) -> None:
    """Change starts and ends of calls so that none begins before the one that it follows has ended, as far as their
    bounds allow. O(pairs)."""
    late, early = (activity[name].to_numpy() for name in BOUNDS[1:3])
    for first, second in follows:
        end[first] = np.minimum(end[first], np.maximum(late[second], early[first]))
        start[second] = np.maximum(start[second], np.minimum(end[first], late[second]))
