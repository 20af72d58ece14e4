"""Predictions by thermal state."""

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
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
    assert finding.cost.ns == (10 * 2 + 20 * 5) * MS
    assert finding.cost.share == pytest.approx(120 / (200 + 120 + 300))
    assert finding.evidence_total == 30
    assert values(finding)["hottest to coolest state"] == pytest.approx(1.5)
    # Of the 30 intervals, 20 are in the hottest state: a number of predictions would be another one.
    assert (
        finding.summary == "In thermal state Serious, predictions took 15.0 ms (median), 1.5x the 10.0 ms in Nominal."
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([("Nominal", 20, 10), ("Critical", 20, 9)], Passed),
        ([("Nominal", 20, 10), ("Serious", 10, 20)], Finding),
        ([("Nominal", 20, 10), ("Serious", 9, 20)], NotEvaluated),
        ([("Nominal", 3, 10)], Passed),
        ([("Serious", 40, 20)], NotEvaluated),
    ],
)
def test_thresholds(scenario, judge, given, expected):
    phases(scenario, *given)
    outcome = judge(scenario, ID)["Landmarks"]
    assert isinstance(outcome, expected)
    if len(given) == 1 and expected is NotEvaluated:
        assert "cool device" in outcome.record


def test_without_thermal_states_nothing_can_be_said(scenario, judge):
    scenario.predict(MODEL, MS, MS)
    (outcome,) = judge(scenario, ID).values()
    assert isinstance(outcome, NotEvaluated)
    assert "Thermal State" in outcome.reason
