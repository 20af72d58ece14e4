"""Which predictions are the first after a load of their model: the ones that pay for warming up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.trace.events import LOAD_KINDS, Kind

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd


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
    rows = activity.iloc[chosen]
    starts = rows["start_ns"].to_numpy()
    loads = is_load[chosen]
    # A load takes its place in time at its end; at the same instant it comes before the prediction that uses it.
    time = starts + np.where(loads, rows["duration_ns"].to_numpy(), 0)
    group = rows.groupby(["model", "instance", "level"], observed=True, dropna=False, sort=False).ngroup().to_numpy()
    order = np.lexsort((~loads, time, group))
    follows_load = np.zeros(len(rows), dtype=bool)
    same_group = group[order][1:] == group[order][:-1]
    follows_load[order[1:]] = same_group & loads[order][:-1] & ~loads[order][1:]
    result = np.zeros(len(activity), dtype=bool)
    result[chosen[follows_load]] = True
    return result
