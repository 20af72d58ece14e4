"""Lanes of the target's process: when its main thread ran and which calls of Core ML held it up, from samples of call
stacks; and its memory, from sample to sample: its footprint, and what it has allocated of Metal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import pandas as pd

from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals
from tracekit.lanes.categories import Category
from tracekit.lanes.events import Events, LaneRows
from tracekit.trace.calls.infer import NOUNS
from tracekit.trace.calls.stacks import core_ml_stacks
from tracekit.trace.filter import in_ranges
from tracekit.trace.frames import or_minus_one
from tracekit.trace.instruments.memory import MEMORY, Memory, of_process
from tracekit.trace.samples import SAMPLE_NS
from tracekit.trace.trace import Trace, cached_by_trace
from tracekit.units import format_bytes

FRAME = "main thread"
"""Its name, beside those of a trace."""
_APART = 1.5
"""Samples no further apart than so many of what they stand for are one period: distances vary by some percent."""
_EVER = np.iinfo(np.int64)
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
        # No break of up to half a sample interrupts a stretch.
        mine, slack = calls.where(apis == code).joined(own), int(usual * _APART) - usual
        joined = Intervals(mine.starts, mine.ends + slack).union()
        free = Intervals(np.append(_EVER.min, others.ends), np.append(others.starts, _EVER.max))
        stretches[state] = Intervals(joined.starts, joined.ends - slack).intersection(free)
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
    """Inferred calls of the main thread, and their positions in `IN_CALLS`, shape (calls,). Core ML names no thread."""
    if trace.sites is None:
        return Intervals.none(), np.empty(0, np.int64)
    activity = trace.activity.loc[trace.sites.index]
    mine = _of_main_thread(trace, trace.sites.assign(pid=activity["pid"]))
    return Intervals.from_rows(activity[mine]), _positions(trace.sites["api"])[mine]


def _seen_in(trace: Trace, samples: pd.DataFrame) -> IntArray:
    """The call of each sample, shape (samples,): position in `IN_CALLS`; its length for none, or recorded calls."""
    if trace.sites is None or trace.sampled is None:
        return np.full(len(samples), len(IN_CALLS))
    known = _positions(core_ml_stacks(trace.sampled)["api"])
    return np.append(known, len(IN_CALLS))[or_minus_one(samples["stack"])]


def _positions(apis: pd.Series) -> IntArray:
    """Position of each in `IN_CALLS`; its length for what is not a call."""
    found = pd.Index([*NOUNS]).get_indexer(pd.Index(apis))
    return np.where(found < 0, len(IN_CALLS), found).astype(np.int64)


TITLES: Final = {Memory.FOOTPRINT: "Memory · footprint", Memory.GPU: "Memory · GPU"}
_MEDIUM, _HIGH = 0.5, 0.9
"""Shares of the peak from which on a level is drawn as medium and as high."""


_ALIKE = 0.02
"""Share of the peak up to which neighboring samples are drawn as one level."""


def memory_lanes(trace: Trace) -> Iterator[LaneRows]:
    """A lane of each kind of memory that was sampled of the target; none where it was not. Samples that are nearly
    alike are one level, which holds until the next one begins. O(n)."""
    for kind, title in TITLES.items():
        frame = of_process(trace.memory, kind, trace.run.target.process)
        if len(frame):
            yield LaneRows(f"{MEMORY}/{kind}", title, "System", _levels(trace, frame), pinned=True, strip=True)


def _levels(trace: Trace, frame: pd.DataFrame) -> Events:
    times, held = frame["start_ns"].to_numpy(), frame["bytes"].to_numpy()
    peak = max(int(held.max()), 1)
    # Another level begins with the first sample, and with each that differs from the first of its level.
    begins = [0]
    for at, size in enumerate(held.tolist()):
        if abs(size - held[begins[-1]]) > _ALIKE * peak:
            begins.append(at)
    starts, sizes = times[begins], np.maximum.reduceat(held, begins)
    usual = int(np.median(np.diff(times))) if len(times) > 1 else 0
    end = max(min(int(times[-1]) + usual, trace.run.duration_ns or 0), int(times[-1]))
    texts, labels = np.unique([format_bytes(each) for each in sizes.tolist()], return_inverse=True)
    share = sizes / peak
    colors = np.where(share >= _HIGH, Category.HIGH, np.where(share >= _MEDIUM, Category.MEDIUM, Category.LOW))
    return Events(
        MEMORY,
        frame.index.to_numpy(np.int64)[begins],
        starts,
        np.append(starts[1:], end),
        colors.astype(np.int8),
        labels.astype(np.int32),
        tuple(map(str, texts)),
        np.full(len(starts), -1, np.int32),
        (),
    )
