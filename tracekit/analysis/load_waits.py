"""Whether somebody waited for work: what an app does before, during and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from tracekit.analysis.loads import first_after_load
from tracekit.analysis.statistics import medians_of_others
from tracekit.intervals import depth_profile, integrate, union
from tracekit.trace.events import LOAD_KINDS, Kind, Level
from tracekit.trace.frames import is_any

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import BoolArray, FloatArray, IntArray
    from tracekit.trace.trace import Trace


PAUSE_RATIO = 5
"""A pause stands out where it is so many times as long as the usual pause between calls (our judgement)."""

_NEVER = np.iinfo(np.int64).max // 2


def pauses_after(predictions: pd.DataFrame) -> IntArray:
    """Time in ns from the end of each prediction to the start of the next, 0 where they overlap; for the last one a
    time without end. `predictions` are sorted by start."""
    starts = predictions["start_ns"].to_numpy()
    ends = starts + predictions["duration_ns"].to_numpy()
    return np.append(np.maximum(starts[1:] - ends[:-1], 0), [_NEVER] * min(len(starts), 1)).astype(np.int64)


def stand_alone(predictions: pd.DataFrame, places: IntArray, pause_ns: int) -> BoolArray:
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


def next_call(
    work: pd.DataFrame, predictions: pd.DataFrame, soon_ns: int, setup: pd.DataFrame | None = None
) -> IntArray:
    """For each row of `work` the place of the prediction that waited for it, -1 where none did.

    None started while the row lasted: whoever goes on calling does not wait. And it starts at most `soon_ns` after the
    row ended, or after `setup` (rows of any model that the app works through before it gets to the call), each part of
    which follows the one before at most `soon_ns` later. `predictions` are sorted by start. O(n log n) in all rows.
    """
    begin = work["start_ns"].to_numpy()
    end = begin + work["duration_ns"].to_numpy()
    starts = predictions["start_ns"].to_numpy()
    before, after = (np.searchsorted(starts, time, side="left") for time in (begin, end))
    following = np.append(starts, _NEVER)[after]
    waits = (before == after) & (following - end <= soon_ns)
    if setup is not None and len(starts) and not waits.all():
        late = np.flatnonzero((before == after) & ~waits & (following < _NEVER))
        ready = _ready(begin[late], end[late], setup, starts, soon_ns)
        waits[late] = following[late] - ready <= soon_ns
    return np.where(waits, after, -1).astype(np.int64)


def _ready(begin: IntArray, end: IntArray, setup: pd.DataFrame, calls: IntArray, soon_ns: int) -> IntArray:
    """When the chain of setup work ends in which each row of work stands: shape (work,), its own end where it stands
    alone. Setup during which one of the `calls` starts holds up none of them."""
    starts = setup["start_ns"].to_numpy()
    ends = starts + setup["duration_ns"].to_numpy()
    holds_up = np.searchsorted(calls, starts, side="left") == np.searchsorted(calls, ends, side="left")
    starts, ends = np.concatenate((starts[holds_up], begin)), np.concatenate((ends[holds_up], end))
    # Rows that follow each other closely enough touch once each is made longer by that time.
    first, last = union(starts, ends + soon_ns)
    place = np.searchsorted(first, end, side="right") - 1
    inside = (place >= 0) & (end <= np.append(last, -1)[place])
    return np.where(inside, np.maximum(np.append(last, 0)[place] - soon_ns, end), end)


def setup_work(trace: Trace) -> pd.DataFrame:
    """Start and duration of what an app works through before it can use its models: loads, compilations and first
    predictions after a load, of all models that it called. O(n log n); kept as long as the trace is."""
    if trace not in _SETUP:
        activity = trace.activity
        chosen = is_any(activity["kind"], *LOAD_KINDS, Kind.COMPILE) | first_after_load(activity)
        _SETUP[trace] = activity.loc[is_any(activity["level"], Level.TOP) & chosen, ["start_ns", "duration_ns"]]
    return _SETUP[trace]


_SETUP: WeakKeyDictionary[Trace, pd.DataFrame] = WeakKeyDictionary()


def hangs_of_target(trace: Trace) -> pd.DataFrame | None:
    """Times in which the main thread of the target did not answer; None where hangs were not recorded. O(h)."""
    hangs = trace.context.get("hangs")
    target = trace.run.target.process
    if hangs is None or target is None:
        return hangs
    other = (hangs["process"].notna() & (hangs["process"].astype("object") != target.name)).to_numpy(dtype=bool)
    return hangs[~other]


def hung_share(work: pd.DataFrame, trace: Trace) -> FloatArray:
    """Share of each row (0 to 1) in which the main thread of the target did not answer; 0 where hangs were not
    recorded. O((w + h) log h)."""
    hangs = hangs_of_target(trace)
    begin = work["start_ns"].to_numpy()
    end = begin + work["duration_ns"].to_numpy()
    if hangs is None or hangs.empty:
        return np.zeros(len(work))
    start = hangs["start_ns"].to_numpy()
    profile = depth_profile(*union(start, start + hangs["duration_ns"].to_numpy()))
    share: FloatArray = integrate(*profile, begin, end) / np.maximum(end - begin, 1)
    return share
