"""How a model holds frames up: on the main thread, on the GPU, or by the cores that it takes.

Work on the Neural Engine delays no frame; the main thread that waits for it does. Overlap alone proves nothing: in real
recordings the compositor waited as long while a model's row ran as at other times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from tracekit.analysis.frames.deadlines import NEVER, Deadlines
from tracekit.analysis.frames.main_thread import MOST, in_activity, longest, main_calls
from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals, containing, depth_profile
from tracekit.recording.table import Process
from tracekit.rows import group_ids
from tracekit.trace.context import of_target
from tracekit.trace.events import Attribution, Kind, Lane
from tracekit.trace.instruments.frames import RUNNING, Aside, Stage, ThreadStates
from tracekit.trace.trace import Trace

COMPOSITORS: Final = ("WindowServer", "backboardd")
"""Processes that draw the screen, of a Mac and of a phone; of the second no public row of the GPU was seen."""
_SUBMITTED_NS: Final = 1_000_000
"""The GPU work of a frame is committed no later than this after the system drew it (heuristic)."""


class Path(StrEnum):
    """How work of a model holds a frame or the main thread up."""

    MAIN_BUSY = "main thread busy"
    MAIN_WAITS = "main thread waits"
    GPU = "GPU"
    CPU = "CPU"


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What holds frames up in one way: shape (frames,) each."""

    stage: Stage
    """The stage that ends later for it."""
    path: IntArray
    """Number of the `Path`."""
    blocked_ns: IntArray
    call: IntArray
    """Row of the activity; -1 for none."""
    model: IntArray
    """Code of the model among those of the activity; -1 for none."""
    inside_ns: IntArray
    """How much of the recorded time of that stage it is."""
    is_sure: bool = True


def paths(trace: Trace, deadlines: Deadlines) -> tuple[Held, ...]:
    """All of them. The first that would have brought a frame earlier is its cause. O(n log n)."""
    return _on_main(trace, deadlines), _on_gpu(trace, deadlines), *_on_cpu(trace, deadlines)


def _on_main(trace: Trace, deadlines: Deadlines) -> Held:
    """Loads and predictions on the main thread."""
    main = main_calls(trace)
    blocked, inside, window = _held_up(deadlines, Stage.UPDATE, main.times)
    call, model = longest(main.times, main.calls, window)
    return Held(Stage.UPDATE, main.wait_in(call).astype(np.int64), blocked, call, model, inside, main.is_sure)


def _held_up(deadlines: Deadlines, stage: Stage, holds: Intervals) -> tuple[IntArray, IntArray, Intervals]:
    """By how much a stage of frames ended later because its thread was held up, how much of it is recorded as their own
    time, and from when to when. What ends late lets the next frames begin late, until one of them begins at its
    refresh."""
    frames, (recorded, end) = deadlines.frames, deadlines.frames.stage(stage)
    begins = deadlines.begins_ns if stage is Stage.UPDATE else deadlines.drawing_ns
    blocked, ends = np.zeros(len(frames), np.int64), end.filled(0)
    own = ~frames.aside.is_any(Aside.OTHER, Aside.SYSTEM) & (begins < NEVER)
    order = np.flatnonzero(own & end.known)
    order = order[np.argsort(ends[order], kind="stable")]
    done = ends[order]
    begin, before = np.minimum(begins[order], done), np.append(0, done)[: len(done)]
    carried = np.maximum(before - begin, 0)
    held = holds.covered_within(Intervals(np.maximum(begin, before), done))
    # held[n] + min(what is held of the one before, carried[n]), for all n at once.
    total = np.cumsum(held)
    blocked[order] = total + np.minimum.accumulate(carried - (total - held))
    first = np.maximum.accumulate(np.where(carried == 0, np.arange(len(order)), 0))
    since = ends.copy()
    since[order] = begin[first]
    inside = holds.covered_within(Intervals(np.minimum(recorded.filled(0), ends), ends))
    return blocked, inside, Intervals(since, ends)


