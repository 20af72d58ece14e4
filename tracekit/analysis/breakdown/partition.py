"""Where the time of each prediction went: a partition that adds up exactly, and facts beside it.

Each instant of a prediction belongs to the first of these that covers it:

| # | part                                | covered by                                                               |
|---|-------------------------------------|--------------------------------------------------------------------------|
| 1 | `neural_engine`                     | execution rows of the Neural Engine that belong to the prediction        |
| 2 | `gpu`                               | execution rows of the GPU that belong to it                              |
| 3 | `data_before`, `data_between`,      | rows of the Data lane, by their place before, between or after the first |
|   | `data_after`, `data_unplaced`       | and last compute activity; unplaced where there is none                  |
| 4 | `cpu`                               | `CPU` rows: what is nested in them (copies, other units) is not theirs   |
| 5 | `neural_engine_queue`,              | Neural Engine requests: waiting where execution rows of that unit exist  |
|   | `neural_engine_requested`           | in the prediction; else waiting and execution, indistinguishable         |
| 6 | `gpu_queue` or `gpu_requested`      | prepared and issued GPU requests, in the same way                        |
|   | `neural_engine_queue`, `gpu_queue`  | waits that no request shows: the unit did other work, and this           |
|   |                                     | prediction's began just after (`tracekit.analysis.queues`)               |
| 7 | `other`                             | Core ML events whose compute unit or lane is not known                   |
| 8 | `ambiguous`                         | rows of its model, or of none that is named, that belong to it or to     |
|   |                                     | another prediction in flight                                             |
| 9 | `unexplained`                       | nothing that was recorded                                                |
|   | `not_recorded`                      | the same, of predictions that Core ML did not record                     |

The reasons for this order: a request and its preparation overlap each other and the execution (so unions, never
sums), copies lie inside `CPU` rows, and current systems write no request row for the Neural Engine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np

from tracekit.analysis.breakdown.device_runs import Handoffs, other_models, work_of
from tracekit.analysis.breakdown.rows import Layer, Shared, Steps, linked_rows, no_time, sweep
from tracekit.analysis.statistics import top_calls
from tracekit.arrays import BoolArray, IndexArray, Int8Array, IntArray
from tracekit.columns import Numbers, Texts, column, known_where
from tracekit.intervals import Intervals, sums_between
from tracekit.rows import Rows, places_of
from tracekit.trace.events import Attribution, Calls, Device, Kind
from tracekit.trace.instruments.catalogue import GPU, NEURAL_ENGINE
from tracekit.trace.trace import Trace, cached_by_trace


class Part(StrEnum):
    """Parts of a prediction's time, in the order in which a reader cares."""

    ANE = "neural_engine"
    GPU = "gpu"
    CPU = "cpu"
    DATA_BEFORE = "data_before"
    DATA_BETWEEN = "data_between"
    DATA_AFTER = "data_after"
    DATA_UNPLACED = "data_unplaced"
    ANE_QUEUE = "neural_engine_queue"
    ANE_REQUESTED = "neural_engine_requested"
    GPU_QUEUE = "gpu_queue"
    GPU_REQUESTED = "gpu_requested"
    OTHER = "other"
    AMBIGUOUS = "ambiguous"
    UNEXPLAINED = "unexplained"
    NOT_RECORDED = "not_recorded"

    @property
    def column(self) -> str:
        """Its column in `Times`."""
        return f"{self.value}_ns"


class Unknown(StrEnum):
    """Why a part is not known. Its time then lies in other parts: `unexplained`, `not_recorded`, or what the reason
    names."""

    NOT_RECORDED = "not_recorded"
    """The table of the unit is missing or could not be read."""
    NO_REQUESTS = "no_requests"
    """The unit worked, and the recording holds no request rows that would show when the work was asked for."""
    NOT_SPLIT = "not_split"
    """The unit was asked, and no execution row shows when it worked: see `..._requested`."""
    AMBIGUOUS = "ambiguous"
    """The unit worked meanwhile, for this prediction or for another in flight: see `ambiguous`."""
    NO_CORE_ML = "no_core_ml"
    """The prediction is inferred from hardware rows; what Core ML did around them was not captured."""


REASONS: tuple[Unknown, ...] = tuple(Unknown)
"""What the numbers in `Breakdown.unknown` stand for."""


