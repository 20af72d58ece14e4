"""Compilations on the device."""

from __future__ import annotations

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario

ID = "recompiled-each-run"
MS = 1_000_000
YOLO = Model("Yolo")


def sessions(scenario: Scenario, count: int, length: int = 900 * MS) -> None:
    """Compile, load and predict ten times, so often over."""
    now = 0
    for _ in range(count):
        now = scenario.compile(YOLO, now, length)
        now = scenario.load(YOLO, now, 50 * MS)
        for _ in range(10):
            scenario.predict(YOLO, now, 20 * MS)
            now += 30 * MS


def engine(scenario: Scenario, labels: list[str], length: int = 500 * MS) -> None:
    """One load and one prediction, and compilations on the Neural Engine afterwards."""
    scenario.load(YOLO, 0, 50 * MS)
    scenario.predict(YOLO, 60 * MS, 20 * MS)
    for k, label in enumerate(labels):
        scenario.other_neural_engine((k + 1) * 1_000 * MS, length, label)


def test_the_second_compilation_is_found_with_its_cost(scenario, judge):
    sessions(scenario, 2)
    finding = judge(scenario, ID)["Yolo"]
    assert finding.cost.ns == 900 * MS
    # Two compilations, two loads of 50 ms and twenty predictions of 20 ms.
    assert finding.cost.share == pytest.approx(900 / (1_800 + 100 + 400))
    # It follows the first session: compilation, load, ten predictions.
    assert [entry.start_ns for entry in finding.evidence] == [(900 + 50 + 300) * MS]
    assert finding.affected.ends.tolist() == [(900 + 50 + 300 + 900) * MS]
    assert "compiled the model 2 times" in finding.summary


@pytest.mark.parametrize(
    ("count", "length", "settings", "expected"),
    [
        (1, 900, {}, NotEvaluated),
        (1, 99, {}, Passed),
        (2, 900, {"min_compiles": 3}, Passed),
        (2, 900, {"min_lost_ms": 900}, Finding),
        (2, 900, {"min_lost_ms": 901}, Passed),
    ],
)
def test_thresholds(scenario, judge, count, length, settings, expected):
    sessions(scenario, count, length * MS)
    outcome = judge(scenario, ID, **settings)["Yolo"]
    assert isinstance(outcome, expected)
    if expected is NotEvaluated:
        assert "second launch" in outcome.record


def test_a_model_that_is_only_compiled_is_judged(scenario, judge):
    scenario.predict(Model("Other"), 0, MS)
    for k in range(3):
        scenario.compile(YOLO, k * 1_000 * MS, 500 * MS)
    outcomes = judge(scenario, ID)
    assert outcomes["Yolo"].cost.ns == 1_000 * MS
    assert isinstance(outcomes["Other"], Passed)


def test_the_neural_engine_compiles_the_same_program_again(scenario, judge):
    engine(scenario, [YOLO.engine_label(1, "Compile")] * 3)
    finding = judge(scenario, ID)["Yolo"]
    assert values(finding)["most Neural Engine compilations of one part"] == 3
    assert finding.cost.ns == 1_000 * MS
    assert "The same part was compiled for the Neural Engine 3 times" in finding.summary


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(["Neural Engine Compile"] * 5, id="no name"),
        pytest.param([YOLO.engine_label(1)] * 5, id="predictions"),
    ],
)
def test_other_work_of_the_neural_engine_is_no_finding(scenario, judge, labels):
    engine(scenario, labels)
    assert isinstance(judge(scenario, ID)["Yolo"], Passed)
