"""Lanes of the target's process: when its main thread ran and which calls of Core ML held it up, from samples of call
stacks; its memory, from sample to sample: its footprint, and what it has allocated of Metal; and what signposts show,
the app's own operations and phases of runtimes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.columns import Codes, Flags, Numbers, Texts, column
from tracekit.intervals import Intervals
from tracekit.lanes.categories import Category
from tracekit.lanes.events import Events, LaneRows, events_without_models, rows_by
from tracekit.rows import Rows, group_ids, start_order
from tracekit.trace.calls.infer import NOUNS
from tracekit.trace.calls.stacks import core_ml_stacks
from tracekit.trace.context import of_target
from tracekit.trace.filter import in_ranges
from tracekit.trace.instruments.frames import FRAMES, Aside, RunLoop
from tracekit.trace.instruments.memory import MEMORY, Memory, of_process
from tracekit.trace.runtimes.phases import OPEN, OPERATION, PHASES, UNKNOWN, Phases
from tracekit.trace.runtimes.registry import LANES, PHASES as LANE_OF
from tracekit.trace.samples import SAMPLE_NS
from tracekit.trace.trace import Trace, cached_by_trace
from tracekit.units import format_bytes

FRAME = "main thread"
_APART = 1.5
"""Samples no further apart than so many of what they stand for are one period: distances vary by some percent."""
_EVER = np.iinfo(np.int64)
RUNNING = "running"
_LOOP: Final = "run_loop"
IN_CALLS = tuple(f"in a {noun.lower()}" for noun in NOUNS.values())
"""What the main thread is in during a call, in the order of `NOUNS`."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretches(Rows):
    """What a thread was seen in, by start, without overlaps."""

    start_ns: IntArray = column("start")
    duration_ns: IntArray = column("duration")
    state: Texts = column("one of `IN_CALLS`, or `RUNNING`")


@cached_by_trace
def main_thread_stretches(trace: Trace) -> Stretches:
    """What the target's main thread was seen in; or no rows.

    It is in an inferred call (`IN_CALLS`) from its begin to its end, waiting or not, and wherever a sample shows it in
    one; else it is `RUNNING`. A thread that waits is not sampled, so a gap is waiting, or work shorter than the
    distance of two samples. Ends are exact to that distance. Reads the samples. O(samples log samples).
    """
    samples = trace.samples
    if samples is None:
        return Stretches.none()
    at = np.flatnonzero(_of_main_thread(trace, samples.main_thread, samples.pid))
    times, weights, none = samples.time_ns[at], samples.weight_ns.take(at).filled(SAMPLE_NS), len(IN_CALLS)
    usual = int(np.median(weights) if len(at) else 0) or SAMPLE_NS
    # The call of each sample, and those of inferred calls, as positions in `IN_CALLS`. Core ML names no thread.
    seen, calls, apis = np.full(len(at), none), Intervals.none(), np.empty(0, np.int64)
    if trace.sites is not None and trace.sampled is not None:
        stacks, sites = core_ml_stacks(trace.sampled), trace.sites
        seen = np.append(_positions(stacks.api), none)[samples.stack.take(at).filled()]
        mine = _of_main_thread(trace, sites.main_thread, trace.activity.pid.take(sites.id))
        calls = Intervals.from_rows(trace.activity).where(sites.id[mine])
        apis = _positions(sites.api)[mine]
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
    spans = Intervals.none().joined(*stretches.values())
    codes = np.repeat(np.arange(len(stretches), dtype=np.int32), [len(stretch) for stretch in stretches.values()])
    return Stretches(spans.starts, spans.durations, Codes(codes, tuple(stretches))).take(start_order(spans.starts))


def _of_main_thread(trace: Trace, main_thread: Flags, pid: Numbers) -> BoolArray:
    """Shape (rows,): samples or call sites of the main thread of the target; of any process if its pid is not known."""
    target = trace.run.target.process
    return main_thread.values & (True if target is None or target.pid is None else pid.filled() == target.pid)


def _positions(apis: Texts) -> IntArray:
    """Position of each in `IN_CALLS`; its length for what is not a call."""
    codes = apis.codes_in([*NOUNS])
    return np.where(codes < 0, len(IN_CALLS), codes)


TITLES: Final = {Memory.FOOTPRINT: "Footprint", Memory.GPU: "GPU memory"}
_MEDIUM, _HIGH = 0.5, 0.9
"""Shares of the peak from which on a level is drawn as medium and as high."""


_ALIKE = 0.02
"""Share of the peak up to which neighboring samples are drawn as one level."""


