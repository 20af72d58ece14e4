"""The views: names, columns with units, and the frame that each one shows.

They are an interface: a name that is here stays, and a change of meaning raises `VERSION`. Names end in the unit, `_ns`
for nanoseconds; times count from the start of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.loads import first_after_load
from tracekit.analysis.quantities import MODEL
from tracekit.intervals import Intervals
from tracekit.trace.events import LOAD_KINDS, Kind, Lane, Level
from tracekit.trace.frames import is_any, rows_where

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray
    from tracekit.report.report import Report, Result
    from tracekit.trace.trace import Trace

VERSION: Final = 1
"""Of the views, as a whole."""

TEXT, NUMBER, REAL, FLAG = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"
"""Types of columns. A text that repeats is an `ENUM` of the texts that occur, which behaves as `VARCHAR`."""
_DTYPES = {TEXT: "category", NUMBER: "Int64", REAL: "Float64", FLAG: "boolean"}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a view."""

    name: str
    type: str
    holds: str


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """What views are made of."""

    trace: Trace
    report: Callable[[], Report]
    """Runs the checks when it is first called."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One view."""

    name: str
    holds: str
    columns: tuple[Column, ...]
    frame: Callable[[Source], pd.DataFrame | None]
    """Its rows, with these columns in this order; None where they were not recorded."""
    instruments: tuple[str, ...] = ()
    """What has to be recorded for it; empty for what follows from all of the recording."""

    def rows(self, source: Source) -> pd.DataFrame:
        """The frame that is registered: shape (rows, columns), without rows where nothing was recorded."""
        frame = self.frame(source)
        if frame is not None:
            return frame
        return pd.DataFrame({column.name: pd.Series([], dtype=_DTYPES[column.type]) for column in self.columns})


def _columns(*lines: str) -> tuple[Column, ...]:
    """Columns from lines such as `start_ns BIGINT start of the call`."""
    return tuple(Column(*line.split(" ", 2)) for line in lines)


_INTERVAL = ("start_ns BIGINT start", "end_ns BIGINT end", "duration_ns BIGINT duration")
_EVENTS = _columns(
    "id BIGINT number of the row in its lane; `prediction_id` refers to those of `activity`",
    *_INTERVAL,
    "lane VARCHAR `activity`, `data`, `compute`, `neural engine`, `gpu`, `mps` or `unknown`",
    "kind VARCHAR what the row is, in one vocabulary for all systems: `prediction`, `load_cached`, `ane_exec`, …",
    "label VARCHAR event or label as recorded",
    "model VARCHAR model, by base name; null where the row names none",
    "instance BIGINT number of the instance; null where names carry none",
    "parent_model VARCHAR pipeline that the model is a stage of",
    "level VARCHAR `top` for what the app called, `sub` for stages of pipelines",
    "compute_unit VARCHAR `cpu`, `gpu` or `ane`; null where the row runs on none or it is unknown",
    "process VARCHAR name of the process; null where the table has none",
    "pid BIGINT id of the process",
    "depth BIGINT nesting depth as recorded",
    "operation BIGINT index of the segment of the compiled program that ran",
    "prediction_id BIGINT the prediction that contains the row; null where there is none or several could",
    "attribution VARCHAR how sure model and prediction are: `exact`, `label`, `contained`, `ambiguous`, …",
    "source_table VARCHAR schema of the recorded table",
    "source_row BIGINT row in that table, from 0",
)
_CALLS = _columns(
    "origin VARCHAR what recorded the call: `core-ml`, `signposts`, `call-stacks` or `hardware`",
    "resolution_ns BIGINT time between two samples where call stacks show the call, else 0",
    "start_min_ns BIGINT earliest start",
    "start_max_ns BIGINT latest start",
    "end_min_ns BIGINT earliest end",
    "end_max_ns BIGINT latest end",
    "is_single BOOLEAN false where the row may be several calls",
)
_RENAMED = {
    "device": "compute_unit",
    "prediction": "prediction_id",
    "table": "source_table",
    "row": "source_row",
    "single": "is_single",
    "stack": "stack_id",
}
_FIRST = _columns("is_first_after_load BOOLEAN first prediction after a load of its model, which warms it up")
_COLD = _columns("is_cold BOOLEAN the load prepared the model for the device; null where that is not known")