@dataclass(frozen=True, slots=True, eq=False)
class Times(Rows):
    """Where the time of predictions went. Null: not known; never zero for it. Parts, nulls left out, add up to the
    duration exactly."""

    id: IntArray = column("row of `activity`")
    model: Texts = column("model, by base name")
    duration_ns: IntArray = column("the whole")
    neural_engine_ns: Numbers = column("`Part.ANE`")
    gpu_ns: Numbers = column("`Part.GPU`")
    cpu_ns: Numbers = column("`Part.CPU`")
    data_before_ns: Numbers = column("`Part.DATA_BEFORE`")
    data_between_ns: Numbers = column("`Part.DATA_BETWEEN`")
    data_after_ns: Numbers = column("`Part.DATA_AFTER`")
    data_unplaced_ns: Numbers = column("`Part.DATA_UNPLACED`")
    neural_engine_queue_ns: Numbers = column("`Part.ANE_QUEUE`")
    neural_engine_requested_ns: Numbers = column("`Part.ANE_REQUESTED`")
    gpu_queue_ns: Numbers = column("`Part.GPU_QUEUE`")
    gpu_requested_ns: Numbers = column("`Part.GPU_REQUESTED`")
    other_ns: Numbers = column("`Part.OTHER`")
    ambiguous_ns: Numbers = column("`Part.AMBIGUOUS`")
    unexplained_ns: Numbers = column("`Part.UNEXPLAINED`")
    not_recorded_ns: Numbers = column("`Part.NOT_RECORDED`")
    neural_engine_busy_ns: Numbers = column(
        "time in which the Neural Engine executed for it, whatever else happened meanwhile"
    )
    gpu_busy_ns: Numbers = column("time in which the GPU executed for it, whatever else happened meanwhile")
    cpu_busy_ns: Numbers = column("time in which the CPU executed for it, whatever else happened meanwhile")
    handoffs: Numbers = column("changes of the unit from one compute row to the next")
    handoff_gap_ns: Numbers = column("time at those changes in which no unit worked for it")
    lead_ns: Numbers = column("time before the first work of a unit")
    tail_ns: Numbers = column("time after the last work of a unit")
    segments: Numbers = column("distinct operations (`Op<N>`) on the Neural Engine")
    other_models_ns: IntArray = column("time in which predictions of other models were running")


@dataclass(frozen=True, eq=False)
class Breakdown:
    """Where the time of each prediction that the app called went."""

    every: Times
    """One row per prediction that these are of."""
    unknown: dict[Part, Int8Array]
    """Shape (predictions,) each: why the part is null, as an index in `REASONS`; -1 where it is known."""
    handoffs: Handoffs
    """One by one. Those of a prediction whose number is null are not all that there were."""
    chosen: IndexArray | slice = field(default_factory=lambda: slice(None))
    """Shape (predictions,): their positions in `every`, where they are not all."""

    @cached_property
    def rows(self) -> Times:
        """`every` of these alone."""
        return self.every.take(self.chosen)

    def part(self, part: Part) -> Numbers:
        """The time of a part: shape (predictions,)."""
        times: Numbers = getattr(self.every, part.column)
        return times.take(self.chosen)

    def busy(self, unit: Device) -> Numbers:
        """Time in which a unit executed: shape (predictions,)."""
        times = {Device.ANE: self.every.neural_engine_busy_ns, Device.GPU: self.every.gpu_busy_ns}
        return times.get(unit, self.every.cpu_busy_ns).take(self.chosen)

    def of(self, predictions: IntArray) -> Breakdown:
        """The breakdown of some predictions, by id; those it does not hold are left out. O(predictions)."""
        ids = self.every.id[self.chosen]
        index = places_of(ids, predictions)
        index = index[index >= 0]
        if np.array_equal(index, np.arange(len(ids))):
            return self
        unknown = {part: codes[index] for part, codes in self.unknown.items()}
        return Breakdown(self.rows, unknown, self.handoffs.of(index), index)


