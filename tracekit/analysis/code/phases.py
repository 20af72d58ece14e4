"""What loads and predictions do from begin to end, as call stacks show it: phases whose time adds up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tracekit.analysis.breakdown.device_runs import UNITS
from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.code.call_sites import busy_with, core_ml_stacks
from tracekit.arrays import BoolArray, FloatArray, IndexArray, IntArray
from tracekit.columns import column
from tracekit.intervals import Intervals, positions_between
from tracekit.rows import Rows
from tracekit.sorting import distinct_numbers
from tracekit.trace.calls.stacks import Api, DataPhase, LoadPhase, Unit
from tracekit.trace.trace import Trace, cached_by_trace

LOAD, FIRST, OTHERS = "load", "first prediction", "prediction"
"""Kinds of calls: of predictions those that are the first after a load, and all others."""
OTHER: Final = "other code of Core ML"
WAITING: Final = "waiting"
_DATA: Final = (DataPhase.CONVERTING, DataPhase.COPYING)
LEVELS: Final[Mapping[Api, Sequence[Sequence[str]]]] = {
    Api.LOAD: (
        (LoadPhase.OPENING, LoadPhase.PROGRAM, LoadPhase.READYING),
        (LoadPhase.CACHE_KEY, LoadPhase.COMPILING, LoadPhase.SPECIALIZING),
        (LoadPhase.NEURAL_ENGINE,),
        _DATA,
    ),
    Api.PREDICTION: ((*Unit, DataPhase.BINDING), (LoadPhase.SPECIALIZING,), _DATA),
}
"""Phases of a call from the outermost inwards. A stack is in one of each level at most: of several in the first."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the calls' time, on the thread that made them."""

    path: tuple[str, ...]
    """The phase, behind those that it lies in. Those without an outer one add up to the whole."""
    mean_ns: float
    """Per call."""
    share: float
    """Of the time of the calls."""

    @property
    def name(self) -> str:
        """What it is called."""
        return phase_name(self.path[-1])


def phase_name(what: str) -> str:
    """What a phase is called: time of a thread in code for a compute unit is not the time of the unit."""
    if what == Unit.CPU:
        return "CPU compute"
    return f"CPU time in {what} code" if what in set(Unit) else what


@dataclass(frozen=True, slots=True)
class CallPhases:
    """Calls of one kind, and where their time went."""

    kind: str
    """`load`, `first prediction` (after a load) or `prediction` (any other)."""
    calls: int
    """Number of calls."""
    mean_ns: float
    """Mean duration."""
    phases: tuple[Phase, ...]
    """Each before those inside it, otherwise the longest first; what stacks do not show at the end."""
    busy_ns: dict[str, float] = field(default_factory=dict)
    """Mean time that each compute unit worked in a call, by unit, whatever the thread did meanwhile; only units
    of which it is known."""


@dataclass(frozen=True, slots=True, eq=False)
class _StackTimes(Rows):
    """Samples of the threads of inferred calls that stacks show."""

    call: IntArray = column("row of the Activity lane")
    stack: IntArray = column("its call stack")
    ns: FloatArray = column("time that it stands for")


@cached_by_trace
def _stack_times(trace: Trace) -> _StackTimes:
    """The samples in inferred calls; their time is never more than the call has. O(n log n)."""
    sites, sampled, kinds = trace.sites, trace.sampled, core_ml_stacks(trace)
    if sites is None or sampled is None or kinds is None:
        return _StackTimes.none()
    events = sites.id
    samples = sampled.samples.where(sampled.samples.stack.known)
    time, thread = samples.time_ns, samples.tid.filled()
    order = np.lexsort((time, thread))
    spans = Intervals.from_rows(trace.activity).where(events)
    thread_of_call = sites.tid.filled()
    first, after = (np.zeros(len(events), np.int64) for _ in range(2))
    for each in distinct_numbers(thread_of_call):
        begin, end = (int(np.searchsorted(thread[order], each, side)) for side in ("left", "right"))
        own = thread_of_call == each
        for edge, times in ((first, spans.starts), (after, spans.ends)):
            edge[own] = begin + np.searchsorted(time[order][begin:end], times[own])
    counts = after - first
    call = np.repeat(np.arange(len(events)), counts)
    at = positions_between(first, after)
    stack = samples.stack.values[order][at]
    # Begin and end of a call are not exact: neighbors in the app's own code are not its samples.
    inside = kinds.api.codes[stack] == sites.api.codes[call]
    call, stack = call[inside], stack[inside]
    number = np.bincount(call, minlength=len(events))
    period = trace.activity.resolution_ns[events]
    ns = np.minimum(period, spans.durations / np.maximum(number, 1))
    return _StackTimes(events[call], stack, ns[call])


