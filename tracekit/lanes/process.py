"""Lanes of the target's process: when its main thread ran and which calls of Core ML held it up, from samples of call
stacks; its memory, from sample to sample: its footprint, and what it has allocated of Metal; and what signposts show,
the app's own operations and phases of runtimes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import pandas as pd

from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals
from tracekit.lanes.categories import Category
from tracekit.lanes.events import Events, LaneRows, category_codes, events_without_models, rows_by
from tracekit.trace.calls.infer import NOUNS
from tracekit.trace.calls.stacks import core_ml_stacks
from tracekit.trace.collect import group_ids
from tracekit.trace.filter import in_ranges
from tracekit.trace.frames import ends_of, or_minus_one
from tracekit.trace.instruments.memory import MEMORY, Memory, of_process
from tracekit.trace.runtimes.phases import OPEN, OPERATION, PHASES, UNKNOWN, of_target
from tracekit.trace.runtimes.registry import LANES, PHASES as LANE_OF
from tracekit.trace.samples import SAMPLE_NS
from tracekit.trace.trace import Trace, cached_by_trace
from tracekit.units import format_bytes

FRAME = "main thread"
_APART = 1.5
"""Samples no further apart than so many of what they stand for are one period: distances vary by some percent."""
_EVER = np.iinfo(np.int64)
RUNNING = "running"
IN_CALLS = tuple(f"in a {noun.lower()}" for noun in NOUNS.values())
"""What the main thread is in during a call, in the order of `NOUNS`."""


@cached_by_trace
def main_thread_frame(trace: Trace) -> pd.DataFrame:
    """What the target's main thread was seen in, without overlaps: `start_ns`, `duration_ns`, `state`; or no rows.

    It is in an inferred call (`IN_CALLS`) from its begin to its end, waiting or not, and wherever a sample shows it in
    one; else it is `RUNNING`. A thread that waits is not sampled, so a gap is waiting, or work shorter than the
    distance of two samples. Ends are exact to that distance. Reads the samples. O(samples log samples).
    """
    if trace.samples is None:
        return _frame({})
    samples = trace.samples.frame()
    samples = samples[_of_main_thread(trace, samples)]
    times, none = samples["time_ns"].to_numpy(), len(IN_CALLS)
    usual = int(np.median(samples["weight_ns"].fillna(SAMPLE_NS)) if len(samples) else 0) or SAMPLE_NS
    # The call of each sample, and those of inferred calls, as positions in `IN_CALLS`. Core ML names no thread.
    seen, calls, apis = np.full(len(samples), none), Intervals.none(), np.empty(0, np.int64)
    if trace.sites is not None and trace.sampled is not None:
        seen = np.append(_positions(core_ml_stacks(trace.sampled)["api"]), none)[or_minus_one(samples["stack"])]
        activity = trace.activity.frame().loc[trace.sites.index]
        mine = _of_main_thread(trace, trace.sites.assign(pid=activity["pid"]))
        calls, apis = Intervals.from_rows(activity[mine]), _positions(trace.sites["api"])[mine]
    outside = ~in_ranges(calls.union(), times)
    stretches: dict[str, Intervals] = {}
    for code, state in enumerate((*IN_CALLS, RUNNING)):
        sampled = Intervals(times, times + usual).where(outside & (seen == code))
        others = calls.where(apis != code).joined(*stretches.values()).union()
        # No break of up to half a sample interrupts a stretch.
        own, slack = calls.where(apis == code).joined(sampled), int(usual * _APART) - usual
        joined = Intervals(own.starts, own.ends + slack).union()
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
    on_main_thread = rows["main_thread"].to_numpy(np.bool_, na_value=False)
    return on_main_thread & of_target(rows, trace.run.target.process)


def _positions(apis: pd.Series) -> IntArray:
    """Position of each in `IN_CALLS`; its length for what is not a call."""
    found = pd.Index([*NOUNS]).get_indexer(pd.Index(apis))
    return np.where(found < 0, len(IN_CALLS), found).astype(np.int64)


TITLES: Final = {Memory.FOOTPRINT: "Footprint", Memory.GPU: "GPU memory"}
_MEDIUM, _HIGH = 0.5, 0.9
"""Shares of the peak from which on a level is drawn as medium and as high."""


_ALIKE = 0.02
"""Share of the peak up to which neighboring samples are drawn as one level."""


def memory_lanes(trace: Trace) -> Iterator[LaneRows]:
    """A lane of each kind of memory of the target. Samples nearly alike are one level, until the next begins. O(n)."""
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
    index, ends = frame.index.to_numpy(np.int64)[begins], np.append(starts[1:], end)
    codes = labels.astype(np.int32)
    return events_without_models(MEMORY, index, starts, ends, colors.astype(np.int8), codes, tuple(map(str, texts)))


OPERATIONS: Final = "Operations"
"""Section of the lanes of the app's own signposts."""
TOOLS: Final = LANE_OF["tool call"]
"""Title of the lane of tool calls, each named by its tool."""
OPERATION_LIMIT: Final = 12
"""Operations that get a lane of their own: those that last longest. Our judgment: more would push all else away."""


