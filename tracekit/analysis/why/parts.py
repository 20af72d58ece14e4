"""What makes each prediction longer than a usual one of its model, in parts that add up exactly.

A usual prediction takes the median of the warm ones, waits for units left out; what it consists of is what those close
to that time have on average. Time of a prediction is then compared layer by layer: execution, copies, and the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.device_states import UNKNOWN, states_at, thermal_states
from tracekit.analysis.load_waits import hangs_of_target
from tracekit.analysis.loads import first_predictions
from tracekit.analysis.quantities import median
from tracekit.analysis.why.layers import UNITS, Compared, Layer, time_spent
from tracekit.analysis.why.order import in_order
from tracekit.arrays import AnyArray, BoolArray, IntArray
from tracekit.intervals import Intervals
from tracekit.rows import sums_by
from tracekit.sorting import stable_order
from tracekit.trace.events import Attribution, Kind
from tracekit.trace.instruments.catalogue import GPU, NEURAL_ENGINE
from tracekit.trace.instruments.tables import GpuPerformance, MetalPipelines
from tracekit.trace.samples import SAMPLE_NS
from tracekit.trace.trace import Trace, cached_by_trace


class Cause(StrEnum):
    """What a part of the difference is due to."""

    QUEUED_OWN = "queued_own"
    """A compute unit worked for other predictions of its model."""
    QUEUED_MODELS = "queued_models"
    """For other models, or drawing, of the process."""
    QUEUED_PROCESSES = "queued_processes"
    WORK = "work"
    """Compute units worked longer for it, as for a larger input; or it is the first after its load."""
    CLOCK = "clock"
    """The same work, in a thermal state or a performance state of the GPU in which it takes longer."""
    UNIT = "unit"
    """It ran on another compute unit."""
    COPIES = "copies"
    """Copies and conversions of inputs and outputs."""
    SPECIALIZATION = "specialization"
    """Metal compiled pipelines, or the model was specialized."""
    BLOCKED = "blocked"
    """Its thread did not run."""
    NOT_VISIBLE = "not_visible"
    """Nothing that was recorded shows it."""


CAUSES = tuple(Cause)
"""Columns of `Parts.ns`."""


LEAST = 3
"""Fewest predictions from which a usual one is worked out."""
NEAR = 0.1
"""Share of the predictions, around the median, that show what a usual one consists of."""
OTHER_WAY = 4
"""On another unit, preparation and the way back take no more than one part in so many of its work (heuristic)."""
SLOWER = 1.05
"""From this ratio of work in two states on, the state counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """The predictions of one model, and the usual one that they are compared with; `parts_of` says how they differ."""

    calls: Compared
    """Shape (predictions,), in order of time."""
    warm: BoolArray
    """Shape (predictions,): those from which the usual one is worked out, or all that took time where none is warm."""
    compared: int
    """From how many of these it is worked out: where that is enough, those whose rows are theirs alone."""
    is_cold: bool
    """Whether none is warm."""
    usual: int
    """Duration of a usual prediction in ns."""
    usual_ns: IntArray
    """Shape (layers,): what it consists of; adds up to `usual`."""
    pipelines: float
    """Metal pipelines that are compiled during a usual one."""
    ran_ns: int
    """What samples show of its thread."""
    by_heat_ns: IntArray
    """Shape (thermal states + 1,): how much longer the same work takes in each state; the last one: unknown."""
    by_gpu_state_ns: IntArray
    """The same for performance states of the GPU."""
    resolution_ns: int

    @property
    def durations(self) -> IntArray:
        """In ns."""
        return self.calls.duration_ns


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """How some predictions of a model differ from the usual one: shape (predictions,) each."""

    ns: IntArray
    """Shape (predictions, causes): adds up to the duration of each less that of the usual one. May be negative."""
    more_ns: IntArray
    """Shape (predictions, layers): what each spent beyond the usual; CPU time that is specialization counts there."""
    unclear_ns: IntArray
    """Of `Cause.QUEUED_OWN`, time that may be work of the prediction itself instead."""
    coincident_ns: IntArray
    """Of `Cause.SPECIALIZATION`, time that only coincides with it; 0 unless call stacks show the rest."""
    pipelines: IntArray
    """Metal pipelines that were compiled during each."""


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """What the recording shows of predictions."""

    spent: IntArray
    """Shape (predictions, layers), as `time_spent` gives it, column by column in memory."""
    waits: IntArray
    """Shape (predictions, 3)."""
    ambiguous: IntArray
    facts: Mapping[str, AnyArray]
    """Shape (predictions,) each, as `_facts` names them."""

    def of(self, rows: IntArray) -> _Seen:
        """Of some predictions, by position."""
        facts = {fact: values[rows] for fact, values in self.facts.items()}
        return _Seen(self.spent.T[:, rows].T, self.waits.T[:, rows].T, self.ambiguous[rows], facts)

    def work_beside(self, usual_ns: IntArray) -> IntArray:
        """Time of rows that may be of several predictions: work of this one as far as it has less than usual."""
        less: IntArray = np.clip(usual_ns[UNITS].sum() - self.spent[:, UNITS].sum(axis=1), 0, self.ambiguous)
        return less


