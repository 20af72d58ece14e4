"""Takes the measurements of a recording from its trace and its report. Numbers are rounded here as they are stored, so
that both give the same digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from tracekit.analysis.breakdown.partition import Breakdown, Part, breakdown
from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.analysis.concurrency import depth_over_time
from tracekit.analysis.device_states import THERMAL_STATES, UNKNOWN, thermal_states
from tracekit.analysis.frames.summary import frame_summary
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.load_waits import awaited
from tracekit.analysis.loads import first_predictions
from tracekit.analysis.operations import times_of_operation
from tracekit.analysis.quantities import mostly_overlap
from tracekit.analysis.requests import known_together, name_of, request_groups
from tracekit.analysis.specialization import specializations
from tracekit.analysis.where.verdict import whereabouts
from tracekit.arrays import BoolArray, FloatArray, IntArray
from tracekit.comparison.latency import MIN_PREDICTIONS
from tracekit.comparison.measurements import (
    EXACT,
    CheckResult,
    Environment,
    Inexact,
    Measurements,
    ModelMeasurements,
    Parts,
)
from tracekit.comparison.sampling import block_length, mean_errors
from tracekit.detectors.outcomes import Direction, Metric
from tracekit.errors import UnreadableRecording
from tracekit.intervals import Intervals
from tracekit.report.choice import LEFT_OUT
from tracekit.report.report import RecordingInfo, Report, Result, TableInfo
from tracekit.rows import places_of
from tracekit.trace.coverage import unreadable_tables
from tracekit.trace.events import COPY_KINDS, LOAD_KINDS, Attribution, Calls, Kind, Level, Origin
from tracekit.trace.filter import Shown
from tracekit.trace.instruments import coreml
from tracekit.trace.instruments.catalogue import CORE_ML
from tracekit.trace.trace import Coverage, Trace, identity_of


class Facts(NamedTuple):
    """What is measured of a recording and does not follow from its trace alone, redacted as its report is."""

    recording: RecordingInfo
    tables: tuple[TableInfo, ...]
    checks: tuple[CheckResult, ...]
    rates: Mapping[str, float | None]
    """The models that are measured, in their order, with their predictions per second."""


def measure(trace: Trace, report: Report, shown: Shown | None = None) -> Measurements:
    """Measurements of a recording, of which `shown` counts (None: all of it). O(n log n) in the rows of the trace."""
    called = (model for model in report.models if model.level == Level.TOP and (model.predictions or model.loads))
    rates = {model.name: model.quantities.get("predictions_per_second") for model in called}
    return measure_with(
        trace, Facts(report.recording, report.tables, check_results(report.results, report.coverage), rates), shown
    )


class _OfTrace(NamedTuple):
    """What is the same for all models."""

    called: BoolArray
    """Shape (rows that the app called,): it is a prediction."""
    cold: BoolArray
    """Shape (rows of the activity,): the first prediction after a load."""
    copied_in: IntArray
    """The prediction of each copy and conversion, by id; -1 for none."""
    times: Breakdown
    groups_ns: FloatArray
    """Shape (predictions of `times`, groups): time of each group of parts. What is not known is left out."""
    incomplete: BoolArray
    """Same shape: some of it is not known."""

    @classmethod
    def of(cls, trace: Trace, top: Calls) -> _OfTrace:
        """For the rows of the activity that the app called."""
        copies = trace.data.kind.is_any(*COPY_KINDS)
        times = breakdown(in_order(trace))
        time_of = {part: times.part(part).filled(0).astype(np.float64) for part in Part}
        return cls(
            top.kind.is_any(Kind.PREDICTION),
            first_predictions(trace),
            trace.data.prediction.filled()[copies],
            times,
            np.column_stack([np.sum([time_of[part] for part in group.parts], axis=0) for group in GROUPS]),
            np.column_stack([np.any([times.unknown[part] >= 0 for part in group.parts], axis=0) for group in GROUPS]),
        )


def measure_with(trace: Trace, facts: Facts, shown: Shown | None) -> Measurements:
    """`measure` where there is no report. O(n log n) in the rows of the trace."""
    is_top = trace.activity.level.is_any(Level.TOP)
    top = trace.activity.where(is_top if shown is None else is_top & shown.rows["activity"])
    of_trace = _OfTrace.of(trace, top)
    # The hottest thermal state at these times.
    predicted_ns = top.start_ns[of_trace.called]
    states = thermal_states(trace, predicted_ns)
    hottest = UNKNOWN if states is None else int(states.max(initial=UNKNOWN))
    thermal = None if hottest == UNKNOWN else THERMAL_STATES[hottest]
    models = (_model(name, rate, trace, top, of_trace) for name, rate in facts.rates.items())
    language_models: list[ModelMeasurements] = []
    for pid, sample in request_groups(trace, shown):
        name = name_of(pid, sample)
        (first_ns,) = known_together(sample.rows.first_token_ns)
        for what, times in (("first token", first_ns), ("next token", sample.between_ns)):
            if len(times):
                language_models.append(_timed(f"{name}: {what}", times, None, f"{what}s"))
    operation: list[ModelMeasurements] = []
    if shown is not None and shown.operation is not None:
        # Measured as a model is: how long each of its signposts took.
        rows = times_of_operation(trace, shown.operation)
        durations = rows.duration_ns
        depth = depth_over_time(rows).depth if len(rows) else durations
        title = f"{shown.operation} (signpost)" if shown.operation in trace.models.name else shown.operation
        operation.append(_timed(title, durations, int(depth.max(initial=0)), "signposts"))
    return Measurements(
        source=facts.recording.source,
        environment=environment_of(asdict(facts.recording), thermal),
        core_ml=not trace.inferred and (len(trace.activity) > 0),
        models=(*models, *operation, *language_models),
        checks=facts.checks,
        unreadable=unreadable_tables(facts.tables),
        limited=limits_in(facts.recording.notes),
        identity=identity_of(trace),
        started=facts.recording.start_date,
        commit=facts.recording.commit,
        specializations=specializations(trace, None if shown is None or shown.models is None else facts.rates),
        late_ns=None if (frames := frame_summary(trace)) is None else frames.ns_per_second,
    )


def _timed(name: str, durations: IntArray, in_flight: int | None, counted: str) -> ModelMeasurements:
    """What is no model, and takes time as one does."""
    none = np.zeros(0, np.int64)
    return ModelMeasurements(
        *(name, len(durations), durations, np.ones(len(durations), np.bool_), none, none, none),
        max_in_flight=in_flight,
        counted=counted,
    )


def limits_in(notes: Sequence[str]) -> str:
    """`Measurements.limited` of the notes of a report."""
    return next((note for note in notes if LEFT_OUT in note), "")


def check_models_known(source: str, tables: Sequence[TableInfo]) -> None:
    """Raise `UnreadableRecording` where the tables of Core ML could not be read: a model that is not measured may have
    run all the same, and what is measured of another is not all of it."""
    if lost := unreadable_tables(tables, coreml.INSTRUMENT.schemas):
        raise UnreadableRecording(f"{source}: {'; '.join(lost)}")


def check_results(results: Iterable[Result], coverage: Iterable[Coverage]) -> tuple[CheckResult, ...]:
    """What a comparison keeps of the results of a report."""
    lacking = lacking_of(coverage)
    return tuple(
        CheckResult(
            *(one.id, one.title, one.model, one.outcome, one.severity, one.saved_ns),
            lacking.get(one.summary, "") if one.outcome == "not_evaluated" else "",
            margin_of(one.metrics),
        )
        for one in results
    )


def lacking_of(coverage: Iterable[Coverage]) -> dict[str, str]:
    """`CheckResult.lacks` by the reasons that checks give, of the instruments that show nothing. The table of another
    one than Core ML may be empty because nothing happened."""
    return {
        entry.conclusion: entry.conclusion.rstrip(".")
        for entry in coverage
        if entry.state in ("missing", "unreadable") or (entry.state == "empty" and entry.instrument == CORE_ML)
    }


def margin_of(metrics: Iterable[Metric]) -> float | None:
    """`CheckResult.margin` of the metrics of an answer: all conditions must hold, so that the least decides."""
    margins = [
        value / limit if metric.direction == Direction.ABOVE else limit / value
        for metric in metrics
        if (value := metric.value) and (limit := metric.threshold) and min(value, limit) > 0
    ]
    return round(min(margins), 4) if margins else None


def environment_of(recording: Mapping[str, Any], thermal: str | None) -> Environment:
    """That of a recording with these fields of `RecordingInfo`."""
    return Environment(
        device=recording["device_model"],
        system=" ".join(part for part in (recording["platform"], recording["os_version"]) if part) or None,
        instruments=recording["instruments_version"],
        template=recording["template"],
        thermal=thermal,
        input_type=recording["input_type"],
        target=None if recording["target_kind"] == "all-processes" else recording["target"],
    )


def _model(name: str, per_second: float | None, trace: Trace, top: Calls, of_trace: _OfTrace) -> ModelMeasurements:
    of_model = top.model.is_any(name)
    predictions = top.where(of_model & of_trace.called)
    loads = top.where(of_model & top.kind.is_any(*LOAD_KINDS))
    ids, loads_ns = predictions.id, loads.duration_ns
    inferred = bool(predictions.origin.is_any(Origin.HARDWARE).any())
    inferred_calls = not top.origin.is_any(Origin.CORE_ML).any()
    untold = bool(predictions.attribution.is_any(Attribution.INFERRED).any())
    latencies = predictions.duration_ns
    ended = latencies > 0 if not inferred else np.zeros(len(predictions), np.bool_)
    is_warm = ~of_trace.cold[ids[ended]]
    depth = depth_over_time(predictions).depth if len(predictions) and not inferred else None
    positions = places_of(of_trace.times.every.id, ids)
    timed, timed_ns = positions[ended], latencies[ended]
    parts = _parts(of_trace, timed, timed_ns)
    where = whereabouts(trace, name, ids=ids) if len(ids) else None
    return ModelMeasurements(
        name=name,
        predictions=len(predictions),
        latencies_ns=timed_ns,
        warm=is_warm,
        cold_loads_ns=loads_ns[loads.kind.is_any(Kind.LOAD_UNCACHED)],
        cached_loads_ns=loads_ns[loads.kind.is_any(Kind.LOAD_CACHED)],
        other_loads_ns=loads_ns[loads.kind.is_any(Kind.LOAD)],
        copies=None if untold else int(np.isin(of_trace.copied_in, ids).sum()),
        max_in_flight=None if depth is None else int(depth.max(initial=0)),
        awaited_load_ns=int(loads_ns[awaited(loads, trace)].max(initial=0)) if len(loads) else None,
        warm_parts=parts if is_warm.all() else _parts(of_trace, timed[is_warm], timed_ns[is_warm]),
        parts=parts,
        where=where,
        overlap=mostly_overlap(Intervals.from_rows(predictions).where(ended).alone(), is_warm),
        inexact=_inexact(predictions.where(ended), predictions, loads, top) if inferred_calls else EXACT,
        per_second=per_second,
    )


def _inexact(timed: Calls, predictions: Calls, loads: Calls, top: Calls) -> Inexact:
    """Of calls that are inferred; `timed` are the predictions with a latency, whose median is off by as much as that of
    the shortest or of the longest calls that fit. Signposts show every load."""
    shortest, given, longest = (float(np.median(values)) if len(values) else 0.0 for values in _durations(timed))
    least, likely, most = _durations(loads)
    return Inexact(
        max(int(calls.resolution_ns.max(initial=0)) for calls in (loads, predictions)),
        round(max(given - shortest, longest - given)),
        int(np.maximum(likely - least, most - likely).max(initial=0)),
        not top.origin.is_any(Origin.SIGNPOSTS).any(),
    )


def _durations(calls: Calls) -> tuple[IntArray, IntArray, IntArray]:
    """Shortest, likely and longest durations that fit: shape (calls,) each."""
    earliest, latest, first_end, last_end = calls.bounds
    return np.maximum(first_end - latest, 0), calls.duration_ns, last_end - earliest


def _parts(of_trace: _OfTrace, positions: IntArray, durations_ns: IntArray) -> Parts | None:
    """Of the predictions at these positions of the breakdown, with their durations: shape (predictions,) each."""
    count = len(positions)
    if count < MIN_PREDICTIONS:
        return None
    times = of_trace.groups_ns[positions]
    block = block_length(durations_ns.astype(np.float64))
    numbers = (times.mean(axis=0), mean_errors(times, block))
    means_ns, errors_ns = (tuple(round(value, 1) for value in values.tolist()) for values in numbers)
    complete = tuple((~np.any(of_trace.incomplete[positions], axis=0)).tolist())
    return Parts(means_ns, errors_ns, complete, round(max(count / block - 1, 1.0), 3))