@cached_by_trace
def breakdown(trace: Trace) -> Breakdown:
    """Breakdown of every top-level prediction. Rows in the stages of a pipeline count for the app's prediction.

    Rows are cut to their prediction. O(n log n) in the rows of the trace; kept as long as the trace is.
    """
    predictions = top_calls(trace, Kind.PREDICTION)
    # In this order, so that what one step needs for itself is gone before the next one.
    others = other_models(predictions)
    rows, shared = linked_rows(trace, predictions)
    steps = sweep(rows.window, rows.layer, rows.start_ns, rows.end_ns, windows=len(predictions), layers=len(Layer))
    covered = {layer: steps.of(steps.covered(layer)) for layer in Layer}
    seen = _sight(trace, predictions, covered, shared)
    # Units may have worked for the prediction without a row that says when; requests show it as well.
    hidden = seen.inferred.copy()
    for device in _REQUESTS:
        hidden |= seen.hides(device) & (~seen.requested[device] | seen.shared[device])
    work = work_of(rows, predictions, hidden=hidden, hidden_ane=seen.hides(Device.ANE))
    del rows
    unknown = _unknowns(seen)
    parts = _parts(steps, covered, seen, predictions, shared)
    del steps
    # Most parts are known in the same predictions.
    known = {id(codes): codes < 0 for codes in unknown.values()}
    units = (Part.ANE, covered[Layer.ANE]), (Part.GPU, covered[Layer.GPU]), (Part.CPU, covered[Layer.CPU])
    ane, gpu, cpu = (known_where(known[id(unknown[part])], times) for part, times in units)
    every = Times(
        id=predictions.id,
        model=predictions.model,
        duration_ns=predictions.duration_ns,
        **{part.column: known_where(known[id(unknown[part])], parts[part]) for part in Part},
        neural_engine_busy_ns=ane,
        gpu_busy_ns=gpu,
        cpu_busy_ns=cpu,
        handoffs=work.handoffs,
        handoff_gap_ns=work.handoff_gap_ns,
        lead_ns=work.lead_ns,
        tail_ns=work.tail_ns,
        segments=work.segments,
        other_models_ns=others,
    )
    return Breakdown(every, unknown, work.changes)


_EXECUTION = {Device.ANE: Layer.ANE, Device.GPU: Layer.GPU}
_REQUESTS = {Device.ANE: Layer.ANE_REQUEST, Device.GPU: Layer.GPU_REQUEST}
_WAITS = {Device.ANE: Layer.ANE_WAIT, Device.GPU: Layer.GPU_WAIT}


@dataclass(frozen=True, slots=True)
class _Sight:
    """What the recording shows of each prediction: masks of shape (predictions,), by device."""

    inferred: BoolArray
    recorded: dict[Device, bool]
    """Whether execution of the device was recorded at all."""
    executed: dict[Device, BoolArray]
    requested: dict[Device, BoolArray]
    waited: dict[Device, BoolArray]
    """Whether it is inferred to have waited for the device."""
    shared: dict[Device, BoolArray]
    """Whether the device executed meanwhile for this or another prediction."""

    def hides(self, device: Device) -> BoolArray:
        """Whether the device may have executed for the prediction without a row that says so."""
        return ~self.executed[device] & (self.shared[device] | self.requested[device] | (not self.recorded[device]))


def _sight(trace: Trace, predictions: Calls, covered: dict[Layer, IntArray], shared: Shared) -> _Sight:
    windows = Intervals.from_rows(predictions)
    models = predictions.model.codes.astype(np.int64)
    return _Sight(
        inferred=predictions.attribution.is_any(Attribution.INFERRED),
        recorded={
            device: trace.coverage_of(instrument).recorded
            for device, instrument in ((Device.ANE, NEURAL_ENGINE), (Device.GPU, GPU))
        },
        executed={device: covered[layer] > 0 for device, layer in _EXECUTION.items()},
        requested={device: covered[layer] > 0 for device, layer in _REQUESTS.items()},
        waited={device: covered[layer] > 0 for device, layer in _WAITS.items()},
        shared={device: shared.time(models, windows, [layer]) > 0 for device, layer in _EXECUTION.items()},
    )


