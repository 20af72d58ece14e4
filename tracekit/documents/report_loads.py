"""What a report says of loads and predictions: counts and durations per model, and of all that the app called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tracekit.analysis.quantities import mean_id
from tracekit.render.blocks import Column, section, table
from tracekit.report import formatting
from tracekit.report.time_breakdown import is_inferred
from tracekit.trace.events import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tracekit.analysis.models import ModelSummary
    from tracekit.analysis.statistics import Statistics
    from tracekit.render.blocks import Section


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
    """One model, or all of them together."""

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


def loads_section(models: Sequence[ModelSummary]) -> Section | None:
    """Counts and durations per model; None without models."""
    rows = model_rows(models)
    grid = table("Loads and predictions", _columns(rows), rows, total=len(rows) > 1) if rows else None
    return section("Loads and predictions", grid, folded=True)


def _columns(rows: Sequence[ModelRow]) -> tuple[Column[ModelRow], ...]:
    """`cold` only where the recording distinguishes cold loads from cached ones, `elapsed` only where it is not the
    sum."""
    hidden = set() if any(_elapsed_ns(row) is not None for row in rows) else {"pred.\nelapsed"}
    if all(row.cold_loads is None for row in rows):
        hidden.add("cold\nloads")
    columns: tuple[Column[ModelRow], ...] = (
        Column("model", lambda row: row.name, words=True),
        _count("load\ncount", 2, lambda row: None if row.inferred else row.loads.count),
        _count("cold\nloads", 7, lambda row: row.cold_loads),
        _time("load\nsum", 6, lambda row: row.loads.total_ns if row.loads.count else None),
        _time("load\nmean", 3, lambda row: row.loads.mean_ns),
        _count("pred.\ncount", 0, lambda row: row.predictions.count, "predictions"),
        _time("pred.\nsum", 4, lambda row: row.predictions.total_ns if row.predictions.count else None),
        _time("pred.\nelapsed", 5, _elapsed_ns, empty=""),
        _of_one("pred.\nmedian", 1, lambda row: row.quantities.get("p50_ns"), "p50_ns"),
        _of_one("pred.\np95", 8, lambda row: row.quantities.get("p95_ns"), "p95_ns"),
        _time("mean\nof all", 3, lambda row: row.predictions.mean_ns, mean_id("")),
        _of_one("max\nof all", 9, lambda row: row.prediction.max_ns if row.prediction else None),
    )
    return tuple(column for column in columns if column.title not in hidden)


def _count(title: str, drop: int, value: Callable[[ModelRow], int | None], quantity: str = "") -> Column[ModelRow]:
    return Column(title, lambda row: formatting.count(value(row)), value, drop=drop, quantity=quantity)


def _time(
    title: str,
    drop: int,
    value: Callable[[ModelRow], float | None],
    quantity: str = "",
    empty: str = formatting.ABSENT,
) -> Column[ModelRow]:
    def text(row: ModelRow) -> str:
        time_ns = value(row)
        return empty if time_ns is None else formatting.duration(time_ns)

    return Column(title, text, value, drop=drop, quantity=quantity)


def _of_one(title: str, drop: int, value: Callable[[ModelRow], float | None], quantity: str = "") -> Column[ModelRow]:
    """A number that the line of all models has not."""

    def text(row: ModelRow) -> str:
        return "" if row.prediction is None and row.predictions.count else formatting.duration(value(row))

    return Column(title, text, value, drop=drop, quantity=quantity)


def _elapsed_ns(row: ModelRow) -> int | None:
    """Elapsed time of predictions; None where it is the sum."""
    numbers = row.prediction
    return numbers.elapsed_ns if numbers and numbers.elapsed_ns != numbers.total_ns else None


def model_rows(models: Sequence[ModelSummary]) -> tuple[ModelRow, ...]:
    """One line per model and, where the app called several, a last line for those it called together."""
    rows = [_model_row(model) for model in models]
    called = [row for model, row in zip(models, rows, strict=True) if model.level == Level.TOP]
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


def _together(parts: Iterable[Totals]) -> Totals:
    listed = tuple(parts)
    return Totals(_known_sum(part.count for part in listed), sum(part.total_ns for part in listed))


def _known_sum(values: Iterable[int | None]) -> int | None:
    """The sum; None where any part is not known."""
    known = list(values)
    return None if None in known else sum(value or 0 for value in known)