def _events(rows: pd.DataFrame, columns: Sequence[Column], **more: BoolArray | pd.arrays.BooleanArray) -> pd.DataFrame:
    """Rows of an event frame as a view of these columns."""
    ends = Intervals.from_rows(rows).ends
    frame = rows.rename(columns=_RENAMED).assign(id=rows.index.to_numpy(np.int64), end_ns=ends, **more)
    return frame[[column.name for column in columns]]


def _is_prediction(activity: pd.DataFrame) -> BoolArray:
    return is_any(activity["kind"], Kind.PREDICTION) & is_any(activity["level"], Level.TOP)


def _predictions(source: Source) -> pd.DataFrame:
    activity = source.trace.activity
    chosen = _is_prediction(activity)
    first = first_after_load(activity)[chosen]
    return _events(rows_where(activity, chosen), _EVENTS + _CALLS + _FIRST, is_first_after_load=first)


def _loads(source: Source) -> pd.DataFrame:
    activity = source.trace.activity
    loads = rows_where(activity, is_any(activity["kind"], *LOAD_KINDS))
    cold, known = is_any(loads["kind"], Kind.LOAD_UNCACHED), ~is_any(loads["kind"], Kind.LOAD)
    return _events(loads, _EVENTS + _CALLS + _COLD, is_cold=pd.arrays.BooleanArray(cold, ~known))


def _lane(name: str) -> Callable[[Source], pd.DataFrame]:
    columns = _EVENTS + _CALLS if name == "activity" else _EVENTS
    return lambda source: _events(getattr(source.trace, name), columns)


def _unit(lane: Lane) -> Callable[[Source], pd.DataFrame]:
    def frame(source: Source) -> pd.DataFrame:
        hardware = source.trace.hardware
        return _events(rows_where(hardware, is_any(hardware["lane"], lane)), _EVENTS)

    return frame


_BREAKDOWN = _columns(
    "prediction_id BIGINT the prediction, as in `predictions`",
    "start_ns BIGINT start of the prediction",
    "model VARCHAR its model",
    "duration_ns BIGINT its duration: the sum of the parts up to `not_recorded_ns`",
    "ane_ns BIGINT the Neural Engine worked for it",
    "gpu_ns BIGINT the GPU worked for it",
    "cpu_ns BIGINT Core ML computed on the CPU",
    "data_before_ns BIGINT copies and conversions before the first compute activity",
    "data_between_ns BIGINT those between",
    "data_after_ns BIGINT those after the last compute activity",
    "data_unplaced_ns BIGINT those of a prediction without compute activity",
    "ane_queue_ns BIGINT waited for the Neural Engine; null where it is not known",
    "ane_requested_ns BIGINT waiting and work on the Neural Engine, which the recording does not tell apart",
    "gpu_queue_ns BIGINT waited for the GPU",
    "gpu_requested_ns BIGINT waiting and work on the GPU, which the recording does not tell apart",
    "other_ns BIGINT events of Core ML with an unknown compute unit",
    "ambiguous_ns BIGINT work that may be of another prediction in flight",
    "unaccounted_ns BIGINT nothing that was recorded",
    "not_recorded_ns BIGINT the same, of predictions that Core ML did not record",
    "handoffs BIGINT changes from one compute unit to another; null where they are not known",
    "handoff_gap_ns BIGINT time between the work on both sides of them",
    "other_models_ns BIGINT other models used its compute units meanwhile",
)


def _breakdown(source: Source) -> pd.DataFrame:
    frame = breakdown(source.trace).frame
    starts = source.trace.activity["start_ns"].to_numpy()[frame.index]
    return frame.assign(prediction_id=frame.index.to_numpy(np.int64), start_ns=starts)[
        [column.name for column in _BREAKDOWN]
    ]


