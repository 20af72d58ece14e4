"""What a comparison takes from one recording: the durations themselves, not only their summary.

Measurements are small, hold nothing private, and say all that a comparison needs, so that a report that holds them can
stand for the recording. Numbers are rounded here as they are stored, so that both give the same digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown.partition import Breakdown, breakdown
from tracekit.analysis.breakdown.summary import compute_shares
from tracekit.analysis.concurrency import depth_over_time
from tracekit.analysis.device_states import THERMAL_STATES, UNKNOWN, states_at
from tracekit.analysis.latency import warm_mask
from tracekit.analysis.operations import rows_of_operation
from tracekit.analysis.quantities import Population, Sample, latencies, quantities_of
from tracekit.analysis.why.order import in_order
from tracekit.compare.latency import MIN_PREDICTIONS
from tracekit.compare.resampling import block_length, mean_errors
from tracekit.detectors.outcomes import Direction, Metric
from tracekit.errors import UnreadableRecording, unknown
from tracekit.report.choice import LEFT_OUT, matching_any
from tracekit.report.time_breakdown import GROUPS
from tracekit.trace.coverage import unreadable_tables
from tracekit.trace.events import BOUNDS, COPY_KINDS, LOAD_KINDS, Attribution, Kind, Level, Origin
from tracekit.trace.frames import hardware_only, is_any, resolution_of, texts_in
from tracekit.trace.identity import identity_of
from tracekit.trace.instruments import coreml

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, FloatArray, IntArray
    from tracekit.report.report import Report, Result, TableInfo
    from tracekit.trace.filter import Shown
    from tracekit.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Environment:
    """What must agree for a comparison to be fair. None: not recorded, which never counts as a difference."""

    device: str | None
    system: str | None
    """Platform and version."""
    instruments: str | None
    template: str | None
    thermal: str | None
    """Hottest thermal state in which a prediction began."""
    input_type: str | None
    """How the recording was read: a bundle or an export."""


@dataclass(frozen=True, slots=True)
class PartMean:
    """Mean time per warm prediction of one part of the breakdown, in ns."""

    part: str
    """Name of a group of `tracekit.report.time_breakdown.GROUPS`."""
    mean_ns: float
    error_ns: float
    """Standard error, by the same draws of whole predictions for all parts."""
    complete: bool
    """Whether all of it is known; else the mean is a lower bound."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the time of some predictions of a model went, on average."""

    means: tuple[PartMean, ...]
    """In the order of `GROUPS`; they add up to the mean latency."""
    degrees: float
    """Degrees of freedom of the standard errors."""


@dataclass(frozen=True, slots=True)
class Inexact:
    """How exact the numbers of a model are: by how much each is off at most."""

    resolution_ns: int = 0
    """The time between two samples, where call stacks show the calls: durations have no more digits."""
    latency_ns: int = 0
    """How far its median latency may be off."""
    load_ns: int = 0
    """How far the duration of a load may be off."""
    loads_at_least: bool = False
    """Whether there may be more loads than were seen."""

    def error_ns(self, quantity: str) -> int:
        """How far a number may be off, by its id; 0 for one that is no duration of calls."""
        return self.latency_ns if quantity in _LATENCIES else self.load_ns if quantity in _LOAD_TIMES else 0


EXACT = Inexact()
"""Of a model whose calls Core ML recorded."""
_LATENCIES = ("p50_ns", "p95_ns", "all_p50_ns", "all_p95_ns")
_LOAD_TIMES = ("load_ns", "cold_load_ns")


