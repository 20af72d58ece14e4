"""Predictions that share the CPU."""

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed
from tracekit.testing.rows import Model

ID = "cpu-contention"
MS = 1_000_000
FIRST, SECOND = Model("First"), Model("Second")


def on_cpu(scenario, model, start, length):
    prediction = scenario.predict(model, start, length)
    prediction.event("CPU", 0, length)
    return prediction


def calls(scenario, disturbed=8, calm=12, others=10, longer=8.0, work=10, event="CPU"):
    """Predictions of `work` ms; the first ones take `longer` ms more while another model works for `others` ms."""
    for model in (FIRST, SECOND):
        scenario.load(model, 0, MS)
    on_cpu(scenario, SECOND, 70 * MS, work * MS)
    scenario.predict(FIRST, 50 * MS, work * MS).event(event, 0, work * MS)
    for k in range(disturbed + calm):
        start = (200 + k * 80) * MS
        length = work * MS + (round(longer * MS) if k < disturbed else 0)
        scenario.predict(FIRST, start, length).event(event, 0, length)
        on_cpu(scenario, SECOND, start if k < disturbed else start + 40 * MS, round(others * MS))


def test_two_models_at_once_are_found_with_their_extra_time(scenario, judge):
    calls(scenario)
    finding = judge(scenario, ID)["First"]
    assert finding.cost.ns == 8 * 8 * MS
    assert finding.cost.share == pytest.approx(64 / (1 + 10 + 12 * 10 + 8 * 18))
    numbers = values(finding)
    assert numbers["duration in usual ones"] == 1.8
    assert numbers["predictions shared the CPU with other models"] == 0.4
    assert finding.affected.starts.tolist() == [(200 + k * 80) * MS for k in range(8)]
    assert finding.affected.ends.tolist() == [(208 + k * 80) * MS for k in range(8)]
    assert finding.summary == (
        "8 of 20 predictions shared the CPU with other models, which costs 8.00 ms of 18.0 ms each (medians); they "
        "take 1.8x as long as usual. Nearly all of that work was the app's own (Second)."
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"others": 5, "longer": 10}, Finding),  # Others must work for half of the extra time.
        ({"others": 5, "longer": 10.1}, Passed),
        ({"disturbed": 4, "calm": 36}, Finding),
        ({"disturbed": 4, "calm": 37}, Passed),
        ({"disturbed": 20, "calm": 4}, NotEvaluated),
        ({"event": "Neural Engine Request"}, NotApplicable),
    ],
)
def test_thresholds(scenario, judge, given, expected):
    calls(scenario, **given)
    assert isinstance(judge(scenario, ID)["First"], expected)


def test_a_model_alone_on_the_cpu_has_nobody_to_share_with(scenario, judge):
    scenario.load(FIRST, 0, MS)
    for k in range(30):
        on_cpu(scenario, FIRST, (50 + 30 * k) * MS, (18 if k % 2 else 10) * MS)
    outcome = judge(scenario, ID)["First"]
    assert isinstance(outcome, Passed)
    assert "not recorded" in outcome.summary


def test_durations_that_differ_by_chance_are_none(scenario, judge):
    """10 or 20 ms, in nearly equal parts beside others and alone: medians differ, ranks do not."""
    for model in (FIRST, SECOND):
        scenario.load(model, 0, MS)
    for k in range(42):
        start, beside = (100 + k * 60) * MS, k < 21
        long = k % 2 == 0 if beside else k % 2 == 0 and k > 22
        on_cpu(scenario, FIRST, start, (20 if long else 10) * MS)
        on_cpu(scenario, SECOND, start if beside else start + 40 * MS, 9 * MS)
    outcome = judge(scenario, ID)["First"]
    assert isinstance(outcome, Passed)
    assert outcome.summary == "The 20 of 41 predictions that shared the CPU with other models took no longer for that."
