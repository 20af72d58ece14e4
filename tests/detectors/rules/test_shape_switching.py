"""A fast and a slow group of calls."""

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
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
    assert finding.cost.ns == 20 * 20 * MS
    assert finding.cost.share == pytest.approx(400 / 1000)
    assert finding.evidence_total == 20
    numbers = values(finding)
    assert numbers["slow group to fast group"] == pytest.approx(3)
    assert numbers["switches between the groups"] == 39
    assert "work longer on the Neural Engine" in finding.summary
    assert "recordings do not show" in finding.summary


@pytest.mark.parametrize(
    ("lengths_ms", "given", "expected"),
    [
        # Four changes.
        (([10] * 20 + [30] * 20) * 2 + [10] * 20, {}, Finding),
        (([10] * 20 + [30] * 20) * 2, {}, Passed),
        # A ms between them.
        ([1.0, 1.0, 2.0] * 20, {}, Finding),
        ([0.9, 0.9, 1.8] * 20, {}, Passed),
        # The work must differ, and not the waiting.
        ([12, 12, 30] * 20, {"work": [10, 10, 20.1] * 20}, Finding),
        ([12, 12, 30] * 20, {"work": [10, 10, 19.9] * 20}, Passed),
        ([10, 10, 30] * 20, {"unit": "none"}, NotEvaluated),
        # Slow ones that open each use are clocks that come up.
        (([30] * 15 + [10] * 15) * 4, {"rest_every": 30}, Passed),
        (([10] * 15 + [30] * 15) * 4, {"rest_every": 30}, Finding),
        (([30] * 10 + [10] * 10) * 4, {"rest_every": 10}, Finding),
        ([length for index in range(20) for length in (10, 10, 25 + 4 * index)], {}, Passed),  # Of any length.
        ([10, 30] * 10, {}, Finding),
        ([10, 30] * 9 + [10], {}, NotEvaluated),
    ],
)
def test_thresholds(scenario, judge, lengths_ms, given, expected):
    calls(scenario, lengths_ms, **given)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


def test_another_unit_is_other_work(scenario, judge):
    now = 100 * MS
    for index in range(60):
        prediction = scenario.predict(MODEL, now, (10 if index % 3 else 24) * MS)
        if index % 3:
            prediction.neural_engine(MS, 8 * MS)
        else:
            prediction.event("CPU", MS, 22 * MS)
        now += 30 * MS
    finding = judge(scenario, ID)["Segmenter"]
    assert isinstance(finding, Finding)
    assert "the slow ones run mainly on the CPU, the fast ones on the Neural Engine" in finding.summary


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