_COUNTS = _columns(
    "model VARCHAR model, by base name",
    "level VARCHAR `top` for models that the app called, `sub` for stages of pipelines",
    "instances BIGINT distinct instances; null where names carry none",
    "loads BIGINT loads; null where Core ML recorded nothing",
    "cold_loads BIGINT loads that prepared the model for the device",
    "predictions BIGINT predictions",
    "predictions_ns BIGINT time of all predictions",
    "loads_ns BIGINT time of all loads",
)
_MODELS = _COUNTS + tuple(
    Column(name, REAL, f"{each.label}, in {each.unit}") for name, each in MODEL.items() if name != "predictions"
)


def _models(source: Source) -> pd.DataFrame:
    rows = [
        (
            *(each.name, each.level, each.instances, each.loads, each.cold_loads, each.predictions),
            *(None if part is None else part.total_ns for part in (each.prediction, each.load)),
            *(each.quantities.get(column.name) for column in _MODELS[len(_COUNTS) :]),
        )
        for each in source.report().models
    ]
    return _typed(rows, _MODELS)


_FINDINGS = _columns(
    "rank BIGINT 1 for the finding that costs most",
    "check_id VARCHAR the check",
    "severity VARCHAR `critical`, `high`, `medium` or `low`",
    "model VARCHAR the model; null for the whole recording",
    "title VARCHAR what is wrong",
    "summary VARCHAR the numbers in one sentence",
    "savings_ns BIGINT what the fix saves at most; null where that is unknown",
    "evidence BIGINT intervals that show it",
)
_CHECKS = _columns(
    "check_id VARCHAR the check",
    "model VARCHAR the model; null for the whole recording",
    "outcome VARCHAR `finding`, `passed`, `not_applicable`, `not_evaluated` or `error`",
    "summary VARCHAR the numbers in one sentence, or why there are none",
    "record VARCHAR what to record so that it can be evaluated",
)
_EVIDENCE = _columns(
    "rank BIGINT of the finding",
    "check_id VARCHAR the check",
    *_INTERVAL,
    "model VARCHAR model of the interval",
    "label VARCHAR what the interval is",
    "source_table VARCHAR schema of the recorded table",
    "source_row BIGINT row in that table, from 0",
)


def _found(source: Source) -> list[Result]:
    return [result for result in source.report().results if result.outcome == "finding"]


def _findings(source: Source) -> pd.DataFrame:
    rows = [
        (rank, each.id, each.severity, each.model, each.title, each.summary, each.own_savings_ns, each.evidence_total)
        for rank, each in enumerate(_found(source), 1)
    ]
    return _typed(rows, _FINDINGS)


def _checks(source: Source) -> pd.DataFrame:
    results = source.report().results
    return _typed([(each.id, each.model, each.outcome, each.summary, each.record) for each in results], _CHECKS)


def _evidence(source: Source) -> pd.DataFrame:
    rows = [
        (
            rank,
            found.id,
            each.start_ns,
            each.end_ns,
            each.end_ns - each.start_ns,
            each.model,
            each.label,
            each.table,
            each.row,
        )
        for rank, found in enumerate(_found(source), 1)
        for each in found.evidence
    ]
    return _typed(rows, _EVIDENCE)


_COVERAGE = _columns(
    "instrument VARCHAR the instrument, as Instruments calls it",
    "state VARCHAR `rows`, `empty`, `missing` or `unreadable`",
    "rows BIGINT rows in its tables; null where they are missing or unreadable",
    "tables VARCHAR schemas of its tables",
    "conclusion VARCHAR what follows",
    "advice VARCHAR what to do to see more",
)


def _coverage(source: Source) -> pd.DataFrame:
    rows = [
        (each.instrument, str(each.state), each.rows, ", ".join(each.tables), each.conclusion, each.advice)
        for each in source.trace.coverage
    ]
    return _typed(rows, _COVERAGE)


