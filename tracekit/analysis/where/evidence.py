"""What a recording shows of the compute unit of each prediction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracekit.analysis.code.call_sites import call_sites, core_ml_stacks
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.queues import all_waits
from tracekit.analysis.statistics import exact_sum
from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals, positions_between, union_length_by_group
from tracekit.recording.contents import is_simulator
from tracekit.recording.table import NOT_EXPORTED, TableState
from tracekit.rows import places_of
from tracekit.sorting import distinct_numbers
from tracekit.trace.calls.stacks import UNIT_PATTERNS, Api, Unit, matches_function, outermost
from tracekit.trace.events import (
    Attribution,
    Device,
    Events,
    Kind,
    Lane,
    Level,
)
from tracekit.trace.instruments.catalogue import GPU, NEURAL_ENGINE
from tracekit.trace.linking import top_predictions
from tracekit.trace.sharing import PADDING_NS
from tracekit.trace.trace import Trace, cached_by_trace

BY_NAME, BY_TIME, BY_PROCESS, BY_REQUEST, BY_ROW, BY_STACK = (
    "rows that name the model",
    "rows in its predictions alone",
    "rows of its process in its predictions alone",
    "requests in Core ML's rows",
    "CPU rows of Core ML",
    "call stacks",
)
"""What proves that a unit worked, strongest first."""

EXECUTED: Final = {Device.ANE: Kind.ANE_EXEC, Device.GPU: Kind.GPU_EXEC}
_REQUESTS: Final = {Device.ANE: Kind.ANE_REQUEST, Device.GPU: Kind.GPU_REQUEST}
_INSTRUMENTS: Final = {Device.ANE: NEURAL_ENGINE, Device.GPU: GPU}

CALL_NS = 1_500_000
"""Time of a prediction on the Neural Engine that no row explains: 0.9 to 1.3 ms before the engine begins and 0.07 to
0.18 ms after it in published recordings."""
CALL_SHARE = 0.1
"""That much of a long prediction besides (heuristic)."""
MOST_UNEXPLAINED = 0.5
"""Of a prediction, whatever its length (heuristic)."""
OTHERS_SHARE = 0.02
"""Rows without a name are not the model's own where as much of their time in its predictions would be that of other
processes, which are active at the same rate outside of them (heuristic)."""
ALONE = 0.95
"""Share of the time of a process's rows on the GPU that lies in predictions of one model, so that they are its own
(heuristic)."""
LOST = 0.05
"""Share of the predictions with requests to a unit from which on its table lost rows if it has none of them
(heuristic)."""
_DRAWING: Final = re.compile(r"Render|Vertex|Fragment|Blit|Tile|Present", re.IGNORECASE)

_CODE: Final = {
    Device.ANE: rf"{UNIT_PATTERNS[Unit.NEURAL_ENGINE]}|-\[_ANE\w*Client |Espresso::ANERuntimeEngine::",
    Device.GPU: rf"{UNIT_PATTERNS[Unit.GPU]}|Espresso::MPS\w*Engine::|-\[MPSGraph",
    Device.CPU: rf"{UNIT_PATTERNS[Unit.CPU]}|BNNS|bnns::|Espresso::(?:BNNSEngine::|\w+_cpu\b)|\w+_kernel_cpu\b",
}
"""Functions below a prediction that compute, or ask a unit to: names in public recordings and reports."""
_IMAGES: Final = {
    Device.ANE: "AppleNeuralEngine",
    Device.GPU: "MetalPerformanceShadersGraph",
    Device.CPU: "libBNNS.dylib",
}

Pieces = tuple[IntArray, Intervals]
"""Place of the prediction of each interval, and the intervals, cut to it."""


class _Calls:
    """The predictions of a level, and what was recorded of each: arrays of shape (predictions,)."""

    def __init__(self, trace: Trace, level: str) -> None:
        activity = trace.activity
        called = activity.kind.is_any(Kind.PREDICTION) & (activity.level.is_any(Level.SUB) == (level == Level.SUB))
        self.trace, self.level = trace, level
        self.rows = activity.where(called)
        self.times = Intervals.from_rows(self.rows)
        place = np.full(len(activity), -1)
        place[self.rows.id] = np.arange(len(self.rows))
        # Of a pipeline, what its stages did is its own.
        owner = np.arange(len(activity)) if level == Level.SUB else top_predictions(activity)
        self._place_of = np.append(place[owner], -1)
        self._by_start = np.argsort(self.times.starts, kind="stable")
        self._ends = np.sort(self.times.ends)

    def pieces(self, rows: Events, chosen: BoolArray) -> Pieces:
        """The chosen rows that are linked to one of the predictions."""
        place = self._place_of[rows.prediction.filled()]
        inside = np.flatnonzero(chosen & (place >= 0))
        return self.cut(place[inside], Intervals.from_rows(rows).where(inside))

    def cut(self, place: IntArray, times: Intervals) -> Pieces:
        """Intervals of these predictions, cut to them."""
        return place, times.clipped(self.times.starts[place], self.times.ends[place])

    def covered(self, *parts: Pieces) -> IntArray:
        """Time of each prediction that any of the pieces cover."""
        place = np.concatenate([each for each, _ in parts])
        times = Intervals.none().joined(*(each for _, each in parts))
        return union_length_by_group(place, times.starts, times.ends, len(self.rows))

    def counts(self, part: Pieces) -> IntArray:
        """Pieces in each prediction."""
        return np.bincount(part[0], minlength=len(self.rows))

    def only(self, time: IntArray) -> IntArray:
        """Place of the one prediction that was in flight at each time; -1 for none, and for several."""
        starts, ends = self.times.starts[self._by_start], self.times.ends[self._by_start]
        if not len(starts):
            return np.full(len(time), -1)
        begun = np.searchsorted(starts, time, "right")
        several = begun - np.searchsorted(self._ends, time, "right") != 1
        # If one is in flight, it is the one that ends last of those that have begun.
        last = np.maximum.accumulate(np.where(ends >= np.maximum.accumulate(ends), np.arange(len(ends)), 0))
        return np.where(several, -1, self._by_start[last[np.maximum(begun - 1, 0)]])


@dataclass(frozen=True, slots=True)
class _Sampled:
    """What samples in predictions show, each piece in the prediction that it is of."""

    running: Pieces
    """All of the threads of the predictions, and all that compute."""
    unit: IntArray
    """Index in `_CODE` of each, -1 for other code."""
    stray_ns: int = 0
    """Time of those in code for the CPU that lie in no prediction, or in several."""

    def of(self, device: Device) -> Pieces:
        """Those in code for a unit."""
        chosen = np.flatnonzero(self.unit == list(_CODE).index(device))
        return self.running[0][chosen], self.running[1].where(chosen)


def _samples(calls: _Calls) -> _Sampled:
    """Samples of predictions of the target: those in Core ML, and those that compute in any thread."""
    trace = calls.trace
    sampled, kinds, target = trace.sampled, core_ml_stacks(trace), trace.run.target.process
    none = np.zeros(0, np.int64)
    if sampled is None or kinds is None or not len(sampled.stacks) or not len(calls.rows):
        return _Sampled((none, Intervals.none()), none)
    frames = {
        device: matches_function(sampled.stacks, _CODE[device]) | sampled.stacks.image.is_any(_IMAGES[device])
        for device in _CODE
    }
    # What asked for the work is farther out than what does it.
    outer = outermost(sampled, np.logical_or.reduce([*frames.values()]))
    of_frame = np.append(np.select([*frames.values()], range(len(_CODE)), -1), -1)
    unit_of = np.where(outer >= 0, of_frame[outer], -1)
    predicts = kinds.api.is_any(Api.PREDICTION)
    relevant = predicts | ((unit_of >= 0) & ~kinds.api.is_any(Api.LOAD, Api.COMPILE))
    rows = sampled.samples
    own = rows.stack.known & np.append(relevant, False)[rows.stack.filled()]
    if target is not None and target.pid is not None:
        own &= ~rows.pid.known | (rows.pid.values == target.pid)
    rows = rows.where(own)
    stack = rows.stack.values
    place = calls.only(rows.time_ns - 1)
    sites = call_sites(trace) if calls.level == Level.TOP else None
    if sites is not None and (place < 0).any():
        # Of several predictions in flight, the one that the thread of the sample made.
        spans = Intervals.from_rows(trace.activity).where(sites.id)
        at = places_of(calls.rows.id, sites.id)
        sure = np.flatnonzero(~sites.ambiguous & sites.tid.known & (at >= 0))
        first, after = (np.searchsorted(rows.time_ns, edge[sure]) for edge in (spans.starts, spans.ends))
        site, sample = np.repeat(sure, after - first), positions_between(first, after)
        same = (sites.tid.values[site] == rows.tid.filled()[sample]) & (place[sample] < 0) & predicts[stack[sample]]
        place[sample[same]] = at[site[same]]
    known, on_cpu = np.flatnonzero(place >= 0), unit_of[stack] == list(_CODE).index(Device.CPU)
    stray_ns = int((on_cpu & (place < 0)).sum()) * sampled.period_ns
    ends = rows.time_ns[known]
    times = Intervals(ends - sampled.period_ns, ends)
    return _Sampled(calls.cut(place[known], times), unit_of[stack[known]], stray_ns)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of each prediction of a level: arrays of shape (predictions,)."""

    calls: _Calls
    own_ns: dict[Device, IntArray]
    """Time in which each unit is known to have worked for it."""
    rows: dict[Device, IntArray]
    shows: dict[tuple[Device, str], BoolArray]
    """Whether this evidence proves that this unit worked for it."""
    may_ns: dict[Device, IntArray]
    """Time of rows without a name that may be its own, or another's."""
    asked_ns: dict[Device, IntArray]
    """Time of its requests to the unit."""
    sample_ns: int
    """From one sample to the next."""
    stray_ns: int
    """Time of samples that compute on the CPU for no known prediction."""
    rest_ns: IntArray
    """Time that neither rows nor samples explain."""
    excess_ns: IntArray
    """What of it is more than a prediction takes beside its work."""


