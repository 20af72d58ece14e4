"""When the main thread of the target ran, and which calls of Core ML held it up, from samples of call stacks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals
from tracekit.trace.calls.infer import NOUNS
from tracekit.trace.calls.stacks import core_ml_stacks
from tracekit.trace.filter import in_ranges
from tracekit.trace.frames import or_minus_one
from tracekit.trace.samples import SAMPLE_NS
from tracekit.trace.trace import Trace, cached_by_trace

FRAME = "main thread"
"""Its name, beside those of a trace."""
_APART = 1.5
"""Samples no further apart than so many of what they stand for are one period: distances vary by some percent."""


RUNNING = "running"
IN_CALLS = tuple(f"in a {noun.lower()}" for noun in NOUNS.values())
"""What the main thread is in during a call, in the order of `NOUNS`."""


@cached_by_trace
def main_thread_frame(trace: Trace) -> pd.DataFrame:
    """What the main thread of the target was seen in: `start_ns`, `duration_ns`, `state`; without rows where no sample
    shows it. No two rows overlap.

    It is in an inferred call (`IN_CALLS`) from its begin to its end, waiting or not, and wherever a sample shows it in
    one; else it is `RUNNING`. A thread that waits is not sampled, so a gap is waiting, or work shorter than the
    distance of two samples. Ends are exact to that distance. Reads the samples. O(samples log samples).
    """
    samples = trace.samples
    if samples is None:
        return _frame({})
    samples = samples[_of_main_thread(trace, samples)]
    times, seen = samples["time_ns"].to_numpy(), _seen_in(trace, samples)
    usual = int(np.median(samples["weight_ns"].fillna(SAMPLE_NS)) if len(samples) else 0) or SAMPLE_NS
    calls, apis = _calls(trace)
    outside = ~in_ranges(calls.union(), times)
    stretches: dict[str, Intervals] = {}
    for code, state in enumerate((*IN_CALLS, RUNNING)):
        own = Intervals(times, times + usual).where(outside & (seen == code))
        others = calls.where(apis != code).joined(*stretches.values()).union()
        joined = _without_breaks(calls.where(apis == code).joined(own), usual)
        stretches[state] = joined.intersection(_outside(others))
    return _frame(stretches)


def _frame(stretches: Mapping[str, Intervals]) -> pd.DataFrame:
    spans = Intervals.none().joined(*stretches.values())
    states = np.repeat(np.array([*stretches], object), [len(each) for each in stretches.values()])
    frame = pd.DataFrame(
        {
            "start_ns": spans.starts,
            "duration_ns": spans.durations,
            "state": pd.Categorical(states, [*IN_CALLS, RUNNING]),
        }
    )
    return frame.sort_values("start_ns", kind="stable", ignore_index=True)


def _of_main_thread(trace: Trace, rows: pd.DataFrame) -> BoolArray:
    """Shape (rows,): samples or call sites of the main thread of the target; of any process if its pid is not known."""
    mine: BoolArray = rows["main_thread"].fillna(value=False).to_numpy(dtype=bool)
    target = trace.run.target.process
    if target is not None and target.pid is not None:
        mine &= or_minus_one(rows["pid"]) == target.pid
    return mine


def _calls(trace: Trace) -> tuple[Intervals, IntArray]:
    """Inferred calls that the main thread made, and the position of each in `IN_CALLS`: shape (calls,). Core ML's own
    rows name no thread."""
    if trace.sites is None:
        return Intervals.none(), np.empty(0, np.int64)
    activity = trace.activity.loc[trace.sites.index]
    mine = _of_main_thread(trace, trace.sites.assign(pid=activity["pid"]))
    return Intervals.from_rows(activity[mine]), _positions(trace.sites["api"])[mine]


def _seen_in(trace: Trace, samples: pd.DataFrame) -> IntArray:
    """Which call each sample is in: shape (samples,), position in `IN_CALLS`; its length for none, and where calls are
    not inferred."""
    if trace.sites is None or trace.sampled is None:
        return np.full(len(samples), len(IN_CALLS))
    known = _positions(core_ml_stacks(trace.sampled)["api"])
    return np.append(known, len(IN_CALLS))[or_minus_one(samples["stack"])]


def _positions(apis: pd.Series) -> IntArray:
    """Position of each in `IN_CALLS`; its length for what is not a call."""
    found = pd.Index([*NOUNS]).get_indexer(pd.Index(apis))
    return np.where(found < 0, len(IN_CALLS), found).astype(np.int64)


def _without_breaks(spans: Intervals, usual_ns: int) -> Intervals:
    """The spans as stretches that no break of up to half a sample interrupts."""
    slack = int(usual_ns * _APART) - usual_ns
    joined = Intervals(spans.starts, spans.ends + slack).union()
    return Intervals(joined.starts, joined.ends - slack)


def _outside(spans: Intervals) -> Intervals:
    """All time that sorted spans leave, none of which touches another."""
    bounds = np.iinfo(np.int64)
    return Intervals(np.append(bounds.min, spans.ends), np.append(spans.starts, bounds.max))
