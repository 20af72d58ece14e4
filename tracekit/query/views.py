"""The views: names, columns with units, and the rows that each one shows.

They are an interface: a name that is here stays, and a change of meaning raises `VERSION`. Names end in the unit, `_ns`
for nanoseconds; times count from the start of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Final

import numpy as np

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.loads import first_predictions
from tracekit.analysis.operations import Part
from tracekit.analysis.statistics import top_calls
from tracekit.analysis.where.verdict import unit_rows
from tracekit.columns import Column, Flags, Type, known_where
from tracekit.query import columns as of
from tracekit.query.columns import Cells, ViewRows
from tracekit.report.report import Report, Result
from tracekit.rows import Rows, listed_cells
from tracekit.trace.context import ContextRows
from tracekit.trace.events import LOAD_KINDS, Kind, Lane
from tracekit.trace.trace import Trace

VERSION: Final = 1
"""Of the views, as a whole."""
LAKE_KEY: Final = "run_id"
"""The column that tells apart recordings in a lake."""


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
    held: Callable[[Source], ViewRows | None]
    """Its rows, with these columns in this order; None where they were not recorded."""
    instruments: tuple[str, ...] = ()
    """What has to be recorded for it; empty for what follows from all of the recording."""

    def rows(self, source: Source) -> ViewRows:
        """The rows that are registered: none where nothing was recorded."""
        rows = self.held(source)
        return typed((), self.columns) if rows is None else rows


def _of(rows: Rows, columns: Sequence[Column], **more: Cells) -> ViewRows:
    """Rows of a trace with the names and columns of a view, and `more` of them."""
    cells = rows.columns() | more
    if "start_ns" in cells and "duration_ns" in cells:
        starts, durations = cells["start_ns"], cells["duration_ns"]
        is_plain = isinstance(durations, np.ndarray)
        cells["end_ns"] = starts + durations if is_plain else known_where(durations.known, starts + durations.values)
    held = {of.RENAMED.get(name, name): column for name, column in cells.items()}
    return {column.name: held[column.name] for column in columns}


def _predictions(source: Source) -> ViewRows:
    rows = top_calls(source.trace, Kind.PREDICTION)
    return _of(rows, of.EVENTS + of.CALLS + of.FIRST, is_first_after_load=first_predictions(source.trace)[rows.id])


def _loads(source: Source) -> ViewRows:
    loads = source.trace.activity.where(source.trace.activity.kind.is_any(*LOAD_KINDS))
    is_cold = Flags(loads.kind.is_any(Kind.LOAD_UNCACHED), ~loads.kind.is_any(Kind.LOAD))
    return _of(loads, of.EVENTS + of.CALLS + of.COLD, is_cold=is_cold)


def _lane(name: str) -> Callable[[Source], ViewRows]:
    columns = of.EVENTS + of.CALLS if name == "activity" else of.EVENTS
    return lambda source: _of(source.trace.events[name], columns)


def _unit(lane: Lane) -> Callable[[Source], ViewRows]:
    return lambda source: _of(source.trace.hardware.where(source.trace.hardware.lane.is_any(lane)), of.EVENTS)


def _breakdown(source: Source) -> ViewRows:
    times = breakdown(source.trace).every
    return _of(times, of.BREAKDOWN, prediction_id=times.id, start_ns=source.trace.activity.start_ns[times.id])


def _models(source: Source) -> ViewRows:
    rows = [
        (
            *(model.name, model.level, model.instances, model.loads, model.cold_loads, model.predictions),
            *(None if part is None else part.total_ns for part in (model.prediction, model.load)),
            *(model.quantities.get(column.name) for column in of.MODELS[len(of.COUNTS) :]),
        )
        for model in source.report().models
    ]
    return typed(rows, of.MODELS)


def _compute_units(source: Source) -> ViewRows:
    rows = [
        row | {"level": model.level, "evidence": "; ".join(row["evidence"])}
        for model in source.report().models
        for row in unit_rows(model.name, model.where)
    ]
    return typed([tuple(row[column.name] for column in of.COMPUTE_UNITS) for row in rows], of.COMPUTE_UNITS)


def _specializations(source: Source) -> ViewRows:
    held = source.report().specializations
    rows = [] if held is None else [asdict(held.launch) | asdict(each) for each in held.models]
    joined = ({name: "; ".join(row[name]) for name in ("evidence", "units")} for row in rows)
    known = (row | texts for row, texts in zip(rows, joined, strict=True))
    return typed([tuple(row[column.name] for column in of.SPECIALIZATIONS) for row in known], of.SPECIALIZATIONS)


def _requests(source: Source) -> ViewRows:
    return _of(source.trace.requests, of.REQUESTS, id=source.trace.requests.request)


def _operations(source: Source) -> ViewRows:
    rows = []
    for operation in source.report().operations:
        statistics, parts = operation.statistics, {part.part: part.total_ns for part in operation.parts}
        head = (operation.name, *((statistics.count, statistics.total_ns) if statistics else (0, 0)))
        numbers = (operation.quantities.get("p50_ns"), operation.quantities.get("p95_ns"), operation.unfinished)
        rows.append((*head, *numbers, *(parts.get(part, 0) for part in Part)))
    return typed(rows, of.OPERATIONS)


def _found(source: Source) -> list[Result]:
    return [result for result in source.report().results if result.outcome == "finding"]


def _findings(source: Source) -> ViewRows:
    rows = [
        (
            *(rank, check.id, check.severity, check.model, check.title, check.summary, check.saved_ns),
            *((saved.each.saved_ns, saved.each.what) if (saved := check.saved) and saved.each else (None, None)),
            check.evidence_total,
        )
        for rank, check in enumerate(_found(source), 1)
    ]
    return typed(rows, of.FINDINGS)


def _checks(source: Source) -> ViewRows:
    results = source.report().results
    return typed(
        [(result.id, result.model, result.outcome, result.summary, result.record) for result in results], of.CHECKS
    )


def _evidence(source: Source) -> ViewRows:
    rows = [
        (
            *(rank, found.id, each.start_ns, each.end_ns, each.end_ns - each.start_ns),
            *(each.model, each.label, each.table, each.row),
        )
        for rank, found in enumerate(_found(source), 1)
        for each in found.evidence
    ]
    return typed(rows, of.EVIDENCE)


def _coverage(source: Source) -> ViewRows:
    rows = [
        (row.instrument, str(row.state), row.rows, ", ".join(row.tables), row.conclusion, row.advice)
        for row in source.report().coverage
    ]
    return typed(rows, of.COVERAGE)


def _recording(source: Source) -> ViewRows:
    info = source.report().recording
    return typed([tuple(getattr(info, column.name) for column in of.RECORDING)], of.RECORDING)


def _asked(of_trace: Callable[[Trace], Rows | None], columns: Sequence[Column]) -> Callable[[Source], ViewRows | None]:
    return lambda source: None if (rows := of_trace(source.trace)) is None else _of(rows, columns)


_phases, _samples, _stacks = (
    _asked(attrgetter(name), columns)
    for name, columns in (("phases", of.PHASES), ("samples", of.SAMPLES), ("stacks", of.STACKS))
)


def _context(rows: type[ContextRows], columns: Sequence[Column]) -> Callable[[Source], ViewRows | None]:
    return _asked(lambda trace: trace.table(rows), columns)


def typed(rows: Sequence[Sequence[object]], columns: Sequence[Column]) -> ViewRows:
    """Rows of objects as columns of these types."""
    cells = zip(*rows, strict=True) if rows else [()] * len(columns)
    return {
        column.name: listed_cells(
            column.type,
            [None if value is None else str(value) for value in values] if column.type is Type.TEXT else values,
        )
        for column, values in zip(columns, cells, strict=True)
    }


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
        View("compute_units", "whether each unit worked for each model", of.COMPUTE_UNITS, _compute_units, _CORE_ML),
        View("specializations", "whether each model was compiled, or cached", of.SPECIALIZATIONS, _specializations),
        View("findings", "what the checks found, the most expensive first", of.FINDINGS, _findings),
        View("checks", "the answer of each check for each model", of.CHECKS, _checks),
        View("evidence", "intervals that show a finding, a selection where there are many", of.EVIDENCE, _evidence),
        View("samples", "call stacks that were sampled", of.SAMPLES, _samples, _STACKED),
        View("stacks", "frames of the call stacks", of.STACKS, _stacks, _STACKED),
        *(
            View(name, holds, columns, _context(rows, columns), (instrument,))
            for (name, instrument, holds), (rows, columns) in of.CONTEXT.items()
        ),
        View("phases", "phases of other runtimes, and operations of the app", of.PHASES, _phases, ("Signposts",)),
        View("requests", "requests to language models", of.REQUESTS, _requests, _REQUESTED),
        View("operations", "operations of the app: its own signposts", of.OPERATIONS, _operations, ("Signposts",)),
        View("recording", "the recording itself: one row", of.RECORDING, _recording),
        View("coverage", "what was recorded, by instrument", of.COVERAGE, _coverage),
    )
}
"""Every view, by name."""
