"""Which calls of Core ML the main thread of an app with an interface waits for, and what runs between calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.code.sites import CallSite, between_sites
from tracekit.intervals import Intervals
from tracekit.trace.calls.stacks import INTERFACE, Api, app_frames, innermost, matches_function, stacks_with
from tracekit.trace.events import SETUP_KINDS, Kind
from tracekit.trace.filter import in_ranges
from tracekit.trace.frames import is_any, or_minus_one
from tracekit.trace.trace import Trace, cached_by_trace

PREPARING: Final = (Api.LOAD, Api.COMPILE)
"""What gets a model ready."""
FRAME_NS: Final = 16_666_667
"""A main thread that is free for less than a frame at 60 fps draws nothing in between (heuristic)."""


@cached_by_trace
def runs_interface(trace: Trace) -> bool | None:
    """Whether a main thread is seen in the loop of an interface; None where no call stack of one was caught."""
    sampled = trace.sampled
    if sampled is None or sampled.samples.empty:
        return None
    stacks = or_minus_one(sampled.samples["stack"])
    on_main_thread = sampled.samples["main_thread"].to_numpy(np.bool_, na_value=False)
    caught = stacks[(stacks >= 0) & on_main_thread]
    if not len(caught):
        return None
    looping = stacks_with(sampled, matches_function(sampled.stacks, INTERFACE))
    return bool(looping[caught].any())


@dataclass(frozen=True, slots=True, eq=False)
class Blocking:
    """Periods that calls fill the main thread for."""

    calls: pd.DataFrame
    """Calls in these periods: rows of `Trace.activity`."""
    periods: Intervals
    """Each at least as long as was asked for."""
    known: int
    """Calls of this kind whose thread is known."""


def main_thread_calls(trace: Trace, apis: Sequence[Api], min_ns: int) -> Blocking | None:
    """Periods of at least this length that such calls fill the main thread for. None where no call stack shows who
    makes them. O(n log n)."""
    rows = _rows_of(trace, apis)
    if rows is None:
        return None
    known = int(rows["main_thread"].notna().sum())
    calls = rows[rows["main_thread"].fillna(False).to_numpy(dtype=bool)]
    spans = Intervals.from_rows(calls)
    joined = Intervals(spans.starts, spans.ends + FRAME_NS).union()
    periods = Intervals(joined.starts, joined.ends - FRAME_NS)
    periods = periods.where(periods.durations >= min_ns)
    return Blocking(calls[periods.covered_within(spans) > 0], periods, known)


def _rows_of(trace: Trace, apis: Sequence[Api]) -> pd.DataFrame | None:
    """Rows of such calls whose thread is known beyond doubt."""
    sites = call_sites(trace)
    if sites is None:
        return None
    sure = sites[~sites["ambiguous"].to_numpy(dtype=bool)]
    rows = trace.activity.loc[sure.index].assign(main_thread=sure["main_thread"])
    return rows[is_any(sure["api"], *apis)]


def core_ml_time(trace: Trace) -> int:
    """Time in ns that loads, compilations and predictions of the app cover."""
    called = is_any(trace.activity["kind"], *SETUP_KINDS, Kind.PREDICTION)
    return Intervals.from_rows(trace.activity).where(called).covered_ns


@dataclass(frozen=True, slots=True)
class Between:
    """What the app does in gaps between calls."""

    running: float
    """Share of the gaps in which code of the app runs on any thread."""
    samples: int
    sites: tuple[CallSite, ...]
    """Functions of the app that run, the innermost of each stack; the one with most samples first."""


def work_between(trace: Trace, gaps: Intervals) -> Between | None:
    """What code of the app ran in the gaps, which do not overlap; None where no samples were recorded, or where the
    gaps are too short for any. O(samples log gaps)."""
    sampled = trace.sampled
    if sampled is None or sampled.samples.empty or gaps.covered_ns < sampled.period_ns:
        return None
    inside = in_ranges(gaps, sampled.samples["time_ns"].to_numpy())
    inside &= sampled.samples["stack"].notna().to_numpy()
    app_frame = innermost(sampled, app_frames(sampled.stacks))
    rows = sampled.samples[inside]
    frame = app_frame[rows["stack"].to_numpy(np.int64)]
    rows, frame = rows[frame >= 0], frame[frame >= 0]
    time = rows["time_ns"].to_numpy()
    ran = Intervals(time - sampled.period_ns, time).union().intersection(gaps).covered_ns
    return Between(min(ran / gaps.covered_ns, 1.0), len(rows), between_sites(trace, rows, frame))
