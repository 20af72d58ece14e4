"""Predictions that change their compute unit, on both sides of each threshold."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario

ID = "compute-unit-ping-pong"
MS = 1_000_000
SEGMENTER = Model("Segmenter")
THERE_AND_BACK = (("ane", 6), ("cpu", 1), ("ane", 6), ("cpu", 1), ("ane", 6))
"""Four changes; the Neural Engine is interrupted for 2 ms of 20."""


@pytest.fixture(autouse=True)
def machine(scenario: Scenario) -> None:
    """Both hardware tables hold rows, as they do on every Mac."""
    scenario.other_neural_engine(55_000 * MS, MS)
    scenario.gpu_work(55_000 * MS, MS, None)


def calls(scenario, *steps, count=20, model=SEGMENTER, first=0):
    """Predictions of the steps (unit, ms), one after the other without a pause."""
    for k in range(first, first + count):
        prediction = scenario.predict(model, (100 + k * 50) * MS, round(sum(ms for _, ms in steps) * MS))
        at = 0
        for number, (unit, ms) in enumerate(steps):
            length = round(ms * MS)
            if unit == "ane":
                prediction.neural_engine(at, length, operation=number)
            elif unit == "gpu":
                prediction.gpu(at, length, operation=number)
            elif unit != "gap":
                prediction.event(unit if unit != "cpu" else "CPU", at, length)
            at += length


def values(outcome):
    return {metric.name: metric.value for metric in outcome.metrics}


def test_back_and_forth_is_found_with_the_time_of_the_interruptions(scenario, judge):
    calls(scenario, *THERE_AND_BACK)
    finding = judge(scenario, ID)["Segmenter"]
    assert isinstance(finding, Finding)
    assert finding.cost.ns == 20 * 2 * MS
    assert finding.cost.share == pytest.approx(2 / 20)
    assert values(finding)["hand-offs per prediction (median)"] == 4
    assert values(finding)["main unit interrupted"] == pytest.approx(0.1)
    assert finding.evidence_total == 20
    assert finding.affected.starts.tolist()[:2] == [106 * MS, 113 * MS]
    assert finding.affected.ends.tolist()[:2] == [107 * MS, 114 * MS]
    assert (
        "(mostly Neural Engine → CPU → Neural Engine → CPU → Neural Engine). They interrupt the Neural Engine, which"
        in (finding.summary)
    )


def test_the_order_of_units_that_most_predictions_have_is_told(scenario, judge):
    calls(scenario, *THERE_AND_BACK, count=9)
    gpu = (("gpu", 6), ("ane", 1), ("gpu", 6), ("ane", 1), ("gpu", 6), ("cpu", 1))
    calls(scenario, *gpu, count=11, first=9)
    outcome = judge(scenario, ID)["Segmenter"]
    assert "GPU → Neural Engine → GPU → Neural Engine → GPU → …" in outcome.summary


def test_work_before_and_after_the_main_unit_is_no_interruption(scenario, judge):
    # The published split of a language model: CPU 17, Neural Engine 55, CPU 2, Neural Engine 2, CPU 25 ms.
    calls(scenario, ("cpu", 8), ("ane", 27), ("cpu", 1), ("ane", 1), ("cpu", 12))
    outcome = judge(scenario, ID)["Segmenter"]
    assert isinstance(outcome, Passed)
    assert values(outcome)["hand-offs per prediction (median)"] == 4
    assert values(outcome)["main unit interrupted"] == pytest.approx(1 / 49)


@pytest.mark.parametrize(("cpu", "expected"), [(0.5, Finding), (0.49, Passed)])
def test_a_twentieth_of_the_time_decides(scenario, judge, cpu, expected):
    calls(scenario, ("ane", 6), ("cpu", cpu), ("ane", 7), ("cpu", cpu), ("ane", 7 - 2 * cpu))
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [(THERE_AND_BACK, Finding), (THERE_AND_BACK[:4], Passed), (THERE_AND_BACK[1:], Passed)],
)
def test_four_changes_decide(scenario, judge, steps, expected):
    calls(scenario, *steps)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


@pytest.mark.parametrize(("often", "expected"), [(11, Finding), (9, Passed)])
def test_half_of_the_predictions_decide(scenario, judge, often, expected):
    calls(scenario, *THERE_AND_BACK, count=often)
    calls(scenario, ("ane", 20), count=20 - often, first=often)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


@pytest.mark.parametrize(("cpu", "expected"), [(0.1, Finding), (0.099, Passed)])
def test_the_cpu_rows_of_requests_are_no_turns(scenario, judge, cpu, expected):
    calls(scenario, *(("gpu", 1), ("cpu", cpu)) * 3)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


@pytest.mark.parametrize(("count", "expected"), [(10, Finding), (9, NotEvaluated)])
def test_few_predictions_are_not_judged(scenario, judge, count, expected):
    calls(scenario, *THERE_AND_BACK, count=count)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


@pytest.mark.parametrize(("count", "expected"), [(1, "1 prediction"), (2, "2 predictions")])
def test_how_few_were_found_is_told(scenario, judge, count, expected):
    calls(scenario, *THERE_AND_BACK, count=count)
    assert judge(scenario, ID)["Segmenter"].reason == f"{expected} with known compute units, 10 needed."


def test_pieces_of_one_unit_are_one_turn(scenario, judge):
    calls(scenario, *(("ane", 2), ("gap", 1)) * 5)
    outcome = judge(scenario, ID)["Segmenter"]
    assert isinstance(outcome, Passed)
    assert values(outcome)["hand-offs per prediction (median)"] == 0


def test_requests_stand_for_a_unit_whose_execution_was_not_seen(scenario, judge):
    calls(scenario, *(("Neural Engine Request", 5), ("cpu", 1)) * 3)
    finding = judge(scenario, ID)["Segmenter"]
    assert isinstance(finding, Finding)
    assert finding.cost.ns == 20 * 2 * MS


def test_where_execution_was_seen_requests_add_no_turn(scenario, judge):
    for k in range(20):
        prediction = scenario.predict(SEGMENTER, (100 + k * 50) * MS, 20 * MS)
        prediction.neural_engine(4 * MS, 4 * MS)
        for at in range(5):
            prediction.event("Neural Engine Request", at * 4 * MS, MS)
            prediction.event("CPU", at * 4 * MS + MS, MS)
    outcome = judge(scenario, ID)["Segmenter"]
    assert isinstance(outcome, Passed)
    assert values(outcome)["hand-offs per prediction (median)"] == 2


@pytest.mark.parametrize("schema", ["ane-hw-intervals-internal", "metal-gpu-intervals"])
def test_a_missing_table_may_hide_turns(scenario, judge, schema):
    calls(scenario, ("cpu", 5))
    scenario.missing.add(schema)
    outcome = judge(scenario, ID)["Segmenter"]
    assert isinstance(outcome, NotEvaluated)
    assert ("Neural Engine" if "ane" in schema else "GPU") in outcome.reason


def test_a_model_that_is_not_called_is_not_applicable(scenario, judge):
    scenario.load(SEGMENTER, 0, MS)
    assert isinstance(judge(scenario, ID)["Segmenter"], NotApplicable)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"hand_offs": 5}, Passed),
        ({"interrupted_share": 0.1}, Finding),
        ({"interrupted_share": 0.11}, Passed),
        ({"min_cpu_us": 1001}, Passed),
        ({"min_predictions": 21}, NotEvaluated),
    ],
)
def test_thresholds_can_be_moved(scenario, judge, settings, expected):
    calls(scenario, *THERE_AND_BACK)
    assert isinstance(judge(scenario, ID, **settings)["Segmenter"], expected)
