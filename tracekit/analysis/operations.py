"""Operations of the app, as its own signposts name them, and where their time went: parts that add up exactly.

Each instant of an operation belongs to the first of these that covers it:

| # | part          | covered by                                                                          |
|---|---------------|-------------------------------------------------------------------------------------|
| 1 | `core_ml`     | loads, compilations and predictions of the target, whichever thread called          |
| 2 | `runtimes`    | phases of other runtimes in the target                                              |
| 3 | `app_code`    | samples of the thread that began the operation: it ran                              |
| 4 | `gpu_wait`    | work of the GPU for the target while that thread did not run; `gpu` without samples |
| 5 | `not_running` | nothing: the thread waited for something else, or for a CPU                         |
|   | `not_visible` | the same where no samples show whether it ran                                       |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import numpy as np

from tracekit.analysis.code.sites import Place, between_sites
from tracekit.analysis.quantities import Sample, quantities_of
from tracekit.analysis.statistics import CallTimes, Statistics, duration_statistics
from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Numbers
from tracekit.intervals import Intervals
from tracekit.sorting import distinct_numbers
from tracekit.trace.calls.stacks import app_frames, innermost
from tracekit.trace.context import of_target
from tracekit.trace.events import Lane, Level
from tracekit.trace.filter import Shown, in_ranges
from tracekit.trace.instruments.tables import Signposts
from tracekit.trace.runtimes.phases import INTERVAL, OPEN, PHASES, POINT, Phases
from tracekit.trace.samples import SampleRows
from tracekit.trace.trace import Trace, cached_by_trace


class Part(StrEnum):
    """Parts of an operation's time, in the order in which they are told."""

    CORE_ML = "core_ml"
    RUNTIMES = "runtimes"
    APP_CODE = "app_code"
    GPU_WAIT = "gpu_wait"
    GPU = "gpu"
    NOT_RUNNING = "not_running"
    NOT_VISIBLE = "not_visible"


MOST: Final = 100
"""Operations of a report: more names than an app has for what its users wait for. Our judgment."""
SHOWN: Final = ("predictions", "p50_ns", "p95_ns")
"""Quantities of an operation, by the ids of `quantities.MODEL`: `predictions` counts it."""


@dataclass(frozen=True, slots=True)
class OperationPart:
    """A part of the time of an operation."""

    part: str
    """What the time went to, as `core_ml`, `runtimes`, `app_code` or `gpu_wait`."""
    total_ns: int
    """Its time in all operations of the name."""
    mean_ns: float
    """Per operation."""
    share: float
    """Of the time of the operation."""
    resolution_ns: int = 0
    """How exactly the mean is known: the time between two samples where these show the part, 0 for what is exact."""


@dataclass(frozen=True, slots=True)
class Operation:
    """All signposts of one name that the target logged itself."""

    name: str
    """Name of the signposts."""
    statistics: Statistics | None
    """Of those with an end; None where there is none."""
    unfinished: int
    """Intervals without an end in the recording."""
    points: int
    """Events without a duration."""
    at_once: int
    """Of those with an end, how many ran while another of them did: what ran meanwhile counts for each."""
    parts: tuple[OperationPart, ...] = ()
    """Largest first; together exactly the sum of durations."""
    place: Place | None = None
    """Function of the app in which most samples of its code are; None where none shows any."""
    place_share: float = 0.0
    """Share of the samples of its code that are there."""
    quantities: dict[str, float | None] = field(default_factory=dict)
    """Median and p95 of all with an end, by their ids. None: too few values."""


