"""Predictions without rows that explain them."""

from __future__ import annotations

import pytest

from support.outcomes import values
from support.reference_recordings import CONDITIONS, HIFT, speech_app
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed, Severity, severity_of
from tracekit.testing import stacks
from tracekit.testing.code import Code
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario

ID = "unexplained-time"
MS = 1_000_000
VOCODER = Model("Vocoder")


@pytest.fixture(autouse=True)
def machine(scenario: Scenario) -> None:
    """Both hardware tables hold rows, as they do on every Mac."""
    scenario.other_neural_engine(55_000 * MS, MS)
    scenario.gpu_work(55_000 * MS, MS, None)


def calls(scenario, count=6, length=100, cpu=10, every=200, model=VOCODER):
    """Predictions of `length` ms with a `CPU` row of `cpu` ms each."""
    for k in range(count):
        prediction = scenario.predict(model, (100 + k * every) * MS, length * MS)
        if cpu:
            prediction.event("CPU", MS // 10, round(cpu * MS))


def test_a_blank_is_found_and_costs_nothing(scenario, judge):
    calls(scenario)
    finding = judge(scenario, ID)["Vocoder"]
    assert finding.cost is None
    assert severity_of(finding) is Severity.LOW
    assert values(finding)["unexplained time"] == pytest.approx(0.9)
    assert values(finding)["mean unexplained time"] == 90 * MS
    assert len(finding.evidence) == 6
    assert len(finding.affected.starts) == 0


@pytest.mark.parametrize(("sampled_ms", "expected"), [(60, Passed), (20, Finding), (1, Finding)])
def test_what_call_stacks_show_is_accounted_for_and_where_they_show_nothing_no_one_is_told_to_record_them(
    scenario, judge, sampled_ms, expected
):
    calls(scenario)
    for k in range(6):
        code, inside = Code(scenario), (stacks.EXECUTE, *stacks.PREDICT)
        code.runs((100 + k * 200) * MS, 10 * MS, stacks.OPERATIONS["cpu"], *inside)
        code.runs((120 + k * 200) * MS, sampled_ms * MS, stacks.app_function("customLayer"), *inside)
    outcome = judge(scenario, ID)["Vocoder"]
    assert isinstance(outcome, expected)
    if isinstance(outcome, Finding):
        assert values(outcome)["unexplained time"] == pytest.approx(0.9 - sampled_ms / 100)
        assert outcome.fix.startswith("Put signposts around the app's own work in a prediction.")


@pytest.mark.sweep
def test_a_public_recording_comes_out_as_its_authors_say(judge):
    answers = judge(speech_app(), ID)
    for model, share in ((HIFT, 0.97), (CONDITIONS, 0.65)):
        assert values(answers[model.base])["unexplained time"] == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize(
    ("given", "settings", "expected"),
    [
        ({"count": 5}, {}, Finding),
        ({"count": 4}, {}, NotEvaluated),
        ({}, {"unexplained_share": 0.9}, Finding),
        ({}, {"unexplained_share": 0.91}, Passed),
        ({}, {"min_predictions": 7}, NotEvaluated),
        ({}, {"min_mean_ms": 101}, NotApplicable),
    ],
)
def test_thresholds(scenario, judge, given, settings, expected):
    calls(scenario, **given)
    assert isinstance(judge(scenario, ID, **settings)["Vocoder"], expected)


@pytest.mark.parametrize(("length", "expected"), [(1, Finding), (0.99, NotApplicable)])
def test_the_fixed_cost_of_a_call_is_no_blind_spot(scenario, judge, length, expected):
    for k in range(10):
        scenario.predict(VOCODER, (100 + k * 5) * MS, round(length * MS)).event("Input Validation", 0, 7_500)
    assert isinstance(judge(scenario, ID)["Vocoder"], expected)


@pytest.mark.parametrize("schema", ["ane-hw-intervals-internal", "metal-gpu-intervals"])
def test_a_missing_table_is_said_first(scenario, judge, schema):
    calls(scenario)
    scenario.missing.add(schema)
    outcome = judge(scenario, ID)["Vocoder"]
    assert isinstance(outcome, NotEvaluated)
    assert "90%" in outcome.reason
    assert ("Neural Engine" if "ane" in schema else "GPU") in outcome.reason
    assert "Core ML template" in outcome.record


def test_a_missing_table_does_not_matter_where_the_time_is_explained(scenario, judge):
    calls(scenario, cpu=80)
    scenario.missing.add("ane-hw-intervals-internal")
    assert isinstance(judge(scenario, ID)["Vocoder"], Passed)


def test_an_empty_table_explains_nothing_and_is_named(scenario, judge):
    calls(scenario)
    scenario.emptied.add("ane-hw-intervals-internal")
    finding = judge(scenario, ID)["Vocoder"]
    assert isinstance(finding, Finding)
    assert "No Neural Engine activity was recorded" in finding.summary


def test_predictions_without_any_row_show_that_rows_were_not_recorded(scenario, judge):
    calls(scenario, cpu=0)
    outcome = judge(scenario, ID)["Vocoder"]
    assert isinstance(outcome, NotEvaluated)
    assert "no data or compute events in any prediction" in outcome.reason


def test_calls_that_overlap_wait_for_each_other_without_a_row(scenario, judge):
    calls(scenario, 20, every=40)
    outcome = judge(scenario, ID)["Vocoder"]
    assert isinstance(outcome, NotEvaluated)
    assert "overlap" in outcome.reason


@pytest.mark.parametrize(("cpu", "expected"), [(10, Finding), (60, Passed)])
def test_of_overlapping_and_single_calls_the_single_ones_decide(scenario, judge, cpu, expected):
    calls(scenario, 6, cpu=cpu)
    for k in range(20):
        scenario.predict(VOCODER, (5_000 + k * 40) * MS, 100 * MS)
    assert isinstance(judge(scenario, ID)["Vocoder"], expected)
