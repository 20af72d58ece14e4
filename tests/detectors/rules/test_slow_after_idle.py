"""First calls after pauses, on both sides of each threshold."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed
from tracekit.testing.rows import Model

ID = "slow-after-idle"
MS = 1_000_000
MODEL = Model("Landmarks")


def uses(scenario, first_ms, usual_ms=10, pauses=5, calls=6, pause_ms=2_000, work_ms=None, gap_ms=1, slow=None):
    """Uses of so many calls; the first one of each takes `first_ms` in the chosen uses, of which `work_ms` is work."""
    now = 100 * MS
    for use in range(pauses + 1):
        for index in range(calls):
            long = index == 0 and use > 0 and (slow is None or use <= slow)
            length = round((first_ms if long else usual_ms) * MS)
            work = work_ms if long and work_ms else usual_ms - 1
            scenario.predict(MODEL, now, length).event("CPU", 1_000, round(work * MS))
            now += length + round(gap_ms * MS)
        now += pause_ms * MS


def test_time_beyond_the_median_of_the_others_is_the_cost(scenario, judge):
    uses(scenario, 50)
    finding = judge(scenario, ID)["Landmarks"]
    assert isinstance(finding, Finding)
    # Five slow calls of 50 ms, and 31 others of 10 ms.
    assert finding.cost.ns == 5 * 40 * MS
    assert finding.cost.share == pytest.approx(200 / (5 * 50 + 31 * 10))
    assert finding.evidence_total == 5


@pytest.mark.parametrize(
    ("first", "usual", "expected"),
    [(40, 20, Finding), (39.9, 20, Passed), (18, 8, Finding), (17.9, 8, Passed)],
    ids=["twice as long", "less", "10 ms longer", "less than that"],
)
def test_ratio_and_difference_decide(scenario, judge, first, usual, expected):
    uses(scenario, first, usual)
    assert isinstance(judge(scenario, ID)["Landmarks"], expected)


@pytest.mark.parametrize(("pause_ms", "expected"), [(1_000, Finding), (990, NotApplicable)])
def test_a_pause_lasts_a_second(scenario, judge, pause_ms, expected):
    uses(scenario, 50, pause_ms=pause_ms, gap_ms=0.5)
    assert isinstance(judge(scenario, ID)["Landmarks"], expected)


@pytest.mark.parametrize(("pauses", "expected"), [(4, Finding), (3, NotEvaluated)])
def test_few_pauses_are_not_judged(scenario, judge, pauses, expected):
    uses(scenario, 50, pauses=pauses)
    assert isinstance(judge(scenario, ID)["Landmarks"], expected)


@pytest.mark.parametrize(("slow", "expected"), [(3, Finding), (2, Passed)])
def test_half_of_the_pauses_decide(scenario, judge, slow, expected):
    uses(scenario, 50, pauses=6, slow=slow)
    assert isinstance(judge(scenario, ID)["Landmarks"], expected)


@pytest.mark.parametrize(
    ("work", "gap", "expected"),
    [(45, 1, NotEvaluated), (45, 23.333, Finding), (15, 1, Finding)],
    ids=["more work, at once", "more work, at the pace of a camera", "the same work"],
)
def test_more_work_may_be_a_prompt_unless_calls_keep_a_pace(scenario, judge, work, gap, expected):
    uses(scenario, 50, work_ms=work, gap_ms=gap, calls=12)
    assert isinstance(judge(scenario, ID)["Landmarks"], expected)


@pytest.mark.parametrize(
    ("pauses", "calls", "pause_ms", "gap_ms", "expected", "said"),
    [
        (12, 1, 60_000, 0, NotEvaluated, "12 of 13 predictions follow a gap of 1 s or more (60.0 s at the median)"),
        (12, 1, 999, 0, NotApplicable, "no gap of 1 s or more"),
        (5, 6, 2_000, 900, NotApplicable, "longer than five times the usual interval"),
    ],
)
def test_gaps_that_are_usual_are_said_to_be(scenario, judge, pauses, calls, pause_ms, gap_ms, expected, said):
    scenario.duration_ns *= 15
    uses(scenario, 50, calls=calls, pauses=pauses, pause_ms=pause_ms, gap_ms=gap_ms)
    outcome = judge(scenario, ID)["Landmarks"]
    assert isinstance(outcome, expected)
    assert said in outcome.reason


def test_a_model_without_predictions_is_not_applicable(scenario, judge):
    scenario.load(MODEL, 0, MS)
    assert isinstance(judge(scenario, ID)["Landmarks"], NotApplicable)
