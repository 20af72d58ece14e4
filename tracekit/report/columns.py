"""Columns of the two tables of a report, for all readable formats: title, value, and what goes first when narrow."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from tracekit.analysis.breakdown.partition import Unknown
from tracekit.analysis.quantities import mean_id
from tracekit.report import formatting
from tracekit.trace.events import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tracekit.analysis.aggregation import AggregationRow
    from tracekit.analysis.models import ModelSummary
    from tracekit.analysis.statistics import Statistics
    from tracekit.report.report import Report

Row = TypeVar("Row")

OVERLAP_NOTE = (
    "sum: durations added up, as in Instruments; elapsed: time covered by at least one row, shown where rows overlap"
)
"""Explains the two columns wherever both are shown."""

SUM_NOTE = "sum: durations added up, as in Instruments; rows overlap, so it exceeds the elapsed time"
"""Explains the sum where there was no room for the elapsed time."""

WARM = ", warm"
"""Ends the name of a warm line."""

STAGE = ", as a stage"
"""Ends the name of what a model did as a stage of a pipeline, beside which the app may call it as well."""

WARM_NOTE = "warm: excludes the first prediction after each load"
"""Explains the warm rows wherever they are shown."""


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column of numbers."""

    title: str
    """One or two words; a line break splits them in a narrow heading."""
    rank: int
    """0 always stays; otherwise the highest rank goes first when there is no room."""
    cell: Callable[[Row], str]
    left: bool = False
    """Whether it holds words, which start at the left."""
    value: Callable[[Row], float | None] = lambda _: None
    """The number that a cell stands for; None for words."""
    quantity: str = ""
    """Id of what it shows (`tracekit.analysis.quantities`), where that is one number of a model."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """A line of the aggregation: a row, or the warm part of one."""

    event: str
    lane: str
    statistics: Statistics


@dataclass(frozen=True, slots=True)
class Totals:
    """Loads or predictions of several models together. Quantiles of a mixture are not given: they mislead."""

    count: int | None
    """None where they were not recorded."""
    total_ns: int

    @property
    def mean_ns(self) -> float | None:
        """Mean of all of them; None where there is none."""
        return self.total_ns / self.count if self.count else None


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A line of the models table: one model, or all of them together."""

    name: str
    cold_loads: int | None
    loads: Totals
    predictions: Totals
    prediction: Statistics | None
    """None in the line of all models, and where there is no prediction."""
    quantities: Mapping[str, float | None] = field(default_factory=dict)
    """Numbers of the model, by id; none in the line of all models."""
    inferred: bool = False
    """Core ML recorded none of it, so that no load does not mean that none happened."""


def event_columns(rows: Sequence[EventRow]) -> tuple[Column[EventRow], ...]:
    """Columns of the aggregation. `elapsed` only where it adds something to `sum`."""
    overlap = overlapping(row.statistics for row in rows)
    times: dict[str, tuple[int, Callable[[EventRow], float | None]]] = {
        "sum": (2, lambda row: row.statistics.total_ns),
        "elapsed": (3, lambda row: _elapsed_ns(row.statistics)),
        "mean": (1, lambda row: row.statistics.mean_ns),
        "min": (9, lambda row: row.statistics.min_ns),
        "p50": (7, lambda row: row.statistics.p50_ns),
        "p90": (10, lambda row: row.statistics.p90_ns),
        "p95": (4, lambda row: row.statistics.p95_ns),
        "p99": (8, lambda row: row.statistics.p99_ns),
        "max": (5, lambda row: row.statistics.max_ns),
        "stdev": (11, lambda row: row.statistics.stdev_ns),
    }
    return (
        Column("lane", 6, lambda row: row.lane, left=True),
        _count("count", 0, lambda row: row.statistics.count),
        *(
            _time(title, *of, empty="" if title == "elapsed" else formatting.ABSENT)
            for title, of in times.items()
            if overlap or title != "elapsed"
        ),
    )


def _count(title: str, rank: int, value: Callable[[Row], int | None], quantity: str = "") -> Column[Row]:
    return Column(title, rank, lambda row: formatting.count(value(row)), value=value, quantity=quantity)


def _time(
    title: str, rank: int, value: Callable[[Row], float | None], quantity: str = "", empty: str = formatting.ABSENT
) -> Column[Row]:
    def cell(row: Row) -> str:
        time_ns = value(row)
        return empty if time_ns is None else formatting.duration(time_ns)

    return Column(title, rank, cell, value=value, quantity=quantity)


def overlapping(rows: Iterable[Statistics | None]) -> bool:
    """Whether the sum of any of these is not elapsed time."""
    return any(row is not None and row.elapsed_ns != row.total_ns for row in rows)


def _elapsed_ns(numbers: Statistics | None) -> int | None:
    """Elapsed time; None where it is the sum."""
    return numbers.elapsed_ns if numbers and overlapping([numbers]) else None


def _of_one(title: str, rank: int, value: Callable[[ModelRow], float | None], quantity: str = "") -> Column[ModelRow]:
    """A number that the line of all models has not."""

    def cell(row: ModelRow) -> str:
        return "" if row.prediction is None and row.predictions.count else formatting.duration(value(row))

    return Column(title, rank, cell, value=value, quantity=quantity)


