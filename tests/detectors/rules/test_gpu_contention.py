"""Predictions that share the GPU."""

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing.machines import WINDOW_SERVER
from tracekit.testing.rows import Model

ID = "gpu-contention"
MS = 1_000_000
STYLE = Model("Style")


def calls(scenario, disturbed=6, calm=14, others=5, longer=5, process=None, work=10):
    """Predictions of `work` ms; the first ones are `longer` ms longer while others work for `others` ms."""
    scenario.load(STYLE, 0, MS)
    scenario.predict(STYLE, 50 * MS, work * MS)
    for k in range(disturbed + calm):
        start = (100 + k * 50) * MS
        wait = round(others * MS) if k < disturbed else 0
        length = work * MS + (round(longer * MS) if k < disturbed else 0)
        prediction = scenario.predict(STYLE, start, length)
        prediction.event("GPU Request", 0, length)
        if wait:
            scenario.gpu_work(start, wait, process or scenario.target)
        prediction.gpu(wait, length - wait)


def test_disturbed_predictions_are_found_with_their_extra_time(scenario, judge):
    calls(scenario)
    finding = judge(scenario, ID)["Style"]
    assert finding.cost.ns == 6 * 5 * MS
    # The load, one call after it, 14 calm and 6 long ones.
    assert finding.cost.share == pytest.approx(30 / (1 + 10 + 140 + 90))
    assert values(finding)["duration in usual ones"] == 1.5
    assert values(finding)["predictions queued behind other work on the GPU"] == 0.3
    assert finding.evidence_total == 6
    assert finding.affected.starts.tolist() == [(100 + k * 50) * MS for k in range(6)]
    assert finding.affected.ends.tolist() == [(105 + k * 50) * MS for k in range(6)]
    assert "all of that work was the app's own" in finding.summary


def test_it_is_told_whose_work_it_was(scenario, judge):
    calls(scenario, process=WINDOW_SERVER)
    assert "all of that work was for other processes" in judge(scenario, ID)["Style"].summary


def test_other_models_are_others_too(scenario, judge):
    calls(scenario, others=0.001)
    for k in range(6):
        scenario.predict(Model("Other"), (100 + k * 50) * MS, 6 * MS).gpu(0, 5 * MS)
    assert isinstance(judge(scenario, ID)["Style"], Finding)


@pytest.mark.parametrize(
    ("given", "settings", "expected"),
    [
        ({"others": 5, "longer": 10}, {}, Finding),  # Others must explain half of the extra time.
        ({"others": 5, "longer": 10.1}, {}, Passed),
        ({"disturbed": 6, "calm": 54}, {}, Finding),
        ({"disturbed": 6, "calm": 55}, {}, Passed),
        ({"disturbed": 6, "calm": 5}, {}, Finding),
        ({"disturbed": 6, "calm": 4}, {}, NotEvaluated),
        ({"disturbed": 0, "calm": 9}, {}, NotEvaluated),
        ({}, {"wait_share": 0.34}, Passed),
        ({}, {"slowdown": 1.51}, Passed),
        ({}, {"affected_share": 0.31}, Passed),
        ({}, {"min_predictions": 20}, Finding),
        ({}, {"min_predictions": 21}, NotEvaluated),
        ({}, {"explained_share": 1}, Finding),
    ],
)
def test_thresholds(scenario, judge, given, settings, expected):
    calls(scenario, **given)
    assert isinstance(judge(scenario, ID, **settings)["Style"], expected)


@pytest.mark.parametrize(("load", "expected"), [(200, Finding), (300, Passed)])
def test_less_than_a_fiftieth_of_the_time_is_not_felt(scenario, judge, load, expected):
    # 6 of 60 predictions of 10 ms wait for 3 ms each: 18 of 829 or 929 ms.
    calls(scenario, 6, 54, others=3, longer=3)
    scenario.load(STYLE, 5_000 * MS, load * MS)
    assert isinstance(judge(scenario, ID)["Style"], expected)


def test_no_more_is_won_than_others_took(scenario, judge):
    calls(scenario, others=4, longer=6)
    assert judge(scenario, ID)["Style"].cost.ns == 6 * 4 * MS
