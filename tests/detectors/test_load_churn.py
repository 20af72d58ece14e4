"""Models that are released and loaded again, on both sides of each threshold."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, InsufficientData, NotApplicable, Passed
from tracekit.testing.rows import Model
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
    found = judge(scenario, ID)["Denoiser"]
    assert isinstance(found, Finding)
    # Four of five loads of 200 ms; beside them, 50 predictions of 40 ms.
    assert found.cost.ns == 800 * MS
    assert found.cost.share == pytest.approx(800 / (1_000 + 2_000))
    assert found.evidence_total == 4
    # A session takes 200 + 400 + 1,000 ms.
    assert found.lost.starts.tolist() == [k * 1_600 * MS for k in range(1, 5)]
    assert "4 times" in found.summary


@pytest.mark.parametrize(("sessions", "expected"), [(3, Finding), (2, InsufficientData), (1, Passed)])
def test_the_third_load_makes_the_pattern(scenario, judge, sessions, expected):
    play(scenario, sessions)
    assert isinstance(judge(scenario, ID)["Denoiser"], expected)


@pytest.mark.parametrize(("idle", "expected"), [(5_000, Finding), (5_001, Passed)])
def test_a_model_that_was_long_unused_may_have_been_released_on_purpose(scenario, judge, idle, expected):
    play(scenario, 5, idle=idle)
    assert isinstance(judge(scenario, ID)["Denoiser"], expected)


@pytest.mark.parametrize(("idle", "expected"), [(400, Finding), (399, Passed)])
def test_loads_that_follow_each_other_fast_are_something_else(scenario, judge, idle, expected):
    # A session takes 200 + 10 x 40 ms and the pause: 1 s or just less.
    play(scenario, 5, idle=idle)
    assert isinstance(judge(scenario, ID)["Denoiser"], expected)


@pytest.mark.parametrize(("call", "expected"), [(28, Finding), (29, Passed)])
def test_cheap_reloads_are_no_finding(scenario, judge, call, expected):
    # Two of three loads of 200 ms: 400 of 600 + 3 x 40 x 28 ms are 10.1 %, with 29 ms it is 9.8 %.
    play(scenario, 3, calls=40, call=call)
    assert isinstance(judge(scenario, ID)["Denoiser"], expected)


@pytest.mark.parametrize(("calls", "expected"), [(2, Finding), (1, Passed)])
def test_a_load_for_every_call_is_something_else(scenario, judge, calls, expected):
    play(scenario, 5, calls=calls, call=600)
    assert isinstance(judge(scenario, ID)["Denoiser"], expected)


def test_models_that_take_turns_are_not_judged(scenario, judge):
    play(scenario, 5, other=Model("Vocoder"))
    outcome = judge(scenario, ID)["Denoiser"]
    assert isinstance(outcome, InsufficientData)
    assert "in turns" in outcome.reason


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
        ({"min_loads": 6}, InsufficientData),
        ({"load_share": 0.27}, Passed),
        ({"idle_s": 0.9}, Passed),
        ({"apart_s": 1.7}, Passed),
    ],
)
def test_thresholds_can_be_moved(scenario, judge, settings, expected):
    play(scenario, 5)
    assert isinstance(judge(scenario, ID, **settings)["Denoiser"], expected)
