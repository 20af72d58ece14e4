"""What a recording shows of the compute unit of each prediction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from tracekit.analysis.code.call_sites import call_sites, core_ml_stacks
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.queues import all_waits
from tracekit.analysis.statistics import exact_sum, top_calls
from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import codes_of
from tracekit.intervals import Intervals, containing, union_length_by_group
from tracekit.recording.contents import is_simulator
from tracekit.recording.table import NOT_EXPORTED, TableState
from tracekit.rows import places_of
from tracekit.sorting import distinct_numbers
from tracekit.trace.calls.stacks import UNIT_PATTERNS, Api, Unit, matches_function, outermost
from tracekit.trace.events import ATTRIBUTIONS, DEVICE_NAMES, Attribution, Device, Events, Kind, Lane, Level
from tracekit.trace.instruments.metal import MetalEncoders
from tracekit.trace.instruments.tables import MetalPipelines, engine_events
from tracekit.trace.labels import KnownModels, gpu_label
from tracekit.trace.linking import containing_by_key, top_predictions
from tracekit.trace.requests.frame import CORE_AI_RUNTIME
from tracekit.trace.sharing import PADDING_NS
from tracekit.trace.trace import Trace, cached_by_trace
from tracekit.units import format_count

BY_NAME, BY_TIME, BY_PROCESS, BY_REQUEST, BY_METAL, BY_ROW, BY_STACK = (
    "rows that name the model",
    "rows in its predictions alone",
    "rows of its process in its predictions alone",
    "requests in Core ML's rows",
    "Metal encoders and pipelines",
    "CPU rows of Core ML",
    "call stacks",
)
"""What proves that a unit worked, strongest first."""

EXECUTED: Final = {Device.ANE: Kind.ANE_EXEC, Device.GPU: Kind.GPU_EXEC}
_REQUESTS: Final = {Device.ANE: Kind.ANE_REQUEST, Device.GPU: Kind.GPU_REQUEST}

CALL_NS = 1_500_000
"""Time of a prediction on the Neural Engine that no row explains: 0.9 to 1.3 ms before the engine begins and 0.07 to
0.18 ms after it in published recordings."""
CALL_SHARE = 0.1
"""That much of a long prediction besides (heuristic)."""
MOST_UNEXPLAINED = 0.5
"""Of a prediction, whatever its length (heuristic)."""
OTHERS_SHARE = 0.02
"""Share of rows without a name that may be of others: they are as active outside of predictions (heuristic)."""
ALONE = 0.95
"""Share of the time of a process's GPU rows in predictions of one model, which makes them its own (heuristic)."""
LOST = 0.05
"""Share of the predictions with requests that have no row from which on the table lost rows (heuristic)."""
_DRAWING: Final = re.compile(r"Render|Vertex|Fragment|Blit|Tile|Present", re.IGNORECASE)

