"""Loads in between predictions."""

from __future__ import annotations

import pytest

from support.choice import sweep_rest
from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed, Severity, severity_of
from tracekit.testing.rows import LOAD_COLD, Model
from tracekit.testing.scenario import Scenario

ID = "reload-before-predict"
MS = 1_000_000
STYLE = Model("Watercolor")


def play(scenario: Scenario, pattern: str, *, load: int = 20 * MS, predict: int = 5 * MS, pause: int = MS) -> None:
    """Write a pattern of L (load) and P (prediction), one after the other; a digit waits for so many seconds."""
    now = 10 * MS
    for sign in pattern:
        if sign == "L":
            now = scenario.load(STYLE, now, load) + pause
        elif sign == "P":
            scenario.predict(STYLE, now, predict)
            now += predict + pause
        else:
            now += int(sign) * 1000 * MS


def test_a_load_before_each_prediction_is_found_with_its_cost(scenario, judge):
    play(scenario, "LP" * 10)
    finding = judge(scenario, ID)["Watercolor"]
    # Nine of ten loads were not needed: 9 x 20 ms of 10 x (20 + 5) ms.
    assert finding.cost.ns == 180 * MS
    assert finding.cost.share == pytest.approx(180 / 250)
    assert severity_of(finding) is Severity.CRITICAL
    numbers = values(finding)
    assert numbers["loads"] == 10
    assert numbers["loads per prediction"] == 1
    assert numbers["mean load"] == 20 * MS
    assert numbers["prediction time"] == 50 * MS
    assert finding.evidence_total == 9
    assert [entry.label for entry in finding.evidence] == ["Load (cached)"] * 9
    # The first reload starts after 10 ms, a load, a prediction and two pauses.
    assert finding.evidence[0].start_ns == (10 + 20 + 1 + 5 + 1) * MS
    assert finding.evidence[0].end_ns == finding.evidence[0].start_ns + 20 * MS


@pytest.mark.parametrize(
    ("pattern", "settings", "expected"),
    [
        ("LPLPLP", {}, Finding),
        ("LLPLLPLLPLLP", {}, Finding),
        ("LP" * 8 + "LPP" * 2, {}, Finding),
        ("LP4LP4LP4LP", {}, Finding),
        ("L" + "P" * 30, {}, Passed),
        ("LLL" + "P" * 4, {}, Passed),  # A pool of instances.
        ("LPPP" * 5, {}, Passed),
        ("LPLP" + "P" * 3, {}, Passed),  # Two loads are no pattern.
        ("LP9LP9LP9LP9LP", {}, Passed),  # Needed again much later.
        ("P" * 5, {}, Passed),
        ("LP" * 3 + "LPPPP" * 2 + "P" * 3, {}, Passed),  # Three fifths of the loads are used once.
        ("LP", {}, NotEvaluated),
        ("LPLP", {}, NotEvaluated),
        ("LP" * 5, {"min_loads": 6}, NotEvaluated),
        ("LP" * 5, {"loads_per_prediction": 1.0}, Finding),
        ("LP" * 5, {"loads_per_prediction": 1.01}, Passed),
        ("LP" * 5, {"idle_s": 0.0005}, Passed),
    ],
)
def test_patterns_and_thresholds(scenario, judge, pattern, settings, expected):
    play(scenario, pattern)
    outcome = judge(scenario, ID, **settings)["Watercolor"]
    assert isinstance(outcome, expected)
    if expected is NotEvaluated:
        assert "longer" in outcome.record


@pytest.mark.parametrize(
    ("load", "predict", "expected"),
    [
        pytest.param(900, 120, Finding, id="the load outweighs its use"),
        pytest.param(360, 120, Finding, id="three times the use"),
        pytest.param(359, 120, Passed, id="less than three times the use"),
        pytest.param(249, 10, Passed, id="too short to be felt"),
    ],
)
def test_after_a_long_time_unused_only_loads_that_outweigh_their_use_count(scenario, judge, load, predict, expected):
    play(scenario, "LP8" * 5, load=load * MS, predict=predict * MS)
    outcomes = judge(scenario, ID)
    assert isinstance(outcomes["Watercolor"], expected)
    assert isinstance(judge(scenario, "load-churn")["Watercolor"], NotApplicable if expected is Finding else Passed)


@pytest.mark.parametrize("pattern", sweep_rest("LP" * 10, "LPP" * 10, "LPLPPP" * 5, "LP" * 3 + "LPPPP" * 2, "LLP" * 6))
def test_each_pattern_of_dear_reloads_is_reported_by_exactly_one_check(scenario, judge, pattern):
    play(scenario, pattern)
    ids = (ID, "load-churn")
    assert sum(isinstance(judge(scenario, each)["Watercolor"], Finding) for each in ids) == 1


def test_instances_of_a_model_are_judged_together(scenario, judge):
    now = 0
    for number in range(1, 7):
        instance = Model("Watercolor", number)
        now = scenario.load(instance, now, 20 * MS)
        scenario.predict(instance, now, 5 * MS)
        now += 6 * MS
    outcomes = judge(scenario, ID)
    assert set(outcomes) == {"Watercolor"}
    assert isinstance(outcomes["Watercolor"], Finding)


def test_an_empty_core_ml_table_is_not_judged(scenario, judge):
    scenario.other_neural_engine(1000, MS)
    outcomes = judge(scenario, ID)
    assert isinstance(outcomes[None], NotEvaluated)
    assert "get-task-allow" in outcomes[None].reason + outcomes[None].record


@pytest.mark.parametrize("apart_ns", sweep_rest(10 * MS, -100 * MS), ids=["after it", "inside it"])
@pytest.mark.parametrize("check", [ID, "load-churn", "duplicate-instances", "unused-load"])
def test_the_cached_load_beside_the_first_specialization_is_no_reload(scenario, judge, check, apart_ns):
    # In a first run, one model shows one row that prepares it and one cached row.
    for number in range(3):
        model, start = Model(f"Net{number}"), (1_000 + 4_000 * number) * MS
        end = scenario.load(model, start, 1_200 * MS, LOAD_COLD)
        scenario.load(model, end + apart_ns, 60 * MS)
        scenario.predict(model, end + 100 * MS, 8 * MS)
    assert not any(isinstance(outcome, Finding) for outcome in judge(scenario, check).values())


def test_not_even_one_that_is_asked_for_from_the_second_load_on(scenario, judge):
    end = scenario.load(STYLE, 1_000 * MS, 1_200 * MS, LOAD_COLD)
    scenario.load(STYLE, end + 10 * MS, 60 * MS)
    scenario.predict(STYLE, end + 100 * MS, 8 * MS)
    outcome = judge(scenario, ID, min_loads=2)["Watercolor"]
    assert not isinstance(outcome, Finding)
