"""Models without any prediction."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Severity, severity_of
from tracekit.testing.machines import Process
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario

ID = "unused-load"
MS = 1_000_000
SECOND = 1_000 * MS


@pytest.fixture
def scenario() -> Scenario:
    """An empty scenario of two minutes."""
    return Scenario(Process("Camera", 412), duration_ns=120 * SECOND)


def at_work(scenario: Scenario, start: int = 0, count: int = 50) -> None:
    """Another model that is loaded and used once a second."""
    now = scenario.load(Model("Classifier"), start, 100 * MS)
    for k in range(count):
        scenario.predict(Model("Classifier"), now + k * SECOND, 30 * MS)


def test_a_model_that_is_never_used_is_found_with_its_cost(scenario, judge):
    at_work(scenario, scenario.load(Model("Segmenter"), 200 * MS, 300 * MS))
    finding = judge(scenario, ID)[None]
    assert finding.cost.ns == 300 * MS
    # Behind it, a load of 100 ms and fifty predictions of 30 ms.
    assert finding.cost.share == pytest.approx(300 / (300 + 100 + 1_500))
    assert severity_of(finding) is Severity.MEDIUM
    assert "Segmenter" in finding.summary
    assert "Classifier" not in finding.summary
    assert [(entry.model, entry.start_ns) for entry in finding.evidence] == [("Segmenter", 200 * MS)]
    assert finding.affected.ends.tolist() == [500 * MS]


def test_a_load_that_nothing_waits_for_costs_no_time(scenario, judge):
    at_work(scenario)
    scenario.load(Model("Segmenter"), 10_500 * MS, 9_000 * MS)
    finding = judge(scenario, ID)[None]
    assert (finding.cost, severity_of(finding)) == (None, Severity.LOW)
    assert "Loading took 9.00 s, which no prediction waited for, and" in finding.summary


def test_several_unused_models_are_one_finding(scenario, judge):
    at_work(scenario, 2_100 * MS)
    for k in range(7):
        scenario.load(Model(f"Unused{k}"), k * 300 * MS, 300 * MS)
    outcome = judge(scenario, ID)[None]
    assert outcome.cost.ns == 2_100 * MS
    assert (
        "7 models were loaded and never used: Unused0, Unused1, Unused2, Unused3, Unused4 and 2 more" in outcome.summary
    )


def test_preparing_a_model_on_the_neural_engine_is_no_use(scenario, judge):
    at_work(scenario)
    scenario.load(Model("Segmenter"), 0, 300 * MS)
    scenario.other_neural_engine(10 * MS, 20 * MS, Model("Segmenter").engine_label(1, "Compile"))
    assert isinstance(judge(scenario, ID)[None], Finding)


def test_predictions_without_a_name_leave_it_open(scenario, judge):
    at_work(scenario)
    scenario.load(Model("Segmenter"), 0, 300 * MS)
    scenario.predict(Model("", None), 10 * SECOND, 20 * MS)
    assert isinstance(judge(scenario, ID)[None], NotEvaluated)


def test_without_loads_there_is_nothing_to_judge(scenario, judge):
    scenario.predict(Model("Classifier"), 0, MS)
    assert isinstance(judge(scenario, ID)[None], NotApplicable)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({"unused_s": 119.5}, Finding), ({"unused_s": 119.6}, NotEvaluated), ({"min_predictions": 51}, NotEvaluated)],
)
def test_thresholds_can_be_moved(scenario, judge, settings, expected):
    at_work(scenario)
    scenario.load(Model("Segmenter"), 0, 500 * MS)
    settings = {"min_predictions": 1, **settings}
    assert isinstance(judge(scenario, ID, **settings)[None], expected)
