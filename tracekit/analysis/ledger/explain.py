"""Why one prediction was slow, and what makes the slowest ones of a model slow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.code.sites import CallSite, site_of
from tracekit.analysis.device_states import THERMAL_STATES, thermal_states
from tracekit.analysis.ledger import layers
from tracekit.analysis.ledger.account import Account, ledger, more_by_layer, spent_by_layer
from tracekit.analysis.ledger.causes import PREPARING, QUEUED, Cause, Known
from tracekit.analysis.ledger.facts import preempted
from tracekit.analysis.ledger.layers import SAMPLED, Layer
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.quantities import least, sample_quantiles
from tracekit.analysis.queues import Behind, all_waits, unit_rows
from tracekit.arrays import IntArray, ObjectArray
from tracekit.columns import Texts
from tracekit.grouping import grouped
from tracekit.intervals import Intervals
from tracekit.sorting import distinct_numbers
from tracekit.trace.events import Device, Events, Kind
from tracekit.trace.instruments.tables import MetalPipelines
from tracekit.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Blocker:
    """Whose work filled a wait."""

    unit: str
    """Compute unit."""
    model: str | None
    """None where the rows name no model."""
    process: str | None
    """Another process, where the rows name it; None for the app itself."""
    predictions: int
    """How many of the app's predictions; 0 where that is not known."""
    ns: int
    """Part of the wait that it filled."""
    first_ns: int
    """Start of the first of its rows."""
    table: str
    """Table of the first of these rows."""
    row: int
    """Of that row."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the difference to a usual prediction."""

    cause: Cause
    ns: int
    """May be negative: less than usual."""
    low_ns: int
    high_ns: int
    """Bounds, where rows do not separate work from waiting, or part of it only coincides; else both are `ns`."""
    known: Known
    behind: tuple[Blocker, ...] = ()
    """The longest first."""


@dataclass(frozen=True, slots=True)
class Tail:
    """What makes the slowest predictions of a model slow."""

    level: float
    """Of the quantile, from 0 to 1."""
    ns: int
    """The quantile of the warm predictions."""
    count: int
    """Predictions that take at least so long."""
    usual_ns: int
    """Duration of a usual prediction: the median without time in queues and without specialization."""
    extra_ns: int
    """What they take beyond usual ones."""
    parts: dict[str, int]
    """Time by cause, which adds up to `extra_ns`; the largest first."""
    behind: Blocker | None = None
    """Whose work filled most of it where the largest part is a wait."""


@dataclass(frozen=True, slots=True)
class Why:
    """One prediction against a usual one of its model."""

    model: str
    prediction: int
    """Its `id`, the row of `Trace.activity`."""
    table: str
    row: int
    start_ns: int
    duration_ns: int
    usual_ns: int
    compared: int
    """From how many predictions the usual one is worked out."""
    is_cold: bool
    """Whether none of them is warm."""
    in_flight: int
    """Predictions of the model in flight when it began, with itself."""
    is_first: bool
    """The first after a load."""
    parts: tuple[Part, ...]
    """Adds up to the duration less the usual one; the largest first, without those of 0."""
    usual: dict[str, int]
    """What a usual prediction consists of, by `Layer`; adds up to `usual_ns`."""
    more: dict[str, int]
    """What it spent beyond that, by `Layer`; waits apart."""
    pipelines: int
    """Metal pipelines that were compiled meanwhile."""
    specializing: str
    """What call stacks show of specialization, as a phase of `LoadPhase`; empty where they show none."""
    thermal: str | None
    """Thermal state, if it is recorded."""
    level_ns: int | None
    """Start of the prediction from which on they take longer for good; None where there is none."""
    called_from: CallSite | None
    resolution_ns: int

    @property
    def extra_ns(self) -> int:
        """What it took beyond a usual one."""
        return self.duration_ns - self.usual_ns


