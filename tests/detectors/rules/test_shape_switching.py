"""A fast and a slow group of calls, on both sides of each threshold."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed
from tracekit.testing.rows import Model

ID = "shape-switching"
MS = 1_000_000
MODEL = Model("Segmenter")


def calls(scenario, lengths_ms, unit="neural engine", work=None, rest_every=0):
    """Calls, whose unit works all the time (or as long as `work` says, in ms), with a rest after so many."""
    now = 100 * MS
    for index, length_ms in enumerate(lengths_ms):
        now += 2_000 * MS if rest_every and index % rest_every == 0 else 0
        length = round(length_ms * MS)
        prediction = scenario.predict(MODEL, now, length)
        busy = length - 2_000 if work is None else round(work[index] * MS)
        if unit == "neural engine":
            prediction.neural_engine(1_000, busy)
        elif unit == "cpu":
            prediction.event("CPU", 1_000, busy)
        now += length + MS


def test_time_beyond_the_fast_median_is_the_cost(scenario, judge):
    calls(scenario, [10, 10, 30] * 20)
    finding = judge(scenario, ID)["Segmenter"]
    assert isinstance(finding, Finding)
    assert finding.cost.ns == 20 * 20 * MS
    assert finding.cost.share == pytest.approx(400 / 1000)
    assert finding.evidence_total == 20
    values = {metric.name: metric.value for metric in finding.metrics}
    assert values["slow group to fast group"] == pytest.approx(3)
    assert values["switches between the groups"] == 39
    assert "work longer on the Neural Engine" in finding.summary
    assert "recordings do not show" in finding.summary


@pytest.mark.parametrize(("slow", "expected"), [(20, Finding), (19.9, Passed)])
def test_twice_the_time_decides(scenario, judge, slow, expected):
    calls(scenario, [10, 10, slow] * 20)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


@pytest.mark.parametrize(("slow", "expected"), [(10, Finding), (9, Passed)])
def test_a_tenth_of_the_calls_decides(scenario, judge, slow, expected):
    calls(scenario, [30 if index % 10 == 0 and index // 10 < slow else 10 for index in range(100)])
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


@pytest.mark.parametrize(("runs", "expected"), [(5, Finding), (4, Passed)])
def test_four_changes_decide(scenario, judge, runs, expected):
    calls(scenario, [length for run in range(runs) for length in [10 if run % 2 == 0 else 30] * 20])
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


@pytest.mark.parametrize(("fast", "expected"), [(1.0, Finding), (0.9, Passed)])
def test_small_differences_are_no_finding(scenario, judge, fast, expected):
    calls(scenario, [fast, fast, 2 * fast] * 20)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


@pytest.mark.parametrize(("work", "expected"), [(15, Finding), (14.9, Passed)])
def test_the_work_must_differ_and_not_the_waiting(scenario, judge, work, expected):
    calls(scenario, [12, 12, 30] * 20, work=[10, 10, work] * 20)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


def test_another_unit_is_other_work(scenario, judge):
    now = 100 * MS
    for index in range(60):
        prediction = scenario.predict(MODEL, now, (10 if index % 3 else 24) * MS)
        if index % 3:
            prediction.neural_engine(MS, 8 * MS)
        else:
            prediction.event("CPU", MS, 9 * MS)
        now += 30 * MS
    finding = judge(scenario, ID)["Segmenter"]
    assert isinstance(finding, Finding)
    assert "the slow ones run mainly on the CPU, the fast ones on the Neural Engine" in finding.summary


def test_without_any_work_recorded_two_groups_are_not_judged(scenario, judge):
    calls(scenario, [10, 10, 30] * 20, unit="none")
    assert isinstance(judge(scenario, ID)["Segmenter"], NotEvaluated)


def test_larger_inputs_that_are_copied_longer_are_no_finding(scenario, judge):
    now = 100 * MS
    for index in range(60):
        scale = 3 if index % 3 == 0 else 1
        prediction = scenario.predict(MODEL, now, 10 * scale * MS)
        prediction.event("Input Copy", 1_000, 50_000 * scale)
        prediction.neural_engine(MS, 8 * scale * MS)
        now += 40 * MS
    outcome = judge(scenario, ID)["Segmenter"]
    assert isinstance(outcome, Passed)
    assert "the size of the inputs" in outcome.summary


@pytest.mark.parametrize(("use", "expected"), [([30] * 15 + [10] * 15, Passed), ([10] * 15 + [30] * 15, Finding)])
def test_slow_predictions_that_open_each_use_are_clocks_that_come_up(scenario, judge, use, expected):
    calls(scenario, use * 4, rest_every=30)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


def test_uses_of_one_shape_each_still_switch(scenario, judge):
    calls(scenario, ([30] * 10 + [10] * 10) * 4, rest_every=10)
    assert isinstance(judge(scenario, ID)["Segmenter"], Finding)


def test_wide_groups_are_no_shapes(scenario, judge):
    calls(scenario, [length for index in range(20) for length in (10, 10, 25 + 4 * index)])
    assert isinstance(judge(scenario, ID)["Segmenter"], Passed)


@pytest.mark.parametrize(("count", "expected"), [(20, Finding), (19, NotEvaluated)])
def test_few_calls_are_not_judged(scenario, judge, count, expected):
    calls(scenario, [30 if index % 2 else 10 for index in range(count)])
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


def test_a_model_without_predictions_is_not_applicable(scenario, judge):
    scenario.load(MODEL, 0, MS)
    assert isinstance(judge(scenario, ID)["Segmenter"], NotApplicable)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ranged", "; by the model file, these inputs take several: `x` (1...16 × 4)."),
        # Files list the default first.
        ("enumerated", "; by the model file, these inputs take several: `x` (2 × 4 | 1 × 4 | 8 × 4)."),
    ],
)
def test_the_model_file_names_the_flexible_inputs(scenario, judge, inspected, name, words):
    calls(scenario, [10, 10, 30] * 20)
    outcome = judge(scenario, ID, file=inspected(name))["Segmenter"]
    assert outcome.summary.endswith(f"which recordings do not show{words}")
    assert bool(outcome.fix) == (name == "ranged")
    assert "reshapeFrequency" in outcome.fix or not outcome.fix


def test_with_fixed_inputs_by_the_model_file_shapes_are_not_the_cause(scenario, judge, inspected):
    calls(scenario, [10, 10, 30] * 20)
    finding = judge(scenario, ID, file=inspected("float16_interface"))["Segmenter"]
    assert isinstance(finding, Finding)
    assert "every input has one shape, so different shapes are not the cause" in finding.summary
    assert "recordings do not show" not in finding.summary