def operations(trace: Trace, shown: Shown | None = None) -> tuple[Operation, ...]:
    """Operations of the target, those that last longest first, at most `MOST`. `shown`: what counts; None for all.
    O(n log n) for each thread that began any."""
    rows = trace.phases
    if not len(rows):
        return ()
    chosen = ~rows.runtime.known & rows.name.known & of_target(rows.pid, trace.run.target.process)
    rows = rows.where(chosen if shown is None else chosen & shown.context[PHASES])
    names = rows.name
    total_ns = np.bincount(names.codes, rows.duration_ns.values, len(names.values))
    longest = np.argsort(np.where(names.counts() > 0, -total_ns, 1), kind="stable")[:MOST]
    rows = rows.where(np.isin(names.codes, longest))
    ended = rows.where(rows.form.is_any(INTERVAL))
    windows = Intervals(ended.start_ns, ended.ends(0))
    pieces, in_app = _parts(trace, ended.tid.filled(), windows), _in_app(trace)
    found = [_operation(trace, name, rows, ended, windows, pieces, in_app) for name in rows.name.held()]
    return tuple(sorted(found, key=lambda each: (-(each.statistics.total_ns if each.statistics else 0), each.name)))


def parts_of_one(trace: Trace, row: Phases) -> tuple[OperationPart, ...]:
    """Where the time of one of the phases went, as `operations` tells it of all of a name: nothing unless it is
    an operation of the target with an end. O(n) in the samples of its thread, once the calls of the trace are known."""
    row = row.where(~row.runtime.known & of_target(row.pid, trace.run.target.process) & row.form.is_any(INTERVAL))
    statistics = duration_statistics(row.start_ns, row.duration_ns.values)
    if statistics is None:
        return ()
    pieces = _parts(trace, row.tid.filled(), Intervals(row.start_ns, row.ends(0)))
    return tuple(_told(pieces, np.array([0]), statistics, _period_ns(trace)))


def times_of_operation(trace: Trace, name: str) -> CallTimes:
    """Start and duration of the target's signposts of a name that have an end, in order of time. O(n)."""
    rows = trace.table(Signposts) or Signposts.none()
    own = _of_target(trace, rows.pid) & rows.name.is_any(name)
    return CallTimes(rows.start_ns[own], rows.duration_ns[own])


def _period_ns(trace: Trace) -> int:
    return trace.sampled.period_ns if trace.sampled is not None else 0


@cached_by_trace
def _known(trace: Trace) -> tuple[Intervals, Intervals, Intervals]:
    """When the target was in Core ML, in Core ML or another runtime, and when the GPU worked for it."""
    activity, phases, hardware = trace.activity, trace.phases, trace.hardware
    called = ~activity.level.is_any(Level.SUB) & _of_target(trace, activity.pid)
    core_ml = Intervals.from_rows(activity).where(called).union()
    own = phases.form.is_any(INTERVAL) & phases.runtime.known & _of_target(trace, phases.pid)
    others = core_ml.joined(Intervals(phases.start_ns, phases.ends(0)).where(own)).union()
    target = trace.run.target.process
    if target is None or target.pid is None:
        return core_ml, others, Intervals.none()
    on_gpu = hardware.lane.is_any(Lane.GPU) & (hardware.pid.filled() == target.pid)
    return core_ml, others, Intervals.from_rows(hardware).where(on_gpu).union()


def _parts(trace: Trace, tid: IntArray, windows: Intervals) -> dict[Part, IntArray]:
    """Time of each part in each operation, shape (operations,); those of one operation add up to its duration."""
    samples, period_ns, (core_ml, others, gpu) = trace.samples, _period_ns(trace), _known(trace)
    in_core_ml, in_others = core_ml.covered_within(windows), others.covered_within(windows)
    running, on_gpu = np.zeros_like(tid), np.zeros_like(tid)
    has = np.zeros(len(tid), np.bool_)
    for thread in distinct_numbers(tid).tolist():
        at = tid == thread
        own, covered = windows.where(at), others
        if samples is not None and thread >= 0:
            time = samples.time_ns[samples.tid.filled() == thread]
            has[at] = len(time) > 0
            covered = others.joined(Intervals(np.maximum(time - period_ns, 0), time)).union()
        ran = covered.covered_within(own)
        running[at] = ran - in_others[at]
        on_gpu[at] = covered.joined(gpu).covered_within(own) - ran
    rest = windows.durations - in_others - running - on_gpu
    return {
        Part.CORE_ML: in_core_ml,
        Part.RUNTIMES: in_others - in_core_ml,
        Part.APP_CODE: running,
        Part.GPU_WAIT: np.where(has, on_gpu, 0),
        Part.GPU: np.where(has, 0, on_gpu),
        Part.NOT_RUNNING: np.where(has, rest, 0),
        Part.NOT_VISIBLE: np.where(has, 0, rest),
    }


