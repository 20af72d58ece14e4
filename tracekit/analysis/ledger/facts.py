"""What a recording shows of the time of each prediction beside the rows that it consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.device_states import UNKNOWN, states_at, thermal_states
from tracekit.analysis.ledger.layers import SAMPLED, Compared
from tracekit.analysis.load_waits import hangs_of_target, setup_times
from tracekit.analysis.loads import first_predictions
from tracekit.analysis.quantities import sample_quantiles
from tracekit.analysis.queues import UNITS, unit_rows
from tracekit.arrays import BoolArray, FloatArray, IntArray
from tracekit.columns import Codes
from tracekit.intervals import Intervals, depth_profile
from tracekit.rows import places_of, sums_by
from tracekit.sorting import distinct_numbers
from tracekit.trace.calls.sites import Sites
from tracekit.trace.calls.stacks import Unit
from tracekit.trace.events import Attribution, Device, Kind
from tracekit.trace.instruments.catalogue import GPU, NEURAL_ENGINE
from tracekit.trace.instruments.tables import GpuPerformance, MetalPipelines
from tracekit.trace.linking import top_predictions
from tracekit.trace.samples import SAMPLE_NS
from tracekit.trace.trace import Trace

CORES = 6
"""So many threads that run at once may have all cores: iPhones have six, and recordings do not say it (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Shape (predictions,) each. Where the recording holds nothing, one value stands for all and takes no memory."""

    first: BoolArray
    """The first after a load."""
    thermal: IntArray
    """Place in `THERMAL_STATES`, in the middle of the call."""
    gpu_state: IntArray
    """A number for the performance state of the GPU."""
    pipelines: IntArray
    """GPU functions that were compiled during it."""
    hung_ns: IntArray
    """Time in which the main thread did not answer."""
    ran_ns: IntArray
    """Time in which samples show its thread running for it, specializing and copying left out."""
    overhead_ns: IntArray
    """The part of it in which neither the thread computed for an operation on the CPU nor another unit for the call."""
    preempted_ns: IntArray
    """Time in which its thread was ready to run, as samples of waiting threads say; where none were taken, in which so
    many threads ran that they had all cores."""
    sampled: BoolArray
    """All units were recorded too, so that a thread without samples did not run."""
    cpu_shared_ns: IntArray
    """Shape (predictions, 2): time of its rows of the CPU in which other models or loads, and other processes, worked
    on it; of a prediction without work on other units, all of its time in which they did."""
    cpu_met: FloatArray
    """Share of its beginning in which they did. All beginnings are as long as the shortest tenth of the predictions of
    a model take: long ones meet others more often."""
    gpu_shared_ns: IntArray
    """Shape (predictions, 2): the same of its rows of the GPU, with drawing."""
    gpu_met: FloatArray
    beside_ns: IntArray
    """Time in which another prediction of its model was in flight."""

    def take(self, at: IntArray) -> Facts:
        """Of some predictions, by position."""
        columns = (getattr(self, name) for name in self.__slots__)
        return Facts(*(column[at] if any(column.strides) else column[: len(at)] for column in columns))


def facts_of(ordered: Trace, calls: Compared, model: Codes[str], has_unit: BoolArray) -> Facts:
    """Facts of predictions, whose models and whether rows of the Neural Engine or the GPU show work for them are given.
    O(n log n) in the rows of the trace."""
    windows = Intervals.from_rows(calls)
    middle = windows.starts + windows.durations // 2
    none = np.broadcast_to(np.int64(0), len(calls))
    gpu, compiled, heat = ordered.table(GpuPerformance), ordered.table(MetalPipelines), thermal_states(ordered, middle)
    hangs = hangs_of_target(ordered)
    times = np.zeros(0, np.int64) if compiled is None else compiled.start_ns
    sites = call_sites(ordered) if ordered.samples is not None and len(ordered.samples) else None
    units = all(ordered.coverage_of(unit).recorded for unit in (NEURAL_ENGINE, GPU))
    unknown = np.broadcast_to(np.int64(UNKNOWN), len(calls))
    return Facts(
        first=first_predictions(ordered)[calls.id],
        thermal=unknown if heat is None else heat,
        gpu_state=unknown if gpu is None else states_at(gpu, sorted(gpu.state.held()), middle),
        pipelines=np.searchsorted(times, windows.ends) - np.searchsorted(times, windows.starts) if len(times) else none,
        hung_ns=none if hangs is None else Intervals.from_rows(hangs).covered_within(windows),
        ran_ns=none if sites is None else sampled_ns(ordered, sites, calls),
        overhead_ns=none if sites is None else _overhead(ordered, sites, calls),
        preempted_ns=none if sites is None else preempted(ordered, sites, calls),
        sampled=~calls.attribution.is_any(Attribution.INFERRED) & (sites is not None and units),
        **_shared_cpu(ordered, calls, model, has_unit),
        **_shared_gpu(ordered, calls, model),
        beside_ns=_beside(windows, model),
    )


def sampled_ns(ordered: Trace, sites: Sites, calls: Compared, *without: str) -> IntArray:
    """Time of the thread of each call, in samples outside of specializing, copying and these columns."""
    beside = sites.samples_in(*(name for names in SAMPLED.values() for name in names), *without)
    period_ns = SAMPLE_NS if ordered.sampled is None else ordered.sampled.period_ns
    return sums_by(calls.id, sites.id, np.maximum(sites.samples - beside, 0)) * period_ns


def _overhead(ordered: Trace, sites: Sites, calls: Compared) -> IntArray:
    """`Facts.overhead_ns`, at most: when each sample was taken is not looked at. O(rows)."""
    rows = ordered.hardware
    executes = rows.kind.is_any(*UNITS.values())
    worked = sums_by(calls.id, np.where(executes, rows.prediction.filled(), -1), rows.duration_ns)
    overhead: IntArray = np.clip(calls.duration_ns - worked, 0, sampled_ns(ordered, sites, calls, Unit.CPU))
    return overhead


def preempted(ordered: Trace, sites: Sites, calls: Compared) -> IntArray:
    """`Facts.preempted_ns`, shape (calls,). O(threads x calls + samples)."""
    total, windows, samples = np.zeros(len(calls), np.int64), Intervals.from_rows(calls), ordered.sampled
    if samples is None:
        return total
    period = samples.period_ns
    if not len(samples.waiting):
        moment, threads = np.unique(samples.samples.time_ns // period, return_counts=True)
        full = moment[threads >= CORES] * period
        return Intervals(full, full + period).covered_within(windows)
    ready = samples.waiting.where(samples.waiting.state.is_any("Preempted", "Runnable"))
    thread, at = ready.thread.codes_in(sites.thread.values), places_of(calls.id, sites.id)
    for code in distinct_numbers(thread[thread >= 0]).tolist():
        own, times = at[(at >= 0) & (sites.thread.codes == code)], ready.time_ns[thread == code]
        total[own] = (np.searchsorted(times, windows.ends[own]) - np.searchsorted(times, windows.starts[own])) * period
    return total


def _beside(windows: Intervals, model: Codes[str]) -> IntArray:
    """`Facts.beside_ns`. O(n log n)."""
    beside = np.zeros(len(windows), np.int64)
    for code in distinct_numbers(model.codes).tolist():
        at = np.flatnonzero(model.codes == code)
        times = windows.where(at)
        if not times.in_turn():
            moments, depth = depth_profile(times.starts, times.ends)
            several = np.flatnonzero(depth[:-1] > 1)
            beside[at] = Intervals(moments[several], moments[several + 1]).covered_within(times)
    return beside


def _shared_cpu(ordered: Trace, calls: Compared, model: Codes[str], has_unit: BoolArray) -> dict[str, Any]:
    """`cpu_shared_ns` and `cpu_met`. O(models x n log n)."""
    rows = np.flatnonzero(ordered.compute.kind.is_any(Kind.CPU_COMPUTE))
    owner = np.append(top_predictions(ordered.activity), -1)[ordered.compute.prediction.filled()[rows]]
    call, times = places_of(calls.id, owner), Intervals.from_rows(ordered.compute).where(rows)
    setup = setup_times(ordered)
    # Work of a model that is in no call of it is still its own.
    code = np.where(call >= 0, np.append(model.codes, -1)[call], ordered.compute.model.codes_in(model.values)[rows])
    add = np.full(len(setup), -1)
    foreign = np.zeros(len(times) + len(setup), np.bool_)
    unit = _Unit(times.joined(setup), np.append(call, add), np.append(code, add), foreign)
    shared, met = _met_others(unit, unit.call >= 0, Intervals.from_rows(calls), model, ~has_unit)
    return {"cpu_shared_ns": shared, "cpu_met": met}


def _shared_gpu(ordered: Trace, calls: Compared, model: Codes[str]) -> dict[str, Any]:
    """`gpu_shared_ns` and `gpu_met`. Most recordings hold no rows of the GPU that overlap. O(models x n log n)."""
    rows = unit_rows(ordered)[Device.GPU]
    call = places_of(calls.id, rows.call)
    overlaps = rows.reach_before > rows.times.starts
    mine = (call >= 0) & (overlaps | np.append(overlaps[1:], False)[: len(call)])
    unit = _Unit(rows.times, call, np.append(model.codes.astype(np.int64), -1)[call], rows.foreign)
    shared, met = _met_others(unit, mine, Intervals.from_rows(calls), model, np.zeros(len(calls), np.bool_))
    return {"gpu_shared_ns": shared, "gpu_met": met}


class _Unit(NamedTuple):
    """What a unit that several may use at once did: shape (rows,) each."""

    times: Intervals
    call: IntArray
    """Position of the prediction that it is of; -1 for none."""
    model: IntArray
    """Code of the model."""
    foreign: BoolArray


def _met_others(
    unit: _Unit, mine: BoolArray, windows: Intervals, model: Codes[str], whole: BoolArray
) -> tuple[IntArray, FloatArray]:
    """Time in which rows of predictions, `mine` among those of a unit, met others, shape (predictions, 2), and the
    share of their beginnings. All of its time counts for the predictions that `whole` chooses."""
    count = len(windows)
    if not mine.any():
        return np.broadcast_to(np.int64(0), (count, 2)), np.broadcast_to(np.float64(0), count)
    shared, met = np.zeros((count, 2), np.int64), np.zeros(count)
    used = np.zeros(count, np.bool_)
    used[unit.call[mine]] = True
    for code in distinct_numbers(model.codes[used]).tolist():
        others = unit.model != code
        either, app = (unit.times.where(chosen).union() for chosen in (others, others & ~unit.foreign))
        if not len(either):
            continue
        of_model, own = np.flatnonzero(used & (model.codes == code)), np.flatnonzero(mine & (unit.model == code))
        alone, own = of_model[whole[of_model]], own[~whole[unit.call[own]]]
        for place, times in ((alone, windows.where(alone)), (unit.call[own], unit.times.where(own))):
            of_app = app.covered_within(times)
            np.add.at(shared, place, np.column_stack((of_app, either.covered_within(times) - of_app)))
        length = max(int(*sample_quantiles(windows.durations[of_model], 0.1)), 1)
        begun = windows.starts[of_model]
        met[of_model] = either.covered_within(Intervals(begun, begun + length)) / length
    return np.minimum(shared, windows.durations[:, None]), met
