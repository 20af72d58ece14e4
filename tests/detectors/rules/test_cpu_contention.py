"""Predictions that share the CPU, on both sides of each threshold."""

from __future__ import annotations

import pytest

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
    assert isinstance(finding, Finding)
    assert finding.cost.ns == 8 * 8 * MS
    assert finding.cost.share == pytest.approx(64 / (1 + 10 + 12 * 10 + 8 * 18))
    values = {metric.name: metric.value for metric in finding.metrics}
    assert values["slowdown with other CPU work"] == 1.8
    assert values["predictions with other CPU work"] == 0.4
    assert finding.affected.starts.tolist() == [(200 + k * 80) * MS for k in range(8)]
    assert finding.affected.ends.tolist() == [(210 + k * 80) * MS for k in range(8)]
    assert "During 8 of 20 predictions, Second used the CPU for 20% or more of" in finding.summary


def test_each_of_two_that_slow_each_other_is_found(scenario, judge):
    for model in (FIRST, SECOND):
        scenario.load(model, 0, MS)
    for k in range(40):
        start, slow = (100 + k * 60) * MS, k % 2
        on_cpu(scenario, FIRST, start, (18 if slow else 10) * MS)
        on_cpu(scenario, SECOND, start if slow else start + 30 * MS, (18 if slow else 10) * MS)
    outcomes = judge(scenario, ID)
    assert all(isinstance(outcomes[name], Finding) for name in ("First", "Second"))


@pytest.mark.parametrize(("longer", "expected"), [(2, Finding), (1.9, Passed)])
def test_a_fifth_of_slow_down_decides(scenario, judge, longer, expected):
    calls(scenario, longer=longer)
    assert isinstance(judge(scenario, ID)["First"], expected)


@pytest.mark.parametrize(("others", "expected"), [(2, Finding), (1.9, Passed)])
def test_others_must_work_for_a_fifth_of_the_beginning(scenario, judge, others, expected):
    calls(scenario, others=others, longer=2.5)
    assert isinstance(judge(scenario, ID)["First"], expected)


@pytest.mark.parametrize(("longer", "expected"), [(10, Finding), (10.1, Passed)])
def test_others_must_fill_half_of_the_extra_time(scenario, judge, longer, expected):
    calls(scenario, others=5, longer=longer)
    assert isinstance(judge(scenario, ID)["First"], expected)


@pytest.mark.parametrize(("disturbed", "calm"), [(4, 20), (20, 4)])
def test_five_of_each_are_needed(scenario, judge, disturbed, calm):
    calls(scenario, disturbed=disturbed, calm=calm)
    assert isinstance(judge(scenario, ID)["First"], NotEvaluated)


def test_a_model_alone_on_the_cpu_has_nobody_to_share_with(scenario, judge):
    scenario.load(FIRST, 0, MS)
    for k in range(30):
        on_cpu(scenario, FIRST, (50 + 30 * k) * MS, (18 if k % 2 else 10) * MS)
    outcome = judge(scenario, ID)["First"]
    assert isinstance(outcome, NotApplicable)
    assert "not recorded" in outcome.reason


def test_a_model_elsewhere_is_not_judged(scenario, judge):
    calls(scenario, event="Neural Engine Request")
    assert isinstance(judge(scenario, ID)["First"], NotApplicable)


def test_extra_time_on_another_unit_is_not_that_of_the_cpu(scenario, judge):
    """Half of each prediction is CPU work; of the disturbed ones the rest takes longer, on the Neural Engine."""
    for model in (FIRST, SECOND):
        scenario.load(model, 0, MS)
    for k in range(40):
        start, slow = (100 + k * 60) * MS, k % 2
        prediction = scenario.predict(FIRST, start, (18 if slow else 10) * MS)
        prediction.event("CPU", 0, 5 * MS)
        prediction.neural_engine(5 * MS, (13 if slow else 5) * MS)
        on_cpu(scenario, SECOND, start if slow else start + 30 * MS, 12 * MS)
    assert isinstance(judge(scenario, ID)["First"], Passed)


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
    assert "chance" in outcome.summary