_CODE: Final = {
    Device.ANE: (rf"{UNIT_PATTERNS[Unit.NEURAL_ENGINE]}|-\[_ANE\w*Client |Espresso::ANERuntime", "AppleNeuralEngine"),
    Device.GPU: (rf"{UNIT_PATTERNS[Unit.GPU]}|Espresso::MPS\w*Engine::|-\[MPSGraph", "MetalPerformanceShadersGraph"),
    Device.CPU: (
        rf"{UNIT_PATTERNS[Unit.CPU]}|BNNS|bnns::|Espresso::(?:BNNSEngine::|\w+_cpu\b)|\w+_kernel_cpu\b",
        "libBNNS.dylib",
    ),
}
"""Functions below a prediction that compute, or ask a unit to, and images: names in public recordings and reports."""

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
        self.tid = np.full(len(self.rows) + 1, -1)
        """Thread that makes each prediction; -1 where that is not sure, and for place -1."""
        if level == Level.TOP and (sites := call_sites(trace)) is not None:
            at = places_of(self.rows.id, sites.id)
            sure = (at >= 0) & sites.tid.known & ~sites.ambiguous
            self.tid[at[sure]] = sites.tid.values[sure]

    def pieces(self, rows: Events, chosen: BoolArray) -> Pieces:
        """The chosen rows that are linked to one of the predictions."""
        at = np.flatnonzero(chosen)
        place = self._place_of[rows.prediction.filled()[at]]
        inside = place >= 0
        return self.cut(place[inside], Intervals.from_rows(rows).where(at[inside]))

    def cut(self, place: IntArray, times: Intervals) -> Pieces:
        """Intervals of these predictions, cut to them."""
        return place, times.clipped(self.times.starts[place], self.times.ends[place])

    def covered(self, *parts: Pieces) -> IntArray:
        """Time of each prediction that any of the pieces cover."""
        if not any(len(each) for each, _ in parts):
            return np.zeros(len(self.rows), np.int64)
        place = np.concatenate([each for each, _ in parts])
        times = Intervals.none().joined(*(each for _, each in parts))
        if self.times.in_turn():
            # In order of start, each piece adds what lies beyond those before: none reaches into another prediction.
            order = np.argsort(times.starts, kind="stable")
            starts, ends = times.starts[order], times.ends[order]
            reach = np.append(starts[:1], np.maximum.accumulate(ends)[:-1])
            covered = np.zeros(len(self.rows), np.int64)
            np.add.at(covered, place[order], np.maximum(ends - np.maximum(starts, reach), 0))
            return covered
        return union_length_by_group(place, times.starts, times.ends, len(self.rows))

    def counts(self, part: Pieces) -> IntArray:
        """Pieces in each prediction."""
        return np.bincount(part[0], minlength=len(self.rows))

    def in_flight(self, time: IntArray, tid: IntArray | None = None) -> IntArray:
        """Place of the one prediction in flight at each time, of several of the one that this thread makes; else -1."""
        place, _ = containing(self.times.starts, self.times.ends, time, time + 1)
        if tid is None or (place >= 0).all():
            return place
        known = np.flatnonzero(self.tid[:-1] >= 0)
        made, _ = containing_by_key(self.times.where(known), self.tid[known], Intervals(time, time + 1), tid)
        return np.where(place >= 0, place, np.append(known, -1)[made])


def _samples(calls: _Calls) -> tuple[Pieces, dict[Device, Pieces], int]:
    """Samples in predictions of the target: all in Core ML or that compute, in any thread; those in code for each unit;
    and the time of those in code for the CPU that lie in no prediction, or in several."""
    trace = calls.trace
    sampled, kinds, target = trace.sampled, core_ml_stacks(trace), trace.run.target.process
    if sampled is None or kinds is None or not len(sampled.stacks) or not len(calls.rows):
        nothing = np.zeros(0, np.int64), Intervals.none()
        return nothing, dict.fromkeys(_CODE, nothing), 0
    frames = [
        matches_function(sampled.stacks, functions) | sampled.stacks.image.is_any(image)
        for functions, image in _CODE.values()
    ]
    # What asked for the work is farther out than what does it.
    outer = outermost(sampled, np.logical_or.reduce(frames))
    of_frame = np.append(np.select(frames, range(len(_CODE)), -1), -1)
    unit_of = np.where(outer >= 0, of_frame[outer], -1)
    predicts = kinds.api.is_any(Api.PREDICTION)
    computes = (unit_of >= 0) & ~kinds.api.is_any(Api.LOAD, Api.COMPILE)
    rows = sampled.samples.where(sampled.samples.stack.known)
    # What computes beside a prediction may do so for Core AI.
    stack = rows.stack.values
    own = predicts[stack] | (computes[stack] & ~_in_core_ai(trace, rows.time_ns - 1))
    if target is not None and target.pid is not None:
        own &= ~rows.pid.known | (rows.pid.values == target.pid)
    rows, stack = rows.where(own), stack[own]
    place = calls.in_flight(rows.time_ns - 1, np.where(predicts[stack], rows.tid.filled(), -1))
    unit, ends, known = unit_of[stack], rows.time_ns, place >= 0
    times = Intervals(ends - sampled.period_ns, ends)

    def pieces(chosen: BoolArray) -> Pieces:
        return calls.cut(place[chosen], times.where(chosen))

    stray_ns = int(((unit == list(_CODE).index(Device.CPU)) & ~known).sum()) * sampled.period_ns
    return pieces(known), {each: pieces(known & (unit == code)) for code, each in enumerate(_CODE)}, stray_ns


