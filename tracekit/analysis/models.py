"""Facts per model: loads, predictions, instances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from tracekit.analysis.breakdown.partition import Breakdown, Part, Unknown, breakdown
from tracekit.analysis.breakdown.summary import BreakdownSummary, summarize_breakdown
from tracekit.analysis.code.phases import CallPhases, call_phases
from tracekit.analysis.concurrency import InFlight, summarize_in_flight
from tracekit.analysis.idle import CoreMLCalls, core_ml_calls
from tracekit.analysis.latency import Latency, LatencyTrend, summarize_latency, summarize_latency_trend
from tracekit.analysis.ledger.account import ledger
from tracekit.analysis.ledger.causes import PREPARING
from tracekit.analysis.ledger.explain import Tail, tail
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.loads import first_predictions
from tracekit.analysis.pace import steady_rate
from tracekit.analysis.quantities import MODEL, Sample, mostly_overlap, quantities_of
from tracekit.analysis.statistics import CallTimes, Statistics, exact_sum, row_statistics
from tracekit.analysis.throughput import (
    Throughput,
    bursts,
    rate_of,
    summarize_throughput,
)
from tracekit.analysis.where.verdict import CLOSE, Whereabouts, whereabouts
from tracekit.arrays import BoolArray, IntArray
from tracekit.characters import visible
from tracekit.columns import Texts, column
from tracekit.intervals import CoveredTime, Intervals
from tracekit.recording.contents import is_simulator
from tracekit.sorting import few_bits
from tracekit.trace.events import LOAD_KINDS, Attribution, Calls, Kind, Level, Origin
from tracekit.trace.filter import Shown, shown_models
from tracekit.trace.instruments.catalogue import GPU, NEURAL_ENGINE
from tracekit.trace.trace import Trace
from tracekit.units import format_time


@dataclass(frozen=True, slots=True, repr=False)
class ModelSummary:
    """One model, by base name."""

    name: str
    """Base name."""
    level: str
    """`top`, or `sub` for a model that occurs as a stage of a pipeline only."""
    parents: tuple[str, ...]
    """Pipelines it is a stage of."""
    instances: int | None
    """Distinct instance numbers seen; None where names carry none."""
    loads: int | None
    """None where Core ML recorded nothing, so that it is not known."""
    cold_loads: int | None
    """Loads that prepared the model for the device; None where the recording does not distinguish cold from cached."""
    predictions: int | None
    """Those inferred from hardware where Core ML recorded nothing; None where there are none of these either."""
    prediction: Statistics | None
    """None where there is no prediction."""
    load: Statistics | None
    """None where there is no load."""
    latency: Latency | None = None
    """Warm and cold apart. This and what follows is of the app's own calls: None for a stage, and without any."""
    throughput: Throughput | None = None
    """How its predictions follow each other."""
    in_flight: InFlight | None = None
    """None too where predictions have no duration."""
    latency_trend: LatencyTrend | None = None
    """Of the warm ones; None too where they are too few to tell."""
    breakdown: BreakdownSummary | None = None
    """Where the time of its predictions goes."""
    several: int = 0
    """Predictions that call stacks alone show, and that may be several calls each: they have no latency."""
    preparing_ns: int = 0
    """Of what is unexplained there, time in which call stacks or rows show that its predictions specialize it."""
    phases: tuple[CallPhases, ...] = ()
    """What its calls do, where only call stacks show them: those of loads, of first predictions and of the others."""
    resolution_ns: int = 0
    """How exactly the begin and end of its calls are known: the time between two samples, where only call stacks show
    them."""
    tail: Tail | None = None
    """What makes its p95; None too where only some of its predictions are shown."""
    where: Whereabouts | None = None
    """Which compute units it ran on, of a stage too; None without predictions."""
    quantities: dict[str, float | None] = field(default_factory=dict)
    """The numbers that are shown of it, of a stage too, each under one id. None: not recorded, or too few values."""

    def __repr__(self) -> str:
        median_ns = self.quantities.get("p50_ns")
        latency = f", median {format_time(median_ns)}" if median_ns else ""
        return f"<Model {visible(self.name)}: {self.loads} loads, {self.predictions} predictions{latency}>"


class _OfTrace(NamedTuple):
    """What is the same for all models."""

    trace: Trace
    parts: Breakdown
    busy: CoveredTime | None
    """When the Neural Engine or the GPU worked; None where the recording does not hold the work of both."""
    cold: BoolArray
    """Shape (rows of the activity,): the first prediction after a load."""
    calls: CoreMLCalls


