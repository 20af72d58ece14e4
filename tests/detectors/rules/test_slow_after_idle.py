"""First calls after pauses."""

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
    # Five slow calls of 50 ms, and 31 others of 10 ms.
    assert finding.cost.ns == 5 * 40 * MS
    assert finding.cost.share == pytest.approx(200 / (5 * 50 + 31 * 10))
    assert finding.evidence_total == 5


@pytest.mark.parametrize(
    ("first", "given", "expected"),
    [
        (18, {"usual_ms": 8}, Finding),  # 10 ms longer.
        (17.9, {"usual_ms": 8}, Passed),
        (50, {"pause_ms": 1_000, "gap_ms": 0.5}, Finding),
        (50, {"pause_ms": 990, "gap_ms": 0.5}, NotApplicable),
        (50, {"pauses": 4}, Finding),
        (50, {"pauses": 3}, NotEvaluated),
        (50, {"pauses": 6, "slow": 3}, Finding),
        (50, {"pauses": 6, "slow": 2}, Passed),
        # More work may be a prompt, unless calls keep a pace.
        (50, {"calls": 12, "work_ms": 45}, NotEvaluated),
        (50, {"calls": 12, "work_ms": 45, "gap_ms": 23.333}, Finding),
        (50, {"calls": 12, "work_ms": 15}, Finding),
    ],
)
def test_thresholds(scenario, judge, first, given, expected):
    uses(scenario, first, **given)
    assert isinstance(judge(scenario, ID)["Landmarks"], expected)


@pytest.mark.parametrize(
    ("pauses", "calls", "pause_ms", "gap_ms", "expected", "said"),
    [
        (12, 1, 60_000, 0, NotEvaluated, "A gap of 60.0 s is usual"),
        (12, 1, 999, 0, NotApplicable, "No gap is 1 s or longer"),
        (5, 6, 2_000, 900, NotApplicable, "more than five times the usual interval"),
    ],
)
def test_gaps_that_are_usual_are_said_to_be(scenario, judge, pauses, calls, pause_ms, gap_ms, expected, said):
    scenario.duration_ns *= 15
    uses(scenario, 50, calls=calls, pauses=pauses, pause_ms=pause_ms, gap_ms=gap_ms)
    outcome = judge(scenario, ID)["Landmarks"]
    assert isinstance(outcome, expected)
    assert said in outcome.reason