@cached_by_trace
def table_lacks(trace: Trace) -> dict[Device, str]:
    """Why the absence of a row of a unit proves nothing, in a clause; empty where it does."""
    reasons = {}
    for unit, instrument in _INSTRUMENTS.items():
        coverage = trace.coverage_of(instrument)
        unreadable = [
            each for each in trace.run.tables if each.schema in coverage.tables and each.state == "unreadable"
        ]
        worked = bool((trace.hardware.device.is_any(unit) & ~trace.hardware.lane.is_any(Lane.MPS)).any())
        if unreadable:
            missing = all(NOT_EXPORTED in each.reason for each in unreadable)
            why = "recorded but not exported" if missing else "its table cannot be read"
        elif coverage.state is TableState.MISSING:
            why = "not recorded" if trace.contents.has_table_of_contents else "this input has no table of it"
        else:
            why = "" if worked else "its table has no row of anybody"
        reasons[unit] = why
    if is_simulator(trace.run.device.platform):
        reasons[Device.ANE] = ""
    return reasons


def _rows_of_process(calls: _Calls) -> tuple[Pieces, BoolArray]:
    """GPU rows of the target that name no model and draw nothing, where they lie in predictions of one model alone; and
    all others that may be of a prediction: shape (hardware rows,)."""
    hardware, target = calls.trace.hardware, calls.trace.run.target.process
    silent = hardware.kind.is_any(Kind.GPU_EXEC) & hardware.attribution.is_any(Attribution.UNATTRIBUTED)
    nobody = silent & ~hardware.pid.known & ~hardware.process.known
    pid = None if target is None else target.pid
    draws = hardware.label.passing(lambda label: _DRAWING.search(label) is not None)
    mine = (
        np.flatnonzero(silent & (hardware.pid.filled() == pid) & ~draws) if pid is not None else np.zeros(0, np.int64)
    )
    times = Intervals.from_rows(hardware).where(mine)
    place = calls.only(times.starts)
    inside = place >= 0
    lengths = times.durations
    models = calls.rows.model.codes[place]
    for model in distinct_numbers(models[inside]):
        of_model = inside & (models == model)
        if lengths[of_model].sum() >= ALONE * lengths.sum():
            return calls.cut(place[of_model], times.where(of_model)), nobody
    nobody[mine] = True
    return (np.zeros(0, np.int64), Intervals.none()), nobody


