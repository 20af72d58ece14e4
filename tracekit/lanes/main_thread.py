"""When the main thread of the target ran, from samples of call stacks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tracekit.intervals import Intervals
from tracekit.trace.samples import SAMPLE_NS
from tracekit.trace.trace import Trace, cached_by_trace

FRAME = "main thread"
"""Its name, beside those of a trace."""
_APART = 1.5
"""Samples no further apart than so many of what they stand for are one period: distances vary by some percent."""


@cached_by_trace
def main_thread_frame(trace: Trace) -> pd.DataFrame:
    """Stretches in which the main thread of the target was seen running: `start_ns`, `duration_ns`, `state`; without
    rows where no sample shows it.

    A thread that waits is not sampled, so a gap is waiting, or work shorter than the distance of two samples. Ends are
    exact to that distance. Reads the samples. O(samples log samples).
    """
    samples = trace.samples
    periods = Intervals.none() if samples is None else _periods(trace, samples)
    return pd.DataFrame(
        {
            "start_ns": periods.starts,
            "duration_ns": periods.durations,
            "state": pd.Categorical(["running"] * len(periods), ["running"]),
        }
    )


def _periods(trace: Trace, samples: pd.DataFrame) -> Intervals:
    chosen = samples["main_thread"].fillna(value=False).to_numpy(dtype=bool)
    target = trace.run.target.process
    if target is not None and target.pid is not None:
        chosen &= (samples["pid"] == target.pid).fillna(value=False).to_numpy(dtype=bool)
    if not chosen.any():
        return Intervals.none()
    starts = samples["time_ns"].to_numpy()[chosen]
    weights = samples["weight_ns"].fillna(SAMPLE_NS).to_numpy(dtype=np.int64)[chosen]
    usual = int(np.median(weights)) or SAMPLE_NS
    joined = Intervals(starts, starts + int(usual * _APART)).union()
    # Bridged, a period is too long by half a sample.
    return Intervals(joined.starts, joined.ends - int(usual * _APART) + usual)