@cached_by_trace
def differences(trace: Trace) -> dict[str, Differences]:
    """By base name of the models that the app called at least `LEAST` times. O(n log n) in the rows of the trace."""
    ordered = in_order(trace)
    times = breakdown(ordered)
    models = times.every.model
    calls = Compared.of(trace.activity, times.every.id)
    seen = _Seen(*time_spent(ordered, times, calls), _facts(ordered, calls))
    first = first_predictions(trace)[calls.id]
    found = {}
    for code in np.unique(models.codes[models.known]).tolist():
        rows = np.flatnonzero(models.codes == code)
        of_model = _of_model(calls.take(rows), seen.of(rows), first[rows])
        if of_model is not None:
            found[models.values[code]] = of_model
    return found


def _facts(ordered: Trace, calls: Compared) -> dict[str, AnyArray]:
    """What else is known of each prediction: its place in `THERMAL_STATES` (`thermal`), a number for the performance
    state of the GPU (`gpu_state`), how many Metal `pipelines` were compiled, and ns in which the engine compiled a
    model (`specialized`), the main thread did not answer (`hung`), and samples show the thread running for it (`ran`);
    `sampled`: all units were recorded too, so that a thread without samples did not run."""
    windows = Intervals.from_rows(calls)
    middle = windows.starts + windows.durations // 2
    gpu, compiled = ordered.table(GpuPerformance), ordered.table(MetalPipelines)
    hangs = hangs_of_target(ordered)
    times = np.zeros(0, np.int64) if compiled is None else compiled.start_ns
    sites = call_sites(ordered) if ordered.samples is not None and len(ordered.samples) else None
    units = all(ordered.coverage_of(unit).recorded for unit in (NEURAL_ENGINE, GPU))

    # Where there is nothing, one value stands for all predictions and takes no memory.
    unknown, heat = np.broadcast_to(np.int64(UNKNOWN), len(calls)), thermal_states(ordered, middle)
    none = np.broadcast_to(np.int64(0), len(calls))
    sampled = sites is not None and units
    return {
        "thermal": unknown if heat is None else heat,
        "gpu_state": unknown if gpu is None else states_at(gpu, sorted(gpu.state.held()), middle),
        "pipelines": np.searchsorted(times, windows.ends) - np.searchsorted(times, windows.starts)
        if len(times)
        else none,
        "specialized": _compilations(ordered).covered_within(windows),
        "hung": none if hangs is None else Intervals.from_rows(hangs).covered_within(windows),
        "ran": none if sites is None else sums_by(calls.id, sites.id, sites.samples) * SAMPLE_NS,
        "sampled": ~calls.attribution.is_any(Attribution.INFERRED) & sampled,
    }