@cached_by_trace
def _doubtful(trace: Trace) -> BoolArray:
    """Shape (hardware rows,): rows of the Neural Engine without a name in a prediction, which others may have asked
    for: without it, rows of the same kind lie outside of all predictions at a rate that matters."""
    hardware, calls = trace.hardware, Intervals.from_rows(_Calls(trace, Level.TOP).rows)
    generic = hardware.kind.is_any(Kind.ANE_EXEC) & ~hardware.attribution.is_any(
        Attribution.LABEL, Attribution.EXACT, Attribution.FOREIGN
    )
    times = Intervals.from_rows(hardware).where(generic)
    linked = generic & (hardware.prediction.filled() >= 0)
    padded = Intervals(calls.starts - PADDING_NS, calls.ends + PADDING_NS).union()
    outside_ns = times.covered_ns - exact_sum(padded.covered_within(times.union()))
    inside_ns = Intervals.from_rows(hardware).where(linked).covered_ns
    end = max(trace.run.duration_ns or 0, int(calls.ends.max(initial=0)), int(times.ends.max(initial=0)))
    called_ns = padded.covered_ns
    expected_ns = outside_ns * called_ns / max(end - called_ns, 1)
    return linked & (expected_ns > OTHERS_SHARE * inside_ns)


def facts_of(trace: Trace, level: str) -> Facts:
    """O(n log n) in the rows of the trace; kept as long as the trace is."""
    return trace.cache.get((facts_of, level), lambda: _gather(_Calls(in_order(trace), level)))


