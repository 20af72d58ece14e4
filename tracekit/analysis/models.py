"""Facts per model: loads, predictions, instances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from tracekit.analysis.breakdown import breakdown
from tracekit.analysis.breakdown_summary import summarise_breakdown
from tracekit.analysis.cadence import bursts, summarise_cadence
from tracekit.analysis.concurrency import summarise_in_flight
from tracekit.analysis.course import summarise_course
from tracekit.analysis.latency import frame_rate, summarise_latency
from tracekit.analysis.loads import first_of_model
from tracekit.analysis.statistics import Statistics, duration_statistics
from tracekit.recording.table import TableState
from tracekit.trace.events import LOAD_KINDS, Attribution, Kind, Level
from tracekit.trace.instruments.catalogue import GPU, NEURAL_ENGINE

if TYPE_CHECKING:
    from tracekit.analysis.breakdown import Breakdown
    from tracekit.analysis.breakdown_summary import BreakdownSummary
    from tracekit.analysis.cadence import Cadence
    from tracekit.analysis.concurrency import InFlight
    from tracekit.analysis.course import Course
    from tracekit.analysis.latency import FrameRate, Latency
    from tracekit.trace.model import Trace


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """One model, by base name."""

    name: str
    level: str
    """`top`, or `sub` for a model that occurs as a stage of a pipeline only."""
    parents: tuple[str, ...]
    """Pipelines it is a stage of."""
    instances: int | None
    """Distinct instance numbers seen; None where names carry none."""
    loads: int
    cold_loads: int | None
    """Loads that prepared the model for the device; None where the recording does not tell cold from cached."""
    predictions: int
    prediction: Statistics | None
    """None where there is no prediction."""
    load: Statistics | None
    """None where there is no load."""
    latency: Latency | None = None
    """Warm and cold apart. This and what follows is of the app's own calls: None for a stage, and without any."""
    cadence: Cadence | None = None
    in_flight: InFlight | None = None
    """None too where predictions have no duration."""
    course: Course | None = None
    """Of the warm ones; None too where they are too few to tell."""
    frames_per_second: FrameRate | None = None
    """What its latency allows; None too where no prediction ran warm and alone."""
    breakdown: BreakdownSummary | None = None


def summarise_models(trace: Trace) -> tuple[ModelSummary, ...]:
    """One summary per base name, largest total of loads and predictions first, then by name.

    Counts and times are of rows of the model's own level, so that the work of a pipeline is not counted twice.
    O(n) for each model.
    """
    activity = trace.activity
    parts, hardware = breakdown(trace), _hardware(trace)
    summaries = [
        _summary(
            (parts, hardware),
            str(name),
            str(level),
            parents,
            None if pd.isna(instances) else int(instances),
            activity[(activity["model"] == name).to_numpy(dtype=bool)],
        )
        for name, level, parents, instances in zip(
            trace.models["name"],
            trace.models["level"],
            trace.models["parents"],
            trace.models["instances"],
            strict=True,
        )
    ]
    return tuple(sorted(summaries, key=lambda summary: (-_total_ns(summary), summary.name)))


def _hardware(trace: Trace) -> pd.DataFrame | None:
    """Work of the Neural Engine and the GPU; None where the recording does not hold that of both."""
    held = {entry.instrument for entry in trace.coverage if entry.state in (TableState.ROWS, TableState.EMPTY)}
    return trace.hardware if {NEURAL_ENGINE, GPU} <= held else None


def _summary(
    whole: tuple[Breakdown, pd.DataFrame | None],
    name: str,
    level: str,
    parents: tuple[str, ...],
    instances: int | None,
    rows: pd.DataFrame,
) -> ModelSummary:
    """Summary of one model; `rows` are its rows of the Activity lane."""
    own = rows[(rows["level"] == level).to_numpy(dtype=bool)]
    loads = own[own["kind"].isin(LOAD_KINDS).to_numpy(dtype=bool)]
    predictions = own[(own["kind"] == Kind.PREDICTION).to_numpy(dtype=bool)]
    summary = ModelSummary(
        name=name,
        level=level,
        parents=parents,
        instances=instances,
        loads=len(loads),
        cold_loads=_cold_loads(loads),
        predictions=len(predictions),
        prediction=_statistics(predictions),
        load=_statistics(loads),
    )
    return summary if level == Level.SUB or predictions.empty else _with_calls(summary, loads, predictions, whole)


def _with_calls(
    summary: ModelSummary,
    loads: pd.DataFrame,
    predictions: pd.DataFrame,
    whole: tuple[Breakdown, pd.DataFrame | None],
) -> ModelSummary:
    """The summary with what the app's calls tell.

    Predictions inferred from hardware have no known start and end of the call, and no loads: neither latencies nor
    frame rates follow from them.
    """
    parts, hardware = whole
    timed = not (predictions["attribution"] == Attribution.INFERRED).any()
    warm = ~first_of_model(loads, predictions)
    return replace(
        summary,
        latency=summarise_latency(predictions, warm) if timed else None,
        cadence=summarise_cadence(predictions, bursts(predictions), hardware),
        in_flight=summarise_in_flight(predictions) if timed else None,
        course=summarise_course(predictions[warm]) if timed else None,
        frames_per_second=frame_rate(predictions, warm) if timed else None,
        breakdown=summarise_breakdown(parts.of(predictions.index)),
    )


def _cold_loads(loads: pd.DataFrame) -> int | None:
    """Number of loads that prepared the model; None without loads, or where one does not say if it was cached."""
    if loads.empty or (loads["kind"] == Kind.LOAD).any():
        return None
    return int((loads["kind"] == Kind.LOAD_UNCACHED).sum())


def _statistics(rows: pd.DataFrame) -> Statistics | None:
    return duration_statistics(rows["start_ns"].to_numpy(), rows["duration_ns"].to_numpy())


def _total_ns(summary: ModelSummary) -> int:
    return sum(part.total_ns for part in (summary.load, summary.prediction) if part is not None)
