"""Memory of the target over time: its level, what loads add and letting go returns, and growth with predictions.

Activity Monitor samples about once per second, so each number rests on the samples around it and says how sure it is.
The footprint is that of the app. What the Neural Engine holds of a model is in it from OS 27 on, on devices that
support Apple Intelligence; before, it lies in other processes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from tracekit.analysis.loads import uses_of_loads
from tracekit.analysis.quantities import sample_quantiles
from tracekit.analysis.statistics import top_calls
from tracekit.arrays import FloatArray, IntArray
from tracekit.intervals import Intervals
from tracekit.sorting import distinct_numbers
from tracekit.trace.events import LOAD_KINDS, Calls, Kind
from tracekit.trace.instruments.memory import Memory, of_process
from tracekit.trace.trace import Trace, cached_by_trace

CLEAR: Final = 3
"""Times the usual change between two samples from which on a step stands out (heuristic)."""
USUAL: Final = 0.9
"""Share of the changes between samples without a load between them that are usual."""
PAGE: Final = 16_384
"""Bytes of a page: what a change counts in."""


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """Samples of one size: shape (samples,) each, in order of time."""

    times: IntArray
    bytes: IntArray

    def __len__(self) -> int:
        return len(self.times)

    def before(self, time_ns: IntArray | int) -> IntArray:
        """Position of the last sample at or before a time; -1 for none. O(log n)."""
        return np.asarray(np.searchsorted(self.times, time_ns, side="right") - 1)

    @property
    def every_ns(self) -> int:
        """Usual time between two samples; 0 with fewer than two."""
        return int(np.median(np.diff(self.times))) if len(self) > 1 else 0


def sizes(trace: Trace, kind: Memory = Memory.FOOTPRINT) -> Sizes:
    """What the target held; without samples where none were recorded of it. O(n)."""
    rows = trace.memory.take(of_process(trace.memory, kind, trace.run.target.process))
    last = np.append(np.diff(rows.start_ns) > 0, True)[: len(rows)]
    return Sizes(rows.start_ns[last], rows.bytes[last])


@dataclass(frozen=True, slots=True)
class MemoryLevel:
    """How much the target held over the recording."""

    kind: str
    """`footprint`, or `gpu` for what it has allocated of Metal."""
    samples: int
    """How many."""
    every_ns: int
    """Usual time between two samples."""
    first_bytes: int
    """In the first sample."""
    last_bytes: int
    """In the last sample."""
    peak_bytes: int
    """In the highest sample."""
    peak_ns: int
    """When it held most, first."""


def levels(trace: Trace) -> tuple[MemoryLevel, ...]:
    """The footprint and what was allocated of Metal, where samples show them. O(n)."""
    known = ((kind, sizes(trace, kind)) for kind in Memory)
    made = []
    for kind, held in known:
        if len(held):
            peak = int(held.bytes.argmax())
            ends = int(held.bytes[0]), int(held.bytes[-1])
            made.append(
                MemoryLevel(kind, len(held), held.every_ns, *ends, int(held.bytes[peak]), int(held.times[peak]))
            )
    return tuple(made)


class Sureness(StrEnum):
    """How sure the step of a load is."""

    CLEAR = "clear"
    """Several times what the footprint usually changes by between two samples."""
    SMALL = "within usual changes"
    SHARED = "several loads between two samples"
    UNSAMPLED = "not sampled"
    """No sample before the load, or none after it."""


@dataclass(frozen=True, slots=True)
class LoadMemory:
    """What one load did to the footprint of the app, which includes memory of the Neural Engine only from OS 27 on, on
    devices that support Apple Intelligence."""

    model: str
    """Name of the model."""
    instance: int | None
    """Number of the instance; None where Core ML names none."""
    start_ns: int
    """When the load began."""
    step_bytes: int | None
    """Footprint after the load less that before it; None where the samples do not tell this load from others."""
    together_bytes: int | None
    """The same of all loads between the two samples: the step where it is known, else more than it at most."""
    returned_bytes: int | None
    """What the footprint fell by after the last use of the load; None where no sample shows it released. Core ML
    records no release."""
    sure: str
    """How sure the step is, in words."""
    apart_ns: int | None
    """Time between the two samples that the step rests on; whatever else the app did in it is in the step too."""
    before_bytes: int | None
    """Footprint before the load."""
    grown_bytes: int
    """What the footprint grew by from then on to the last use of the load."""


@cached_by_trace
def load_memory(trace: Trace) -> tuple[LoadMemory, ...]:
    """Every load that the app made, in order; none without samples. O((samples + loads + predictions) log)."""
    known, loads, found = sizes(trace), top_calls(trace, *LOAD_KINDS), list[LoadMemory]()
    if not len(known) or not len(loads):
        return ()
    predictions, spans = top_calls(trace, Kind.PREDICTION), Intervals.from_rows(loads)
    usual = usual_change(known, spans)
    for code in distinct_numbers(loads.model.codes[loads.model.known]).tolist():
        rows = np.flatnonzero(loads.model.codes == code)
        releases = _releases(loads.take(rows), predictions.where(predictions.model.codes == code))
        for row, (last_ns, next_ns) in zip(rows.tolist(), releases, strict=True):
            found.append(_of_load(known, loads, spans, row, usual, last_ns, next_ns))
    return tuple(sorted(found, key=lambda each: each.start_ns))


def _of_load(
    known: Sizes, rows: Calls, loads: Intervals, row: int, usual: float, last_ns: int, next_ns: int | None
) -> LoadMemory:
    model, instance = str(rows.model.item(row)), rows.instance.item(row)
    start_ns = int(loads.starts[row])
    low, high = int(known.before(start_ns)), int(known.before(int(loads.ends[row]) - 1)) + 1
    if low < 0 or high == len(known):
        before = None if low < 0 else int(known.bytes[low])
        return LoadMemory(model, instance, start_ns, None, None, None, Sureness.UNSAMPLED, None, before, 0)
    together = (loads.ends > known.times[low]) & (loads.starts < known.times[high])
    added = int(known.bytes[high] - known.bytes[low])
    step = added if int(together.sum()) == 1 else None
    used = max(int(known.before(last_ns)), high)
    released = len(known) - 1 if next_ns is None else int(known.before(next_ns))
    others = (loads.starts > known.times[used]) & (loads.starts < known.times[released])
    fell = int(known.bytes[used] - known.bytes[released]) if used < released and not others.any() else None
    if next_ns is None and fell is not None and (step is None or fell < max(CLEAR * usual, step // 2)):
        fell = None  # It may still be loaded.
    sure = Sureness.SHARED if step is None else Sureness.SMALL if abs(step) < CLEAR * usual else Sureness.CLEAR
    return LoadMemory(
        model=model,
        instance=instance,
        start_ns=start_ns,
        step_bytes=step,
        together_bytes=added,
        returned_bytes=None if fell is None else max(fell, 0),
        sure=sure,
        apart_ns=int(known.times[high] - known.times[low]),
        before_bytes=int(known.bytes[low]),
        grown_bytes=max(int(known.bytes[used] - known.bytes[high]), 0),
    )


def _releases(loads: Calls, predictions: Calls) -> Iterator[tuple[int, int | None]]:
    """For each load of a model: when its last prediction ended (the load itself, without one), and when the model was
    loaded next after that; None where it never was."""
    uses, spans = uses_of_loads(loads, predictions), Intervals.from_rows(loads)
    last_ns = spans.ends.copy()
    known = uses.load >= 0
    np.maximum.at(last_ns, uses.load[known], uses.end_ns[known])
    for end in last_ns.tolist():
        later = spans.starts[spans.starts >= end]
        yield end, int(later[0]) if len(later) else None


def usual_change(known: Sizes, loads: Intervals) -> float:
    """By how many bytes the footprint usually changes at most between two samples without a load between them."""
    if len(known) < 2:
        return PAGE
    begun = np.searchsorted(np.sort(loads.starts), known.times[1:], side="left")
    ended = np.searchsorted(np.sort(loads.ends), known.times[:-1], side="right")
    changes = np.abs(np.diff(known.bytes))[begun == ended]
    return max(float(sample_quantiles(changes, USUAL)[0]), PAGE) if len(changes) else PAGE


SEGMENTS: Final = 12
"""Parts of a stretch, of equal numbers of predictions, whose medians are compared; the first one warms up."""
PER_SEGMENT: Final = 2
"""Samples that each of them needs."""
LEAST_NS: Final = 20_000_000_000
"""Time that a stretch needs: in the first seconds, caches fill as predictions come (heuristic)."""
_STUDENT: Final = 3.250
"""99% interval of the mean of ten changes (Student, nine degrees of freedom)."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How the footprint changed while the app predicted and loaded nothing."""

    start_ns: int
    end_ns: int
    predictions: int
    per_prediction: float
    """Bytes, as the mean of the changes from one part of the stretch to the next."""
    low: float
    high: float
    """Its 99% interval: also where the footprint wanders by chance, as each change stands for itself."""
    late: float
    """Bytes per prediction in the second half alone."""
    idle: float | None
    """Bytes per second while nothing predicted; None where that was too short to tell."""
    busy: float
    """The same while something did."""

    @property
    def total(self) -> int:
        """Bytes over the whole stretch."""
        return round(self.per_prediction * self.predictions)