def _gather(calls: _Calls) -> Facts:
    trace, hardware = calls.trace, calls.trace.hardware
    named = hardware.attribution.is_any(Attribution.LABEL, Attribution.EXACT)
    doubtful, foreign = _doubtful(trace), hardware.attribution.is_any(Attribution.FOREIGN)
    of_process, nobody = _rows_of_process(calls)
    lacks, durations = table_lacks(trace), calls.times.durations
    sampled, compute = _samples(calls), trace.compute
    shows: dict[tuple[Device, str], BoolArray] = {}
    rows, own, may, asked = (dict[Device, IntArray]() for _ in range(4))
    work: list[Pieces] = []
    for unit, kind in EXECUTED.items():
        executed = hardware.kind.is_any(kind) & ~foreign
        found = {
            BY_NAME: calls.pieces(hardware, executed & named),
            BY_TIME: calls.pieces(hardware, executed & ~named & ~doubtful),
            **({BY_PROCESS: of_process} if unit is Device.GPU else {}),
        }
        requests = calls.pieces(compute, compute.kind.is_any(_REQUESTS[unit]))
        shows |= {(unit, how): calls.counts(part) > 0 for how, part in found.items()}
        rows[unit] = np.sum([calls.counts(part) for part in found.values()], axis=0)
        own[unit], asked[unit] = calls.covered(*found.values()), calls.covered(requests)
        work += found.values()
        possible = executed & ~named & ((hardware.prediction.filled() < 0) | doubtful)
        possible = possible & nobody if unit is Device.GPU else possible
        times = Intervals.from_rows(hardware).where(possible).covered_time()
        may[unit] = np.minimum(times.within(calls.times.starts, calls.times.ends), durations - own[unit])
        # A table that is whole says more than who asked.
        blind = bool(lacks[unit]) or _lost(asked[unit], own[unit], may[unit]) > 0
        shows[unit, BY_REQUEST] = (asked[unit] > 0) & blind
        shows[unit, BY_STACK] = (calls.counts(sampled.of(unit)) > 0) & blind
    cpu, on_cpu = calls.pieces(compute, compute.kind.is_any(Kind.CPU_COMPUTE)), sampled.of(Device.CPU)
    work.append(calls.pieces(trace.data, np.ones(len(trace.data), np.bool_)))
    before = calls.covered(*work)
    # A sample stands for time that rows know better.
    own[Device.CPU] = np.maximum(calls.covered(*work, cpu), calls.covered(*work, on_cpu)) - before
    rows[Device.CPU] = calls.counts(cpu)
    shows |= {(Device.CPU, BY_ROW): calls.counts(cpu) > 0, (Device.CPU, BY_STACK): calls.counts(on_cpu) > 0}
    waits = list(_waits(calls)) if calls.level == Level.TOP else []
    # While it asks a unit, it waits for that one.
    asking = calls.pieces(compute, compute.kind.is_any(Kind.GPU_PREPARE, *_REQUESTS.values()))
    rest = durations - calls.covered(*work, cpu, sampled.running, asking, *waits)
    usual = np.minimum(CALL_NS + CALL_SHARE * durations, MOST_UNEXPLAINED * durations).astype(np.int64)
    period_ns = trace.sampled.period_ns if trace.sampled is not None else 0
    return Facts(calls, own, rows, shows, may, asked, period_ns, sampled.stray_ns, rest, np.maximum(rest - usual, 0))


def _waits(calls: _Calls) -> Iterator[Pieces]:
    """Time in which a prediction waited for a unit that did other work."""
    for waits in all_waits(calls.trace).values():
        place = places_of(calls.rows.id, waits.call)
        inside = np.flatnonzero(place >= 0)
        yield calls.cut(place[inside], waits.times.where(inside))


def lost_rows(facts: Facts, unit: Device) -> int:
    """Predictions with requests to the unit of which its table has no row, where these are too many to be chance."""
    return _lost(facts.asked_ns[unit], facts.own_ns[unit], facts.may_ns[unit])


def _lost(asked_ns: IntArray, own_ns: IntArray, may_ns: IntArray) -> int:
    without, asked = (asked_ns > 0) & (own_ns + may_ns == 0), int((asked_ns > 0).sum())
    return int(without.sum()) if without.sum() > max(LOST * asked, 1) else 0
