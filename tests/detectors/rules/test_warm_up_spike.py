"""First predictions after loads, on both sides of each threshold."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed, Severity, severity_of
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario

ID = "warm-up-spike"
MS = 1_000_000
POSE = Model("PoseNet")


def play(scenario: Scenario, durations_ms: list[float], start: int = 0, gap: int = MS, model: Model = POSE) -> int:
    """A load of 50 ms and predictions of these durations, `gap` apart; a negative one is a pause. Each works
    for a ms on the CPU at most, so what makes one longer is no work. Returns the end."""
    now = scenario.load(model, start, 50 * MS) + MS
    for length in durations_ms:
        if length < 0:
            now += round(-length * MS)
        else:
            scenario.predict(model, now, round(length * MS)).event("CPU", 0, min(MS, round(length * MS)))
            now += round(length * MS) + gap
    return now


def values(outcome):
    return {metric.name: metric.value for metric in outcome.metrics}


def test_a_slow_first_call_is_found_with_its_cost(scenario, judge):
    play(scenario, [158] + [23] * 20)
    finding = judge(scenario, ID)["PoseNet"]
    assert isinstance(finding, Finding)
    assert finding.cost.ns == (158 - 23) * MS
    assert finding.cost.share == pytest.approx(135 / (50 + 158 + 20 * 23))
    assert (finding.cost.usual_ns, severity_of(finding)) == (23 * MS, Severity.MEDIUM)
    assert values(finding)["first prediction to median of following"] == pytest.approx(158 / 23)
    assert values(finding)["median of following predictions"] == 23 * MS
    assert [entry.end_ns - entry.start_ns for entry in finding.evidence] == [158 * MS]
    assert finding.affected.starts.tolist() == [51 * MS]
    assert "158 ms, 6.9x the usual 23.0 ms" in finding.summary


@pytest.mark.parametrize(("first", "usual", "expected"), [(60, 20, Finding), (59, 20, Passed)])
def test_the_ratio_decides(scenario, judge, first, usual, expected):
    play(scenario, [first] + [usual] * 20)
    assert isinstance(judge(scenario, ID)["PoseNet"], expected)


@pytest.mark.parametrize(("first", "expected"), [(12, Finding), (11.9, Passed)])
def test_some_ms_more_are_not_noticed(scenario, judge, first, expected):
    play(scenario, [first] + [2] * 20)
    assert isinstance(judge(scenario, ID)["PoseNet"], expected)


@pytest.mark.parametrize(("following", "expected"), [(5, Finding), (4, NotEvaluated)])
def test_enough_calls_must_follow(scenario, judge, following, expected):
    play(scenario, [158] + [23] * following)
    assert isinstance(judge(scenario, ID)["PoseNet"], expected)


@pytest.mark.parametrize(("slow", "expected"), [(2, Finding), (3, Passed)])
def test_a_model_that_is_often_slow_has_no_warm_up(scenario, judge, slow, expected):
    # Two of forty are a twentieth.
    play(scenario, [100] + ([20] * 9 + [100]) * slow + [20] * (40 - 10 * slow))
    assert isinstance(judge(scenario, ID)["PoseNet"], expected)


@pytest.mark.parametrize(("later", "expected"), [(49, Finding), (50, Passed)])
def test_half_of_the_first_call_is_as_slow(scenario, judge, later, expected):
    play(scenario, [100] + ([20] * 9 + [later]) * 3 + [20] * 10)
    assert isinstance(judge(scenario, ID)["PoseNet"], expected)


@pytest.mark.parametrize(("prompt", "expected"), [(99, Finding), (100, Passed)])
def test_calls_that_are_slow_after_every_pause_are_not_the_load(scenario, judge, prompt, expected):
    turn = [20] * 40
    play(scenario, [200, *turn, -2_000, prompt, *turn, -2_000, prompt, *turn])
    assert isinstance(judge(scenario, ID)["PoseNet"], expected)


def test_a_call_to_warm_up_is_what_the_fix_asks_for(scenario, judge):
    play(scenario, [158, -2_000] + [23] * 20)
    outcome = judge(scenario, ID)["PoseNet"]
    assert isinstance(outcome, Passed)
    assert "as a warm-up prediction" in outcome.summary


def test_a_user_who_takes_his_time_still_waits_for_the_first_call(scenario, judge):
    play(scenario, [900] + [23] * 20, gap=1_500 * MS)
    assert isinstance(judge(scenario, ID)["PoseNet"], Finding)


def test_each_load_has_a_first_call(scenario, judge):
    end = play(scenario, [158] + [23] * 10)
    end = play(scenario, [25] + [23] * 10, start=end)
    play(scenario, [123] + [23] * 10, start=end)
    finding = judge(scenario, ID)["PoseNet"]
    assert isinstance(finding, Finding)
    assert finding.cost.ns == (135 + 100) * MS
    assert finding.evidence_total == 2
    assert "2 loads affected" in finding.summary
    assert values(finding)["first predictions compared"] == 3


def test_instances_are_told_apart(scenario, judge):
    play(scenario, [158] + [23] * 10)
    play(scenario, [158] + [23] * 10, start=20_000 * MS, model=Model("PoseNet", 2))
    outcome = judge(scenario, ID)["PoseNet"]
    assert outcome.evidence_total == 2


def test_firsts_that_overlap_are_not_counted_twice(scenario, judge):
    for number in (1, 2):
        play(scenario, [158] + [23] * 10, model=Model("PoseNet", number))
    outcome = judge(scenario, ID)["PoseNet"]
    assert outcome.cost.ns == 158 * MS


def test_without_loads_or_predictions_there_is_nothing_to_say(scenario, judge):
    for k in range(10):
        scenario.predict(POSE, k * 30 * MS, (200 if k == 0 else 20) * MS)
    scenario.load(Model("Unused"), 0, MS)
    outcomes = judge(scenario, ID)
    assert isinstance(outcomes["PoseNet"], NotEvaluated)
    assert isinstance(outcomes["Unused"], NotApplicable)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"ratio": 6.8}, Finding),
        ({"ratio": 7}, Passed),
        ({"min_extra_ms": 136}, Passed),
        ({"min_following": 21}, NotEvaluated),
    ],
)
def test_thresholds_can_be_moved(scenario, judge, settings, expected):
    play(scenario, [158] + [23] * 20)
    assert isinstance(judge(scenario, ID, **settings)["PoseNet"], expected)
