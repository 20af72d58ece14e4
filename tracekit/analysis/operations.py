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
import pandas as pd

from tracekit.analysis.code.sites import Place, between_sites
from tracekit.analysis.quantities import Sample, quantities_of
from tracekit.analysis.statistics import Statistics, duration_statistics
from tracekit.arrays import BoolArray, IntArray
from tracekit.frame import cells_of
from tracekit.intervals import Intervals
from tracekit.trace.calls.stacks import app_frames, innermost
from tracekit.trace.context import of_target
from tracekit.trace.events import Lane, Level
from tracekit.trace.filter import Shown, in_ranges
from tracekit.trace.frames import is_any, or_minus_one
from tracekit.trace.runtimes.phases import INTERVAL, OPEN, PHASES, POINT
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
    frame = trace.phases.frame()
    if frame.empty:
        return ()
    chosen = frame["runtime"].isna().to_numpy() & of_target(trace.phases.pid, trace.run.target.process)
    if shown is not None:
        chosen &= shown.context[PHASES]
    rows = frame[chosen]
    longest = rows["duration_ns"].groupby(rows["name"], observed=True).sum().sort_values(ascending=False, kind="stable")
    rows = rows[rows["name"].isin(longest.index[:MOST]).to_numpy()]
    ended = rows[is_any(rows["form"], INTERVAL)].reset_index(drop=True)
    windows = Intervals(ended["start_ns"].to_numpy(), (ended["start_ns"] + ended["duration_ns"]).to_numpy(np.int64))
    pieces, in_app = _parts(trace, or_minus_one(ended["tid"]), windows), _in_app(trace)
    found = [
        _operation(trace, str(name), of_name, ended, windows, pieces, in_app)
        for name, of_name in rows.groupby("name", observed=True, sort=False)
    ]
    return tuple(sorted(found, key=lambda each: (-(each.statistics.total_ns if each.statistics else 0), each.name)))


def parts_of_one(trace: Trace, row: pd.DataFrame) -> tuple[OperationPart, ...]:
    """Where the time of one row of `Trace.phases` went, as `operations` tells it of all of a name: nothing unless it is
    an operation of the target with an end. O(n) in the samples of its thread, once the calls of the trace are known."""
    own = (
        row["runtime"].isna().to_numpy()
        & of_target(cells_of(row["pid"].array), trace.run.target.process)
        & is_any(row["form"], INTERVAL)
    )
    starts, durations = row["start_ns"].to_numpy(), or_minus_one(row["duration_ns"])
    statistics = duration_statistics(starts[own], durations[own])
    if statistics is None:
        return ()
    pieces = _parts(trace, or_minus_one(row["tid"]), Intervals(starts, starts + durations))
    return tuple(_told(pieces, np.array([0]), statistics, _period_ns(trace)))


def rows_of_operation(trace: Trace, name: str) -> pd.DataFrame:
    """Start and duration of the target's signposts of a name that have an end, in order of time. O(n)."""
    frame = trace.context["signposts"].frame()
    own = _of_target(trace, frame) & is_any(frame["name"], name)
    return frame[["start_ns", "duration_ns"]][own].reset_index(drop=True)


def _period_ns(trace: Trace) -> int:
    return trace.sampled.period_ns if trace.sampled is not None else 0


@cached_by_trace
def _known(trace: Trace) -> tuple[Intervals, Intervals, Intervals]:
    """When the target was in Core ML, in Core ML or another runtime, and when the GPU worked for it."""
    activity, phases, gpu = (
        trace.activity.frame(),
        trace.phases.frame(),
        trace.hardware.frame()[trace.hardware.lane.is_any(Lane.GPU)],
    )
    core_ml = Intervals.from_rows(activity[~is_any(activity["level"], Level.SUB) & _of_target(trace, activity)]).union()
    own = is_any(phases["form"], INTERVAL) & phases["runtime"].notna().to_numpy() & _of_target(trace, phases)
    starts, durations = phases["start_ns"].to_numpy()[own], or_minus_one(phases["duration_ns"])[own]
    others = core_ml.joined(Intervals(starts, starts + durations)).union()
    target = trace.run.target.process
    if target is None or target.pid is None:
        return core_ml, others, Intervals.none()
    return core_ml, others, Intervals.from_rows(gpu[or_minus_one(gpu["pid"]) == target.pid]).union()


def _parts(trace: Trace, tid: IntArray, windows: Intervals) -> dict[Part, IntArray]:
    """Time of each part in each operation, shape (operations,); those of one operation add up to its duration."""
    samples, period_ns, (core_ml, others, gpu) = trace.samples, _period_ns(trace), _known(trace)
    in_core_ml, in_others = core_ml.covered_within(windows), others.covered_within(windows)
    running, on_gpu = np.zeros_like(tid), np.zeros_like(tid)
    has = np.zeros(len(tid), np.bool_)
    for thread in np.unique(tid).tolist():
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


def _of_target(trace: Trace, frame: pd.DataFrame) -> BoolArray:
    """Rows of the target, and those that name no process."""
    target = trace.run.target.process
    pid = or_minus_one(frame["pid"])
    own: BoolArray = (pid < 0) | (pid == (target.pid if target is not None and target.pid is not None else pid))
    return own


def _operation(
    trace: Trace,
    name: str,
    rows: pd.DataFrame,
    ended: pd.DataFrame,
    windows: Intervals,
    pieces: dict[Part, IntArray],
    in_app: tuple[SampleRows, IntArray],
) -> Operation:
    at = np.flatnonzero(is_any(ended["name"], name))
    own = windows.where(at)
    statistics = duration_statistics(own.starts, own.durations)
    parts = tuple(_told(pieces, at, statistics, _period_ns(trace))) if statistics is not None else ()
    place, place_share = _place(trace, or_minus_one(ended["tid"])[at], own, in_app)
    none = own.durations[:0]
    known = quantities_of(Sample(len(at), own.durations, np.zeros(len(at), np.bool_), none, none))
    return Operation(
        name=name,
        statistics=statistics,
        unfinished=int(is_any(rows["form"], OPEN).sum()),
        points=int(is_any(rows["form"], POINT).sum()),
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
    inside = np.isin(rows.tid.filled(), np.unique(tid))
    inside &= in_ranges(windows.union(), rows.time_ns - 1)
    known = inside & (frame >= 0)
    sites = between_sites(trace, rows.where(known), frame[known])
    if not sites or sites[0].function is None:
        return None, 0.0
    return Place(sites[0].function, sites[0].file, sites[0].line), sites[0].samples / int(inside.sum())
