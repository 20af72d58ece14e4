"""Rows of a trace that lie in a prediction of the app, in the layers that a breakdown distinguishes, and how long each
layer has it.

That is a sweep over the edges of the rows, prediction by prediction: between two neighboring edges nothing changes, so
each such step belongs as a whole to the first layer that covers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from tracekit.analysis.queues import Waits, all_waits
from tracekit.arrays import AnyArray, BoolArray, CodeArray, Int8Array, Int32Array, IntArray
from tracekit.columns import Texts
from tracekit.intervals import Intervals, sums_between, union_by_group
from tracekit.sorting import distinct_numbers, group_edges
from tracekit.trace.events import Attribution, Calls, Device, Events, Kind, Lane
from tracekit.trace.linking import top_predictions
from tracekit.trace.trace import Trace


class Layer(IntEnum):
    """What a row shows; where several cover an instant, the first one has it."""

    ANE = 0
    GPU = 1
    DATA = 2
    CPU = 3
    ANE_REQUEST = 4
    GPU_REQUEST = 5
    ANE_WAIT = 6
    """No row, but inferred: the prediction waited for the Neural Engine, which did other work."""
    GPU_WAIT = 7
    OTHER = 8


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows with length inside a prediction, cut to it: shape (rows,) each."""

    window: Int32Array
    """Place of the prediction."""
    layer: Int8Array
    start_ns: IntArray
    end_ns: IntArray
    preparation: BoolArray
    """`Prepare GPU Request`: host work before a request."""
    model: CodeArray
    """A number for the model that the row names."""
    operation: Int32Array
    """`Op<N>` of a hardware row; -1 where it names none."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Rows that ran for some prediction of the target, and it is not known which: shape (rows,) each."""

    times: Intervals
    layer: Int8Array
    model: CodeArray
    """The model of the predictions in question, as a code of their models; -1 where that is not known either,
    or is none of theirs."""

    def time(self, models: IntArray, windows: Intervals, layers: Sequence[int]) -> IntArray:
        """Time in windows of these models that rows of these layers cover, which could belong there.

        Shape (windows,). O((rows + windows) log rows).
        """
        chosen = np.isin(self.layer, layers)
        if not chosen.any():
            return no_time(len(windows))
        nameless, named = chosen & (self.model < 0), chosen & (self.model >= 0)
        by_nameless = self.times.where(nameless).covered_time()
        result = by_nameless.within(windows.starts, windows.ends)
        of_models = self.times.where(named)
        group, start, end = union_by_group(self.model[named], of_models.starts, of_models.ends)
        if not len(group):
            return result
        # Of what rows of a model cover, only the time that no nameless row covers comes on top.
        before = np.concatenate(([0], np.cumsum(by_nameless.free_within(start, end))))
        times = distinct_numbers(start)
        key = group * (len(times) + 1) + np.searchsorted(times, start, side="right")

        def up_to(time_ns: IntArray) -> IntArray:
            """Such time of the window's model, and of models with a lower number, until then."""
            sought = models * (len(times) + 1) + np.searchsorted(times, time_ns, side="right")
            count = np.searchsorted(key, sought, side="right")
            last = np.maximum(count - 1, 0)
            inside = (count > 0) & (group[last] == models) & (time_ns < end[last])
            low = np.where(inside, time_ns, end[last])
            return before[count] - np.where(inside, by_nameless.free_within(low, end[last]), 0)

        return result + up_to(windows.ends) - up_to(windows.starts)


