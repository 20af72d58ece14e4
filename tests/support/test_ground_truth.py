from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from support.export_nodes import read_export
from support.ground_truth import ground_truth
from tracekit.testing.export_xml import write_export
from tracekit.testing.machines import Process
from tracekit.testing.rows import LOAD, LOAD_COLD, Model
from tracekit.testing.scenario import CORE_ML, Scenario

if TYPE_CHECKING:
    from pathlib import Path


def two_models() -> Scenario:
    """Rows are added out of order, and predictions of one model overlap."""
    scenario = Scenario(Process("App", 7), duration_ns=10_000)
    late = scenario.predict(Model("Encoder", 1), 5_000, 300)
    late.event("Input Copy", 10, 20)
    late.neural_engine(50, 100)
    scenario.load(Model("Encoder", 2), 100, 40, LOAD_COLD)
    scenario.load(Model("Encoder", 1), 200, 45, LOAD)
    early = scenario.predict(Model("Encoder", 2), 4_900, 301)
    early.event("CPU", 150, 30)
    early.gpu(160, 10)
    pipeline = scenario.predict(Model("Chain", None), 6_000, 1_000)
    pipeline.stage("Decoder", 100, 500).event("Data Cast", 5, 6)
    scenario.other_neural_engine(20, 30)
    return scenario


def test_counts_and_times_are_per_base_name() -> None:
    truth = ground_truth(two_models())
    encoder = truth.model("Encoder")
    assert (encoder.level, encoder.instances) == ("top", (1, 2))
    assert (encoder.loads, encoder.cold_loads, encoder.predictions) == (2, 1, 2)
    assert (encoder.load_total_ns, encoder.prediction_total_ns) == (85, 601)
    assert encoder.load_mean_ns == Fraction(85, 2)
    assert encoder.prediction_mean_ns == Fraction(601, 2)
    assert [model.name for model in truth.models] == ["Chain", "Decoder", "Encoder"]


def test_a_stage_is_counted_at_its_own_level_and_without_loads_has_no_mean() -> None:
    decoder = ground_truth(two_models()).model("Decoder")
    assert (decoder.level, decoder.predictions, decoder.prediction_total_ns) == ("sub", 1, 500)
    assert decoder.load_mean_ns is None


def test_an_unknown_model_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="Nobody"):
        ground_truth(two_models()).model("Nobody")


def test_parents_are_rows_of_the_table_as_written(tmp_path: Path) -> None:
    scenario = two_models()
    truth = ground_truth(scenario)
    write_export(scenario, tmp_path)
    (core_ml,) = read_export(tmp_path / f"{CORE_ML}.xml")
    starts = core_ml.integers("start")
    assert starts == [100, 200, 4_900, 5_000, 5_010, 5_050, 6_000, 6_100, 6_105]
    assert truth.parents[CORE_ML] == (None, None, None, None, 3, 2, None, 6, 7)
    assert truth.parents["ane-hw-intervals-internal"] == (None, 3)
    assert truth.parents["metal-gpu-intervals"] == (2,)


@pytest.mark.parametrize("state", ["missing", "emptied"])
def test_without_core_ml_rows_nothing_can_be_judged(state: str) -> None:
    scenario = two_models()
    getattr(scenario, state).add(CORE_ML)
    truth = ground_truth(scenario)
    assert not truth.judgeable
    assert truth.models == ()
    assert truth.findings == (("core-ml-not-instrumented", None),), "a GPU row names a model"


@pytest.mark.parametrize(
    ("executions", "model_rows", "expected"),
    [(0, 0, "no_finding"), (15, 0, "no_finding"), (20, 0, "undecided"), (25, 0, "finding"), (0, 1, "finding")],
)
def test_work_of_models_without_core_ml_rows_is_a_finding(executions: int, model_rows: int, expected: str) -> None:
    scenario = Scenario(Process("App", 7), duration_ns=10_000)
    for number in range(executions):
        scenario.other_neural_engine(number * 20, 10)
    scenario.other_neural_engine(9_000, 10, "Neural Engine Load")
    for _ in range(model_rows):
        scenario.gpu_work(500, 10, scenario.target, "Compute", "Net_main__Op0_MpsGraphInference:Compute Command 0")
    scenario.gpu_work(600, 10, scenario.target)
    assert ground_truth(scenario).outcomes == {("core-ml-not-instrumented", None): expected}


def test_findings_are_the_outcomes_that_say_so() -> None:
    scenario = Scenario(Process("App", 7), duration_ns=10_000_000_000)
    for number in range(30):
        end = scenario.load(Model("Reloaded"), number * 100_000_000, 20_000_000)
        scenario.predict(Model("Reloaded"), end, 5_000_000)
        scenario.predict(Model("Kept"), end + 6_000_000, 5_000_000)
    assert ground_truth(scenario).findings == (("reload-before-predict", "Reloaded"),)
