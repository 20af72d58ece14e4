"""Work of others on the compute units that a model uses: which of its long calls it explains, and which it may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.breakdown.partition import Breakdown, Part, breakdown
from tracekit.analysis.load_waits import setup_times
from tracekit.analysis.quantities import median_of, sample_quantiles
from tracekit.analysis.statistics import top_calls
from tracekit.arrays import CodeArray
from tracekit.columns import Texts
from tracekit.trace.linking import top_predictions

LONGER = 0.2
"""How much longer than the shortest tenth a call must be before it is asked whether it waited, as a share."""

WAITED_SHARE = 0.5
"""Part of a call's extra time that work of others explains, where these are idle otherwise (heuristic)."""

LIKELY_SHARE = 0.8
"""Part of the extra time from which on other work may explain it, however busy the others are (heuristic)."""

USUAL_EXPOSURE = 0.9
"""Quantile of the exposure of ordinary calls to other work that an explained call must exceed: what nine of ten
ordinary calls bear does not make calls long (heuristic)."""

UNIT_SHARE = 0.1
"""Part of a model's time on compute units from which on a unit counts as its own: a model on the GPU has a few
microseconds on the CPU (heuristic)."""

_UNITS = _ENGINE, _GPU, _CPU = range(3)


class _Calls(NamedTuple):
    """Calls and the usual time of one: shape (calls,)."""

    times: tk.Intervals
    usual_ns: float
    longer: tk.BoolArray
    """Takes so much longer than usual that the reason matters."""

    @property
    def extra_ns(self) -> tk.FloatArray:
        """What each takes beyond the usual time."""
        extra: tk.FloatArray = self.times.durations.astype(np.float64) - self.usual_ns
        return extra


def find_held_up(
    view: tk.ModelView, rows: tk.Calls, chosen_from: tk.BoolArray, windows: tk.Intervals
) -> tuple[tk.BoolArray, tk.BoolArray]:
    """Which of some predictions of a model others made long, shape (rows,) each. Surely, where others worked on a unit
    of the model in the extra time, and not so during ordinary calls; perhaps, if work whose unit or owner the recording
    does not name was on that unit. `chosen_from`, shape (predictions,), are those that compare, and `windows` the
    sequences of these. O(n log n) in the rows of the trace."""
    predicted = tk.Intervals.from_rows(rows)
    (usual,) = sample_quantiles(predicted.durations, 0.1)
    calls = _Calls(predicted, usual, predicted.durations - usual >= LONGER * usual)
    times = [int(time[chosen_from].sum()) for time in _unit_times(view.breakdown)]
    units = _units(times)
    # A unit that takes one request after the other works for nobody else meanwhile; the CPU has several cores.
    own_ns = int(max((times[unit] for unit in units if unit != _CPU), default=0))
    sure, doubtful = _of_others(view, units, loads=True, meets=False)
    surely = _fill(sure, calls, windows, own_ns, max_share=1.0)
    if _CPU in units:
        # Loads beside ordinary calls must not hide that predictions of others make the long ones long.
        working, _ = _of_others(view, units, loads=False, meets=False)
        surely |= _fill(working, calls, windows, own_ns, max_share=1.0)
    if _ENGINE in units:
        waits = view.engine_waits
        surely |= calls.longer & (waits.by_prediction(rows.id) >= WAITED_SHARE * calls.extra_ns)
    perhaps = _fill(sure.joined(doubtful), calls, windows, own_ns, max_share=LIKELY_SHARE)
    worked_longer = _longer_work(view, rows, calls)
    return surely & ~worked_longer, perhaps & ~surely & ~worked_longer


def _longer_work(view: tk.ModelView, rows: tk.Calls, calls: _Calls) -> tk.BoolArray:
    """Shape (calls,): the Neural Engine, which works for one after the other, worked so much longer for the call itself
    that it would be long without others too."""
    work = breakdown(view.trace).of(rows.id).busy(tk.Device.ANE).filled(0).astype(np.float64)
    usual = median_of(work[~calls.longer]) if not calls.longer.all() else np.inf
    longer: tk.BoolArray = work - usual >= LONGER * calls.usual_ns
    return longer


