"""Takes the measurements of a recording from its trace and its report. Numbers are rounded here as they are stored, so
that both give the same digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown.partition import Breakdown, breakdown
from tracekit.analysis.breakdown.summary import compute_shares
from tracekit.analysis.concurrency import depth_over_time
from tracekit.analysis.device_states import THERMAL_STATES, UNKNOWN, states_at
from tracekit.analysis.latency import warm_mask
from tracekit.analysis.operations import rows_of_operation
from tracekit.analysis.quantities import RESOLUTION_NS, latencies
from tracekit.analysis.requests import name_of, request_groups
from tracekit.analysis.why.order import in_order
from tracekit.comparison.latency import MIN_PREDICTIONS
from tracekit.comparison.measurements import (
    EXACT,
    CheckResult,
    Environment,
    Inexact,
    Measurements,
    ModelMeasurements,
    PartMean,
    Parts,
)
from tracekit.comparison.sampling import block_length, mean_errors
from tracekit.detectors.outcomes import Direction, Metric
from tracekit.errors import UnreadableRecording
from tracekit.report.choice import LEFT_OUT
from tracekit.report.time_breakdown import GROUPS
from tracekit.trace.coverage import unreadable_tables
from tracekit.trace.events import BOUNDS, COPY_KINDS, LOAD_KINDS, Attribution, Kind, Level, Origin
from tracekit.trace.frames import hardware_only, is_any, resolution_of, rows_where, texts_in
from tracekit.trace.instruments import coreml
from tracekit.trace.trace import identity_of

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, FloatArray, IntArray
    from tracekit.report.report import RecordingInfo, Report, Result, TableInfo
    from tracekit.trace.filter import Shown
    from tracekit.trace.trace import Trace


class Facts(NamedTuple):
    """What is measured of a recording and does not follow from its trace alone, redacted as its report is."""

    recording: RecordingInfo
    tables: tuple[TableInfo, ...]
    checks: tuple[CheckResult, ...]
    rates: Mapping[str, float | None]
    """The models that are measured, in their order, with their predictions per second."""


def measure(trace: Trace, report: Report, shown: Shown | None = None) -> Measurements:
    """Measurements of a recording, of which `shown` counts (None: all of it). O(n log n) in the rows of the trace."""
    called = (each for each in report.models if each.level == Level.TOP and (each.predictions or each.loads))
    rates = {each.name: each.quantities.get("predictions_per_second") for each in called}
    return measure_with(trace, Facts(report.recording, report.tables, check_results(report.results), rates), shown)


def measure_with(trace: Trace, facts: Facts, shown: Shown | None) -> Measurements:
    """`measure` where there is no report. O(n log n) in the rows of the trace."""
    rows = trace.activity if shown is None else trace.activity[shown.rows["activity"]]
    top = rows_where(rows, is_any(rows["level"], Level.TOP))
    copies = rows_where(trace.data, is_any(trace.data["kind"], *COPY_KINDS))
    called = rows_where(top, is_any(top["kind"], Kind.PREDICTION))
    warm = warm_mask(trace.activity, called)
    times = breakdown(in_order(trace))
    models = (_model(name, rate, top, called, warm, copies, times) for name, rate in facts.rates.items())
    return Measurements(
        source=facts.recording.source,
        environment=_environment(trace, facts.recording, called),
        core_ml=not trace.inferred and not trace.activity.empty,
        models=(*models, *_operation(trace, shown), *_language_models(trace, shown)),
        checks=facts.checks,
        unreadable=unreadable_tables(facts.tables),
        limited=limits_in(facts.recording.notes),
        identity=identity_of(trace),
        started=facts.recording.start_date,
        commit=facts.recording.commit,
    )


def _operation(trace: Trace, shown: Shown | None) -> Iterator[ModelMeasurements]:
    """The operation that was asked for, measured as a model is: how long each of its signposts took."""
    if shown is None or shown.operation is None:
        return
    rows = rows_of_operation(trace, shown.operation)
    durations = latencies(rows)
    depth = depth_over_time(rows).depth if len(rows) else durations
    name = shown.operation
    if name in texts_in(trace.models["name"].astype("category")):
        name = f"{name} (signpost)"
    yield _timed(name, durations, int(depth.max(initial=0)), "signposts")


def _language_models(trace: Trace, shown: Shown | None) -> Iterator[ModelMeasurements]:
    """How long language models take, measured as a model is: each first token, and each token after another."""
    for pid, sample in request_groups(trace, shown):
        name = name_of(pid, sample)
        first_ns = sample.known("first_token_ns")[0]
        for what, times in (("first token", first_ns), ("next token", sample.between_ns)):
            if len(times):
                rounded = np.rint(times / RESOLUTION_NS).astype(np.int64) * RESOLUTION_NS
                yield _timed(f"{name}: {what}", rounded, None, f"{what}s")


def _timed(name: str, durations: IntArray, in_flight: int | None, counted: str) -> ModelMeasurements:
    """What is no model, and takes time as one does."""
    none = np.zeros(0, np.int64)
    return ModelMeasurements(
        *(name, len(durations), durations, np.ones(len(durations), np.bool_), none, none, none),
        copies=None,
        max_in_flight=in_flight,
        warm_parts=None,
        parts=None,
        units=(),
        counted=counted,
    )


def limits_in(notes: Sequence[str]) -> str:
    """`Measurements.limited` of the notes of a report."""
    return next((note for note in notes if LEFT_OUT in note), "")


def check_models_known(tables: Sequence[TableInfo]) -> None:
    """Raise `UnreadableRecording` where the tables of Core ML could not be read: a model that is not measured may have
    run all the same, and what is measured of another is not all of it."""
    if lost := unreadable_tables(tables, coreml.INSTRUMENT.schemas):
        raise UnreadableRecording("; ".join(lost))


def check_results(results: Iterable[Result]) -> tuple[CheckResult, ...]:
    """What a comparison keeps of the results of a report."""
    return tuple(
        CheckResult(
            *(one.id, one.title, one.model, one.outcome, one.severity, one.own_savings_ns), margin_of(one.metrics)
        )
        for one in results
    )


def margin_of(metrics: Iterable[Metric]) -> float | None:
    """`CheckResult.margin` of the metrics of an answer: all conditions must hold, so that the least decides."""
    margins = [
        value / limit if metric.direction == Direction.ABOVE else limit / value
        for metric in metrics
        if (value := metric.value) and (limit := metric.threshold) and min(value, limit) > 0
    ]
    return round(min(margins), 4) if margins else None


def _environment(trace: Trace, facts: RecordingInfo, predictions: pd.DataFrame) -> Environment:
    states = trace.context.get("thermal")
    hottest = UNKNOWN
    if states is not None and len(predictions):
        hottest = int(states_at(states, THERMAL_STATES, predictions["start_ns"].to_numpy()).max())
    return Environment(
        device=facts.device_model,
        system=" ".join(part for part in (facts.platform, facts.os_version) if part) or None,
        instruments=facts.instruments_version,
        template=facts.template,
        thermal=None if hottest == UNKNOWN else THERMAL_STATES[hottest],
        input_type=facts.input_type,
    )


def _model(
    name: str,
    per_second: float | None,
    top: pd.DataFrame,
    called: pd.DataFrame,
    warm: BoolArray,
    copies: pd.DataFrame,
    times: Breakdown,
) -> ModelMeasurements:
    of_model = is_any(called["model"], name)
    predictions = rows_where(called, of_model)
    loads = rows_where(top, is_any(top["model"], name) & is_any(top["kind"], *LOAD_KINDS))
    inferred = bool(hardware_only(predictions).any())
    inferred_calls = not is_any(top["origin"], Origin.CORE_ML).any()
    untold = bool(is_any(predictions["attribution"], Attribution.INFERRED).any())
    ended = latencies(predictions) > 0 if not inferred else np.zeros(len(predictions), np.bool_)
    timed, is_warm = predictions[ended], warm[of_model][ended]
    depth = depth_over_time(predictions).depth if len(predictions) and not inferred else None
    times = times.of(predictions.index)
    of_timed = times if ended.all() else times.of(timed.index)
    groups_ns = _times_of_groups(of_timed.frame)
    parts = _parts(of_timed, groups_ns, np.ones(len(is_warm), np.bool_))
    return ModelMeasurements(
        name=name,
        predictions=len(predictions),
        latencies_ns=latencies(timed),
        warm=is_warm,
        cold_loads_ns=latencies(loads[is_any(loads["kind"], Kind.LOAD_UNCACHED)]),
        cached_loads_ns=latencies(loads[is_any(loads["kind"], Kind.LOAD_CACHED)]),
        other_loads_ns=latencies(loads[is_any(loads["kind"], Kind.LOAD)]),
        copies=None if untold else int(copies["prediction"].isin(predictions.index).sum()),
        max_in_flight=None if depth is None else int(depth.max(initial=0)),
        warm_parts=parts if is_warm.all() else _parts(of_timed, groups_ns, is_warm),
        parts=parts,
        units=tuple(compute_shares(times).items()),
        inexact=_inexact(timed, predictions, loads, top) if inferred_calls else EXACT,
        per_second=per_second,
    )


def _inexact(timed: pd.DataFrame, predictions: pd.DataFrame, loads: pd.DataFrame, top: pd.DataFrame) -> Inexact:
    """Of calls that are inferred; `timed` are the predictions with a latency, whose median is off by as much as that of
    the shortest or of the longest calls that fit. Signposts show every load."""
    shortest, given, longest = (float(np.median(values)) if len(values) else 0.0 for values in _durations(timed))
    least, likely, most = _durations(loads)
    return Inexact(
        resolution_of(loads, predictions),
        round(max(given - shortest, longest - given)),
        int(np.maximum(likely - least, most - likely).max(initial=0)),
        not is_any(top["origin"], Origin.SIGNPOSTS).any(),
    )


def _durations(calls: pd.DataFrame) -> tuple[IntArray, IntArray, IntArray]:
    """Shortest, likely and longest durations that fit: shape (calls,) each."""
    earliest, latest, first_end, last_end = (calls[name].to_numpy(np.int64) for name in BOUNDS)
    return np.maximum(first_end - latest, 0), calls["duration_ns"].to_numpy(np.int64), last_end - earliest


def _times_of_groups(frame: pd.DataFrame) -> FloatArray:
    """Time in ns of each group of parts in each prediction, shape (predictions, groups). What is not known is left
    out."""
    known = (sum(frame[part.column].array.to_numpy(np.float64, na_value=0.0) for part in each.parts) for each in GROUPS)
    return np.column_stack(list(known))


def _parts(of_timed: Breakdown, groups_ns: FloatArray, chosen: BoolArray) -> Parts | None:
    """Of the chosen ones of these predictions, whose times are `groups_ns`; shape (predictions,)."""
    count = int(chosen.sum())
    if count < MIN_PREDICTIONS:
        return None
    times = groups_ns[chosen]
    block = block_length(of_timed.frame["duration_ns"].to_numpy(np.float64)[chosen])
    errors = mean_errors(times, block)
    means = (
        PartMean(
            group.name,
            round(float(times[:, index].mean()), 1),
            round(float(errors[index]), 1),
            not any((of_timed.unknown[part][chosen] >= 0).any() for part in group.parts),
        )
        for index, group in enumerate(GROUPS)
    )
    return Parts(tuple(means), round(max(count / block - 1, 1.0), 3))
