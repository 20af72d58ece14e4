"""The views: names, columns with units, and the frame that each one shows.

They are an interface: a name that is here stays, and a change of meaning raises `VERSION`. Names end in the unit, `_ns`
for nanoseconds; times count from the start of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.loads import first_predictions
from tracekit.analysis.operations import Part
from tracekit.analysis.statistics import top_calls
from tracekit.arrays import BoolArray
from tracekit.columns import Column, Type
from tracekit.intervals import Intervals
from tracekit.query import columns as of
from tracekit.report.report import Report, Result
from tracekit.trace.events import LOAD_KINDS, Kind, Lane
from tracekit.trace.frames import is_any, rows_where
from tracekit.trace.trace import Trace

VERSION: Final = 1
"""Of the views, as a whole."""
LAKE_KEY: Final = "run_id"
"""The column that tells apart recordings in a lake."""

_DTYPES = {
    Type.TEXT: "category",
    Type.NUMBER: "Int64",
    Type.NULLABLE_NUMBER: "Int64",
    Type.REAL: "Float64",
    Type.FLAG: "boolean",
    Type.NULLABLE_FLAG: "boolean",
}


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
        return typed((), self.columns) if frame is None else frame


def _events(rows: pd.DataFrame, columns: Sequence[Column], **more: BoolArray | pd.arrays.BooleanArray) -> pd.DataFrame:
    """Rows of an event frame as a view of these columns."""
    ends = Intervals.from_rows(rows).ends
    return _of(rows.assign(id=rows.index.to_numpy(np.int64), end_ns=ends, **more), columns)


def _of(frame: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """A frame of a trace with the names and columns of a view."""
    return frame.rename(columns=of.RENAMED)[[column.name for column in columns]]


def _predictions(source: Source) -> pd.DataFrame:
    rows = top_calls(source.trace, Kind.PREDICTION).frame()
    first = first_predictions(source.trace)[rows.index]
    return _events(rows, of.EVENTS + of.CALLS + of.FIRST, is_first_after_load=first)


def _loads(source: Source) -> pd.DataFrame:
    activity = source.trace.activity.frame()
    loads = rows_where(activity, is_any(activity["kind"], *LOAD_KINDS))
    cold, known = is_any(loads["kind"], Kind.LOAD_UNCACHED), ~is_any(loads["kind"], Kind.LOAD)
    return _events(loads, of.EVENTS + of.CALLS + of.COLD, is_cold=pd.arrays.BooleanArray(cold, ~known))


def _lane(name: str) -> Callable[[Source], pd.DataFrame]:
    columns = of.EVENTS + of.CALLS if name == "activity" else of.EVENTS
    return lambda source: _events(source.trace.framed(name), columns)


def _unit(lane: Lane) -> Callable[[Source], pd.DataFrame]:
    return lambda source: _events(
        rows_where(rows := source.trace.hardware.frame(), is_any(rows["lane"], lane)), of.EVENTS
    )


def _breakdown(source: Source) -> pd.DataFrame:
    frame = breakdown(source.trace).every.frame()
    starts = source.trace.activity.start_ns[frame.index]
    return _of(frame.assign(prediction_id=frame.index.to_numpy(np.int64), start_ns=starts), of.BREAKDOWN)


def _models(source: Source) -> pd.DataFrame:
    rows = [
        (
            *(model.name, model.level, model.instances, model.loads, model.cold_loads, model.predictions),
            *(None if part is None else part.total_ns for part in (model.prediction, model.load)),
            *(model.quantities.get(column.name) for column in of.MODELS[len(of.COUNTS) :]),
        )
        for model in source.report().models
    ]
    return typed(rows, of.MODELS)


def _phases(source: Source) -> pd.DataFrame:
    frame = source.trace.phases.frame()
    return _of(frame.assign(end_ns=frame["duration_ns"] + frame["start_ns"], request_id=frame["request"]), of.PHASES)


def _requests(source: Source) -> pd.DataFrame:
    frame = source.trace.requests.frame()
    return _of(frame.assign(id=frame["request"], end_ns=frame["duration_ns"] + frame["start_ns"]), of.REQUESTS)


def _operations(source: Source) -> pd.DataFrame:
    rows = []
    for operation in source.report().operations:
        known, parts = operation.statistics, {part.part: part.total_ns for part in operation.parts}
        head = (operation.name, *((known.count, known.total_ns) if known else (0, 0)))
        numbers = (operation.quantities.get("p50_ns"), operation.quantities.get("p95_ns"), operation.unfinished)
        rows.append((*head, *numbers, *(parts.get(part, 0) for part in Part)))
    return typed(rows, of.OPERATIONS)


def _found(source: Source) -> list[Result]:
    return [result for result in source.report().results if result.outcome == "finding"]


def _findings(source: Source) -> pd.DataFrame:
    rows = [
        (
            *(rank, each.id, each.severity, each.model, each.title, each.summary, each.saved_ns),
            *((saved.each.saved_ns, saved.each.what) if (saved := each.saved) and saved.each else (None, None)),
            each.evidence_total,
        )
        for rank, each in enumerate(_found(source), 1)
    ]
    return typed(rows, of.FINDINGS)


def _checks(source: Source) -> pd.DataFrame:
    results = source.report().results
    return typed(
        [(result.id, result.model, result.outcome, result.summary, result.record) for result in results], of.CHECKS
    )


def _evidence(source: Source) -> pd.DataFrame:
    rows = [
        (
            *(rank, found.id, each.start_ns, each.end_ns, each.end_ns - each.start_ns),
            *(each.model, each.label, each.table, each.row),
        )
        for rank, found in enumerate(_found(source), 1)
        for each in found.evidence
    ]
    return typed(rows, of.EVIDENCE)


def _coverage(source: Source) -> pd.DataFrame:
    rows = [
        (each.instrument, str(each.state), each.rows, ", ".join(each.tables), each.conclusion, each.advice)
        for each in source.report().coverage
    ]
    return typed(rows, of.COVERAGE)


def _recording(source: Source) -> pd.DataFrame:
    info = source.report().recording
    return typed([tuple(getattr(info, column.name) for column in of.RECORDING)], of.RECORDING)


def _of_samples(name: str, columns: Sequence[Column]) -> Callable[[Source], pd.DataFrame | None]:
    return lambda source: None if (frame := source.trace.framed(name)) is None else _of(frame, columns)


def typed(rows: Sequence[Sequence[object]], columns: Sequence[Column]) -> pd.DataFrame:
    """Rows of objects as a frame of these columns, shape (rows, columns)."""
    frame = pd.DataFrame(rows, columns=[column.name for column in columns], dtype=object)
    return frame.astype({column.name: _DTYPES[column.type] for column in columns})


_FRAMES = {"gpu_clock": "gpu_performance"}
"""Context frames whose view has a name of its own."""


def _context(name: str, columns: Sequence[Column]) -> Callable[[Source], pd.DataFrame | None]:
    def frame(source: Source) -> pd.DataFrame | None:
        rows = source.trace.beside(_FRAMES.get(name, name))
        if rows is None:
            return None
        ends = {"end_ns": Intervals.from_rows(rows).ends} if "duration_ns" in rows else {}
        return rows.rename(columns=of.RENAMED).assign(**ends).reindex(columns=[column.name for column in columns])

    return frame


_UNITS = ("Neural Engine", "GPU", "MPS")
_CORE_ML = ("Core ML",)
_STACKED = ("Call Stacks",)
_REQUESTED = ("Signposts", "Foundation Models")

VIEWS: Mapping[str, View] = {
    view.name: view
    for view in (
        View("predictions", "predictions that the app called", of.EVENTS + of.CALLS + of.FIRST, _predictions, _CORE_ML),
        View("loads", "loads of models", of.EVENTS + of.CALLS + of.COLD, _loads, _CORE_ML),
        View("activity", "the Activity lane", of.EVENTS + of.CALLS, _lane("activity"), _CORE_ML),
        View("data", "the Data lane: copies and conversions", of.EVENTS, _lane("data"), _CORE_ML),
        View("compute", "the Compute lane: requests to compute units", of.EVENTS, _lane("compute"), _CORE_ML),
        View("hardware", "work of Neural Engine and GPU", of.EVENTS, _lane("hardware"), _UNITS),
        View("neural_engine", "work of the Neural Engine", of.EVENTS, _unit(Lane.NEURAL_ENGINE), ("Neural Engine",)),
        View("gpu", "work of the GPU", of.EVENTS, _unit(Lane.GPU), ("GPU",)),
        View("breakdown", "where the time of each prediction went", of.BREAKDOWN, _breakdown, _CORE_ML),
        View("models", "models, with the numbers that reports show", of.MODELS, _models, _CORE_ML),
        View("findings", "what the checks found, the most expensive first", of.FINDINGS, _findings),
        View("checks", "the answer of each check for each model", of.CHECKS, _checks),
        View("evidence", "intervals that show a finding, a selection where there are many", of.EVIDENCE, _evidence),
        View("samples", "call stacks that were sampled", of.SAMPLES, _of_samples("samples", of.SAMPLES), _STACKED),
        View("stacks", "frames of the call stacks", of.STACKS, _of_samples("stacks", of.STACKS), _STACKED),
        *(
            View(name, holds, columns, _context(name, columns), (instrument,))
            for (name, instrument, holds), columns in of.CONTEXT.items()
        ),
        View("phases", "phases of other runtimes, and operations of the app", of.PHASES, _phases, ("Signposts",)),
        View("requests", "requests to language models", of.REQUESTS, _requests, _REQUESTED),
        View("operations", "operations of the app: its own signposts", of.OPERATIONS, _operations, ("Signposts",)),
        View("recording", "the recording itself: one row", of.RECORDING, _recording),
        View("coverage", "what was recorded, by instrument", of.COVERAGE, _coverage),
    )
}
"""Every view, by name."""
