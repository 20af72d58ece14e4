"""Predictions against a budget."""

import pytest

from support.choice import sweep_rest
from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed, Severity, severity_of
from tracekit.testing.rows import Model

ID = "missed-deadline"
MS = 1_000_000
SEGMENTER, CAMERA = Model("Segmenter"), Model("Camera")


def calls(scenario, durations_ms, model=SEGMENTER, spacing_ms=50, start=100):
    for index, duration in enumerate(durations_ms):
        scenario.predict(model, (start + index * spacing_ms) * MS, round(duration * MS))


def test_without_a_budget_nothing_is_judged(scenario, judge):
    calls(scenario, [40] * 30)
    outcome = judge(scenario, ID)["Segmenter"]
    assert isinstance(outcome, NotApplicable)
    assert "--budget" in outcome.reason


def test_late_predictions_are_a_fact_that_no_fix_is_said_to_save(scenario, judge):
    calls(scenario, [10] * 18 + [20, 25])
    finding = judge(scenario, ID, budget_ms=15)["Segmenter"]
    assert finding.cost is None
    assert finding.missed == 0.1
    assert finding.evidence_total == 2
    assert [entry.end_ns - entry.start_ns for entry in finding.evidence] == [25 * MS, 20 * MS]
    assert values(finding)["predictions over budget"] == 0.1


@pytest.mark.parametrize(
    ("late", "severity"),
    sweep_rest(
        (6, Severity.LOW), (10, Severity.MEDIUM), (25, Severity.HIGH), (50, Severity.CRITICAL), (100, Severity.CRITICAL)
    ),
)
def test_severity_follows_how_often_the_deadline_is_missed(scenario, judge, late, severity):
    calls(scenario, [10] * (100 - late) + [20] * late)
    assert severity_of(judge(scenario, ID, budget_ms=15)["Segmenter"]) is severity


@pytest.mark.parametrize("slow", [10, 20])
def test_predictions_that_do_not_count_are_said(scenario, judge, slow):
    for index in range(3):
        scenario.load(SEGMENTER, (10 + index * 2000) * MS, 50 * MS)
        calls(scenario, [40] + [10] * 9 + [0] + [slow] * 3, start=100 + index * 2000)
    words = "not counting 3 first predictions after a load and 3 predictions without a duration"
    assert words in judge(scenario, ID, budget_ms=15)["Segmenter"].summary


@pytest.mark.parametrize(
    ("durations_ms", "settings", "expected"),
    [
        ([15] * 30, {}, Passed),  # The budget itself is in time.
        ([10] * 30, {"missed_share": 0}, Passed),
        ([20] * 20, {}, Finding),
        ([20] * 19, {}, NotEvaluated),
        ([0] * 30, {}, NotEvaluated),
    ],
)
def test_thresholds(scenario, judge, durations_ms, settings, expected):
    calls(scenario, durations_ms)
    assert isinstance(judge(scenario, ID, budget_ms=15, **settings)["Segmenter"], expected)


def camera(scenario, every, slow_ms=44, dropped=True, count=101):
    """30 fps; one in `every` predictions takes `slow_ms` and costs the next frame, the others take 15 ms."""
    scenario.load(CAMERA, 0, MS)
    frame = 3
    for index in range(count):
        slow = index % every == every - 1
        scenario.predict(CAMERA, frame * 1_000 * MS // 30, (slow_ms if slow else 15) * MS)
        frame += 2 if slow and dropped else 1


def test_without_a_budget_dropped_frames_are_found(scenario, judge):
    camera(scenario, 5)
    finding = judge(scenario, ID)["Camera"]
    assert finding.cost is None
    # Of 101, the first follows the load, and none follows the last.
    assert finding.missed == 20 / 99
    assert "not counting 1 first prediction after a load and 1 prediction before a gap or the end" in finding.summary
    assert finding.evidence_total == 20
    assert "30 fps" in finding.summary


def test_the_p95_beside_dropped_frames_is_that_of_the_model(scenario, judge):
    camera(scenario, 19)
    metrics = values(judge(scenario, ID)["Camera"])
    # 5 of the 100 warm predictions take 44 ms: p95 lies 0.05 of the way from the 95th value to the 96th.
    assert metrics["p95"] == pytest.approx((15 + 0.05 * 29) * MS)
    assert metrics["median"] == 15 * MS


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param({"every": 19}, Finding, id="one in nineteen"),
        pytest.param({"every": 22}, Passed, id="one in twenty-two"),
        pytest.param({"every": 5, "slow_ms": 33}, Passed, id="skipped, but no longer than a frame"),
        pytest.param({"every": 5, "dropped": False}, Passed, id="overlapping"),
        pytest.param({"every": 15, "count": 60}, Passed, id="four times"),
        pytest.param({"every": 5, "count": 20}, NotApplicable, id="too few"),
    ],
)
def test_a_frame_is_dropped_where_a_prediction_takes_longer(scenario, judge, change, expected):
    camera(scenario, **change)
    assert isinstance(judge(scenario, ID)["Camera"], expected)