def summarize_models(trace: Trace, shown: Shown | None = None) -> tuple[ModelSummary, ...]:
    """One summary per base name, largest total of loads and predictions first, then by name.

    Counts and times are of rows of the model's own level, so that the work of a pipeline is not counted twice.
    `shown`: what counts; None for all. Where the time of a prediction went, when a unit worked and which prediction is
    warm follows from all rows, whether they count or not. O(n log n) in the rows of the trace.
    """
    models = shown_models(trace, shown)
    of_trace = _OfTrace(
        trace,
        breakdown(in_order(trace)),
        Intervals.from_rows(trace.hardware).covered_time()
        if all(trace.coverage_of(unit).recorded for unit in (NEURAL_ENGINE, GPU))
        else None,
        first_predictions(trace),
        core_ml_calls(trace),
    )
    rows_of = _rows_by_model(trace.activity if shown is None else trace.activity.where(shown.rows["activity"]))
    summaries = [
        _summary(
            of_trace,
            name,
            level,
            parents,
            models.instances.item(at),
            rows_of(name, level, LOAD_KINDS),
            rows_of(name, level, (Kind.PREDICTION,)),
        )
        for at, (name, level, parents) in enumerate(zip(models.name, models.level, models.parents, strict=True))
    ]
    inferred = trace.activity.attribution.is_any(Attribution.INFERRED)
    if inferred.all() and not any(map(len, (trace.data, trace.compute, trace.other))):
        # Core ML recorded nothing: what was not seen may still have been there.
        summaries = [
            replace(
                each,
                loads=each.loads or None,
                predictions=each.predictions or None,
                quantities=each.quantities | {"predictions": each.predictions or None},
            )
            for each in summaries
        ]

    def total_ns(summary: ModelSummary) -> int:
        return sum(part.total_ns for part in (summary.load, summary.prediction) if part is not None)

    return tuple(sorted(summaries, key=lambda summary: (-total_ns(summary), summary.name)))


def rates_of_called(trace: Trace, shown: Shown | None = None) -> dict[str, float | None]:
    """The models that the app calls or loads, in the order of `summarize_models`, with their predictions per second:
    what a comparison takes from there, in a tenth of the time. O(n log n) in the rows of the activity."""
    models, activity = shown_models(trace, shown), trace.activity
    counted = activity.level.is_any(Level.TOP) & (True if shown is None else shown.rows["activity"])
    predicted, loaded = (counted & activity.kind.is_any(*kinds) for kinds in ((Kind.PREDICTION,), LOAD_KINDS))
    times = CallTimes.from_rows(activity)
    rates, total_ns = dict[str, float | None](), dict[str, int]()
    for name in (each for each, level in zip(models.name, models.level, strict=True) if level == Level.TOP):
        of_model = activity.model.is_any(name)
        predictions = times.where(of_model & predicted)
        calls = (predictions, times.where(of_model & loaded))
        if any(map(len, calls)):
            rates[name] = rate_of(predictions, bursts(predictions)) if len(predictions) else None
            total_ns[name] = sum(exact_sum(rows.duration_ns) for rows in calls)
    return {name: rates[name] for name in sorted(rates, key=lambda name: (-total_ns[name], name))}


@dataclass(frozen=True, slots=True, eq=False)
class _Calls(CallTimes):
    """Columns of the activity that summaries read; taking only these is much faster than taking whole rows."""

    id: IntArray = column("row of `activity`")
    kind: Texts = column("what it is")
    model: Texts = column("model")
    origin: Texts = column("what recorded it")
    resolution_ns: IntArray = column("how exactly its times are known")
    single: BoolArray = column("whether the row is known to be one call")


def _rows_by_model(activity: Calls) -> Callable[[str, str, Sequence[Kind]], _Calls]:
    """From model, level and kinds to rows of the activity. O(n log n), a call O(rows of the model)."""
    rows = _Calls.from_rows(activity)
    order = np.argsort(few_bits(rows.model.codes), kind="stable")
    names = {name: number for number, name in enumerate(rows.model.values)}
    edges = np.searchsorted(rows.model.codes[order], np.arange(len(names) + 1))

    @cache
    def choose(level: str, wanted: Sequence[Kind]) -> BoolArray:
        return activity.level.is_any(level) & rows.kind.is_any(*wanted)

    def rows_of(name: str, level: str, wanted: Sequence[Kind]) -> _Calls:
        number = names.get(name)
        of_model = order[:0] if number is None else order[edges[number] : edges[number + 1]]
        return rows.at(of_model[choose(level, wanted)[of_model]])

    return rows_of