@tk.cached_by_model
def waits_for_others(view: tk.ModelView) -> tuple[tk.IntArray, tk.IntArray]:
    """Shape (predictions,) each: time in ns that each prediction surely waited while the Neural Engine worked for
    others, and the longest time that it can have waited while the Neural Engine or the GPU did: nothing of the
    prediction's model ran meanwhile. Loads hold neither: what they do on the Neural Engine has rows of its own.
    O(n log n) in the rows of the trace; found once per view."""
    predicted, waits = tk.Intervals.from_rows(view.predictions), view.engine_waits
    surely = np.minimum(waits.by_prediction(view.predictions.id), predicted.durations)
    units = [unit for unit in _units([int(time.sum()) for time in _unit_times(view.breakdown)]) if unit != _CPU]
    if not units:
        return surely, surely
    requests = view.compute.kind.is_any(tk.Kind.ANE_REQUEST, tk.Kind.GPU_REQUEST)
    computed = tk.Intervals.from_rows(view.compute).where(~requests)
    model_work = computed.joined(tk.Intervals.from_rows(view.hardware, view.data))
    others = tk.Intervals.none().joined(*_of_others(view, units, loads=False, meets=True))
    alone = others.covered_within(predicted)
    met = np.flatnonzero(alone)
    if met.size:
        windows = predicted.where(met)
        either = others.joined(model_work)
        alone[met] = either.covered_within(windows) - model_work.covered_within(windows)
    return surely, np.maximum(surely, alone)


def _fill(work: tk.Intervals, calls: _Calls, windows: tk.Intervals, own_ns: int, max_share: float) -> tk.BoolArray:
    """Shape (calls,): work of others fills so much of the extra time that it explains it.

    Others that are at work most of the time fill much of any extra time. The share that explains it therefore lies in
    the middle between what they fill anyhow and all of it, and is `max_share` at most.
    """
    covered = work.covered_time()
    busy = covered.within(calls.times.starts, calls.times.ends)
    exposure = busy / calls.times.durations
    ordinary = exposure[~calls.longer]
    free = max(int(windows.durations.sum()) - own_ns, 1)
    anyhow = min(float(covered.within(windows.starts, windows.ends).sum()) / free, 1.0)
    needed = min(WAITED_SHARE + (1 - WAITED_SHARE) * anyhow, max_share)
    in_extra_time = busy - float(ordinary.mean()) * calls.usual_ns
    (usual,) = sample_quantiles(ordinary, USUAL_EXPOSURE)
    explained: tk.BoolArray = calls.longer & (exposure > usual) & (in_extra_time >= needed * calls.extra_ns)
    return explained


def time_by_model(model: Texts, times: tk.Intervals, windows: tk.Intervals) -> dict[str, int]:
    """Time in ns within the windows that rows of each model cover, most first; only those with any. `model` and `times`
    are those of the rows. O(n log n)."""
    order, counts = np.argsort(model.codes, kind="stable"), model.counts()
    after = np.cumsum(counts) + len(model) - counts.sum()
    covered = {
        model.values[code]: int(times.where(order[end - count : end]).covered_within(windows).sum())
        for code, (end, count) in enumerate(zip(after.tolist(), counts.tolist(), strict=True))
        if count
    }
    names = sorted((name for name, time in covered.items() if time), key=lambda name: (-covered[name], name))
    return {name: covered[name] for name in names}


def _units(times_ns: Sequence[int]) -> list[int]:
    """Those of `_UNITS` that count as a model's own, given its time on each."""
    return [unit for unit in _UNITS if times_ns[unit] and times_ns[unit] >= UNIT_SHARE * sum(times_ns)]


def _unit_times(times: Breakdown) -> tuple[tk.IntArray, tk.IntArray, tk.IntArray]:
    """Time in ns of each prediction of a breakdown on each of `_UNITS`, shape (predictions,) each; 0 where no row shows
    it. Requests stand for execution that was not recorded."""
    asked = ((tk.Device.ANE, Part.ANE_REQUESTED), (tk.Device.GPU, Part.GPU_REQUESTED))
    ane, gpu = (times.busy(unit).filled(0) + times.part(part).filled(0) for unit, part in asked)
    return ane, gpu, times.busy(tk.Device.CPU).filled(0)