@cached_by_trace
def _compilations(trace: Trace) -> Intervals:
    """When the Neural Engine compiled a model. O(n)."""
    return Intervals.from_rows(trace.hardware).where(trace.hardware.kind.is_any(Kind.ANE_COMPILE))


def _of_model(calls: Compared, seen: _Seen, first: BoolArray) -> Differences | None:
    """What a usual prediction is; `first`, shape (predictions,): the first ones after a load."""
    durations, facts = calls.duration_ns, seen.facts
    own = durations - seen.waits.sum(axis=1)
    warm = ~first & (durations > 0)
    is_cold = not warm.any()
    warm = durations > 0 if is_cold else warm
    clear = warm & (seen.ambiguous == 0)
    compared = np.flatnonzero(clear if clear.sum() >= LEAST else warm)
    if len(compared) < LEAST:
        return None
    usual = int(median(own[compared]) or 0)
    distance, count = np.abs(own[compared] - usual), max(LEAST, round(NEAR * len(compared)))
    close = np.flatnonzero(distance <= np.partition(distance, count - 1)[count - 1])
    near = compared[close[stable_order(distance[close])[:count]]]
    mean = seen.spent[near].mean(axis=0)
    usual_ns = np.floor(mean * (usual / max(mean.sum(), 1.0))).astype(np.int64)
    usual_ns[Layer.REST] += usual - usual_ns.sum()
    seen.spent[:, _main_unit(usual_ns)] += seen.work_beside(usual_ns)
    work, gpu_work = seen.spent[:, UNITS].sum(axis=1), seen.spent[:, Layer.GPU]
    return Differences(
        calls=calls,
        warm=warm,
        compared=len(compared),
        is_cold=is_cold,
        usual=usual,
        usual_ns=usual_ns,
        pipelines=float(np.median(facts["pipelines"][near])),
        ran_ns=int(np.median(facts["ran"][near])),
        by_heat_ns=_longer_by_state(work, int(usual_ns[UNITS].sum()), facts["thermal"], near),
        by_gpu_state_ns=_longer_by_state(gpu_work, int(usual_ns[Layer.GPU]), facts["gpu_state"], near),
        resolution_ns=int(calls.resolution_ns.max()),
    )


def _main_unit(usual_ns: IntArray) -> Layer:
    return Layer(int(np.argmax(usual_ns[UNITS])))


