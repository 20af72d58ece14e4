"""What an analysis must find in a scenario. Worked out from the description alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from support.expectations import EXPECTATIONS, Expected, ModelRows, expect_core_ml_not_instrumented
from tracekit.testing.rows import DATA, LOAD, LOAD_CACHED, LOAD_COLD, PREDICTION
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

    @property
    def load_mean_ns(self) -> Fraction | None:
        """Exact mean duration of a load; None without loads."""
        return Fraction(self.load_total_ns, self.loads) if self.loads else None

    @property
    def prediction_mean_ns(self) -> Fraction | None:
        """Exact mean duration of a prediction; None without predictions."""
        return Fraction(self.prediction_total_ns, self.predictions) if self.predictions else None


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """What must be found."""

    judgeable: bool
    """Whether the Core ML table was recorded with rows. Without it nothing can be said of any model."""
    models: tuple[ModelTruth, ...]
    """By base name in alphabetical order."""
    outcomes: Mapping[tuple[str, str | None], Expected]
    """Expected outcome by detector id and base name; None stands for the recording as a whole."""
    parents: Mapping[str, tuple[int | None, ...]]
    """By schema, for each row of the table as written, the row of the Core ML table that holds the prediction in which
    it happened; None where it happened in none. Where predictions overlap, the file alone may not tell."""

    @property
    def findings(self) -> tuple[tuple[str, str | None], ...]:
        """Detector id and base name of every expected finding, sorted."""
        keys = [key for key, expected in self.outcomes.items() if expected is Expected.FINDING]
        return tuple(sorted(keys, key=lambda key: (key[0], key[1] or "")))

    def model(self, name: str) -> ModelTruth:
        """Truth about one model by base name. Raises KeyError for an unknown one."""
        for entry in self.models:
            if entry.name == name:
                return entry
        raise KeyError(name)


def ground_truth(scenario: Scenario) -> GroundTruth:
    """What must be found in the files that writers make of a scenario."""
    lost = scenario.missing | scenario.emptied
    if not scenario.coreml or CORE_ML in lost:
        seen = expect_core_ml_not_instrumented(
            executions=0 if scenario.xcode.neural_engine_schema in lost else _executions(scenario),
            model_rows=0 if "metal-gpu-intervals" in lost else _model_rows(scenario),
        )
        return GroundTruth(judgeable=False, models=(), outcomes={("core-ml-not-instrumented", None): seen}, parents={})
    names = sorted({row.model.base for row in scenario.coreml})
    rows = {name: _rows_of(scenario, name) for name in names}
    return GroundTruth(
        judgeable=True,
        models=tuple(_model_truth(name, _level(scenario, name), rows_of_name) for name, rows_of_name in rows.items()),
        outcomes={
            (detector, name): expect(rows_of_name)
            for detector, expect in EXPECTATIONS.items()
            for name, rows_of_name in rows.items()
        },
        parents={
            CORE_ML: _parents(scenario, scenario.coreml),
            scenario.xcode.neural_engine_schema: _parents(scenario, scenario.neural_engine),
            "metal-gpu-intervals": _parents(scenario, scenario.gpu),
        },
    )


def _executions(scenario: Scenario) -> int:
    """Rows of the Neural Engine that are predictions of anybody."""
    return sum(row.label.endswith("Prediction") for row in scenario.neural_engine)


def _model_rows(scenario: Scenario) -> int:
    """GPU rows of the target that name a model."""
    return sum(row.process == scenario.target and "_MpsGraphInference" in row.command_buffer for row in scenario.gpu)


def _level(scenario: Scenario, name: str) -> str:
    """Whether the app calls the model itself at least once."""
    return "top" if any(row.model.base == name and row.model.level == "top" for row in scenario.coreml) else "sub"


def _rows_of(scenario: Scenario, name: str) -> ModelRows:
    """Rows of a model at its level."""
    level = _level(scenario, name)
    indices = [
        index
        for index in written_order(scenario.coreml)
        if scenario.coreml[index].model.base == name and scenario.coreml[index].model.level == level
    ]
    inside: dict[int | None, list[CoreMLRow]] = {}
    for index in indices:
        row = scenario.coreml[index]
        if row.lane == DATA:
            inside.setdefault(row.prediction, []).append(row)
    return ModelRows(
        loads=tuple(scenario.coreml[index] for index in indices if scenario.coreml[index].label in _LOADS),
        predictions=tuple(scenario.coreml[index] for index in indices if scenario.coreml[index].label == PREDICTION),
        data=tuple(tuple(inside.get(index, ())) for index in indices if scenario.coreml[index].label == PREDICTION),
    )


def _model_truth(name: str, level: str, rows: ModelRows) -> ModelTruth:
    """Counts and times."""
    activity = (*rows.loads, *rows.predictions)
    return ModelTruth(
        name=name,
        level=level,
        instances=tuple(sorted({row.model.instance for row in activity if row.model.instance is not None})),
        loads=len(rows.loads),
        cold_loads=sum(row.label == LOAD_COLD for row in rows.loads),
        predictions=len(rows.predictions),
        load_total_ns=sum(row.duration_ns for row in rows.loads),
        prediction_total_ns=sum(row.duration_ns for row in rows.predictions),
    )


def _parents(scenario: Scenario, rows: Sequence[CoreMLRow | NeuralEngineRow | GpuRow]) -> tuple[int | None, ...]:
    """For each row as written, where its prediction stands in the Core ML table."""
    index_of = {index: number for number, index in enumerate(written_order(scenario.coreml))}
    causes = [rows[index].prediction for index in written_order(rows)]
    return tuple(None if cause is None else index_of[cause] for cause in causes)


_LOADS = frozenset({LOAD, LOAD_CACHED, LOAD_COLD})
