"""Models on another compute unit than expected."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed
from tracekit.testing.rows import ENGINE_PREDICTION, Model
from tracekit.testing.scenario import Scenario

ID = "not-on-expected-unit"
MS = 1_000_000
SEGMENTER = Model("Segmenter")
ANE, GPU, CPU = 1, 2, 3


@pytest.fixture(autouse=True)
def machine(scenario: Scenario) -> None:
    """Both hardware tables hold rows, as they do on every Mac."""
    scenario.other_neural_engine(55_000 * MS, MS)
    scenario.gpu_work(55_000 * MS, MS, None)


def calls(scenario, cpu=0.0, ane=0.0, gpu=0.0, count=10, length=20, ane_label=None):
    """Predictions of `length` ms whose units work one after the other for so many ms."""
    for k in range(count):
        prediction = scenario.predict(SEGMENTER, (100 + k * 50) * MS, length * MS)
        if cpu:
            prediction.event("CPU", 0, round(cpu * MS))
        if ane:
            prediction.neural_engine(round(cpu * MS), round(ane * MS), ane_label)
        if gpu:
            prediction.gpu(round((cpu + ane) * MS), round(gpu * MS))


def test_without_an_expectation_the_units_that_were_seen_are_told(scenario, judge):
    calls(scenario, cpu=4, ane=12)
    outcome = judge(scenario, ID)["Segmenter"]
    assert isinstance(outcome, NotApplicable)
    assert "--expect" in outcome.reason
    assert "Neural Engine in 10 of 10 predictions (60% of their time) and CPU in 10 (20%)" in outcome.reason


def test_work_elsewhere_is_a_fact_that_no_fix_is_said_to_save(scenario, judge):
    calls(scenario, cpu=16)
    finding = judge(scenario, ID, expected_unit=ANE)["Segmenter"]
    assert finding.cost is None
    assert finding.missed == 1
    assert values(finding)["work elsewhere"] == 1.0
    assert values(finding)["work on the CPU"] == 1.0
    assert finding.evidence_total == 10
    assert {entry.label for entry in finding.evidence} == {"CPU"}
    assert "Expected on the Neural Engine" in finding.summary


@pytest.mark.parametrize(
    ("device", "right"), [("iPhone 13 Pro", "no: "), ("iPhone 15 Pro", "likely, all of it."), ("Mac15,6", "on A16, M3")]
)
def test_the_file_answers_for_the_chip_of_the_recording(scenario, judge, inspected, device, right):
    # 20,000 elements are more than A16 takes and less than A17 Pro does.
    scenario.device = replace(scenario.device, model=device)
    calls(scenario, cpu=16)
    finding = judge(scenario, ID, file=inspected("long_input"), expected_unit=ANE)["Segmenter"]
    (said,) = finding.summary.split("Will it run on the Neural Engine, by its file: ")[1:]
    assert right in said


@pytest.mark.parametrize(
    ("given", "settings", "expected"),
    [
        ({"cpu": 1}, {}, Finding),  # Rows of others show that the table of the Neural Engine is whole.
        ({"cpu": 16, "count": 5}, {}, Finding),
        ({"cpu": 16, "count": 4}, {}, NotEvaluated),
        ({"cpu": 4, "ane": 12, "length": 17}, {"elsewhere_share": 0.25}, Finding),
        ({"cpu": 4, "ane": 12, "length": 17}, {"elsewhere_share": 0.26}, Passed),
        # The CPU may have had the time that nothing explains.
        ({"cpu": 4, "ane": 12, "length": 24}, {"elsewhere_share": 0.26}, NotEvaluated),
        ({"cpu": 4, "ane": 12, "length": 17}, {"elsewhere_share": 0.25, "min_predictions": 11}, NotEvaluated),
    ],
)
def test_thresholds(scenario, judge, given, settings, expected):
    calls(scenario, **given)
    assert isinstance(judge(scenario, ID, expected_unit=ANE, **settings)["Segmenter"], expected)


@pytest.mark.parametrize(
    ("given", "emptied", "missing", "expected"),
    [
        ({"cpu": 16}, "ane-hw-intervals-internal", None, Finding),  # The unit did not work.
        ({"gpu": 16}, "coreml-os-signpost", None, Finding),  # The predictions are inferred.
        # What is left of the time may be work of a unit whose table is missing.
        ({"cpu": 9}, None, "ane-hw-intervals-internal", NotEvaluated),
        ({"cpu": 10}, None, "ane-hw-intervals-internal", Finding),
        ({"ane": 9}, None, "metal-gpu-intervals", NotEvaluated),
        ({"ane": 11}, None, "metal-gpu-intervals", Passed),
    ],
)
def test_empty_tables_show_no_work_and_missing_ones_leave_it_open(scenario, judge, given, emptied, missing, expected):
    calls(scenario, **given)
    scenario.emptied |= {emptied} - {None}
    scenario.missing |= {missing} - {None}
    outcome = judge(scenario, ID, expected_unit=ANE)["Segmenter"]
    assert isinstance(outcome, expected)
    if missing == "ane-hw-intervals-internal" and expected is NotEvaluated:
        assert "Neural Engine" in outcome.reason
        assert outcome.record


def test_rows_that_reach_out_of_the_prediction_speak_for_it_too(scenario, judge):
    for k in range(10):
        start = (100 + k * 50) * MS
        scenario.predict(SEGMENTER, start, 20 * MS).event("CPU", 0, 8 * MS)
        scenario.other_neural_engine(start + 8 * MS, 15 * MS, ENGINE_PREDICTION)
    assert isinstance(judge(scenario, ID, expected_unit=ANE)["Segmenter"], NotEvaluated)


def test_work_of_another_process_does_not(scenario, judge):
    for k in range(10):
        start = (100 + k * 50) * MS
        scenario.predict(SEGMENTER, start, 20 * MS).event("CPU", 0, 8 * MS)
        scenario.other_neural_engine(start + 8 * MS, 11 * MS, "Assistant_main__Op0_AneInference Prediction")
    assert isinstance(judge(scenario, ID, expected_unit=ANE)["Segmenter"], Finding)


@pytest.mark.parametrize(("label", "words"), [(None, False), (ENGINE_PREDICTION, True)])
def test_what_rests_on_time_alone_is_called_possible(scenario, judge, label, words):
    calls(scenario, ane=16, ane_label=label)
    finding = judge(scenario, ID, expected_unit=GPU)["Segmenter"]
    assert isinstance(finding, Finding)
    assert ("Possible" in finding.summary) is words


def test_the_order_in_which_units_take_turns_is_told(scenario, judge):
    calls(scenario, ane=4, gpu=12)
    outcome = judge(scenario, ID, expected_unit=ANE)["Segmenter"]
    assert "The usual order is Neural Engine → GPU." in outcome.summary