def phase_lanes(trace: Trace) -> Iterator[LaneRows]:
    """A lane for each operation of the target, then those of each runtime that it ran; none where no signpost shows
    any. Without a target, those of all processes. O(n log n)."""
    rows = np.flatnonzero(of_target(trace.phases, trace.run.target.process))
    if not len(rows):
        return
    frame = trace.phases.take(rows)
    events = _events(frame, rows, trace.run.duration_ns or 0)
    for runtime, members in sorted(rows_by(frame, "runtime"), key=lambda each: each[0]):
        section = runtime or OPERATIONS
        lanes = {name: members[at] for name, at in rows_by(frame.take(members), "lane")}
        in_order = ((name, lanes[name]) for name in LANES if name in lanes)
        for name, positions in in_order if runtime else _longest(lanes, events):
            yield LaneRows(f"{PHASES}/{section}/{name}", name, section, events.at(positions))


def _longest(lanes: dict[str, IntArray], events: Events) -> Iterator[tuple[str, IntArray]]:
    """Operations in order of appearance, without a lane of their own for those beyond the limit."""
    elapsed = {name: int((events.ends - events.starts)[at].sum()) for name, at in lanes.items()}
    own = sorted(lanes, key=lambda name: -elapsed[name])[:OPERATION_LIMIT]
    yield from ((name, at) for name, at in lanes.items() if name in own)
    if rest := [at for name, at in lanes.items() if name not in own]:
        yield f"{len(rest)} more", np.sort(np.concatenate(rest))


def _events(frame: pd.DataFrame, rows: IntArray, end_ns: int) -> Events:
    """What is drawn: name and phase of each; what has no end lasts until that of the recording, and says so."""
    is_app = frame["runtime"].isna().to_numpy()
    columns = [category_codes(frame, name) for name in ("name", "phase", "form")]
    labels = group_ids([codes for codes, _ in columns], len(frame))
    _, first = np.unique(labels, return_index=True)
    texts = []
    for name, phase, form in zip(*(codes[first].tolist() for codes, _ in columns), strict=True):
        words = columns[1][1][phase]
        label = columns[0][1][name] if name >= 0 else ""
        label += "" if words in (OPERATION, UNKNOWN) or words == label.casefold() else f" ({words})"
        texts.append(f"{label}, no end recorded" if columns[2][1][form] == OPEN else label)
    starts, ends = frame["start_ns"].to_numpy(), ends_of(frame, end_ns)
    colors = np.where(is_app, Category.OPERATION, Category.PHASE).astype(np.int8)
    return events_without_models(PHASES, rows, starts, ends, colors, labels.astype(np.int32), tuple(texts))
