"""Whether somebody waited for work: what an app does before, during and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.statistics import medians_of_others
from tracekit.intervals import depth_profile, integrate, union

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from tracekit.trace.model import Trace

    IntArray = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]

PAUSE_RATIO = 5
"""A pause stands out where it is so many times as long as the usual pause between calls (our judgement)."""

_NEVER = np.iinfo(np.int64).max // 2


def pauses_after(predictions: pd.DataFrame) -> IntArray:
    """Time in ns from the end of each prediction to the start of the next, 0 where they overlap; for the last one a
    time without end. `predictions` are sorted by start."""
    starts = predictions["start_ns"].to_numpy()
    ends = starts + predictions["duration_ns"].to_numpy()
    return np.append(np.maximum(starts[1:] - ends[:-1], 0), [_NEVER] * min(len(starts), 1)).astype(np.int64)


def stand_alone(predictions: pd.DataFrame, places: IntArray, pause_ns: int) -> Mask:
    """For the predictions at `places` whether a pause follows that is at least `pause_ns` and stands out from the other
    pauses between predictions.

    A call to warm a model up looks so, and a call for a user who always takes his time does not. O(predictions).
    """
    between = pauses_after(predictions)[:-1]
    followed = places < len(between)
    alone = np.zeros(len(places), dtype=bool)
    chosen = places[followed]
    usual = np.nan_to_num(medians_of_others(between, chosen), nan=np.inf)
    alone[followed] = (between[chosen] >= pause_ns) & (between[chosen] >= PAUSE_RATIO * usual)
    return alone


def next_call(work: pd.DataFrame, predictions: pd.DataFrame, soon_ns: int) -> IntArray:
    """For each row of `work` the place of the prediction that waited for it, -1 where none did.

    It starts at most `soon_ns` after the row ended, and none started while the row lasted: whoever goes on calling
    does not wait. `predictions` are sorted by start. O((w + p) log p).
    """
    begin = work["start_ns"].to_numpy()
    end = begin + work["duration_ns"].to_numpy()
    starts = predictions["start_ns"].to_numpy()
    before, after = (np.searchsorted(starts, time, side="left") for time in (begin, end))
    following = np.append(starts, _NEVER)[after]
    return np.where((before == after) & (following - end <= soon_ns), after, -1).astype(np.int64)


def hangs_of_target(trace: Trace) -> pd.DataFrame | None:
    """Times in which the main thread of the target did not answer; None where hangs were not recorded. O(h)."""
    hangs = trace.context.get("hangs")
    target = trace.run.target.process
    if hangs is None or target is None:
        return hangs
    other = (hangs["process"].notna() & (hangs["process"].astype("object") != target.name)).to_numpy(dtype=bool)
    return hangs[~other]


def hung_share(work: pd.DataFrame, trace: Trace) -> npt.NDArray[np.float64]:
    """Share of each row (0 to 1) in which the main thread of the target did not answer; 0 where hangs were not
    recorded. O((w + h) log h)."""
    hangs = hangs_of_target(trace)
    begin = work["start_ns"].to_numpy()
    end = begin + work["duration_ns"].to_numpy()
    if hangs is None or hangs.empty:
        return np.zeros(len(work))
    start = hangs["start_ns"].to_numpy()
    profile = depth_profile(*union(start, start + hangs["duration_ns"].to_numpy()))
    share: npt.NDArray[np.float64] = integrate(*profile, begin, end) / np.maximum(end - begin, 1)
    return share
