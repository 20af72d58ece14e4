"""For which calls of Core ML the main thread waits, and what code of the app does around and between calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from typing import Final

import numpy as np

from tracekit.analysis.code.call_sites import call_sites, core_ml_stacks
from tracekit.analysis.code.sites import CallSite, between_sites
from tracekit.arrays import BoolArray, CodeArray, IndexArray, IntArray
from tracekit.intervals import Intervals
from tracekit.sorting import distinct_numbers
from tracekit.trace.calls import stacks as call_stacks
from tracekit.trace.context import of_target
from tracekit.trace.events import SETUP_KINDS, Calls, Kind
from tracekit.trace.filter import in_ranges
from tracekit.trace.runtimes.registry import runtimes
from tracekit.trace.samples import SampleRows, Samples
from tracekit.trace.trace import Trace, cached_by_trace

PREPARING: Final = (call_stacks.Api.LOAD, call_stacks.Api.COMPILE)
"""What gets a model ready."""
FRAME_NS: Final = 16_666_667
"""A main thread that is free for less than a frame at 60 fps draws nothing in between (heuristic)."""


@cached_by_trace
def runs_interface(trace: Trace) -> bool | None:
    """Whether a main thread is seen in the loop of an interface; None where no call stack of one was caught."""
    sampled = trace.sampled
    if sampled is None or not len(sampled.samples):
        return None
    stacks = sampled.samples.stack.filled()
    on_main_thread = sampled.samples.main_thread.values
    caught = stacks[(stacks >= 0) & on_main_thread]
    if not len(caught):
        return None
    looping = call_stacks.stacks_with(sampled, call_stacks.matches_function(sampled.stacks, call_stacks.INTERFACE))
    return bool(looping[caught].any())


@dataclass(frozen=True, slots=True, eq=False)
class Blocking:
    """Periods that calls fill the main thread for."""

    calls: Calls
    """Calls in these periods."""
    periods: Intervals
    """Each at least as long as was asked for."""
    known: int
    """Calls of this kind whose thread is known."""


def main_thread_calls(trace: Trace, apis: Sequence[call_stacks.Api], min_ns: int) -> Blocking | None:
    """Periods of this length or more in which such calls fill the main thread; None without call stacks. O(n log n)."""
    sites = call_sites(trace)
    if sites is None:
        return None
    sure = ~sites.ambiguous & sites.api.is_any(*apis)
    known = int((sites.main_thread.known & sure).sum())
    calls = sites.id[sites.main_thread.values & sure]
    spans = Intervals.from_rows(trace.activity).where(calls)
    joined = Intervals(spans.starts, spans.ends + FRAME_NS).union()
    periods = Intervals(joined.starts, joined.ends - FRAME_NS)
    periods = periods.where(periods.durations >= min_ns)
    return Blocking(trace.activity.at(calls[periods.covered_within(spans) > 0]), periods, known)


def core_ml_time(trace: Trace) -> int:
    """Time in ns that loads, compilations and predictions of the app cover."""
    called = trace.activity.kind.is_any(*SETUP_KINDS, Kind.PREDICTION)
    return Intervals.from_rows(trace.activity).where(called).covered_ns


LEAST: Final = 100
"""Samples, fewer than which say little about an app (heuristic)."""


@cached_by_trace
def own_code(trace: Trace) -> tuple[float, CallSite] | None:
    """How much of the time in which a thread of the target ran, or Core ML was called, it ran code of its own, of its
    libraries and other runtimes, and called no Core ML; and the function of the app, or of such a runtime, that was
    innermost in most of these samples. None without samples by time, or with fewer than `LEAST`. O(frames)."""
    sampled, target = trace.sampled, trace.run.target.process
    if sampled is None or target is None or len(sampled.samples) < LEAST:
        return None
    frames = sampled.stacks
    patterns = "|".join(translate(name) for runtime in runtimes() for name in runtime.recognized.libraries)
    of_runtime = frames.image.passing(re.compile(patterns).match)
    app = call_stacks.innermost(sampled, call_stacks.app_frames(frames) | of_runtime)
    loop = call_stacks.innermost(sampled, call_stacks.matches_function(frames, call_stacks.INTERFACE))
    # The loop of an interface, entered from `main`, is code of the system.
    own = (app >= 0) & ~((loop >= 0) & (loop < app))
    own &= ~call_stacks.stacks_with(sampled, frames.image.is_any(call_stacks.CORE_ML))
    rows = sampled.samples.where(sampled.samples.pid.filled() == target.pid)
    stack, ended = rows.stack.filled(), rows.time_ns
    ran = Intervals(np.maximum(ended - sampled.period_ns, 0), ended)
    is_own = np.append(own, False)[stack]
    if len(ran) < LEAST or not is_own.any():
        return None
    calls = Intervals.from_rows(trace.activity)
    without = ran.where(is_own).joined(calls).covered_ns - calls.covered_ns
    (site, *_) = between_sites(trace, rows.where(is_own), app[stack[is_own]])
    return without / ran.joined(calls).covered_ns, site


@dataclass(frozen=True, slots=True)
class Between:
    """What the app does in gaps between calls."""

    running: float
    """Share of the gaps in which code of the app runs on any thread."""
    calling: float
    """The same on threads that make predictions, which wait for nothing meanwhile."""
    each_ns: IntArray
    """Shape (gaps,): time of each in which such threads run it."""
    sites: tuple[CallSite, ...]
    """Functions that run, the innermost of each stack; the one with most samples first."""


def work_between(trace: Trace, gaps: Intervals, which: Callable[[Samples], IndexArray] | None = None) -> Between | None:
    """What code of the app ran in the gaps, which are sorted and do not overlap; None where no samples were recorded,
    or where the gaps are too short for any. `which` gives the row of the frame that counts of each stack, -1 for none,
    in place of the innermost one of the app: its lines are told apart. O(samples log gaps)."""
    sampled, kinds = trace.sampled, core_ml_stacks(trace)
    if sampled is None or kinds is None or not len(sampled.samples) or gaps.covered_ns < sampled.period_ns:
        return None
    inside = in_ranges(gaps, sampled.samples.time_ns)
    inside &= sampled.samples.stack.known
    chosen = call_stacks.innermost(sampled, call_stacks.app_frames(sampled.stacks)) if which is None else which(sampled)
    predicts = np.append(kinds.api.is_any(call_stacks.Api.PREDICTION), False)
    thread = sampled.samples.thread.codes
    calling = np.isin(thread, thread[predicts[sampled.samples.stack.filled()]])
    frame = np.append(chosen, -1)[sampled.samples.stack.filled()]
    at = np.flatnonzero(inside & (frame >= 0))
    rows, calling, frame = sampled.samples.take(at), calling[at], frame[at]
    # A sample stands for one period, also where that begins before a short gap.
    period_ns, times = sampled.period_ns, Intervals(rows.time_ns - sampled.period_ns, rows.time_ns)
    running, on_calling = (min(some.covered_ns / gaps.covered_ns, 1.0) for some in (times, times.where(calling)))
    reached = times.where(calling).covered_within(Intervals(gaps.starts - period_ns, gaps.ends))
    sites = between_sites(trace, rows, frame, by_line=which is not None)
    return Between(running, on_calling, np.minimum(reached, gaps.durations), sites)


RUN: Final = 3
"""Samples of a thread that lie no more sampling periods apart are one piece of work."""
BURST: Final = 5
"""As for the gaps between predictions of a model."""
_PREPARING: Final = (call_stacks.Api.LOAD, call_stacks.Api.COMPILE, call_stacks.Api.UNLOAD)


@dataclass(frozen=True, slots=True, eq=False)
class AppWork:
    """What samples show of one sort of work."""

    samples: int
    of: int
    """Samples with a stack, outside of loads and compilations, of threads that do it; where none does, that predict."""
    pieces: Intervals
    """Uninterrupted pieces of it."""
    row: IntArray
    """Shape (pieces,): the sample that each begins with, counted in order of time."""
    time: Intervals
    """What the samples stand for: sorted, none overlapping another."""
    period_ns: int
    """What each of them stands for."""
    sites: tuple[CallSite, ...]
    """Functions of the app that do it."""

    @property
    def share(self) -> float:
        """Of the samples of these threads."""
        return self.samples / self.of if self.of else 0.0


def app_work(trace: Trace, api: call_stacks.Api) -> AppWork | None:
    """One sort of the app's own work; None where no samples were recorded. `Api.ELEMENT`: reading and writing of
    multi-arrays element by element. `Api.BETWEEN`: conversions of pixels and audio samples, on the threads that predict
    and between predictions that follow each other."""
    sampled, kinds = trace.sampled, core_ml_stacks(trace)
    if sampled is None or kinds is None:
        return None
    if api is call_stacks.Api.BETWEEN:
        # What Core ML converts inside a call of its own is no work of the app.
        caller = np.where(kinds.api.known, -1, _converting(sampled))
    else:
        caller = np.where(kinds.api.is_any(api), kinds.caller, -1)
    rows = sampled.samples.where(sampled.samples.stack.known)
    stack, thread = rows.stack.values, rows.thread.codes
    predicts, period_ns = kinds.api.is_any(call_stacks.Api.PREDICTION)[stack], sampled.period_ns
    is_busy = caller[stack] >= 0
    if api is call_stacks.Api.BETWEEN:
        is_busy &= _between(rows.time_ns, thread, predicts, RUN * period_ns)
    threads = distinct_numbers(thread[is_busy] if is_busy.any() else thread[predicts])
    counted = np.isin(thread, threads) & ~kinds.api.is_any(*_PREPARING)[stack]
    busy = rows.where(is_busy)
    time, (pieces, begins) = busy.time_ns, _pieces(busy, period_ns)
    return AppWork(
        samples=int(is_busy.sum()),
        of=int(counted.sum()),
        pieces=pieces,
        row=np.searchsorted(sampled.samples.time_ns, begins),
        time=Intervals(np.maximum(time - period_ns, 0), time).union(),
        period_ns=period_ns,
        sites=between_sites(trace, busy, caller[stack[is_busy]], api),
    )


def conversions_on_main(trace: Trace) -> tuple[Intervals, int]:
    """Pieces of time in which the main thread of the target converts pixels or audio samples, or reads or writes
    multi-arrays element by element, and how near to another sample one is of the same work, in ns. O(samples)."""
    sampled, kinds, target = trace.sampled, core_ml_stacks(trace), trace.run.target.process
    if sampled is None or kinds is None:
        return Intervals.none(), 0
    converts = np.where(kinds.api.known, kinds.api.is_any(call_stacks.Api.ELEMENT), _converting(sampled) >= 0)
    rows = sampled.samples.where(sampled.samples.stack.known & of_target(sampled.samples.pid, target))
    rows = rows.where(rows.thread.passing(lambda text: str(text).startswith("Main Thread")))
    pieces, _ = _pieces(rows.where(converts[rows.stack.values]), sampled.period_ns)
    return pieces, RUN * sampled.period_ns


def _converting(sampled: Samples) -> IndexArray:
    """Shape (stacks,): row of the frame of the app that converts; -1 for none."""
    if not len(sampled.stacks):
        return np.zeros(0, np.int64)
    converts = call_stacks.matches_function(sampled.stacks, call_stacks.CONVERSIONS)
    return call_stacks.callers(sampled, call_stacks.outermost(sampled, converts))


def _between(time: IndexArray, thread: CodeArray, predicts: BoolArray, run_ns: int) -> BoolArray:
    """Whether each sample lies between two calls of its thread that follow each other as usual: a gap of more than
    `BURST` times the usual one separates two bursts."""
    inside = np.zeros(len(time), np.bool_)
    for thread_code in distinct_numbers(thread[predicts]):
        on_thread = thread == thread_code
        calls = np.sort(time[on_thread & predicts])
        gaps = np.diff(calls)
        between = gaps > run_ns
        if not between.any():
            continue
        usual = between & (gaps <= BURST * np.median(gaps[between]))
        preceding_call = np.searchsorted(calls, time, "right") - 1
        is_between = (preceding_call >= 0) & (preceding_call < len(gaps))
        inside |= on_thread & is_between & usual[np.where(is_between, preceding_call, 0)]
    return inside


def _pieces(rows: SampleRows, period_ns: int) -> tuple[Intervals, IntArray]:
    """Uninterrupted pieces of work, and when the first sample of each was taken."""
    time, thread = rows.time_ns, rows.thread.codes
    order = np.lexsort((time, thread))
    time, thread = time[order], thread[order]
    begins = np.append(True, (np.diff(time) > RUN * period_ns) | (np.diff(thread) != 0))[: len(time)]
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(time))[: len(first)] - 1
    return Intervals(np.maximum(time[first] - period_ns, 0), time[last]), time[first]