class _Finder:
    """Collects rows of several lanes by the prediction of the app that they lie in."""

    def __init__(self, activity: Calls, predictions: Calls) -> None:
        self._windows = Intervals.from_rows(predictions)
        self._models = predictions.model.values
        index = np.full(len(activity) + 1, -1, np.int32)
        index[predictions.id] = np.arange(len(predictions))
        owner = top_predictions(activity)
        self._prediction_of = np.append(index[owner], index[-1:])
        """Index of the app's prediction for each row of the activity; -1 for none, and for row -1."""
        self._several = np.append(activity.attribution.is_any(Attribution.AMBIGUOUS)[owner], False)
        """Whether the stage that a row leads to lies in several predictions of its pipeline."""
        self._linked: list[tuple[AnyArray, ...]] = []
        self._shared: list[tuple[AnyArray, ...]] = []

    def add(self, rows: Events, layer: Int8Array) -> None:
        """Take in the rows of one lane."""
        linked = rows.prediction.filled()
        window = self._prediction_of[linked]
        times = Intervals.from_rows(rows)
        possible = rows.attribution.is_any(*POSSIBLE) & (linked < 0)
        shared = np.flatnonzero((possible | self._several[linked]) & (window < 0) & (layer >= 0))
        outer = self._codes(rows.parent_model)
        called = np.where(outer >= 0, outer, self._codes(rows.model))
        self._shared.append((times.starts[shared], times.ends[shared], layer[shared], called[shared]))
        inside = np.flatnonzero((window >= 0) & (layer >= 0))
        window = window[inside]
        times = times.where(inside).clipped(self._windows.starts[window], self._windows.ends[window])
        has_length = times.ends > times.starts
        inside = inside[has_length]
        self._linked.append(
            (
                window[has_length],
                layer[inside],
                times.starts[has_length],
                times.ends[has_length],
                rows.kind.is_any(Kind.GPU_PREPARE)[inside],
                rows.model.codes[inside],
                rows.operation.filled()[inside].astype(np.int32),
            )
        )

    def add_waits(self, waits: Waits, waiting: Layer) -> None:
        """Take in when predictions waited for a unit."""
        window = self._prediction_of[waits.call]
        inside = window >= 0
        window, times = window[inside], waits.times.where(inside)
        times = times.clipped(self._windows.starts[window], self._windows.ends[window])
        none = np.full(len(window), -1, np.int8)
        layer = np.full(len(window), waiting, np.int8)
        self._linked.append((window, layer, times.starts, times.ends, none >= 0, none, none))

    def _codes(self, models: Texts) -> Int32Array:
        """Models of rows as indexes among the models of the predictions; -1 for others and none."""
        return models.codes_in(self._models).astype(np.int32)

    def found(self) -> tuple[Rows, Shared]:
        """Rows that lie in one prediction, and those that could lie in several."""
        linked, shared = (
            [np.concatenate(part) for part in zip(*parts, strict=True)] for parts in (self._linked, self._shared)
        )
        return Rows(*linked), Shared(Intervals(*shared[:2]), *shared[2:])


def linked_rows(trace: Trace, predictions: Calls) -> tuple[Rows, Shared]:
    """The rows that lie in exactly one of the predictions, and those of which that is not known.

    `predictions` are top-level rows of `Trace.activity`. O(n log n).
    """
    finder = _Finder(trace.activity, predictions)
    recorded = [rows for rows in (trace.data, trace.compute, trace.other) if len(rows)]
    for rows in (*recorded, trace.hardware):
        # Rows that are no part of a prediction have no layer: hardware loads, compilations and dispatches.
        lane = _layer_by(rows.lane, _BY_LANE, -1)
        compute = rows.lane.is_any(Lane.COMPUTE)
        by_device = _layer_by(rows.device, _BY_DEVICE, Layer.OTHER)
        executed = rows.kind.is_any(Kind.ANE_EXEC, Kind.GPU_EXEC)
        hardware = (lane == Layer.ANE) | (lane == Layer.GPU)
        finder.add(rows, np.where(compute, by_device, np.where(hardware & ~executed, np.int8(-1), lane)))
    for unit, waits in all_waits(trace).items():
        finder.add_waits(waits, Layer.ANE_WAIT if unit is Device.ANE else Layer.GPU_WAIT)
    return finder.found()


def _layer_by(texts: Texts, layers: dict[str, int], other: int) -> Int8Array:
    """Layer that stands for the text of each row; `other` for null and for texts without one."""
    by_code: Int8Array = np.array([*(layers.get(text, other) for text in texts.values), other], np.int8)
    return by_code.take(texts.codes)


_BY_LANE: dict[str, int] = {
    "neural-engine": Layer.ANE,
    "gpu": Layer.GPU,
    "data": Layer.DATA,
    "compute": Layer.OTHER,
    "unknown": Layer.OTHER,
}
_BY_DEVICE: dict[str, int] = {
    Device.CPU: Layer.CPU,
    Device.ANE: Layer.ANE_REQUEST,
    Device.GPU: Layer.GPU_REQUEST,
}