def least_exact(each: Iterable[Inexact]) -> Inexact:
    """What holds for several recordings together; `EXACT` for none. O(recordings)."""
    known = (EXACT, *each)
    return Inexact(*(max(values) for values in zip(*map(astuple, known), strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class ModelMeasurements:
    """One model that the app calls. Durations in ns, multiples of `quantities.RESOLUTION_NS`, in order of time."""

    name: str
    predictions: int
    latencies_ns: IntArray
    """Of predictions that ended, shape (n,); (0,) where predictions are inferred from hardware, which does not show
    their latency."""
    warm: BoolArray
    """Same shape: not the first prediction after a load."""
    cold_loads_ns: IntArray
    cached_loads_ns: IntArray
    other_loads_ns: IntArray
    """Loads of which the recording does not show whether they were cold."""
    copies: int | None
    """Rows of copies and conversions that belong to its predictions; None where predictions are inferred."""
    max_in_flight: int | None
    warm_parts: Parts | None
    """Of the warm predictions; None where there are too few to resample."""
    parts: Parts | None
    """Of all predictions."""
    units: tuple[tuple[str, float], ...]
    """Share of the execution on each compute unit; empty where no execution was recorded."""
    inexact: Inexact = EXACT
    per_second: float | None = None
    """Predictions per second while it predicts; None: not recorded."""
    is_operation: bool = False
    """Whether it is no model, but an operation of the app that its signposts name (`--signpost`)."""

    @property
    def sample(self) -> Sample:
        """What its numbers follow from."""
        loads_ns = np.concatenate([self.cached_loads_ns, self.other_loads_ns])
        return Sample(
            *(self.predictions, self.latencies_ns, self.warm, loads_ns, self.cold_loads_ns, dict(self.units)),
            per_second=self.per_second,
        )

    @property
    def quantities(self) -> dict[str, float | None]:
        """Its numbers, by id."""
        return quantities_of(self.sample)

    @property
    def latency_ns(self) -> IntArray:
        """Latencies of the default population: the warm predictions, or all where each is the first after a load."""
        return self.sample.of(Population.WARM)

    @property
    def warm_ns(self) -> IntArray:
        """Latencies of the warm predictions."""
        return self.latencies_ns[self.warm]

    @property
    def since_load(self) -> IntArray:
        """How many predictions lie between each and the load before it, or the start of the recording."""
        place = np.arange(len(self.warm))
        return place - np.maximum.accumulate(np.where(self.warm, 0, place))

    @property
    def copies_per_prediction(self) -> float | None:
        """Copies and conversions by predictions; None where either is not known."""
        return self.copies / self.predictions if self.copies is not None and self.predictions else None

    @property
    def loads(self) -> int:
        """All loads."""
        return len(self.cold_loads_ns) + len(self.cached_loads_ns) + len(self.other_loads_ns)

    @property
    def load_ns(self) -> int:
        """Summed duration of all loads."""
        return sum(int(part.sum()) for part in (self.cold_loads_ns, self.cached_loads_ns, self.other_loads_ns))


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check answered for one model, or for the recording (None)."""

    id: str
    title: str
    model: str | None
    outcome: str
    severity: str | None
    savings_ns: int | None
    margin: float | None = None
    """How many times the threshold its metric is, of several the one that decides: a finding has 1 or more. None where
    none has a threshold."""


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """One recording."""

    source: str
    environment: Environment
    core_ml: bool
    """Whether Core ML recorded rows: without them, no model and no load that is not there is known to be absent."""
    models: tuple[ModelMeasurements, ...]
    """Models that the app calls or loads, in the order of the report."""
    checks: tuple[CheckResult, ...]
    unreadable: tuple[str, ...] = ()
    """Which tables could not be read and why, a clause for each reason. What they held is not in here."""
    limited: str = ""
    """A sentence on the models that are not in here, where a report has no room for all."""
    identity: str | None = None
    """Which recording it is (`tracekit.trace.identity`); None where nothing tells it from others."""
    started: str | None = None
    """When it began, as ISO 8601."""
    commit: str | None = None
    """The commit that it is of, where one was given."""


def of_model(recordings: Iterable[Measurements], name: str) -> list[ModelMeasurements]:
    """What recordings hold of one model; those without it are left out."""
    return [model for recording in recordings for model in recording.models if model.name == name]


def measure(trace: Trace, report: Report, shown: Shown | None = None) -> Measurements:
    """Measurements of a recording, of which `shown` counts (None: all of it). O(n log n) in the rows of the trace."""
    rows = trace.activity if shown is None else trace.activity[shown.rows["activity"]]
    top = rows[is_any(rows["level"], Level.TOP)]
    copies = trace.data[is_any(trace.data["kind"], *COPY_KINDS)]
    called = top[is_any(top["kind"], Kind.PREDICTION)]
    warm = warm_mask(trace.activity, called)
    times = breakdown(in_order(trace))
    return Measurements(
        source=report.recording.source,
        environment=_environment(trace, report, called),
        core_ml=not trace.inferred and not trace.activity.empty,
        models=(
            *(
                replace(
                    _model(entry.name, top, called, warm, copies, times),
                    per_second=entry.quantities.get("predictions_per_second"),
                )
                for entry in report.models
                if entry.level == Level.TOP and (entry.predictions or entry.loads)
            ),
            *_operation(trace, shown),
        ),
        checks=tuple(map(_check, report.results)),
        unreadable=unreadable_tables(report.tables),
        limited=limits_in(report.recording.notes),
        identity=identity_of(trace),
        started=report.recording.start_date,
        commit=report.recording.commit,
    )


def _operation(trace: Trace, shown: Shown | None) -> Iterator[ModelMeasurements]:
    """The operation that was asked for, measured as a model is: how long each of its signposts took."""
    if shown is None or shown.operation is None:
        return
    rows = rows_of_operation(trace, shown.operation)
    durations, none = latencies(rows), np.zeros(0, np.int64)
    depth = depth_over_time(rows).depth if len(rows) else none
    name = shown.operation
    if name in texts_in(trace.models["name"].astype("category")):
        name = f"{name} (signpost)"
    yield ModelMeasurements(
        *(name, len(rows), durations, np.ones(len(rows), np.bool_), none, none, none),
        copies=None,
        max_in_flight=int(depth.max(initial=0)),
        warm_parts=None,
        parts=None,
        units=(),
        is_operation=True,
    )


def limits_in(notes: Sequence[str]) -> str:
    """`Measurements.limited` of the notes of a report."""
    return next((note for note in notes if LEFT_OUT in note), "")


def check_models_known(tables: Sequence[TableInfo]) -> None:
    """Raise `UnreadableRecording` where the tables of Core ML could not be read: a model that is not measured may have
    run all the same, and what is measured of another is not all of it."""
    if lost := unreadable_tables(tables, coreml.INSTRUMENT.schemas):
        raise UnreadableRecording("; ".join(lost))


def only_models(recording: Measurements, patterns: Sequence[str]) -> Measurements:
    """What is measured of the models that match any of some patterns. Raises `UsageError` for one that matches none."""
    names = sorted(model.name for model in recording.models)
    chosen = matching_any(names, patterns, lambda pattern: unknown("model", pattern, names))
    return replace(
        recording,
        models=tuple(model for model in recording.models if model.name in chosen),
        checks=tuple(check for check in recording.checks if check.model is None or check.model in chosen),
    )


def _check(check: Result) -> CheckResult:
    margin = margin_of(check.metrics)
    return CheckResult(check.id, check.title, check.model, check.outcome, check.severity, check.own_savings_ns, margin)


def margin_of(metrics: Iterable[Metric]) -> float | None:
    """`CheckResult.margin` of the metrics of an answer: all conditions must hold, so that the least decides."""
    margins = [
        value / limit if metric.direction == Direction.ABOVE else limit / value
        for metric in metrics
        if (value := metric.value) and (limit := metric.threshold) and min(value, limit) > 0
    ]
    return round(min(margins), 4) if margins else None


def _environment(trace: Trace, report: Report, predictions: pd.DataFrame) -> Environment:
    facts = report.recording
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
    name: str, top: pd.DataFrame, called: pd.DataFrame, warm: BoolArray, copies: pd.DataFrame, times: Breakdown
) -> ModelMeasurements:
    of_model = (called["model"] == name).to_numpy(dtype=bool)
    predictions = called[of_model]
    loads = top[(top["model"] == name).to_numpy(dtype=bool) & is_any(top["kind"], *LOAD_KINDS)]
    inferred = bool(hardware_only(predictions).any())
    inferred_calls = not is_any(top["origin"], Origin.CORE_ML).any()
    untold = bool(is_any(predictions["attribution"], Attribution.INFERRED).any())
    ended = latencies(predictions) > 0 if not inferred else np.zeros(len(predictions), np.bool_)
    timed, is_warm = predictions[ended], warm[of_model][ended]
    depth = depth_over_time(predictions).depth if len(predictions) and not inferred else None
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
        warm_parts=_parts(times.of(timed[is_warm].index)),
        parts=_parts(times.of(timed.index)),
        units=tuple(compute_shares(times.of(predictions.index)).items()),
        inexact=_inexact(timed, predictions, loads, top) if inferred_calls else EXACT,
    )


def _inexact(timed: pd.DataFrame, predictions: pd.DataFrame, loads: pd.DataFrame, top: pd.DataFrame) -> Inexact:
    """Of calls that are inferred; `timed` are the predictions with a latency. Signposts show every load."""
    return Inexact(
        resolution_of(loads, predictions),
        _median_error(timed),
        _longest_error(loads),
        not is_any(top["origin"], Origin.SIGNPOSTS).any(),
    )


def _median_error(calls: pd.DataFrame) -> int:
    """How far the median duration may be off: that of the shortest and of the longest calls that fit."""
    if calls.empty:
        return 0
    shortest, given, longest = (float(np.median(values)) for values in _durations(calls))
    return round(max(given - shortest, longest - given))


def _longest_error(calls: pd.DataFrame) -> int:
    """How far the duration of any of these calls may be off."""
    shortest, given, longest = _durations(calls)
    return int(np.maximum(given - shortest, longest - given).max(initial=0))


def _durations(calls: pd.DataFrame) -> tuple[IntArray, IntArray, IntArray]:
    """Shortest, likely and longest durations that fit: shape (calls,) each."""
    earliest, latest, first_end, last_end = (calls[name].to_numpy(np.int64) for name in BOUNDS)
    return np.maximum(first_end - latest, 0), calls["duration_ns"].to_numpy(np.int64), last_end - earliest


def _parts(times_of_model: Breakdown) -> Parts | None:
    count = len(times_of_model.frame)
    if count < MIN_PREDICTIONS:
        return None
    times = np.column_stack([_time(times_of_model, group.parts) for group in GROUPS])
    block = block_length(times_of_model.frame["duration_ns"].to_numpy(dtype=np.float64))
    errors = mean_errors(times, block)
    means = (
        PartMean(
            group.name,
            round(float(times[:, index].mean()), 1),
            round(float(errors[index]), 1),
            not any((times_of_model.unknown[part] >= 0).any() for part in group.parts),
        )
        for index, group in enumerate(GROUPS)
    )
    return Parts(tuple(means), round(max(count / block - 1, 1.0), 3))


def _time(breakdown: Breakdown, parts: Sequence[str]) -> FloatArray:
    """Time of some parts in each prediction, what is not known left out: shape (predictions,)."""
    columns = [breakdown.frame[f"{part}_ns"].to_numpy(dtype=np.float64, na_value=0.0) for part in parts]
    return np.asarray(np.sum(columns, axis=0), dtype=np.float64)