def _unknowns(seen: _Sight) -> dict[Part, Int8Array]:
    """Why each part is not known, as `Breakdown.unknown`."""
    count = len(seen.inferred)
    known = np.full(count, -1, np.int8)
    codes = dict.fromkeys(Part, _first((seen.inferred, Unknown.NO_CORE_ML)))
    codes |= dict.fromkeys((Part.AMBIGUOUS, Part.UNEXPLAINED, Part.NOT_RECORDED), known)
    for device, part, queue in ((Device.ANE, Part.ANE, Part.ANE_QUEUE), (Device.GPU, Part.GPU, Part.GPU_QUEUE)):
        executed, requested, shared = seen.executed[device], seen.requested[device], seen.shared[device]
        hidden = (
            (shared & ~executed, Unknown.AMBIGUOUS),
            (requested & ~executed, Unknown.NOT_SPLIT),
            (~executed & (not seen.recorded[device]), Unknown.NOT_RECORDED),
        )
        codes[part] = _first(*hidden)
        codes[queue] = _first(
            (seen.inferred, Unknown.NO_CORE_ML),
            *hidden,
            (executed & ~requested & ~seen.waited[device], Unknown.NO_REQUESTS),
        )
    return codes


def _first(*reasons: tuple[BoolArray, Unknown]) -> Int8Array:
    """For each prediction the first reason that holds, as an index in `REASONS`; -1 for none."""
    return np.select([mask for mask, _ in reasons], [np.int8(REASONS.index(why)) for _, why in reasons], np.int8(-1))


def _parts(
    steps: Steps, covered: dict[Layer, IntArray], seen: _Sight, predictions: Calls, shared: Shared
) -> dict[Part, IntArray]:
    """Time of each part in each prediction; 0 for what is not known."""
    layer, window, time = steps.layer, steps.window, steps.of
    first, last = _compute_span(steps)
    data = layer == Layer.DATA
    placed = (first <= last)[window]
    before = steps.start_ns < first[window]
    after = steps.start_ns >= last[window]
    parts = {
        Part.ANE: covered[Layer.ANE],
        Part.GPU: time(layer == Layer.GPU),
        Part.CPU: time(layer == Layer.CPU),
        Part.DATA_BEFORE: time(data & placed & before),
        Part.DATA_BETWEEN: time(data & placed & ~before & ~after),
        Part.DATA_AFTER: time(data & placed & after),
        Part.DATA_UNPLACED: time(data & ~placed),
        Part.OTHER: time(layer == Layer.OTHER),
    }
    for device, queue, requested in (
        (Device.ANE, Part.ANE_QUEUE, Part.ANE_REQUESTED),
        (Device.GPU, Part.GPU_QUEUE, Part.GPU_REQUESTED),
    ):
        waiting, executed = layer == _REQUESTS[device], seen.executed[device][window]
        parts[queue] = time(waiting & executed | (layer == _WAITS[device]))
        parts[requested] = time(waiting & ~executed)
    windows = Intervals.from_rows(predictions)
    models = predictions.model.codes.astype(np.int64)
    parts[Part.AMBIGUOUS] = parts[Part.NOT_RECORDED] = no_time(len(windows))
    if len(shared.times):
        in_steps = shared.time(models[window], steps.times, tuple(Layer))
        parts[Part.AMBIGUOUS] = shared.time(models, windows, tuple(Layer)) - sums_between(in_steps, steps.edges)
    rest = windows.durations
    for time_ns in parts.values():
        rest -= time_ns
    parts[Part.UNEXPLAINED] = rest
    if seen.inferred.any():
        parts[Part.UNEXPLAINED] = np.where(seen.inferred, 0, rest)
        parts[Part.NOT_RECORDED] = rest - parts[Part.UNEXPLAINED]
    return parts


def _compute_span(steps: Steps) -> tuple[IntArray, IntArray]:
    """Start of the first and end of the last compute activity of each window; start after end where there is none."""
    active = steps.covered(Layer.ANE, Layer.GPU, Layer.CPU, Layer.ANE_REQUEST, Layer.GPU_REQUEST)
    window, start = steps.window[active], steps.start_ns[active]
    end = steps.times.ends[active]
    count = len(steps.edges) - 1
    first, last = np.zeros(count, np.int64), np.full(count, -1, np.int64)
    opens = np.flatnonzero(np.diff(window, prepend=-1))
    first[window[opens]] = start[opens]
    closes = np.append(opens[1:], len(window))[: len(opens)] - 1
    last[window[opens]] = end[closes]
    return first, last