def _in_core_ai(trace: Trace, time: IntArray) -> BoolArray:
    """Whether Core AI was at work at each time: no row says on which unit."""
    phases = trace.phases
    of = phases.where(phases.runtime.is_any(CORE_AI_RUNTIME) & phases.duration_ns.known & ~phases.phase.is_any("load"))
    return Intervals(of.start_ns, of.start_ns + of.duration_ns.values).covered_time().within(time, time + 1) > 0


def _encoded(calls: _Calls) -> Pieces:
    """Metal encoders, and pipelines that are compiled, in predictions: those of their threads, or with their names."""
    names, trace = calls.rows.model, calls.trace
    known, places, times = KnownModels(names.values), [np.zeros(0, np.int64)], Intervals.none()
    for rows in (trace.table(MetalEncoders), trace.table(MetalPipelines)):
        if rows is None or not len(rows):
            continue
        tid, spans = rows.tid.filled(), Intervals(rows.start_ns, rows.start_ns)
        place = calls.in_flight(rows.start_ns, tid)
        own = (tid >= 0) & (calls.tid[place] == tid)
        if isinstance(rows, MetalEncoders):
            spans = Intervals.from_rows(rows)
            model = rows.label.recoded(lambda label: gpu_label(label, known).model).codes_in(names.values)
            own |= (model >= 0) & (model == names.codes[place])
        own &= place >= 0
        places, times = [*places, place[own]], times.joined(spans.where(own))
    return calls.cut(np.concatenate(places), times)


@dataclass(frozen=True, slots=True)
class UnitFacts:
    """What is known of a unit's work for each prediction of a level: arrays of shape (predictions,)."""

    own_ns: IntArray
    """Time in which it is known to have worked for it."""
    rows: IntArray
    shows: dict[str, BoolArray]
    """Whether this evidence proves that it worked for it."""
    may_ns: IntArray
    """Time of rows without a name that may be its own, or another's."""
    asked_ns: IntArray
    """Time of its requests to the unit."""
    lost: str
    """What its table lost, in a clause: predictions that asked for work have no row, too many to be chance."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of each prediction of a level."""

    calls: _Calls
    units: dict[Device, UnitFacts]
    stray_ns: int
    """Time of samples that compute on the CPU for no known prediction."""
    rest_ns: IntArray
    """Time of each that neither rows nor samples explain."""
    excess_ns: IntArray
    """What of it is more than a prediction takes beside its work."""


@cached_by_trace
def table_lacks(trace: Trace) -> dict[Device, str]:
    """Why the absence of a row of a unit proves nothing, in a clause; empty where it does."""
    reasons, events = {}, engine_events(trace.run)
    logged = f", though the kernel logged {format_count(events, 'event')} of its driver" if events else ""
    for unit in EXECUTED:
        coverage = trace.coverage_of(DEVICE_NAMES[unit])
        tables = (each for each in trace.run.tables if each.schema in coverage.tables and each.state == "unreadable")
        unreadable = [NOT_EXPORTED in each.reason for each in tables]
        if unreadable:
            reasons[unit] = "recorded but not exported" if all(unreadable) else "its table cannot be read"
        elif coverage.state is TableState.MISSING:
            toc = trace.contents.has_table_of_contents
            reasons[unit] = "not recorded" if toc else "this input has no table of it"
        elif (trace.hardware.device.is_any(unit) & ~trace.hardware.lane.is_any(Lane.MPS)).any():
            reasons[unit] = ""
        else:
            reasons[unit] = f"its table has no row of anybody{logged if unit is Device.ANE else ''}"
    return reasons | ({Device.ANE: ""} if is_simulator(trace.run.device.platform) else {})


