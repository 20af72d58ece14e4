"""Models without any prediction, on both sides of each threshold."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed, Severity, severity_of
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
    at_work(scenario)
    scenario.load(Model("Segmenter"), 200 * MS, 300 * MS)
    finding = judge(scenario, ID)[None]
    assert isinstance(finding, Finding)
    assert finding.cost.ns == 300 * MS
    # Beside it, a load of 100 ms and fifty predictions of 30 ms.
    assert finding.cost.share == pytest.approx(300 / (300 + 100 + 1_500))
    assert severity_of(finding) is Severity.MEDIUM
    assert "Segmenter" in finding.summary
    assert "Classifier" not in finding.summary
    assert [(entry.model, entry.start_ns) for entry in finding.evidence] == [("Segmenter", 200 * MS)]
    assert finding.affected.ends.tolist() == [500 * MS]


def test_several_unused_models_are_one_finding(scenario, judge):
    at_work(scenario)
    for k in range(7):
        scenario.load(Model(f"Unused{k}"), k * 400 * MS, 300 * MS)
    outcome = judge(scenario, ID)[None]
    assert outcome.cost.ns == 2_100 * MS
    assert (
        "7 models were loaded and never used: Unused0, Unused1, Unused2, Unused3, Unused4 and 2 more" in outcome.summary
    )


def test_models_that_are_all_used_pass(scenario, judge):
    at_work(scenario)
    assert isinstance(judge(scenario, ID)[None], Passed)


@pytest.mark.parametrize(("end", "expected"), [(60_000, Finding), (60_001, NotEvaluated)])
def test_the_recording_must_go_on_for_long(scenario, judge, end, expected):
    at_work(scenario, 30 * SECOND)
    scenario.load(Model("Segmenter"), (end - 300) * MS, 300 * MS)
    outcome = judge(scenario, ID)[None]
    assert isinstance(outcome, expected)


@pytest.mark.parametrize(("count", "expected"), [(10, Finding), (9, NotEvaluated)])
def test_the_app_must_be_at_work(scenario, judge, count, expected):
    scenario.load(Model("Segmenter"), 0, 300 * MS)
    at_work(scenario, SECOND, count)
    outcome = judge(scenario, ID)[None]
    assert isinstance(outcome, expected)


def test_the_stage_of_a_pipeline_is_used(scenario, judge):
    at_work(scenario)
    scenario.load(Model("Backbone"), 0, 300 * MS)
    scenario.load(Model("Pipeline"), 0, 300 * MS)
    scenario.predict(Model("Pipeline"), 60 * SECOND, 50 * MS).stage("Backbone", 0, 40 * MS)
    assert isinstance(judge(scenario, ID)[None], Passed)


def test_a_model_that_the_hardware_names_is_used(scenario, judge):
    at_work(scenario)
    scenario.load(Model("Segmenter"), 0, 300 * MS)
    scenario.other_neural_engine(10 * SECOND, 20 * MS, Model("Segmenter").engine_label(1))
    assert isinstance(judge(scenario, ID)[None], Passed)


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
