"""Which predictions ran on which load of their model, and which are the first to: the ones that pay for warming up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.trace.events import LOAD_KINDS, Kind

if TYPE_CHECKING:
    import numpy.typing as npt

    IntArray = npt.NDArray[np.int64]


def first_after_load(activity: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Shape (rows,): the row is the first prediction of its model and instance that starts after a load of it ended.

    Models and instances are told apart by level too. A prediction before any load of the recording is not marked:
    whether it was the first is not known. A prediction that starts while its model is being loaded belongs to the
    instance loaded before. O(n log n).
    """
    is_load = activity["kind"].isin(LOAD_KINDS).to_numpy(dtype=bool)
    is_prediction = (activity["kind"] == Kind.PREDICTION).to_numpy(dtype=bool)
    named = activity["model"].notna().to_numpy(dtype=bool)
    chosen = np.flatnonzero((is_load | is_prediction) & named)
    result = np.zeros(len(activity), dtype=bool)
    loads = is_load[chosen]
    if not loads.any():
        return result
    rows = activity[["model", "instance", "level"]].iloc[chosen]
    # A load takes its place in time at its end; at the same instant it comes before the prediction that uses it.
    time = activity["start_ns"].to_numpy()[chosen] + np.where(loads, activity["duration_ns"].to_numpy()[chosen], 0)
    group = rows.groupby(["model", "instance", "level"], observed=True, dropna=False, sort=False).ngroup().to_numpy()
    order = np.lexsort((~loads, time, group))
    follows_load = np.zeros(len(rows), dtype=bool)
    same_group = group[order][1:] == group[order][:-1]
    follows_load[order[1:]] = same_group & loads[order][:-1] & ~loads[order][1:]
    result[chosen[follows_load]] = True
    return result


@dataclass(frozen=True, slots=True)
class Uses:
    """Use of one model between loads of its instances, in groups of predictions that ran on the same load."""

    load: IntArray
    """Shape (predictions,): place of the load that each ran on, among the loads; predictions before the first load of
    their instance have -1 or less, one number for each instance."""
    group: IntArray
    """Shape (groups,): the values of `load` that occur, in the order of their first predictions."""
    first_ns: IntArray
    """Shape (groups,): start of the first prediction."""
    last_ns: IntArray
    """Shape (groups,): start of the last prediction."""
    end_ns: IntArray
    """Shape (groups,): when the last of them ended."""
    count: IntArray
    """Shape (groups,): predictions, 1 or more."""


def uses_of_loads(loads: pd.DataFrame, predictions: pd.DataFrame) -> Uses:
    """Which load each prediction ran on: the last of its instance that had ended when the prediction started.

    Both frames are of one model and sorted by start. O((l + p) log(l + p)).
    """
    load = _latest_load(loads, predictions)
    starts = predictions["start_ns"].to_numpy()
    ends = starts + predictions["duration_ns"].to_numpy()
    group, first, inverse = np.unique(load, return_index=True, return_inverse=True)
    end = np.full(len(group), np.iinfo(np.int64).min)
    np.maximum.at(end, inverse, ends)
    last = np.zeros(len(group), np.int64)
    last[inverse] = starts
    order = np.argsort(first, kind="stable")
    return Uses(
        load=load,
        group=group[order],
        first_ns=starts[first[order]],
        last_ns=last[order],
        end_ns=end[order],
        count=np.bincount(inverse, minlength=len(group))[order].astype(np.int64),
    )


def _latest_load(loads: pd.DataFrame, predictions: pd.DataFrame) -> IntArray:
    """`Uses.load`."""
    instances = pd.concat([loads["instance"], predictions["instance"]], ignore_index=True)
    instance = pd.factorize(instances)[0].astype(np.int64)
    load_ends = loads["start_ns"].to_numpy() + loads["duration_ns"].to_numpy()
    time = np.concatenate((load_ends, predictions["start_ns"].to_numpy()))
    row = np.arange(len(time))
    # A load takes its place in time at its end; at the same instant it comes before the prediction that uses it.
    order = np.lexsort((row, row >= len(loads), time, instance))
    place = np.where(order < len(loads), np.arange(len(order)), -1)
    latest = np.maximum.accumulate(place) if len(place) else place
    same = (latest >= 0) & (instance[order[latest]] == instance[order])
    result = np.empty(len(time), np.int64)
    # Instance -1 stands for a name without a number.
    result[order] = np.where(same, order[latest], -2 - instance[order])
    return result[len(loads) :]