def _rows_of_process(calls: _Calls) -> tuple[Pieces, BoolArray]:
    """GPU rows of the target that name no model and draw nothing, where they lie in predictions of one model alone; and
    all others that may be of a prediction: shape (hardware rows,)."""
    hardware, target = calls.trace.hardware, calls.trace.run.target.process
    silent = hardware.kind.is_any(Kind.GPU_EXEC) & hardware.attribution.is_any(Attribution.UNATTRIBUTED)
    nobody = silent & ~hardware.pid.known & ~hardware.process.known
    own = silent & hardware.pid.known & (hardware.pid.values == (target.pid if target else None))
    mine = np.flatnonzero(own & ~hardware.label.passing(_DRAWING.search))
    times = Intervals.from_rows(hardware).where(mine)
    place = calls.in_flight(times.starts)
    models = np.where(place >= 0, calls.rows.model.codes[place], -1) if len(calls.rows) else place
    for model in distinct_numbers(models[place >= 0]):
        chosen = models == model
        if times.durations[chosen].sum() >= ALONE * times.durations.sum():
            return calls.cut(place[chosen], times.where(chosen)), nobody
    nobody[mine] = True
    return (np.zeros(0, np.int64), Intervals.none()), nobody


@cached_by_trace
def _doubtful(trace: Trace) -> BoolArray:
    """Shape (hardware rows,): rows of the Neural Engine without a name in a prediction, which others may have asked
    for: without it, rows of the same kind lie outside of all predictions at a rate that matters."""
    hardware, calls = trace.hardware, Intervals.from_rows(top_calls(trace, Kind.PREDICTION))
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
    return linked & ((expected_ns > OTHERS_SHARE * inside_ns) | _in_core_ai(trace, hardware.start_ns))


def facts_of(trace: Trace, level: str) -> Facts:
    """O(n log n) in the rows of the trace; kept as long as the trace is."""
    return trace.cache.get((facts_of, level), lambda: _gather(_Calls(in_order(_named_by_files(trace)), level)))


def _named_by_files(trace: Trace) -> Trace:
    """The trace, with rows of the model whose file has the name that their label gives: programs are compiled under the
    name of a folder, and so may have another one than the model."""
    hardware = trace.hardware
    model_of = {Path(each.source).stem.replace("-", "_"): each.model for each in trace.model_files if each.model}
    own = hardware.attribution.is_any(Attribution.FOREIGN) & ~hardware.pid.known
    own &= hardware.model.passing(lambda name: name.replace("-", "_") in model_of)
    if not own.any():
        return trace
    names = tuple(dict.fromkeys((*hardware.model.values, *model_of.values())))
    models = hardware.model.recoded(lambda name: model_of.get(name.replace("-", "_"))).codes_in(names)
    attributions = hardware.attribution.codes_in(ATTRIBUTIONS)
    renamed = replace(
        hardware,
        model=codes_of(np.where(own, models, hardware.model.codes), names),
        attribution=codes_of(np.where(own, ATTRIBUTIONS.index(Attribution.LABEL), attributions), ATTRIBUTIONS),
    )
    return replace(trace, hardware=renamed)