def why(trace: Trace, prediction: int) -> Why | None:
    """Why a prediction, given by its id, took as long as it did; None where its model has too few predictions to
    compare. O(n log n) for the first of a trace, then O(rows)."""
    model = str(trace.activity.model.item(prediction))
    found = ledger(trace).get(model)
    if found is None or prediction not in found.calls.id:
        return None
    at = int(np.flatnonzero(found.calls.id == prediction)[0])
    start, duration = int(found.calls.start_ns[at]), int(found.calls.duration_ns[at])
    called, usual = Intervals.from_rows(found.calls), found.usual[found.kind[at]]
    thermal = thermal_states(trace, np.array([start + duration // 2]))
    state = -1 if thermal is None else int(thermal[0])
    more = more_by_layer(trace, found, at)
    return Why(
        model=model,
        prediction=prediction,
        table=str(found.calls.table.item(at)),
        row=int(found.calls.row[at]),
        start_ns=start,
        duration_ns=duration,
        usual_ns=usual.ns,
        compared=usual.compared,
        is_cold=usual.is_cold,
        in_flight=int(((called.starts <= start) & (called.ends > start)).sum()) or 1,
        is_first=bool(not found.warm[at] and duration),
        parts=tuple(_parts(trace, found, at)),
        usual={
            layer.name.lower().replace("_", "-"): int(ns)
            for layer, ns in zip(Layer, usual.layers_ns, strict=True)
            if ns
        },
        more={layer.name.lower().replace("_", "-"): int(ns) for layer, ns in zip(Layer, more, strict=True) if ns},
        pipelines=int(found.pipelines[at]),
        specializing=next(iter(sampled_phases(trace, np.array([prediction]), Layer.SPECIALIZING)), ""),
        thermal=THERMAL_STATES[state] if state >= 0 else None,
        level_ns=usual.level_ns,
        called_from=site_of(trace, prediction),
        resolution_ns=found.resolution_ns,
    )


def sampled_phases(trace: Trace, predictions: IntArray, layer: Layer) -> dict[str, int]:
    """Time in phases of a layer that samples of some predictions show, the longest first; only those that they do."""
    sites = call_sites(trace)
    if sites is None or trace.sampled is None:
        return {}
    own = sites.where(np.isin(sites.id, predictions))
    times = {str(phase): int(own.samples_in(phase).sum()) * trace.sampled.period_ns for phase in SAMPLED[layer]}
    return {phase: times[phase] for phase in sorted(times, key=lambda phase: -times[phase]) if times[phase]}


_PREPARES = {
    Layer.SPECIALIZING: "rows of the Neural Engine that compile or prepare it",
    Layer.PIPELINES: "rows of the Metal compiler",
}


def prepared_by(trace: Trace, predictions: IntArray, layer: Layer | None = None) -> str:
    """What shows most of the time in which some predictions of a model prepare it: call stacks, or which rows; of one
    layer where that is given."""
    spent, _ = spent_by_layer(trace, np.sort(predictions))
    layer = layer or max(layers.PREPARING, key=lambda layer: int(spent[:, layer].sum()))
    phases = sampled_phases(trace, predictions, layer)
    sampled = 2 * sum(phases.values()) >= int(spent[:, layer].sum())
    return f"call stacks: {next(iter(phases))}" if sampled else _PREPARES[layer]


_KNOWN = {
    Cause.SHARED_CPU: Known.COINCIDENCE,
    Cause.HEAT: Known.COINCIDENCE,
    Cause.CLOCK: Known.COINCIDENCE,
    Cause.LEVEL: Known.PATTERN,
    Cause.PAUSE: Known.PATTERN,
    Cause.FIRST: Known.PATTERN,
    Cause.SHAPE: Known.PATTERN,
    Cause.GROWTH: Known.PATTERN,
    Cause.BLOCKED: Known.COINCIDENCE,
    Cause.NOT_VISIBLE: Known.REST,
}


def _parts(trace: Trace, found: Account, at: int) -> Iterator[Part]:
    call = found.calls.take(slice(at, at + 1))
    behind, is_ordered = blockers(trace, call.id), _is_ordered(trace, Intervals.from_rows(call))
    shown = Known.SAMPLES if found.resolution_ns else Known.ORDER if is_ordered else Known.ROWS
    known = dict(_KNOWN)
    for cause, layer in zip(PREPARING, layers.PREPARING, strict=True):
        known[cause] = Known.SAMPLES if sampled_phases(trace, call.id, layer) else Known.ROWS
    sites, shared = call_sites(trace), int(found.of(Cause.SHARED_CPU)[at])
    if sites is not None and trace.sampled is not None and len(trace.sampled.waiting) and shared:
        ready_ns = int(preempted(trace, sites, call)[0])
        known |= {Cause.SHARED_CPU: Known.STATES} if 2 * ready_ns >= shared else {}
    unclear = int(found.unclear_ns[at])
    bounds = {Cause.QUEUED_OWN: (-unclear, 0), Cause.WORK: (0, unclear)}
    for cause, ns in found.sums(np.array([at])).items():
        low, high = bounds.get(cause, (0, 0))
        yield Part(cause, ns, ns + low, ns + high, known.get(cause, shown), behind.get(cause, ()))


def _is_ordered(trace: Trace, call: Intervals) -> bool:
    """Whether rows during a call, one interval, are linked by the order of submission alone."""
    ordered = in_order(trace)
    lanes = ((each.data, each.compute, each.hardware) for each in (trace, ordered))
    for old, new in zip(*lanes, strict=True):
        if new is old:
            continue
        changed = ~old.prediction.known & new.prediction.known
        if changed.any() and (call.covered_within(Intervals.from_rows(new).where(changed)) > 0).any():
            return True
    return False


def blockers(trace: Trace, predictions: IntArray) -> dict[Cause, tuple[Blocker, ...]]:
    """Whose work held up some predictions of a model: by cause, longest first; no process for the app's own."""
    ordered, called = in_order(trace), trace.activity.model
    code = int(called.codes[int(predictions[0])])
    found: list[tuple[Cause, Blocker]] = []
    for unit, waits in all_waits(ordered).items():
        windows, rows, hardware = waits.of(np.sort(predictions)), unit_rows(ordered)[unit], trace.hardware
        at = rows.overlapping(windows)
        ids, foreign, model = rows.id[at], rows.foreign[at], rows.model[at]
        behind = np.where(foreign, Behind.PROCESSES, np.where(model == code, Behind.OWN, Behind.MODELS))
        named = np.append(np.array(called.values, object), "")[model]
        names = np.where(model >= 0, named, _texts(hardware.model, ids))
        owners = np.array(QUEUED, object)[behind], names, np.where(foreign, _texts(hardware.process, ids), "")
        found += _by_owner(unit, hardware, ids, rows.held.where(at), rows.call[at], owners, windows)
    work, windows = ordered.compute, Intervals.from_rows(trace.activity).where(predictions).union()
    at = np.flatnonzero(work.kind.is_any(Kind.CPU_COMPUTE) & ~work.model.is_any(called.values[code]))
    at = at[windows.covered_within(Intervals.from_rows(work).where(at)) > 0]
    shared, none = (np.full(len(at), each, object) for each in (Cause.SHARED_CPU, ""))
    times, calls = Intervals.from_rows(work).where(at), work.prediction.filled()[at]
    found += _by_owner(Device.CPU, work, at, times, calls, (shared, _texts(work.model, at), none), windows)
    return {cause: tuple(sorted(each, key=lambda who: -who.ns)) for cause, each in grouped(found).items()}


def _by_owner(
    unit: Device,
    lane: Events,
    at: IntArray,
    held: Intervals,
    calls: IntArray,
    owners: tuple[ObjectArray, ...],
    windows: Intervals,
) -> Iterator[tuple[Cause, Blocker]]:
    """Rows of a lane that filled windows, by the cause, model and process of each; `calls` are their predictions."""
    by_owner = grouped((owner, number) for number, owner in enumerate(zip(*owners, strict=True)))
    for (cause, model, process), numbers in by_owner.items():
        first, known = int(at[numbers[0]]), calls[numbers][calls[numbers] >= 0]
        yield (
            cause,
            Blocker(
                unit=str(unit),
                model=model or None,
                process=process or None,
                predictions=len(distinct_numbers(known)),
                ns=int(held.where(np.array(numbers)).covered_within(windows).sum()),
                first_ns=int(lane.start_ns[first]),
                table=str(lane.table.item(first)),
                row=int(lane.row[first]),
            ),
        )


def _texts(texts: Texts, at: IntArray) -> ObjectArray:
    """The texts of some rows; empty where there is none."""
    found: ObjectArray = np.append(np.array(texts.values, object), "")[texts.codes[at]]
    return found


def waited_for(trace: Trace, explained: Why) -> IntArray:
    """Ids of the rows of `Trace.hardware` that filled the waits of a prediction, by start. O(log n + rows there)."""
    if not any(part.behind for part in explained.parts):
        return np.zeros(0, np.int64)
    ordered = in_order(trace)
    units, prediction = unit_rows(ordered), np.array([explained.prediction])
    found = ((units[unit], waits.of(prediction)) for unit, waits in all_waits(ordered).items())
    return np.sort(np.concatenate([rows.id[rows.overlapping(windows)] for rows, windows in found]))


def compiled_for(trace: Trace, explained: Why) -> IntArray:
    """Positions in the context of the Metal pipelines whose compilation made a prediction slow. O(pipelines)."""
    compiled = trace.table(MetalPipelines)
    causes = {part.cause for part in explained.parts if part.ns > 0}
    if compiled is None or not causes & {Cause.PIPELINES, Cause.FIRST, Cause.SPECIALIZING}:
        return np.zeros(0, np.int64)
    since = compiled.start_ns - explained.start_ns
    return np.flatnonzero((since >= 0) & (since < explained.duration_ns))


def tail(trace: Trace, model: str, level: float = 0.95) -> Tail | None:
    """What makes the warm predictions from a quantile on slow; None where they are too few, or no slower than usual.
    O(n log n)."""
    found = ledger(trace).get(model)
    if found is None:
        return None
    chosen = np.flatnonzero(found.warm)
    if len(chosen) < least(level):
        return None
    (value,) = sample_quantiles(found.durations[chosen], level)
    slow = chosen[found.durations[chosen] >= value]
    usual_ns = int(np.median(found.usual_ns[slow]))
    parts = found.sums(slow)
    extra = sum(parts.values())
    if extra <= 0:
        return None
    cause = next(iter(parts))
    # Most are slow for another cause.
    behind = blockers(trace, found.calls.id[slow]).get(cause, ()) if cause in (*QUEUED, Cause.SHARED_CPU) else ()
    times = {str(cause): ns for cause, ns in parts.items()}
    return Tail(level, round(value), len(slow), usual_ns, extra, times, next(iter(behind), None))