def parts_of(trace: Trace, found: Differences, rows: IntArray) -> Parts:
    """How some predictions of a model, by position, differ from the usual one. O(rows log n)."""
    ordered = in_order(trace)
    calls = found.calls.take(rows)
    times = breakdown(ordered).of(calls.id)
    seen = _Seen(*time_spent(ordered, times, calls), _facts(ordered, calls))
    spent, facts, usual_ns = seen.spent, seen.facts, found.usual_ns
    is_first = ~found.warm[rows] & (found.durations[rows] > 0)
    inferred = calls.attribution.is_any(Attribution.INFERRED)
    worked = seen.work_beside(usual_ns)
    spent[:, _main_unit(usual_ns)] += worked
    unclear = seen.ambiguous - worked
    more = spent - usual_ns
    ns = np.zeros((len(calls), len(CAUSES)), np.int64, order="F")

    def at(cause: Cause) -> int:
        return CAUSES.index(cause)

    ns[:, :3] = seen.waits
    ns[:, at(Cause.QUEUED_OWN)] += unclear
    work = more[:, UNITS].sum(axis=1)
    elsewhere = _elsewhere(spent[:, UNITS], usual_ns[UNITS])
    clock = np.where(elsewhere, 0, _clock(found, more, facts))
    ns[:, at(Cause.UNIT)] = np.where(elsewhere, work, 0)
    ns[:, at(Cause.CLOCK)] = clock
    ns[:, at(Cause.WORK)] = np.where(elsewhere, 0, work - clock)
    ns[:, at(Cause.COPIES)] = more[:, Layer.DATA]
    ns[:, at(Cause.SPECIALIZATION)] = more[:, Layer.SPECIALIZING]
    rest = more[:, Layer.REST].copy()

    def take(cause: Cause, time: IntArray) -> None:
        taken = np.clip(time, 0, np.maximum(rest, 0))
        ns[:, at(cause)] += taken
        np.subtract(rest, taken, out=rest)

    compiled = facts["pipelines"]
    compiling = compiled > found.pipelines
    take(Cause.SPECIALIZATION, np.where(compiling, rest, 0))
    # Where only samples show the call, code for the GPU compiles while it runs.
    running = np.clip(ns[:, at(Cause.WORK)], 0, np.maximum(more[:, Layer.CPU], 0))
    moved = np.where(compiling & inferred, running, 0)
    ns[:, at(Cause.SPECIALIZATION)] += moved
    ns[:, at(Cause.WORK)] -= moved
    more[:, Layer.CPU] -= moved
    take(Cause.SPECIALIZATION, facts["specialized"])
    stacks = more[:, Layer.SPECIALIZING] * inferred
    coincident = np.where(stacks > 0, ns[:, at(Cause.SPECIALIZATION)] - stacks, 0)
    more[:, Layer.SPECIALIZING] += moved
    take(Cause.WORK, np.where(is_first, rest, 0))
    take(Cause.BLOCKED, facts["hung"])
    take(Cause.WORK, np.where(facts["sampled"], facts["ran"] - found.ran_ns, 0))
    take(Cause.BLOCKED, np.where(facts["sampled"] & (rest >= 2 * SAMPLE_NS), rest, 0))
    # The way to another unit, and back, is part of running there.
    take(Cause.UNIT, np.where(elsewhere, spent[:, UNITS].sum(axis=1) // OTHER_WAY, 0))
    ns[:, at(Cause.NOT_VISIBLE)] = rest
    return Parts(ns, more, unclear, coincident, compiled)


def _elsewhere(worked: IntArray, usual: IntArray) -> BoolArray:
    """Whether another unit did most of the work of each prediction than usual, and the usual one less than half."""
    main = int(np.argmax(usual))
    most = worked.argmax(axis=1)
    elsewhere: BoolArray = (most != main) & (2 * worked[:, main] < usual[main]) & (usual[main] > 0)
    return elsewhere


def _clock(found: Differences, more_ns: IntArray, facts: Mapping[str, AnyArray]) -> IntArray:
    """How much longer than usual the same work takes in the thermal state of each prediction, or, of the GPU, in its
    performance state: no more than it took."""

    def bounded(longer: IntArray, more: IntArray) -> IntArray:
        return np.clip(longer, np.minimum(more, 0), np.maximum(more, 0))

    by_heat = bounded(found.by_heat_ns[facts["thermal"]], more_ns[:, UNITS].sum(axis=1))
    by_state = bounded(found.by_gpu_state_ns[facts["gpu_state"]], more_ns[:, Layer.GPU])
    return np.where(by_heat != 0, by_heat, by_state)


def _longer_by_state(work: IntArray, usual: int, state: IntArray, near: IntArray) -> IntArray:
    """How much longer than usual the work takes in each state, after the median in it: shape (states + 1,). It is 0 in
    that of most predictions `near` the usual one, and, as the last value, where the state is unknown."""
    longer = np.zeros(int(state.max(initial=UNKNOWN)) + 2, np.int64)
    known = state[near][state[near] != UNKNOWN]
    if not len(known) or not usual:
        return longer
    base = int(np.bincount(known).argmax())
    of_base = median(work[(state == base) & (work > 0)]) or usual
    for other in np.unique(state[state != UNKNOWN]):
        ratio = (median(work[(state == other) & (work > 0)]) or of_base) / of_base
        if other != base and not 1 / SLOWER < ratio < SLOWER:
            longer[other] = round((ratio - 1) * usual)
    return longer
