"""Models that are released and loaded again."""

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
        now += idle * MS


def test_a_model_that_is_loaded_again_and_again_is_found_with_its_cost(scenario, judge):
    play(scenario, 5)
    finding = judge(scenario, ID)["Denoiser"]
    # Four of five loads of 200 ms; beside them, 50 predictions of 40 ms.
    assert finding.cost.ns == 800 * MS
    assert finding.cost.share == pytest.approx(800 / (1_000 + 2_000))
    assert finding.evidence_total == 4
    # A session takes 200 + 400 + 1,000 ms.
    assert finding.affected.starts.tolist() == [k * 1_600 * MS for k in range(1, 5)]
    assert "4 times" in finding.summary


@pytest.mark.parametrize(
    ("sessions", "given", "settings", "expected"),
    [
        (3, {}, {}, Finding),
        (2, {}, {}, NotEvaluated),
        (1, {}, {}, Passed),
        # After a long time unused, a load must be felt.
        (6, {"load": 250, "calls": 2, "call": 10, "idle": 6_000}, {}, Finding),
        (6, {"load": 249, "calls": 2, "call": 10, "idle": 6_000}, {}, Passed),
        # A load for every call is left to the other check.
        (5, {"calls": 2, "call": 600}, {}, Finding),
        (5, {"calls": 1, "call": 600}, {}, NotApplicable),
        (5, {"instances": 2}, {}, Finding),
        (5, {}, {"min_loads": 5}, Finding),
        (5, {}, {"min_loads": 6}, NotEvaluated),
        (5, {}, {"load_share": 0.27}, Passed),
        (5, {}, {"idle_s": 0.9}, Passed),
    ],
)
def test_thresholds(scenario, judge, sessions, given, settings, expected):
    play(scenario, sessions, **given)
    assert isinstance(judge(scenario, ID, **settings)["Denoiser"], expected)


@pytest.mark.parametrize(
    ("load", "calls", "wait", "label", "expected"),
    [
        pytest.param(900, 4, 0, LOAD_CACHED, Passed, id="a longer use"),
        pytest.param(900, 3, 1_000, LOAD_CACHED, Passed, id="nobody waits"),
        pytest.param(900, 2, 0, LOAD_COLD, Passed, id="a matter of cold loads"),
    ],
)
def test_after_a_long_time_unused_only_loads_that_outweigh_their_use_count(
    scenario, judge, load, calls, wait, label, expected
):
    now = 0
    for _ in range(6):
        now = scenario.load(DENOISER, now, load * MS, label) + wait * MS
        for _ in range(calls):
            scenario.predict(DENOISER, now, 100 * MS)
            now += 100 * MS
        now += 6_000 * MS
    assert isinstance(judge(scenario, ID)["Denoiser"], expected)


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