def _of_others(view: tk.ModelView, units: list[int], *, loads: bool, meets: bool) -> tuple[tk.Intervals, tk.Intervals]:
    """Work of others: what surely ran on one of the units, and what may have; with `loads`, those of any model too.
    `meets`: only what may meet a prediction of the model."""
    work = _work(view.trace)
    others = work.predicted.model != work.models.get(view.name, -1)
    if not units:
        return tk.Intervals.none(), work.predicted.times.where(others).joined(work.loads)
    sure: list[tk.Intervals] = []
    doubtful: list[tk.Intervals] = []
    blind = False
    for unit in units:
        if not work.recorded[unit]:
            rows = work.compute.unit == unit
            rows[view.compute.id] = False
            sure.append(work.compute.times.where(rows))
            blind = True
            continue
        rows = work.hardware.unit == unit
        model_rows = view.hardware.id
        # Where rows of the model bear its name, a row without a name is not one of them.
        unsure = rows & work.ambiguous & (not (rows[model_rows] & work.named[model_rows]).any())
        rows[model_rows] = unsure[model_rows] = False
        if meets:
            rows[work.inside] = unsure[work.inside] = False
        sure.append(work.hardware.times.where(rows & ~unsure))
        doubtful.append(work.hardware.times.where(unsure))
    if loads:
        (sure if _CPU in units else doubtful).append(work.loads)
    if blind:
        doubtful.append(work.predicted.times.where(others & ~work.known))
    return tk.Intervals.none().joined(*sure), tk.Intervals.none().joined(*doubtful)


class _Rows(NamedTuple):
    """Rows of a lane: shape (rows,) each."""

    times: tk.Intervals
    unit: CodeArray
    """The unit that works, of `_UNITS`; -1 for rows that name none."""
    model: CodeArray
    """A number for the model."""


class _Work(NamedTuple):
    """What all models of a recording and others did."""

    hardware: _Rows
    ambiguous: tk.BoolArray
    """Shape (hardware rows,): no name and no time says whose it is."""
    named: tk.BoolArray
    """Shape (hardware rows,): the label names the model."""
    inside: tk.BoolArray
    """Shape (hardware rows,): each lies in its prediction, and no two predictions overlap."""
    compute: _Rows
    predicted: _Rows
    """Top-level predictions."""
    known: tk.BoolArray
    """Shape (predictions,): some row shows on which unit it ran."""
    loads: tk.Intervals
    """Loads and compilations of all models, which work on the CPU and prepare other units."""
    recorded: tuple[bool, bool, bool]
    """Whether hardware rows show all that each of `_UNITS` did."""
    models: dict[str, int]
    """The numbers by base name."""


@tk.cached_by_trace
def _work(trace: tk.Trace) -> _Work:
    hardware, predictions = trace.hardware, top_calls(trace, tk.Kind.PREDICTION)
    return _Work(
        hardware=_rows(hardware, hardware.lane, (tk.Lane.NEURAL_ENGINE, tk.Lane.GPU)),
        ambiguous=hardware.attribution.is_any(tk.Attribution.AMBIGUOUS),
        named=hardware.attribution.is_any(tk.Attribution.EXACT, tk.Attribution.LABEL),
        inside=_inside(trace, predictions),
        compute=_rows(
            trace.compute, trace.compute.kind, (tk.Kind.ANE_REQUEST, tk.Kind.GPU_REQUEST, tk.Kind.CPU_COMPUTE)
        ),
        predicted=_rows(predictions, predictions.kind, ()),
        known=np.asarray(sum(_unit_times(breakdown(trace)))) > 0,
        loads=setup_times(trace),
        recorded=(trace.coverage_of(tk.NEURAL_ENGINE).recorded, trace.coverage_of(tk.GPU).recorded, False),
        models={name: number for number, name in enumerate(trace.activity.model.values)},
    )


def _inside(trace: tk.Trace, predictions: tk.Calls) -> tk.BoolArray:
    called, times = tk.Intervals.from_rows(predictions), tk.Intervals.from_rows(trace.hardware)
    if not called.in_turn() or not len(called):
        return np.zeros(len(times), np.bool_)
    owner = np.append(top_predictions(trace.activity), -1)
    call = tk.places_of(predictions.id, owner[trace.hardware.prediction.filled()])
    inside: tk.BoolArray = (times.starts >= called.starts[call]) & (times.ends <= called.ends[call])
    return inside & (call >= 0) & ~trace.hardware.attribution.is_any(tk.Attribution.FOREIGN)


def _rows(rows: tk.Events, column: Texts, values: tuple[tk.Lane | tk.Kind, ...]) -> _Rows:
    """Rows of a lane; `values` of a column stand for `_UNITS`."""
    unit = np.full(len(rows), -1, np.int8)
    for number, value in enumerate(values):
        unit[column.is_any(value)] = number
    return _Rows(tk.Intervals.from_rows(rows), unit, rows.model.codes)
