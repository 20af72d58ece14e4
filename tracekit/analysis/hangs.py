"""Which hangs of the main thread the loads and predictions of an app explain.

A call on the main thread lies inside the hang that it makes. A call in the background meets a hang by chance: then it
also goes on before and after, or lies in the hang with a part only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.analysis.load_waits import hangs_of_target, hung_share
from tracekit.intervals import Intervals
from tracekit.trace.events import SETUP_KINDS, Kind, Level
from tracekit.trace.frames import is_any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.arrays import BoolArray, FloatArray
    from tracekit.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class HangRule:
    """When calls explain a hang."""

    min_ns: int
    """Shorter hangs are not looked at."""
    call_share: float
    """Share of a call that must lie in hangs."""
    hang_share: float
    """Share of a hang that such calls must cover."""
    ratio: float
    """So many times must they cover it as calls cover the time before or after it."""


@dataclass(frozen=True, slots=True, eq=False)
class HangCalls:
    """Hangs of the target that are long enough, and what lay in them."""

    hangs: pd.DataFrame
    covered: FloatArray
    """Shape (hangs,): share that calls cover which lie in hangs, whatever goes on around."""
    explained: BoolArray
    """Shape (hangs,): calls that are rarer around the hang cover enough of it."""
    calls: pd.DataFrame
    """Those calls in explained hangs, of all models."""


MIN_FREE = 0.1
"""Part of the time beside a hang that must be free of other hangs to compare it (our judgment)."""


def hang_calls(trace: Trace, rule: HangRule) -> HangCalls | None:
    """The hangs that loads and predictions of any model explain; None where hangs were not recorded.

    Loads are compared with loads around the hang, and predictions with predictions. O((calls + hangs) log).
    """
    every = hangs_of_target(trace)
    if every is None:
        return None
    hangs = every[(every["duration_ns"] >= rule.min_ns).to_numpy(dtype=bool)]
    hang_times = Intervals.from_rows(hangs)
    length = np.maximum(hang_times.durations, 1)
    sorts = [app_calls(trace, kinds) for kinds in (SETUP_KINDS, [Kind.PREDICTION])] if len(hangs) else []
    inside = [calls[hung_share(calls, trace) >= rule.call_share] for calls in sorts]
    shares = [Intervals.from_rows(rows).covered_within(hang_times) / length for rows in inside]
    rarer = [
        share >= rule.ratio * _beside(calls, every, hang_times) for calls, share in zip(sorts, shares, strict=True)
    ]
    # Loads and predictions on one thread do not overlap, so that their shares add up.
    covered = np.sum(shares, axis=0) if shares else np.zeros(0)
    counted = np.sum([share * is_rare for share, is_rare in zip(shares, rarer, strict=True)], axis=0)
    explained = np.broadcast_to(counted >= rule.hang_share, len(hangs)) if shares else np.zeros(0, dtype=bool)
    chosen = [trace.activity.head(0)]
    for rows, is_rare in zip(inside, rarer, strict=True):
        chosen.append(rows[hang_times.where(explained & is_rare).covered_within(Intervals.from_rows(rows)) > 0])
    return HangCalls(hangs, np.minimum(covered, 1.0), explained, pd.concat(chosen))


def app_calls(trace: Trace, kinds: Sequence[Kind] = (*SETUP_KINDS, Kind.PREDICTION)) -> pd.DataFrame:
    """Rows of what the app called itself. O(rows)."""
    activity = trace.activity
    return activity[is_any(activity["kind"], *kinds) & is_any(activity["level"], Level.TOP)]


def _beside(calls: pd.DataFrame, hangs: pd.DataFrame, compared: Intervals) -> FloatArray:
    """Share that calls cover of the time before each interval of `compared` or after it, the larger of both; each is as
    long as the interval, without the time of `hangs`."""
    length = compared.durations
    in_hang = Intervals.from_rows(hangs).covered_time()
    in_either = Intervals.from_rows(hangs, calls).covered_time()
    max_share = np.zeros(len(compared))
    for start in (compared.starts - length, compared.ends):
        free = in_hang.free_within(start, start + length)
        used = free - in_either.free_within(start, start + length)
        share = np.where(free >= MIN_FREE * length, used / np.maximum(free, 1), 0.0)
        max_share = np.maximum(max_share, share)
    return max_share