POSSIBLE = (Attribution.AMBIGUOUS, Attribution.LABEL, Attribution.EXACT)
"""What is said of rows without a prediction that ran for some prediction of the target."""


def no_time(windows: int) -> IntArray:
    """Shape (windows,): 0 for each, as of most layers, in no memory; nothing can be written to it."""
    return np.broadcast_to(np.int64(0), windows)


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps of shape (steps,) between neighboring edges that at least one interval covers, by window and time."""

    window: Int32Array
    start_ns: IntArray
    length_ns: IntArray
    """More than 0."""
    layer: Int8Array
    """First layer that covers the step."""
    layers: CodeArray
    """A bit for each layer that covers the step."""
    edges: IntArray
    """Shape (windows + 1,): the steps of window w are those from `edges[w]` to `edges[w + 1]`."""

    def covered(self, *layers: int) -> BoolArray:
        """Shape (steps,): whether one of the layers covers the step."""
        return (self.layers & sum(1 << layer for layer in layers)) > 0

    def of(self, chosen: BoolArray) -> IntArray:
        """Time of the chosen steps in each window, in ns: shape (windows,)."""
        if not chosen.any():
            return no_time(len(self.edges) - 1)
        return sums_between(self.length_ns * chosen, self.edges)

    @property
    def times(self) -> Intervals:
        """When each step lasted."""
        return Intervals(self.start_ns, self.start_ns + self.length_ns)


def sweep(
    window: CodeArray, layer: CodeArray, starts_ns: IntArray, ends_ns: IntArray, *, windows: int, layers: int
) -> Steps:
    """Steps of intervals that each lie in one window (0 to `windows` - 1) and one layer (0 to `layers` - 1; the lower
    wins). There are at most 15 layers.

    The four arrays have shape (n,). Windows need not be disjoint in time: intervals of different windows never meet.
    O(n log n + layers × n).
    """
    order = np.lexsort((starts_ns, window))
    order = order[ends_ns[order] > starts_ns[order]]
    window, layer, starts_ns, ends_ns = window[order], layer[order], starts_ns[order], ends_ns[order]
    meets = np.flatnonzero((window[1:] == window[:-1]) & (starts_ns[1:] < ends_ns[:-1]))
    mixed = np.zeros(windows, np.bool_)
    mixed[window[meets]] = True
    # In most windows they come one after another: each is a step.
    apart, met = (np.flatnonzero(mixed[window] == meeting) for meeting in (False, True))
    alone: list[AnyArray] = [window, starts_ns, ends_ns - starts_ns, layer, np.int16(1) << layer]
    if not len(met):
        return Steps(*alone, *[group_edges(window, windows)])
    window, layer, starts_ns, ends_ns = window[met], layer[met], starts_ns[met], ends_ns[met]
    time = np.concatenate((starts_ns, ends_ns))
    # Small types: with a million intervals, these arrays are what a breakdown needs most memory for.
    owner = np.concatenate((window, window), dtype=np.int32, casting="same_kind")
    order = np.lexsort((time, owner))
    time, owner = time[order], owner[order]
    change = np.where(order < len(window), 1, -1).astype(np.int8)
    kind = np.concatenate((layer, layer), dtype=np.int8, casting="same_kind")[order]
    # Every interval ends in its own window, so all counts are back at zero where the next window begins.
    length = np.diff(time, append=time[-1:])
    lasting = np.flatnonzero((np.cumsum(change, dtype=np.int32) > 0) & (length > 0))
    lowest, covered = np.zeros(len(lasting), np.int8), np.zeros(len(lasting), np.int16)
    for number in reversed(np.flatnonzero(np.bincount(layer, minlength=layers)).tolist()):
        here = np.cumsum(np.where(kind == number, change, 0), dtype=np.int32)[lasting] > 0
        lowest[here] = number
        covered |= here.astype(np.int16) << number
    between: list[AnyArray] = [owner[lasting], time[lasting], length[lasting], lowest, covered]
    order = np.argsort(np.concatenate((alone[0][apart], between[0])), kind="stable")
    both = [np.concatenate((one[apart], other))[order] for one, other in zip(alone, between, strict=True)]
    return Steps(*both, *[group_edges(both[0], windows)])