def _summary(
    of_trace: _OfTrace,
    name: str,
    level: str,
    parents: tuple[str, ...],
    instances: int | None,
    loads: _Calls,
    predictions: _Calls,
) -> ModelSummary:
    """Summary of one model, from its rows of the Activity lane.

    Predictions that only hardware shows have no known start and end, and no loads: no latency, no frame rate.
    """
    called = level == Level.TOP and len(predictions) > 0
    timed = not predictions.origin.is_any(Origin.HARDWARE).any()
    account = ledger(of_trace.trace).get(name) if called and timed else None
    # Else not all of its predictions are shown.
    whole = account if account is not None and len(account.calls) == len(predictions) else None
    warm = ~of_trace.cold[predictions.id]
    throughput = None
    if called:
        in_bursts, code = bursts(predictions), int(predictions.model.codes[0])
        steady = steady_rate(predictions, in_bursts, of_trace.calls, code)
        throughput = summarize_throughput(predictions, in_bursts, of_trace.busy, steady)
    parts = summarize_breakdown(of_trace.parts.of(predictions.id)) if called else None
    where = whereabouts(of_trace.trace, name, level, predictions.id) if len(predictions) else None
    latencies, loads_ns = predictions.duration_ns, loads.duration_ns
    ended = (latencies > 0) & timed & predictions.single
    lasting = predictions.where(predictions.single)
    cold = loads.kind.is_any(Kind.LOAD_UNCACHED)
    sample = Sample(
        predictions=len(predictions),
        latencies_ns=latencies[ended],
        warm=warm[ended],
        loads_ns=loads_ns[~cold],
        cold_loads_ns=loads_ns[cold],
        compute={} if where is None else where.shares(CLOSE),
        neural_engine_time=next((part.share for part in parts.parts if part.part == Part.ANE), None) if parts else None,
        alone=(alone := Intervals.from_rows(predictions).where(ended).alone()),
        overlap=mostly_overlap(alone, warm[ended]),
        per_second=throughput.per_second if throughput is not None else None,
    )
    return ModelSummary(
        name=name,
        level=level,
        parents=parents,
        instances=instances,
        loads=len(loads),
        # Not known where a row does not say whether it was cached.
        cold_loads=None if not len(loads) or loads.kind.is_any(Kind.LOAD).any() else int(cold.sum()),
        predictions=len(predictions),
        several=int((~predictions.single).sum()),
        prediction=row_statistics(predictions),
        load=row_statistics(loads),
        latency=summarize_latency(lasting, warm[predictions.single]) if len(lasting) and called and timed else None,
        throughput=throughput,
        in_flight=summarize_in_flight(predictions) if called and timed else None,
        latency_trend=summarize_latency_trend(lasting.where(warm[predictions.single])) if called and timed else None,
        breakdown=parts,
        preparing_ns=0 if whole is None else int(whole.of(*PREPARING).sum()),
        phases=call_phases(of_trace.trace, loads.id, predictions.id, warm),
        resolution_ns=max(int(rows.resolution_ns.max(initial=0)) for rows in (loads, predictions)),
        tail=tail(of_trace.trace, name) if whole is not None and predictions.single.all() else None,
        where=where,
        quantities=quantities_of(sample) | (_WITHOUT_RATES if simulated(of_trace.trace) else {}),
    )


_WITHOUT_RATES: dict[str, float | None] = {name: None for name, quantity in MODEL.items() if quantity.unit == "fps"}


def simulated(trace: Trace) -> bool:
    """Whether it was recorded in a simulator, which shows no frame rate of a device."""
    return is_simulator(trace.run.device.platform)


def is_inferred(model: ModelSummary) -> bool:
    """Whether Core ML recorded none of the model's calls."""
    parts = model.breakdown.parts if model.breakdown else ()
    return bool(model.phases) or any(Unknown.NO_CORE_ML in part.unknown for part in parts)


def is_hardware_alone(model: ModelSummary) -> bool:
    """Whether some of the model's predictions are known from the hardware alone."""
    return is_inferred(model) and model.latency is None and model.several < (model.predictions or 0)