def _gather(calls: _Calls) -> Facts:
    trace, hardware, compute = calls.trace, calls.trace.hardware, calls.trace.compute
    named = hardware.attribution.is_any(Attribution.LABEL, Attribution.EXACT)
    doubtful, foreign = _doubtful(trace), hardware.attribution.is_any(Attribution.FOREIGN)
    of_process, nobody = _rows_of_process(calls)
    lacks, durations = table_lacks(trace), calls.times.durations
    running, sampled, stray_ns = _samples(calls)
    units, work = dict[Device, UnitFacts](), [calls.pieces(trace.data, np.ones(len(trace.data), np.bool_))]
    for unit, kind in EXECUTED.items():
        executed, on_gpu = hardware.kind.is_any(kind) & ~foreign, unit is Device.GPU
        found = {
            BY_NAME: calls.pieces(hardware, executed & named),
            BY_TIME: calls.pieces(hardware, executed & ~named & ~doubtful),
            **({BY_PROCESS: of_process} if on_gpu else {}),
        }
        work += found.values()
        asked = {BY_REQUEST: calls.pieces(compute, compute.kind.is_any(_REQUESTS[unit]))}
        asked |= {BY_METAL: _encoded(calls)} if on_gpu else {}
        own_ns = calls.covered(*found.values())
        possible = executed & ~named & ((hardware.prediction.filled() < 0) | doubtful) & (nobody | (not on_gpu))
        times = Intervals.from_rows(hardware).where(possible).covered_time()
        may_ns = np.minimum(times.within(calls.times.starts, calls.times.ends), durations - own_ns)
        rows: IntArray = np.sum([calls.counts(part) for part in found.values()], axis=0)
        shows = {how: calls.counts(part) > 0 for how, part in found.items()}
        asked_ns = calls.covered(*asked.values())
        unseen = np.count_nonzero((asked_ns > 0) & (own_ns + may_ns == 0))
        lost = f"its table lost the rows of {unseen:,} predictions"
        lost = lost if unseen > max(LOST * np.count_nonzero(asked_ns), 1) else ""
        # A table that is whole says more than who asked.
        if lacks[unit] or lost:
            asked |= {BY_STACK: sampled[unit]}
            shows.update((how, calls.counts(part) > 0) for how, part in asked.items())
        units[unit] = UnitFacts(own_ns, rows, shows, may_ns, asked_ns, lost)
    cpu, on_cpu = calls.pieces(compute, compute.kind.is_any(Kind.CPU_COMPUTE)), sampled[Device.CPU]
    worked_ns = calls.covered(*work)

    def beside(*more: Pieces) -> IntArray:
        """Time that either covers, beyond all that work does."""
        return calls.covered(*work, *more) - worked_ns if any(len(place) for place, _ in more) else 0 * worked_ns

    # A sample stands for time that rows know better.
    own_ns = np.maximum(beside(cpu), beside(on_cpu))
    rows, seen = calls.counts(cpu), calls.counts(on_cpu) > 0
    # While it asks a unit, it waits for that one.
    asking = calls.pieces(compute, compute.kind.is_any(Kind.GPU_PREPARE, *_REQUESTS.values()))
    rest_ns = durations - worked_ns - beside(cpu, running, asking, *_waits(calls))
    usual_ns = np.minimum(CALL_NS + CALL_SHARE * durations, MOST_UNEXPLAINED * durations).astype(np.int64)
    # Work begins and ends up to a sample before and after those that show it; rows say it exactly.
    period_ns = trace.sampled.period_ns if trace.sampled is not None else 0
    may_ns = np.minimum(rest_ns, (seen & (rows == 0)) * 2 * period_ns)
    units[Device.CPU] = UnitFacts(own_ns, rows, {BY_ROW: rows > 0, BY_STACK: seen}, may_ns, 0 * rows, "")
    return Facts(calls, units, stray_ns, rest_ns, np.maximum(rest_ns - usual_ns, 0))


def _waits(calls: _Calls) -> Iterator[Pieces]:
    """Time in which a prediction waited for a unit that did other work."""
    for waits in all_waits(calls.trace).values() if calls.level == Level.TOP else ():
        place = places_of(calls.rows.id, waits.call)
        inside = np.flatnonzero(place >= 0)
        yield calls.cut(place[inside], waits.times.where(inside))