_RECORDING = _columns(
    "source VARCHAR name of the recording",
    "run BIGINT number of the run",
    "device_model VARCHAR model of the device",
    "os_version VARCHAR its system",
    "target VARCHAR process that was recorded",
    "template VARCHAR template of Instruments",
    "instruments_version VARCHAR version of Instruments",
    "start_date VARCHAR when it was recorded",
    "duration_ns BIGINT duration of the run",
)


def _recording(source: Source) -> pd.DataFrame:
    info = source.report().recording
    return _typed([tuple(getattr(info, column.name) for column in _RECORDING)], _RECORDING)


_SAMPLES = _columns(
    "time_ns BIGINT when the sample was taken",
    "thread VARCHAR the thread, as Instruments shows it",
    "tid BIGINT id of the thread",
    "main_thread BOOLEAN whether it is a main thread; null where that is not known",
    "process VARCHAR name of the process",
    "pid BIGINT id of the process",
    "state VARCHAR state of the thread",
    "weight_ns BIGINT time that the sample stands for; null where the table does not state it",
    "stack_id BIGINT its call stack, in `stacks`; null where none was caught",
)
_STACKS = _columns(
    "stack_id BIGINT the call stack",
    "depth BIGINT 0 is the innermost frame",
    "image VARCHAR binary",
    "function VARCHAR function",
    "file VARCHAR source file; null where it is not known",
    "line BIGINT line; null where it is not known",
    "owner VARCHAR `app`, `system`, or null",
    "inlined BOOLEAN whether the compiler put the function into the next one",
)


def _of_samples(name: str, columns: Sequence[Column]) -> Callable[[Source], pd.DataFrame | None]:
    def frame(source: Source) -> pd.DataFrame | None:
        frame: pd.DataFrame | None = getattr(source.trace, name)
        return None if frame is None else frame.rename(columns=_RENAMED)[[column.name for column in columns]]

    return frame


def _typed(rows: Sequence[Sequence[object]], columns: Sequence[Column]) -> pd.DataFrame:
    """Rows of objects as a frame of these columns, shape (rows, columns)."""
    frame = pd.DataFrame(rows, columns=[column.name for column in columns], dtype=object)
    return frame.astype({column.name: _DTYPES[column.type] for column in columns})


_PROCESS = ("process VARCHAR name of the process", "pid BIGINT id of the process")
_THREAD = ("thread VARCHAR the thread, as Instruments shows it", "tid BIGINT id of the thread")
_SIGNPOST = (
    "name VARCHAR name of the signpost",
    "category VARCHAR its category",
    "subsystem VARCHAR its subsystem",
    "identifier VARCHAR what tells apart those in flight at a time",
    *_PROCESS,
    *_THREAD,
)
_INDUCED = "induced BIGINT 1 where a developer's condition forced the state"