IDLE_NS: Final = 5_000_000_000
"""Time without predictions that shows what the footprint does then (heuristic)."""


def longest_stretch(trace: Trace) -> tuple[Intervals, Sizes]:
    """The predictions, and the samples meanwhile, of the stretch between two loads with most of them. O(n log n)."""
    known, calls = sizes(trace), Intervals.from_rows(top_calls(trace, Kind.PREDICTION))
    loads = Intervals.from_rows(top_calls(trace, *LOAD_KINDS)).union()
    between = np.searchsorted(loads.starts, calls.starts, side="right")
    calls = calls.where((between == 0) | (calls.starts >= np.append(loads.ends, 0)[between - 1]))
    if not len(calls) or not len(known):
        return Intervals.none(), Sizes(known.times[:0], known.bytes[:0])
    between = np.searchsorted(loads.starts, calls.starts, side="right")
    calls = calls.where(between == np.bincount(between).argmax())
    within = (known.times >= calls.starts[0]) & (known.times <= calls.ends.max())
    if len(loads):
        within &= np.searchsorted(loads.starts, known.times, side="right") == np.searchsorted(
            loads.starts, calls.starts[0], side="right"
        )
    return calls, Sizes(known.times[within], known.bytes[within])


@cached_by_trace
def growth(trace: Trace) -> Growth | None:
    """How the footprint changed over the longest stretch; None where too few samples lie in it. O(n log n)."""
    calls, known = longest_stretch(trace)
    if len(known) < SEGMENTS * PER_SEGMENT or len(calls) < SEGMENTS or known.times[-1] - known.times[0] < LEAST_NS:
        return None
    done = np.searchsorted(np.sort(calls.ends), known.times, side="right")
    segment = np.minimum(done * SEGMENTS // len(calls), SEGMENTS - 1)
    if np.bincount(segment, minlength=SEGMENTS).min() < PER_SEGMENT:
        return None
    size: FloatArray = np.array([np.median(known.bytes[segment == each]) for each in range(1, SEGMENTS)])
    count: FloatArray = np.array([np.median(done[segment == each]) for each in range(1, SEGMENTS)])
    steps = np.diff(size) / np.maximum(np.diff(count), 1)
    mean, error = float(steps.mean()), float(steps.std(ddof=1)) / len(steps) ** 0.5 * _STUDENT
    half = len(size) // 2
    apart, change = np.diff(known.times), np.diff(known.bytes)
    idle = calls.union().covered_time().within(known.times[:-1], known.times[1:]) == 0
    idle_ns, busy_ns = int(apart[idle].sum()), int(apart[~idle].sum())
    return Growth(
        start_ns=int(known.times[0]),
        end_ns=int(known.times[-1]),
        predictions=len(calls),
        per_prediction=mean,
        low=mean - error,
        high=mean + error,
        late=float((size[-1] - size[half]) / max(count[-1] - count[half], 1)),
        idle=float(change[idle].sum()) / idle_ns * 1e9 if idle_ns >= IDLE_NS else None,
        busy=float(change[~idle].sum()) / max(busy_ns, 1) * 1e9,
    )
