"""Which hangs of the main thread the loads and predictions of an app explain.

A call on the main thread lies inside the hang that it makes. A call in the background meets a hang by chance: then it
also goes on before and after, or lies in the hang with a part only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tracekit.analysis.load_waits import hangs_of_target, hung_share
from tracekit.analysis.statistics import covered_ns
from tracekit.arrays import BoolArray, FloatArray
from tracekit.intervals import Intervals
from tracekit.trace.events import SETUP_KINDS, Kind, Level
from tracekit.trace.frames import is_any
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
    """Shape (hangs,): calls whose model makes fewer around the hang cover enough of it."""
    calls: pd.DataFrame
    """Those calls in explained hangs."""


MIN_FREE = 0.1
"""Part of the time beside a hang that must be free of other hangs to compare it (our judgment)."""


def hang_calls(trace: Trace, rule: HangRule) -> HangCalls | None:
    """The hangs that loads and predictions explain; None where hangs were not recorded.

    Loads of each model are compared with its loads around the hang and elsewhere, and predictions with its predictions:
    what one model does around a hang says nothing of another one in it. O((calls + models x hangs) log).
    """
    every = hangs_of_target(trace)
    if every is None:
        return None
    hangs = every[(every["duration_ns"] >= rule.min_ns).to_numpy(dtype=bool)]
    hang_times = Intervals.from_rows(hangs)
    length = np.maximum(hang_times.durations, 1)
    activity = trace.activity
    own = is_any(activity["kind"], *SETUP_KINDS, Kind.PREDICTION) & is_any(activity["level"], Level.TOP)
    called = activity[own & (len(hangs) > 0)]
    inside = hung_share(called, trace) >= rule.call_share
    # The loads and the predictions of each model are sorts of their own.
    sort = 2 * called["model"].cat.codes.to_numpy().astype(np.int64) + is_any(called["kind"], *SETUP_KINDS)
    by_chance = _by_chance(called, every, rule.ratio)
    chosen, rarer_times = np.zeros(len(called), dtype=bool), [Intervals.none()]
    for value in np.unique(sort[inside]):
        of_sort = sort == value
        times = Intervals.from_rows(called[of_sort & inside])
        if times.covered_ns < by_chance * covered_ns(called[of_sort]):
            continue
        share = times.covered_within(hang_times) / length
        rarer = hang_times.where(
            (share > 0) & (share >= rule.ratio * _beside(called[of_sort], every, hang_times))
        ).union()
        rarer_times.append(times.intersection(rarer))
        chosen[of_sort & inside] = rarer.covered_within(times) > 0
    covered = Intervals.from_rows(called[inside]).covered_within(hang_times) / length
    counted = rarer_times[0].joined(*rarer_times).covered_within(hang_times) / length
    explained = counted >= rule.hang_share
    in_explained = hang_times.where(explained).covered_within(Intervals.from_rows(called)) > 0
    return HangCalls(hangs, covered, explained, called[chosen & in_explained])


def _by_chance(calls: pd.DataFrame, hangs: pd.DataFrame, ratio: float) -> float:
    """Share of the time of calls that may lie in hangs by chance: `ratio` times the share of all time that hangs are,
    or less where they are most of it."""
    times = Intervals.from_rows(calls, hangs)
    hung = covered_ns(hangs) / max(int(times.ends.max(initial=0) - times.starts.min(initial=0)), 1)
    return min(ratio * hung, 1 - (1 - hung) / ratio)


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
