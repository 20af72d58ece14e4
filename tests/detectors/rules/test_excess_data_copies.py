"""Copies inside predictions."""

from __future__ import annotations

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed, Severity, severity_of
from tracekit.testing.rows import DATA, CoreMLRow, Model
from tracekit.testing.scenario import Prediction, Scenario

ID = "excess-data-copies"
US = 1_000
MS = 1_000_000
SHARPEN = Model("Sharpen")


def predictions(scenario: Scenario, count: int, duration: int, spacing: int | None = None) -> list[Prediction]:
    """Predictions at a steady pace."""
    step = spacing or duration + MS
    return [scenario.predict(SHARPEN, 10 * MS + k * step, duration) for k in range(count)]


def test_copies_around_the_computation_are_found_with_their_cost(scenario, judge):
    for prediction in predictions(scenario, 10, 89 * MS):
        # Magnitudes of the gpt2-large recording in the reference: 3 + 11 ms before, 12 ms after.
        prediction.event("Input Copy", 0, 3 * MS)
        prediction.event("Neural Engine - Data Copy", 3 * MS, 11 * MS)
        prediction.event("Neural Engine Request", 15 * MS, 59 * MS)
        prediction.event("Neural Engine - Data Copy", 75 * MS, 12 * MS)
    finding = judge(scenario, ID)["Sharpen"]
    assert finding.cost.ns == 10 * 26 * MS
    assert finding.cost.share == pytest.approx(26 / 89)
    assert severity_of(finding) is Severity.HIGH
    numbers = values(finding)
    assert numbers["Neural Engine data copy time"] == 10 * 23 * MS
    assert numbers["input copy time"] == 10 * 3 * MS
    assert "data cast time" not in numbers
    assert finding.evidence_total == 30
    assert finding.evidence[0].end_ns - finding.evidence[0].start_ns == 12 * MS


def test_rows_that_overlap_are_counted_once(scenario, judge):
    for prediction in predictions(scenario, 5, 20 * MS):
        prediction.event("Input Copy", 0, 4 * MS)
        prediction.event("Data Cast", 2 * MS, 4 * MS)
    finding = judge(scenario, ID)["Sharpen"]
    assert finding.cost.ns == 5 * 6 * MS


@pytest.mark.parametrize(
    ("count", "length", "copy", "expected"),
    [
        (10, 1_000, 500, Finding),
        (10, 999, 500, NotApplicable),
        (3, 10_000, 5_000, Finding),
        (2, 10_000, 5_000, NotEvaluated),
    ],
)
def test_thresholds(scenario, judge, count, length, copy, expected):
    for prediction in predictions(scenario, count, length * US):
        prediction.event("Input Copy", 0, copy * US)
        prediction.event("Input Validation", copy * US, length * US // 3)  # It copies nothing.
    assert isinstance(judge(scenario, ID)["Sharpen"], expected)


@pytest.mark.parametrize(
    ("copies", "expected"),
    [
        pytest.param([600, 5, 6, 4], Finding, id="one input stands out"),
        pytest.param([600], Passed, id="a single input has no siblings"),
    ],
)
def test_one_input_that_stands_out_is_found_earlier(scenario, judge, copies, expected):
    for prediction in predictions(scenario, 10, 10 * MS):
        at = 0
        for microseconds in copies:
            prediction.event("Input Copy", at, microseconds * US)
            at += microseconds * US
    outcome = judge(scenario, ID)["Sharpen"]
    assert isinstance(outcome, expected)
    if isinstance(outcome, Finding):
        assert "10 input copies take much longer" in outcome.summary


def test_copies_shared_by_overlapping_predictions_still_count(scenario, judge):
    # Each lasts 30 ms and starts 10 ms after the last: a copy in the middle lies in several.
    for prediction in predictions(scenario, 10, 30 * MS, spacing=10 * MS):
        prediction.event("Input Copy", 12 * MS, 6 * MS)
    finding = judge(scenario, ID)["Sharpen"]
    assert finding.cost.ns == 10 * 6 * MS
    # The ten last from 0 to 120 ms.
    assert finding.cost.share == pytest.approx(60 / 120)


def test_copies_in_the_stages_of_a_pipeline_belong_to_its_prediction(scenario, judge):
    for prediction in predictions(scenario, 5, 20 * MS):
        stage = prediction.stage("Encoder", MS, 15 * MS)
        stage.event("Input Copy", 0, 5 * MS)
    outcomes = judge(scenario, ID)
    assert set(outcomes) == {"Sharpen"}
    outcome = outcomes["Sharpen"]
    assert outcome.cost.ns == 5 * 5 * MS


def test_rows_of_another_model_are_left_out(scenario, judge):
    other = Model("Other")
    for index, prediction in enumerate(predictions(scenario, 5, 20 * MS)):
        assert prediction.row.model == SHARPEN
        inner = scenario.predict(other, 10 * MS + index * 21 * MS, 20 * MS)
        inner.event("Input Copy", MS, 10 * MS)
    outcomes = judge(scenario, ID)
    assert isinstance(outcomes["Sharpen"], Passed)
    assert isinstance(outcomes["Other"], Finding)


@pytest.mark.parametrize(
    ("outside", "expected"), [pytest.param(1 * MS, NotEvaluated, id="could decide"), (900 * US, Passed)]
)
def test_copies_that_lie_in_no_prediction_leave_it_open_where_they_could_decide(scenario, judge, outside, expected):
    for prediction in predictions(scenario, 10, 10 * MS, spacing=20 * MS):
        end = prediction.row.end_ns
        scenario.coreml.append(CoreMLRow(end + MS, outside, "Input Copy", SHARPEN, DATA))
    assert isinstance(judge(scenario, ID)["Sharpen"], expected)


def test_copies_in_a_stage_that_lies_in_several_predictions_of_its_pipeline_count(scenario, judge):
    # Two calls of the pipeline at a time, 10 ms apart and 20 ms long; the stage runs where both are in flight.
    for prediction in predictions(scenario, 10, 20 * MS, spacing=10 * MS)[:-1]:
        stage = prediction.stage("Encoder", 11 * MS, 8 * MS)
        stage.event("Input Copy", 0, 5 * MS)
    finding = judge(scenario, ID)["Sharpen"]
    assert finding.cost.ns == 9 * 5 * MS