def memory_lanes(trace: Trace) -> Iterator[LaneRows]:
    """A lane of each kind of memory of the target. Samples nearly alike are one level, until the next begins. O(n)."""
    for kind, title in TITLES.items():
        at = of_process(trace.memory, kind, trace.run.target.process)
        if len(at):
            yield LaneRows(f"{MEMORY}/{kind}", title, "System", _levels(trace, at), pinned=True, strip=True)


def _levels(trace: Trace, at: IndexArray) -> Events:
    times, held = trace.memory.start_ns[at], trace.memory.bytes[at]
    peak = max(int(held.max()), 1)
    # Another level begins with the first sample, and with each that differs from the first of its level.
    begins = [0]
    for position, size in enumerate(held.tolist()):
        if abs(size - held[begins[-1]]) > _ALIKE * peak:
            begins.append(position)
    starts, sizes = times[begins], np.maximum.reduceat(held, begins)
    usual = int(np.median(np.diff(times))) if len(times) > 1 else 0
    end = max(min(int(times[-1]) + usual, trace.run.duration_ns or 0), int(times[-1]))
    texts, codes = np.unique([format_bytes(size) for size in sizes.tolist()], return_inverse=True)
    share = sizes / peak
    colors = np.where(share >= _HIGH, Category.HIGH, np.where(share >= _MEDIUM, Category.MEDIUM, Category.LOW))
    labels = Codes(codes.astype(np.int32), tuple(map(str, texts)))
    ends = np.append(starts[1:], end)
    return events_without_models(MEMORY, at[begins], starts, ends, colors.astype(np.int8), labels)


def loop_lanes(trace: Trace) -> Iterator[LaneRows]:
    """When the main run loop was busy; none where no run loop was recorded."""
    loop = trace.table(RunLoop)
    if loop is None or not len(loop):
        return
    busy, ends = np.full(len(loop), Category.APP, np.int8), loop.start_ns + loop.duration_ns
    events = events_without_models(_LOOP, np.arange(len(loop)), loop.start_ns, ends, busy, loop.state)
    yield LaneRows(_LOOP, "Main run loop", "System", events, pinned=True, strip=True)


def aside_lanes(trace: Trace) -> Iterator[LaneRows]:
    """Late frames that are not the app's, or do not count for another reason; none where there are none."""
    frames = trace.frames
    rows = np.flatnonzero((frames.duration_ns > 0) & frames.aside.known)
    if len(rows):
        starts, aside = frames.start_ns[rows], frames.aside.take(rows)
        colors = np.where(aside.is_any(Aside.OTHER, Aside.SYSTEM), Category.FOREIGN, Category.OTHER).astype(np.int8)
        events = events_without_models(FRAMES, rows, starts, starts + frames.duration_ns[rows], colors, aside)
        yield LaneRows("late frames aside", "Late frames, not counted", "System", events)


OPERATIONS: Final = "Operations"
"""Section of the lanes of the app's own signposts."""
TOOLS: Final = LANE_OF["tool call"]
"""Title of the lane of tool calls, each named by its tool."""
OPERATION_LIMIT: Final = 12
"""Operations that get a lane of their own: those that last longest. Our judgment: more would push all else away."""


def phase_lanes(trace: Trace) -> Iterator[LaneRows]:
    """A lane for each operation of the target, then those of each runtime that it ran; none where no signpost shows
    any. Without a target, those of all processes. O(n log n)."""
    rows = np.flatnonzero(of_target(trace.phases.pid, trace.run.target.process))
    if not len(rows):
        return
    phases = trace.phases.take(rows)
    events = _events(phases, rows, trace.run.duration_ns or 0)
    for runtime, members in sorted(rows_by(phases.runtime), key=lambda each: each[0]):
        section = runtime or OPERATIONS
        lanes = {name: members[at] for name, at in rows_by(phases.lane.take(members))}
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


def _events(phases: Phases, rows: IndexArray, end_ns: int) -> Events:
    """What is drawn: name and phase of each; what has no end lasts until that of the recording, and says so."""
    texts_of = (phases.name, phases.phase, phases.form)
    labels = group_ids([cells.codes for cells in texts_of], len(phases))
    _, first = np.unique(labels, return_index=True)
    texts = []
    for name, phase, form in zip(*(cells.take(first).as_objects() for cells in texts_of), strict=True):
        label = name or ""
        label += "" if phase in (OPERATION, UNKNOWN) or phase == label.casefold() else f" ({phase})"
        texts.append(f"{label}, no end recorded" if form == OPEN else label)
    colors = np.where(phases.runtime.known, Category.PHASE, Category.OPERATION).astype(np.int8)
    drawn = Codes(labels.astype(np.int32), tuple(texts))
    return events_without_models(PHASES, rows, phases.start_ns, phases.ends(end_ns), colors, drawn)
