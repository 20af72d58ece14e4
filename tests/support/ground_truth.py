"""Counts, times and links that an analysis must find in a scenario. Worked out from the description alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.testing.rows import LOAD, LOAD_CACHED, LOAD_COLD, PREDICTION
from tracekit.testing.scenario import CORE_ML
from tracekit.testing.tables import written_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tracekit.testing.rows import CoreMLRow, GpuRow, NeuralEngineRow
    from tracekit.testing.scenario import Scenario


@dataclass(frozen=True, slots=True)
class ModelTruth:
    """Counts and times of one model, all its instances together."""

    name: str
    """Base name."""
    level: str
    """`top`, or `sub` for a model that occurs only as the stage of a pipeline. The numbers are of that level."""
    instances: tuple[int, ...]
    """Instance numbers that occur, in ascending order."""
    loads: int
    cold_loads: int
    predictions: int
    load_total_ns: int
    prediction_total_ns: int


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """What must be found."""

    judgeable: bool
    """Whether the Core ML table was recorded with rows. Without it nothing can be said of any model."""
    models: tuple[ModelTruth, ...]
    """By base name in alphabetical order."""
    parents: Mapping[str, tuple[int | None, ...]]
    """By schema, for each row of the table as written, the row of the Core ML table that holds the prediction in which
    it happened; None where it happened in none. Where predictions overlap, the file alone may not tell."""

    def model(self, name: str) -> ModelTruth:
        """Truth about one model by base name. Raises KeyError for an unknown one."""
        for entry in self.models:
            if entry.name == name:
                return entry
        raise KeyError(name)


def ground_truth(scenario: Scenario) -> GroundTruth:
    """What must be found in the files that writers make of a scenario."""
    if not scenario.coreml or CORE_ML in scenario.missing | scenario.emptied:
        return GroundTruth(judgeable=False, models=(), parents={})
    return GroundTruth(
        judgeable=True,
        models=tuple(_model_truth(scenario, name) for name in sorted({row.model.base for row in scenario.coreml})),
        parents={
            CORE_ML: _parents(scenario, scenario.coreml),
            scenario.xcode.neural_engine_schema: _parents(scenario, scenario.neural_engine),
            "metal-gpu-intervals": _parents(scenario, scenario.gpu),
        },
    )


def _model_truth(scenario: Scenario, name: str) -> ModelTruth:
    """Counts and times of a model at its level: `top` where the app calls it itself at least once."""
    own_rows = [row for row in scenario.coreml if row.model.base == name]
    level = "top" if any(row.model.level == "top" for row in own_rows) else "sub"
    loads, predictions = (
        [row for row in own_rows if row.model.level == level and row.label in labels]
        for labels in (_LOADS, {PREDICTION})
    )
    return ModelTruth(
        name=name,
        level=level,
        instances=tuple(sorted({row.model.instance for row in (*loads, *predictions)} - {None})),
        loads=len(loads),
        cold_loads=sum(row.label == LOAD_COLD for row in loads),
        predictions=len(predictions),
        load_total_ns=sum(row.duration_ns for row in loads),
        prediction_total_ns=sum(row.duration_ns for row in predictions),
    )


def _parents(scenario: Scenario, rows: Sequence[CoreMLRow | NeuralEngineRow | GpuRow]) -> tuple[int | None, ...]:
    """For each row as written, where its prediction stands in the Core ML table."""
    index_of = {index: number for number, index in enumerate(written_order(scenario.coreml))}
    causes = [rows[index].prediction for index in written_order(rows)]
    return tuple(None if cause is None else index_of[cause] for cause in causes)


_LOADS = frozenset({LOAD, LOAD_CACHED, LOAD_COLD})