def _on_gpu(trace: Trace, deadlines: Deadlines) -> Held:
    """Work of models on the GPU between the commit and the start of what the compositor draws for a frame."""
    frames, rows = deadlines.frames, trace.hardware
    on_gpu = rows.lane.is_any(Lane.GPU)
    named = on_gpu & rows.model.known & ~rows.attribution.is_any(Attribution.FOREIGN)
    models = rows.where(named)
    drawing = rows.where(on_gpu & rows.process.is_any(*COMPOSITORS) & rows.waited_ns.known)
    committed = drawing.start_ns - drawing.waited_ns.values
    begin, end = frames.render_ns.filled(0), frames.render_end_ns.filled(0)
    known = frames.render_ns.known & frames.render_end_ns.known
    order = np.flatnonzero(known)
    # A row committed while two displays are drawn is of neither for sure.
    at, _ = containing(begin[order], end[order] + _SUBMITTED_NS, committed, committed)
    of_frame, row = order[at[at >= 0]], np.flatnonzero(at >= 0)
    first = np.full(len(frames), NEVER)
    last = np.full(len(frames), -1, np.int64)
    np.minimum.at(first, of_frame, committed[row])
    np.maximum.at(last, of_frame, drawing.start_ns[row])
    by_stage = (last < 0) & frames.gpu_ns.known & known
    first, last = np.where(by_stage, end, first), np.where(by_stage, np.maximum(frames.gpu_ns.values, end), last)
    some = last >= 0
    window = Intervals(np.where(some, first, 0), np.where(some, np.maximum(last, first), 0))
    times = Intervals.from_rows(models)
    blocked = times.covered_within(window)
    call, model = longest(times, models, window, models.prediction.filled())
    model = in_activity(trace, models, model)
    return Held(Stage.GPU, np.full(len(frames), 2), blocked, call, model, np.zeros_like(blocked))


def _on_cpu(trace: Trace, deadlines: Deadlines) -> Iterator[Held]:
    """Time in which the main thread, and the thread of the system that draws, had no core because Core ML computed: all
    other threads would have left it one."""
    frames, states = deadlines.frames, trace.table(ThreadStates)
    work = trace.compute.where(trace.compute.kind.is_any(Kind.CPU_COMPUTE) & trace.compute.prediction.known)
    times, held = Intervals.from_rows(work), (Intervals.none(), Intervals.none())
    if states is not None and len(states) and len(work):
        known = frames.render_ns.known & frames.render_end_ns.known
        drawn = Intervals(frames.render_ns.values[known], frames.render_end_ns.values[known])
        held = _without_core(states, trace.run.target.process, times, drawn)
    for stage, holds in zip((Stage.UPDATE, Stage.RENDER), held, strict=True):
        blocked, inside, window = _held_up(deadlines, stage, holds)
        call, model = longest(times, work, window, work.prediction.filled())
        yield Held(stage, np.full(len(frames), 3), blocked, call, in_activity(trace, work, model), inside)


def _without_core(
    states: ThreadStates, target: Process | None, work: Intervals, drawn: Intervals
) -> tuple[Intervals, Intervals]:
    """When the main thread, and the compositor's thread that ran longest while frames were drawn, were ready to run
    while Core ML computed, and all other threads left a core free, of as many as ever ran at once. A thread of the app
    that runs only while Core ML computes is Core ML's."""
    own, server = of_target(states.pid, target), states.process.is_any(*COMPOSITORS)
    running, spans = states.state.is_any(RUNNING), Intervals.from_rows(states)
    thread = group_ids([states.tid.filled()], len(states))
    computes = np.bincount(thread, np.where(running, work.covered_within(spans), 0))
    its = (computes >= MOST * np.bincount(thread, np.where(running, spans.durations, 0)))[thread] & own
    draws = np.bincount(thread, np.where(running & server, drawn.covered_within(spans), 0))
    ran = spans.where(running)
    cores = depth_profile(ran.starts, ran.ends)[1].max(initial=0)

    def held(waiting: BoolArray) -> Intervals:
        others = spans.where(~waiting & ~its)
        times, depth = depth_profile(others.starts, others.ends)
        free = np.append(0, depth) < cores
        left = Intervals(np.append(0, times)[free], np.append(times, NEVER)[free])
        return spans.where(waiting & ~running).intersection(work).intersection(left)

    main = own & states.thread.passing(lambda text: text.startswith("Main Thread"))
    return held(main), held(server & (thread == draws.argmax()))