def _of_target(trace: Trace, pids: Numbers) -> BoolArray:
    """Rows of the target, and those that name no process."""
    return ~pids.known | of_target(pids, trace.run.target.process)


def _operation(
    trace: Trace,
    name: str,
    rows: Phases,
    ended: Phases,
    windows: Intervals,
    pieces: dict[Part, IntArray],
    in_app: tuple[SampleRows, IntArray],
) -> Operation:
    at, form = np.flatnonzero(ended.name.is_any(name)), rows.form.take(rows.name.is_any(name))
    own = windows.where(at)
    statistics = duration_statistics(own.starts, own.durations)
    parts = tuple(_told(pieces, at, statistics, _period_ns(trace))) if statistics is not None else ()
    place, place_share = _place(trace, ended.tid.filled()[at], own, in_app)
    none = own.durations[:0]
    known = quantities_of(Sample(len(at), own.durations, np.zeros(len(at), np.bool_), none, none))
    return Operation(
        name=name,
        statistics=statistics,
        unfinished=int(form.is_any(OPEN).sum()),
        points=int(form.is_any(POINT).sum()),
        at_once=int((~own.alone()).sum()) if len(own) else 0,
        parts=parts,
        place=place,
        place_share=place_share,
        quantities={each: known[each] for each in SHOWN},
    )


def _told(
    pieces: dict[Part, IntArray], at: IntArray, statistics: Statistics, period_ns: int
) -> Iterator[OperationPart]:
    """The parts that occur, largest first; what is not visible last."""
    count, from_samples = statistics.count, (Part.APP_CODE, Part.GPU_WAIT, Part.NOT_RUNNING)
    totals = {part: int(values[at].sum()) for part, values in pieces.items()}
    last = (Part.NOT_RUNNING, Part.NOT_VISIBLE)
    for part in sorted(totals, key=lambda part: (part in last, -totals[part])):
        if total := totals[part]:
            inexact = period_ns if part in from_samples else 0
            yield OperationPart(str(part), total, total / count, total / (statistics.total_ns or 1), inexact)


def _in_app(trace: Trace) -> tuple[SampleRows, IntArray]:
    """Samples outside of Core ML and other runtimes, and of each the row of `Trace.stacks` with the innermost code of
    the app, shape (of them,); -1 for none."""
    sampled = trace.sampled
    if sampled is None or not len(sampled.samples) or not len(sampled.stacks):
        return SampleRows.none(), np.zeros(0, np.int64)
    # A sample stands for the time before it.
    outside = ~in_ranges(_known(trace)[1], sampled.samples.time_ns - 1)
    rows = sampled.samples.where(outside & sampled.samples.stack.known)
    return rows, innermost(sampled, app_frames(sampled.stacks))[rows.stack.values]


def _place(
    trace: Trace, tid: IntArray, windows: Intervals, in_app: tuple[SampleRows, IntArray]
) -> tuple[Place | None, float]:
    """The function of the app that most samples of its threads are in, and the share of these samples in it."""
    rows, frame = in_app
    inside = np.isin(rows.tid.filled(), distinct_numbers(tid))
    inside &= in_ranges(windows.union(), rows.time_ns - 1)
    known = inside & (frame >= 0)
    sites = between_sites(trace, rows.where(known), frame[known])
    if not sites or sites[0].function is None:
        return None, 0.0
    return Place(sites[0].function, sites[0].file, sites[0].line), sites[0].samples / int(inside.sum())
