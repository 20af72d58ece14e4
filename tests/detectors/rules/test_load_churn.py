"""Models that are released and loaded again, on both sides of each threshold."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed
from tracekit.testing.rows import LOAD_CACHED, LOAD_COLD, Model
from tracekit.testing.scenario import Scenario

ID = "load-churn"
MS = 1_000_000
DENOISER = Model("Denoiser")


def play(
    scenario: Scenario,
    sessions: int,
    *,
    load: int = 200,
    calls: int = 10,
    call: int = 40,
    idle: int = 1_000,
    other: Model | None = None,
    instances: int = 1,
) -> None:
    """Sessions of a load and some calls end to end, with a pause between them; all in ms."""
    now = 0
    for session in range(sessions):
        model = Model("Denoiser", session % instances + 1)
        now = scenario.load(model, now, load * MS)
        for _ in range(calls):
            scenario.predict(model, now, call * MS)
            now += call * MS
        if other is not None and session < sessions - 1:
            scenario.load(other, now + MS, 30 * MS)
        now += idle * MS


def test_a_model_that_is_loaded_again_and_again_is_found_with_its_cost(scenario, judge):
    play(scenario, 5)
    finding = judge(scenario, ID)["Denoiser"]
    assert isinstance(finding, Finding)
    # Four of five loads of 200 ms; beside them, 50 predictions of 40 ms.
    assert finding.cost.ns == 800 * MS
    assert finding.cost.share == pytest.approx(800 / (1_000 + 2_000))
    assert finding.evidence_total == 4
    # A session takes 200 + 400 + 1,000 ms.
    assert finding.affected.starts.tolist() == [k * 1_600 * MS for k in range(1, 5)]
    assert "4 times" in finding.summary


@pytest.mark.parametrize(("sessions", "expected"), [(3, Finding), (2, NotEvaluated), (1, Passed)])
def test_the_third_load_makes_the_pattern(scenario, judge, sessions, expected):
    play(scenario, sessions)
    assert isinstance(judge(scenario, ID)["Denoiser"], expected)


@pytest.mark.parametrize(("idle", "expected"), [(5_000, Finding), (5_001, Passed)])
def test_a_model_that_was_long_unused_may_have_been_released_on_purpose(scenario, judge, idle, expected):
    play(scenario, 5, idle=idle)
    assert isinstance(judge(scenario, ID)["Denoiser"], expected)


def test_how_fast_loads_follow_each_other_does_not_matter(scenario, judge):
    # The hole of old: 24 ms of loading for each one to three calls of 7 ms, all within milliseconds.
    now = 0
    for session in range(60):
        now = scenario.load(DENOISER, now, 24 * MS)
        for _ in range(session % 3 + 1):
            scenario.predict(DENOISER, now, 7 * MS)
            now += 7 * MS
        now += MS
    finding = judge(scenario, ID)["Denoiser"]
    assert isinstance(finding, Finding)
    assert finding.cost.ns == 59 * 24 * MS
    assert finding.cost.share == pytest.approx(59 * 24 / (60 * 24 + 120 * 7))
    assert isinstance(judge(scenario, "reload-before-predict")["Denoiser"], Passed)


@pytest.mark.parametrize(
    ("load", "calls", "wait", "expected"),
    [
        pytest.param(900, 3, 0, Finding, id="three times the use"),
        pytest.param(899, 3, 0, Passed, id="less than three times the use"),
        pytest.param(900, 4, 0, Passed, id="a longer use"),
        pytest.param(900, 3, 1_000, Passed, id="nobody waits"),
    ],
)
def test_after_a_long_time_unused_only_loads_that_outweigh_their_use_count(
    scenario, judge, load, calls, wait, expected
):
    now = 0
    for _ in range(6):
        now = scenario.load(DENOISER, now, load * MS) + wait * MS
        for _ in range(calls):
            scenario.predict(DENOISER, now, 100 * MS)
            now += 100 * MS
        now += 6_000 * MS
    assert isinstance(judge(scenario, ID)["Denoiser"], expected)


@pytest.mark.parametrize(("load", "expected"), [(250, Finding), (249, Passed)])
def test_after_a_long_time_unused_loads_must_be_long_enough_to_be_felt(scenario, judge, load, expected):
    play(scenario, 6, load=load, calls=2, call=10, idle=6_000)
    assert isinstance(judge(scenario, ID)["Denoiser"], expected)


def test_cold_loads_after_a_long_time_unused_belong_to_cold_load(scenario, judge):
    now = 0
    for _ in range(6):
        now = scenario.load(DENOISER, now, 900 * MS, LOAD_COLD)
        for _ in range(2):
            scenario.predict(DENOISER, now, 10 * MS)
            now += 10 * MS
        now += 6_000 * MS
    assert isinstance(judge(scenario, ID)["Denoiser"], Passed)


@pytest.mark.parametrize("runs", [1, 4])
@pytest.mark.parametrize(("first", "reloads"), [(LOAD_COLD, 0), (LOAD_CACHED, 1)])
def test_a_cached_load_beside_a_cold_one_is_no_reload(scenario, judge, first, reloads, runs):
    now = 0
    for _ in range(runs):
        for label in (first, LOAD_CACHED):
            now = scenario.load(DENOISER, now, 500 * MS, label)
            for _ in range(4):
                scenario.predict(DENOISER, now, 40 * MS)
                now += 40 * MS
        now += 10_000 * MS
    outcome = judge(scenario, ID)["Denoiser"]
    expected = Passed if not reloads else Finding if runs > 1 else NotEvaluated
    assert isinstance(outcome, expected)


@pytest.mark.parametrize(("call", "expected"), [(28, Finding), (29, Passed)])
def test_cheap_reloads_are_no_finding(scenario, judge, call, expected):
    # Two of three loads of 200 ms: 400 of 600 + 3 x 40 x 28 ms are 10.1 %, with 29 ms it is 9.8 %.
    play(scenario, 3, calls=40, call=call)
    assert isinstance(judge(scenario, ID)["Denoiser"], expected)


@pytest.mark.parametrize(("calls", "expected"), [(2, Finding), (1, NotApplicable)])
def test_a_load_for_every_call_is_left_to_the_other_check(scenario, judge, calls, expected):
    play(scenario, 5, calls=calls, call=600)
    assert isinstance(judge(scenario, ID)["Denoiser"], expected)


def test_models_that_take_turns_are_not_judged(scenario, judge):
    play(scenario, 5, other=Model("Vocoder"))
    outcome = judge(scenario, ID)["Denoiser"]
    assert isinstance(outcome, NotEvaluated)
    assert "alternating with other models" in outcome.reason


def test_instances_that_are_still_in_use_were_not_released(scenario, judge):
    now = 0
    for number in range(1, 6):
        now = scenario.load(Model("Denoiser", number), now, 200 * MS)
        for _ in range(10):
            for earlier in range(1, number + 1):
                scenario.predict(Model("Denoiser", earlier), now, 40 * MS)
                now += 40 * MS
        now += 1_000 * MS
    assert isinstance(judge(scenario, ID)["Denoiser"], Passed)


def test_a_new_instance_in_place_of_the_old_one_is_a_reload(scenario, judge):
    play(scenario, 5, instances=2)
    assert isinstance(judge(scenario, ID)["Denoiser"], Finding)


def test_loads_without_use_are_no_churn(scenario, judge):
    scenario.predict(Model("Other"), 0, MS)
    for k in range(5):
        scenario.load(DENOISER, k * 2_000 * MS, 200 * MS)
    outcomes = judge(scenario, ID)
    assert isinstance(outcomes["Denoiser"], NotApplicable)
    assert isinstance(outcomes["Other"], Passed)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"min_loads": 5}, Finding),
        ({"min_loads": 6}, NotEvaluated),
        ({"load_share": 0.27}, Passed),
        ({"idle_s": 0.9}, Passed),
    ],
)
def test_thresholds_can_be_moved(scenario, judge, settings, expected):
    play(scenario, 5)
    assert isinstance(judge(scenario, ID, **settings)["Denoiser"], expected)
