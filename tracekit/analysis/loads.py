"""Which predictions ran on which load of their model, and which are the first to: the ones that pay for warming up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tracekit.arrays import BoolArray, CodeArray, IntArray
from tracekit.intervals import Intervals
from tracekit.trace.events import LOAD_KINDS, Kind
from tracekit.trace.frames import is_any, or_minus_one


def first_after_load(activity: pd.DataFrame) -> BoolArray:
    """Shape (rows,): the row is the first prediction of its model and instance that starts after a load of it ended.

    Models and instances are distinguished by level too. A prediction before any load of the recording is not marked:
    whether it was the first is not known. A prediction that starts while its model is being loaded belongs to the
    instance loaded before. O(n log n).
    """
    is_load = is_any(activity["kind"], *LOAD_KINDS)
    is_prediction = is_any(activity["kind"], Kind.PREDICTION)
    named = activity["model"].notna().to_numpy(dtype=bool)
    chosen = np.flatnonzero((is_load | is_prediction) & named)
    result = np.zeros(len(activity), dtype=bool)
    loads = is_load[chosen]
    model, level = (activity[name].cat.codes.to_numpy()[chosen] for name in ("model", "level"))
    instance = or_minus_one(activity["instance"])[chosen]
    # A load takes its place in time at its end.
    time = activity["start_ns"].to_numpy()[chosen] + np.where(loads, activity["duration_ns"].to_numpy()[chosen], 0)
    result[chosen] = _follows_load(loads, time, (level, instance, model))
    return result


def _follows_load(loads: BoolArray, time: IntArray, keys: Sequence[CodeArray]) -> BoolArray:
    """Shape (rows,): the row is no load, and the one before it in time among those with the same keys is. At the same
    instant a load comes before the prediction that uses it."""
    follows = np.zeros(len(loads), dtype=bool)
    if not loads.any():
        return follows
    order = np.lexsort((~loads, time, *keys))
    before, after = order[:-1], order[1:]
    same = np.all([key[after] == key[before] for key in keys], axis=0)
    follows[after] = same & loads[before] & ~loads[after]
    return follows


@dataclass(frozen=True, slots=True)
class Uses:
    """Use of one model between loads of its instances: its predictions in groups, each of which ran on one load."""

    group: IntArray
    """Shape (predictions,): the group of each, numbered in the order of their first predictions."""
    load: IntArray
    """Shape (groups,): index of the load among the loads; less than 0 for predictions before the first load of their
    instance, which make a group for each instance."""
    first: IntArray
    """Shape (groups,): index of the first prediction among the predictions."""
    first_ns: IntArray
    """Shape (groups,): its start."""
    last_ns: IntArray
    """Shape (groups,): start of the last prediction."""
    end_ns: IntArray
    """Shape (groups,): when the last of them ended."""
    count: IntArray
    """Shape (groups,): predictions, 1 or more."""


def uses_of_loads(loads: pd.DataFrame, predictions: pd.DataFrame, process: IntArray | None = None) -> Uses:
    """Which load each prediction ran on: the last of its instance that had ended when the prediction started.

    Both frames are of one model and sorted by start. `process` is the process of each prediction, -1 where it is
    unknown; loads name none, so that predictions of several processes on one load make a group for each.
    O((l + p) log l).
    """
    latest = _latest_load(loads, predictions)
    group = pd.factorize(latest)[0].astype(np.int64)
    if process is not None:
        group = _by_process(group, process)
    load = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
    load[group] = latest
    called = Intervals.from_rows(predictions)
    first, last = np.zeros(len(load), np.int64), np.zeros(len(load), np.int64)
    # Of several values for one place, the one that is written last stays.
    first[group[::-1]] = np.arange(len(group))[::-1]
    last[group] = called.starts
    end = np.full(len(load), np.iinfo(np.int64).min)
    np.maximum.at(end, group, called.ends)
    count = np.bincount(group, minlength=len(load)).astype(np.int64)
    return Uses(group.astype(np.int64), load, first, called.starts[first], last, end, count)


def _by_process(group: IntArray, process: IntArray) -> IntArray:
    """Groups, shape (predictions,), of one process each. An unknown process is the only known one of its group."""
    width = int(process.max(initial=-1)) + 2
    pairs = pd.unique((group * width + process)[process >= 0])
    several = np.bincount(pairs // width, minlength=int(group.max(initial=-1)) + 1) > 1
    return pd.factorize(group * width + np.where(several[group], process + 1, 0))[0].astype(np.int64)


def _latest_load(loads: pd.DataFrame, predictions: pd.DataFrame) -> IntArray:
    """Index of the load of each prediction; without one, -2 or less by instance (-1 where the name has no number)."""
    numbers = np.concatenate([or_minus_one(frame["instance"]) for frame in (loads, predictions)])
    instance = pd.factorize(numbers)[0].astype(np.int64)
    of_load, of_prediction = instance[: len(loads)], instance[len(loads) :]
    ends = Intervals.from_rows(loads).ends
    # Times become ranks among the ends, so that instance and time fit into one number to search for.
    ascending = np.sort(ends)
    width = len(ends) + 1
    key = of_load * width + np.searchsorted(ascending, ends, side="right")
    order = np.argsort(key, kind="stable")
    sought = of_prediction * width + np.searchsorted(ascending, predictions["start_ns"].to_numpy(), side="right")
    index = np.searchsorted(key[order], sought, side="right") - 1
    latest = np.append(order, -1)[index]
    same = (index >= 0) & (np.append(of_load, -1)[latest] == of_prediction)
    return np.where(same, latest, -2 - of_prediction).astype(np.int64)