def event_rows(row: AggregationRow) -> tuple[EventRow, ...]:
    """The line of a row and, where some of its predictions were warm and some not, the line of the warm ones."""
    event = f"{row.label}{STAGE}" if row.level == Level.SUB else row.label
    first = EventRow(event, row.lane, row.statistics)
    if row.warm is None or row.warm.count == row.statistics.count:
        return (first,)
    return (first, EventRow(f"{event}{WARM}", row.lane, row.warm))


def without_small_processes(report: Report, shown: int) -> tuple[AggregationRow, ...]:
    """The aggregation with no more than `shown` processes beside the target: those that the hardware worked for
    longest in sum. The GPU table lists all of the machine."""
    recording = report.recording
    target = f"{recording.target} ({recording.target_pid})"
    sums: Counter[str] = Counter()
    for row in report.aggregation:
        if row.process not in (None, target):
            sums[str(row.process)] += row.statistics.total_ns
    largest = {process for process, _ in sums.most_common(shown)}
    return tuple(row for row in report.aggregation if row.process in {None, target, *largest})


def by_model(rows: Iterable[AggregationRow]) -> dict[str | None, tuple[AggregationRow, ...]]:
    """Rows per model in the order in which the sorted rows first name it; None holds rows without a model."""
    groups: dict[str | None, list[AggregationRow]] = {}
    for row in rows:
        groups.setdefault(row.model, []).append(row)
    return {model: tuple(group) for model, group in groups.items()}


def model_columns(rows: Sequence[ModelRow]) -> tuple[Column[ModelRow], ...]:
    """Columns of the models table. `cold` only where the recording distinguishes cold loads from cached ones, `elapsed`
    only where it is not the sum.
    """
    hidden = set() if overlapping(row.prediction for row in rows) else {"pred.\nelapsed"}
    if all(row.cold_loads is None for row in rows):
        hidden.add("cold\nloads")
    columns: tuple[Column[ModelRow], ...] = (
        _count("load\ncount", 2, lambda row: None if row.inferred else row.loads.count),
        _count("cold\nloads", 7, lambda row: row.cold_loads),
        _time("load\nsum", 6, lambda row: row.loads.total_ns if row.loads.count else None),
        _time("load\nmean", 3, lambda row: row.loads.mean_ns),
        _count("pred.\ncount", 0, lambda row: row.predictions.count, "predictions"),
        _time("pred.\nsum", 4, lambda row: row.predictions.total_ns if row.predictions.count else None),
        _time("pred.\nelapsed", 5, lambda row: _elapsed_ns(row.prediction), empty=""),
        _of_one("pred.\nmedian", 1, lambda row: row.quantities.get("p50_ns"), "p50_ns"),
        _of_one("pred.\np95", 8, lambda row: row.quantities.get("p95_ns"), "p95_ns"),
        _time("all\nmean", 3, lambda row: row.predictions.mean_ns, mean_id("")),
        _of_one("all\nmax", 9, lambda row: row.prediction.max_ns if row.prediction else None),
    )
    return tuple(column for column in columns if column.title not in hidden)


def model_rows(models: Sequence[ModelSummary]) -> tuple[ModelRow, ...]:
    """One line per model and, where the app called several, a last line for those it called together."""
    rows = [_model_row(model) for model in models]
    called = [row for model, row in zip(models, rows, strict=True) if model.level == "top"]
    if len(called) > 1:
        rows.append(
            ModelRow(
                name="all models" if len(called) == len(rows) else "all models, without stages",
                cold_loads=_known_sum(row.cold_loads for row in called),
                loads=_together(row.loads for row in called),
                predictions=_together(row.predictions for row in called),
                prediction=None,
            )
        )
    return tuple(rows)


def _model_row(model: ModelSummary) -> ModelRow:
    # The numbers of a model that the app calls as well are those of these calls.
    also = "also " if model.level == Level.TOP else ""
    stage = f" ({also}stage of {formatting.listed(model.parents)})" if model.parents else ""
    return ModelRow(
        name=f"{model.name}{stage}",
        cold_loads=model.cold_loads,
        loads=Totals(model.loads, model.load.total_ns if model.load else 0),
        predictions=Totals(model.predictions, model.prediction.total_ns if model.prediction else 0),
        prediction=model.prediction,
        quantities=model.quantities,
        inferred=is_inferred(model),
    )


def is_inferred(model: ModelSummary) -> bool:
    """Whether the model's predictions are known from the hardware alone."""
    parts = model.breakdown.parts if model.breakdown else ()
    return any(Unknown.NO_CORE_ML in part.unknown for part in parts)


def _together(parts: Iterable[Totals]) -> Totals:
    listed = tuple(parts)
    return Totals(_known_sum(part.count for part in listed), sum(part.total_ns for part in listed))


def _known_sum(values: Iterable[int | None]) -> int | None:
    """The sum; None where any part is not known."""
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def fitting(columns: Sequence[Column[Row]], widths: Sequence[int], room: int, gap: int = 2) -> tuple[Column[Row], ...]:
    """The columns that fit into `room` cells when each takes its width and a gap before it."""
    kept = list(zip(columns, widths, strict=True))
    while sum(width + gap for _, width in kept) > room:
        least_important = max(kept, key=lambda entry: entry[0].rank)
        if least_important[0].rank == 0:
            break
        kept.remove(least_important)
    return tuple(column for column, _ in kept)