_CONTEXT: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "signposts",
        "Signposts",
        "signpost intervals of the app and of frameworks",
        (
            *_INTERVAL,
            *_SIGNPOST,
            "start_message VARCHAR message of the begin",
            "end_message VARCHAR message of the end",
        ),
    ),
    (
        "signpost_events",
        "Signposts",
        "signpost events",
        ("start_ns BIGINT time of the event", *_SIGNPOST, "message VARCHAR message"),
    ),
    (
        "points_of_interest",
        "Points of Interest",
        "points of interest",
        (
            "start_ns BIGINT time of the event",
            "name VARCHAR name of the event",
            "subsystem VARCHAR its subsystem",
            "message VARCHAR message",
            *_PROCESS,
            *_THREAD,
        ),
    ),
    ("thermal", "Thermal State", "thermal states", (*_INTERVAL, "state VARCHAR thermal state", _INDUCED)),
    (
        "hangs",
        "Hangs",
        "times at which a main thread did not react",
        (*_INTERVAL, "hang_type VARCHAR how long it was, in words", *_PROCESS, *_THREAD),
    ),
    (
        "hang_risks",
        "Hangs",
        "calls that risk a hang",
        (
            "start_ns BIGINT time of the call",
            "message VARCHAR what was called",
            "severity VARCHAR severity",
            *_PROCESS,
            *_THREAD,
        ),
    ),
    (
        "gpu_states",
        "GPU State",
        "whether the GPU was active",
        (*_INTERVAL, "state VARCHAR `Active` or `Idle`", "label VARCHAR label", "gpu VARCHAR the GPU"),
    ),
    (
        "gpu_clock",
        "GPU State",
        "performance states of the GPU",
        (*_INTERVAL, "state VARCHAR performance state", "gpu VARCHAR the GPU", _INDUCED),
    ),
    (
        "metal_pipelines",
        "Signposts",
        "Metal pipelines that were compiled",
        ("start_ns BIGINT time of the event", "function VARCHAR Metal function", *_PROCESS, *_THREAD),
    ),
    ("processes", "Processes", "processes that ran", ("process VARCHAR the process", "pid BIGINT id of the process")),
)
"""Name, instrument, rows and columns of the views of context frames."""
_FRAMES = {"gpu_clock": "gpu_performance"}
"""Context frames whose view has a name of its own."""


def _context(name: str, columns: Sequence[Column]) -> Callable[[Source], pd.DataFrame | None]:
    def frame(source: Source) -> pd.DataFrame | None:
        rows = source.trace.context.get(_FRAMES.get(name, name))
        if rows is None:
            return None
        ends = {"end_ns": Intervals.from_rows(rows).ends} if "duration_ns" in rows else {}
        return rows.assign(**ends).reindex(columns=[column.name for column in columns])

    return frame


_UNITS = ("Neural Engine", "GPU", "MPS")
_CORE_ML = ("Core ML",)
_STACKED = ("Call Stacks",)

VIEWS: Mapping[str, View] = {
    view.name: view
    for view in (
        View("predictions", "predictions that the app called", _EVENTS + _CALLS + _FIRST, _predictions, _CORE_ML),
        View("loads", "loads of models", _EVENTS + _CALLS + _COLD, _loads, _CORE_ML),
        View("activity", "the Activity lane", _EVENTS + _CALLS, _lane("activity"), _CORE_ML),
        View("data", "the Data lane: copies and conversions", _EVENTS, _lane("data"), _CORE_ML),
        View("compute", "the Compute lane: requests to compute units", _EVENTS, _lane("compute"), _CORE_ML),
        View("hardware", "work of Neural Engine and GPU", _EVENTS, _lane("hardware"), _UNITS),
        View(
            "neural_engine",
            "work of the Neural Engine",
            _EVENTS,
            _unit(Lane.NEURAL_ENGINE),
            ("Neural Engine",),
        ),
        View("gpu", "work of the GPU", _EVENTS, _unit(Lane.GPU), ("GPU",)),
        View("breakdown", "where the time of each prediction went", _BREAKDOWN, _breakdown, _CORE_ML),
        View("models", "models, with the numbers that reports show", _MODELS, _models, _CORE_ML),
        View("findings", "what the checks found, the most expensive first", _FINDINGS, _findings),
        View("checks", "the answer of each check for each model", _CHECKS, _checks),
        View("evidence", "intervals that show a finding, a selection where there are many", _EVIDENCE, _evidence),
        View("samples", "call stacks that were sampled", _SAMPLES, _of_samples("samples", _SAMPLES), _STACKED),
        View("stacks", "frames of the call stacks", _STACKS, _of_samples("stacks", _STACKS), _STACKED),
        *(
            View(name, holds, _columns(*lines), _context(name, _columns(*lines)), (instrument,))
            for name, instrument, holds, lines in _CONTEXT
        ),
        View("recording", "the recording itself: one row", _RECORDING, _recording),
        View("coverage", "what was recorded, by instrument", _COVERAGE, _coverage),
    )
}
"""Every view, by name."""
