"""Predictions by thermal state, on both sides of each threshold."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed
from tracekit.testing.rows import Model, StateRow

ID = "thermal-throttling"
MS = 1_000_000
MODEL = Model("Landmarks")


def phases(scenario, *phases, spacing_ms=50):
    """Phases of so many calls of so many ms in a state."""
    now = 100 * MS
    begin = 0
    for state, count, length_ms in phases:
        for _ in range(count):
            scenario.predict(MODEL, now, round(length_ms * MS))
            now += spacing_ms * MS
        scenario.thermal.append(StateRow(begin, now - begin, state))
        begin = now


def test_time_beyond_the_cool_median_is_the_cost(scenario, judge):
    phases(scenario, ("Nominal", 20, 10), ("Fair", 10, 12), ("Serious", 20, 15))
    finding = judge(scenario, ID)["Landmarks"]
    assert isinstance(finding, Finding)
    assert finding.cost.ns == (10 * 2 + 20 * 5) * MS
    assert finding.cost.share == pytest.approx(120 / (200 + 120 + 300))
    assert finding.evidence_total == 30
    assert {metric.name: metric.value for metric in finding.metrics}["hottest to coolest state"] == pytest.approx(1.5)
    # Of the 30 intervals, 20 are in the hottest state: a number of predictions would be another one.
    assert (
        finding.summary == "In thermal state Serious, predictions took 15.0 ms (median), 1.5x the 10.0 ms in Nominal."
    )


@pytest.mark.parametrize(("length", "expected"), [(12, Finding), (11.99, Passed), (9, Passed)])
def test_a_fifth_decides(scenario, judge, length, expected):
    phases(scenario, ("Nominal", 20, 10), ("Critical", 20, length))
    assert isinstance(judge(scenario, ID)["Landmarks"], expected)


@pytest.mark.parametrize(("count", "expected"), [(10, Finding), (9, NotEvaluated)])
def test_a_state_needs_ten_calls(scenario, judge, count, expected):
    phases(scenario, ("Nominal", 20, 10), ("Serious", count, 20))
    assert isinstance(judge(scenario, ID)["Landmarks"], expected)


def test_a_device_that_was_hot_all_the_time_is_not_judged(scenario, judge):
    phases(scenario, ("Serious", 40, 20))
    outcome = judge(scenario, ID)["Landmarks"]
    assert isinstance(outcome, NotEvaluated)
    assert "cool device" in outcome.record


def test_a_cool_device_passes_however_few_the_calls(scenario, judge):
    phases(scenario, ("Nominal", 3, 10))
    assert isinstance(judge(scenario, ID)["Landmarks"], Passed)


def test_without_thermal_states_nothing_can_be_said(scenario, judge):
    scenario.predict(MODEL, MS, MS)
    (outcome,) = judge(scenario, ID).values()
    assert isinstance(outcome, NotEvaluated)
    assert "Thermal State" in outcome.reason


def test_a_model_without_predictions_is_not_applicable(scenario, judge):
    scenario.load(MODEL, 0, MS)
    scenario.thermal.append(StateRow(0, 1_000 * MS, "Serious"))
    assert isinstance(judge(scenario, ID)["Landmarks"], NotApplicable)
