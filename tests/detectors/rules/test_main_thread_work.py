"""Hangs that loads and predictions explain, and hangs that only meet them."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing.rows import LOAD_COLD, Model, StateRow

ID = "main-thread-work"
MS = 1_000_000
NET, POSE = Model("Net"), Model("Pose")


def judged(judge, scenario, **settings):
    return judge(scenario, ID, **settings)[None]


def calls(scenario, start: int, count: int, length: int = 20, every: int = 21, model=NET) -> None:
    """Predictions of so many ms, one after the other."""
    for number in range(count):
        scenario.predict(model, start + number * every * MS, length * MS)


def test_a_load_that_fills_a_hang_is_found_with_its_cost(scenario, judge):
    scenario.load(NET, 1_000 * MS, 900 * MS, LOAD_COLD)
    scenario.hang(990 * MS, 1_000 * MS)
    calls(scenario, 2_000 * MS, 100)
    finding = judged(judge, scenario)
    assert finding.cost.ns == 900 * MS
    # Beside 100 predictions of 20 ms.
    assert finding.cost.share == pytest.approx(900 / 2_900)
    assert "1 load of Net (900 ms) filled 90% of 1 hang" in finding.summary
    assert "Possible but not certain" in finding.summary
    assert [(entry.start_ns, entry.end_ns) for entry in finding.evidence] == [(1_000 * MS, 1_900 * MS)]


def test_each_long_prediction_makes_its_own_hang(scenario, judge):
    for number in range(6):
        scenario.predict(NET, (1_000 + number * 320) * MS, 300 * MS)
        scenario.hang((995 + number * 320) * MS, 310 * MS)
    finding = judged(judge, scenario)
    assert finding.cost.ns == 1_800 * MS
    assert "6 hangs" in finding.summary


def test_a_model_that_works_in_the_background_all_the_time_meets_hangs_by_chance(scenario, judge):
    calls(scenario, 0, 400)
    scenario.hang(2_000 * MS, 500 * MS)
    scenario.hang(5_000 * MS, 800 * MS)
    outcome = judged(judge, scenario)
    assert isinstance(outcome, Passed)
    assert "2 of them overlap loads or predictions" in outcome.summary


@pytest.mark.parametrize(
    ("load_at", "length", "hang_at", "hang", "settings", "expected"),
    [
        (1_000, 400, 1_060, 400, {}, Finding),
        (1_000, 400, 1_060, 400, {"min_hang_ms": 401}, Passed),
        (1_000, 400, 1_060, 400, {"call_share": 0.9}, Passed),
        (1_000, 400, 1_060, 400, {"hang_share": 0.91}, Passed),
    ],
)
def test_thresholds(scenario, judge, load_at, length, hang_at, hang, settings, expected):
    scenario.load(NET, load_at * MS, length * MS)
    scenario.hangs.append(StateRow(hang_at * MS, hang * MS, "Hang"))
    assert isinstance(judged(judge, scenario, **settings), expected)


@pytest.mark.parametrize(("later", "expected"), [(200, Finding), (201, Passed)])
def test_how_much_goes_on_beside_the_hang_decides(scenario, judge, later, expected):
    # The hang is filled, and half of the time after it is the threshold.
    scenario.predict(NET, 1_000 * MS, 400 * MS)
    scenario.hang(1_000 * MS, 400 * MS)
    scenario.predict(NET, 1_400 * MS, later * MS)
    assert isinstance(judged(judge, scenario), expected)


def test_models_that_fill_a_hang_together_are_all_named(scenario, judge):
    for number, model in enumerate((NET, POSE, Model("Late"))):
        scenario.predict(model, (1_000 + number * 150) * MS, 140 * MS)
    scenario.hang(995 * MS, 450 * MS)
    calls(scenario, 9_000 * MS, 3, model=Model("Elsewhere"))
    finding = judged(judge, scenario)
    assert "3 predictions of Late, Net, Pose (420 ms)" in finding.summary
    assert {entry.model for entry in finding.evidence} == {"Net", "Pose", "Late"}


def test_without_hangs_nothing_is_known(scenario, judge):
    scenario.load(NET, 1_000 * MS, 900 * MS)
    outcome = judged(judge, scenario)
    assert isinstance(outcome, NotEvaluated)
    assert "Hangs" in outcome.reason
    assert "Hangs" in outcome.record