def call_phases(trace: Trace, loads: IntArray, predictions: IntArray, warm: BoolArray) -> tuple[CallPhases, ...]:
    """Where the time of the calls in these rows of the Activity lane went; only of those that call stacks show where
    Core ML recorded none. `warm`, shape (predictions,): not the first after a load. O(n log n) in the samples."""
    if trace.sites is None:
        return ()
    groups = (
        (LOAD, Api.LOAD, loads),
        (FIRST, Api.PREDICTION, predictions[~warm]),
        (OTHERS, Api.PREDICTION, predictions[warm]),
    )
    result = []
    for kind, api, every in groups:
        if len(events := every[np.isin(every, trace.sites.id)]):
            total_ns, count = int(trace.activity.duration_ns[events].sum()), len(events)
            found, ran_ns = phase_times(trace, api, events)
            outer_ns = sum(ns for path, ns in found if len(path) == 1)
            found += [((OTHER,), ran_ns - outer_ns), ((WAITING,), total_ns - ran_ns)]
            phases = (Phase(path, ns / count, ns / max(total_ns, 1)) for path, ns in found if ns > count / 2)
            result.append(CallPhases(kind, count, total_ns / count, tuple(phases), dict(_busy(trace, events))))
    return tuple(result)


def phase_times(trace: Trace, api: Api, events: IntArray) -> tuple[list[tuple[tuple[str, ...], float]], float]:
    """Phases of calls that only stacks show, with their time in ns, each before those inside it; and the time in which
    the thread ran. O(samples)."""
    times = _stack_times(trace)
    inside = np.isin(times.call, events)
    by_stack: FloatArray = np.bincount(times.stack[inside], times.ns[inside]).astype(np.float64)
    found: list[tuple[tuple[str, ...], float]] = []
    _split(busy_with(trace), LEVELS[api], np.flatnonzero(by_stack), by_stack, (), found)
    return found, float(by_stack.sum())


def _split(
    flags: Mapping[str, BoolArray],
    levels: Sequence[Sequence[str]],
    stacks: IndexArray,
    by_stack: FloatArray,
    path: tuple[str, ...],
    found: list[tuple[tuple[str, ...], float]],
) -> None:
    """Adds the phases of these stacks and, behind each, those inside it. O(stacks) for each level."""
    if not levels or not len(stacks):
        return
    rest, parts = stacks, []
    for phase in levels[0]:
        inside = flags[phase][rest] if phase in flags else np.zeros(len(rest), np.bool_)
        parts.append((str(phase), rest[inside]))
        rest = rest[~inside]
    for phase, own in sorted(parts, key=lambda part: -float(by_stack[part[1]].sum())):
        if len(own):
            found.append(((*path, phase), float(by_stack[own].sum())))
            _split(flags, levels[1:], own, by_stack, (*path, phase), found)
    # What is in none of these may be in an inner one all the same, as where an outer function has no name.
    _split(flags, levels[1:], rest, by_stack, path, found)


def _busy(trace: Trace, events: IntArray) -> Iterator[tuple[str, float]]:
    """Mean time that each compute unit worked."""
    times = breakdown(trace).of(events)
    for unit in UNITS:
        busy = times.busy(unit)
        if len(busy) == len(events) and busy.known.all() and busy.values.any():
            yield str(unit), float(busy.values.mean())
