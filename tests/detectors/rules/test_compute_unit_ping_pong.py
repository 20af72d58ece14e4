"""Predictions that change their compute unit."""

from __future__ import annotations

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario

ID = "compute-unit-ping-pong"
MS = 1_000_000
SEGMENTER = Model("Segmenter")
THERE_AND_BACK = (("ane", 6), ("cpu", 1), ("ane", 6), ("cpu", 1), ("ane", 6))
"""Four changes; the Neural Engine is interrupted for 2 ms of 20."""
MOSTLY_CPU = (("ane", 1), ("cpu", 18), ("ane", 1))


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


def test_back_and_forth_is_found_with_the_time_of_the_interruptions(scenario, judge):
    calls(scenario, *THERE_AND_BACK)
    finding = judge(scenario, ID)["Segmenter"]
    assert finding.cost.ns == 20 * 2 * MS
    assert finding.cost.share == pytest.approx(2 / 20)
    assert values(finding)["hand-offs per prediction (median)"] == 4
    assert values(finding)["main unit interrupted"] == pytest.approx(0.1)
    assert finding.evidence_total == 20
    assert finding.affected.starts.tolist()[:2] == [106 * MS, 113 * MS]
    assert finding.affected.ends.tolist()[:2] == [107 * MS, 114 * MS]
    assert (
        "(mostly Neural Engine → CPU → Neural Engine → CPU → Neural Engine). They interrupt the Neural Engine for"
        in (finding.summary)
    )


def test_operations_that_the_unit_lacks_cost_all_time_on_the_cpu(scenario, judge):
    calls(scenario, *(("ane", 1), ("cpu", 3)) * 4)
    finding = judge(scenario, ID)["Segmenter"]
    assert (finding.cost.ns, finding.cost.share) == (20 * 12 * MS, 12 / 16)
    assert values(finding)["main unit interrupted"] == 12 / 16
    assert finding.summary == (
        "Operations that Core ML does not run on the Neural Engine take the CPU 12.0 ms per prediction on average (75% "
        "of its time), and split the 4.00 ms of work there into 4 pieces (mostly Neural Engine → CPU → Neural Engine → "
        "CPU → Neural Engine → …)."
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


@pytest.mark.parametrize(
    ("steps", "count", "settings", "expected"),
    [
        (THERE_AND_BACK[:4], 20, {}, Passed),
        (THERE_AND_BACK[1:], 20, {}, Passed),
        ((("gpu", 1), ("cpu", 0.1)) * 3, 20, {}, Finding),
        ((("gpu", 1), ("cpu", 0.099)) * 3, 20, {}, Passed),  # The `CPU` rows of requests.
        ((("ane", 2), ("gap", 1)) * 5, 20, {}, Passed),
        ((("Neural Engine Request", 5), ("cpu", 1)) * 3, 20, {}, Finding),
        (THERE_AND_BACK, 10, {}, Finding),
        (THERE_AND_BACK, 9, {}, NotEvaluated),
        (THERE_AND_BACK, 20, {"hand_offs": 5}, Passed),
        (MOSTLY_CPU, 20, {}, Finding),
        (MOSTLY_CPU, 20, {"cpu_share": 0.9}, Finding),
        (MOSTLY_CPU, 20, {"cpu_share": 0.91}, Passed),
        (THERE_AND_BACK, 20, {"interrupted_share": 0.1}, Finding),
        (THERE_AND_BACK, 20, {"interrupted_share": 0.11}, Passed),
        (THERE_AND_BACK, 20, {"min_cpu_us": 1001}, Passed),
        (THERE_AND_BACK, 20, {"min_predictions": 21}, NotEvaluated),
    ],
)
def test_thresholds(scenario, judge, steps, count, settings, expected):
    calls(scenario, *steps, count=count)
    assert isinstance(judge(scenario, ID, **settings)["Segmenter"], expected)


@pytest.mark.parametrize(("often", "expected"), [(11, Finding), (9, Passed)])
def test_half_of_the_predictions_decide(scenario, judge, often, expected):
    calls(scenario, *THERE_AND_BACK, count=often)
    calls(scenario, ("ane", 20), count=20 - often, first=often)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


@pytest.mark.parametrize("schema", ["ane-hw-intervals-internal", "metal-gpu-intervals"])
def test_a_missing_table_may_hide_turns(scenario, judge, schema):
    calls(scenario, ("cpu", 5))
    scenario.missing.add(schema)
    outcome = judge(scenario, ID)["Segmenter"]
    assert isinstance(outcome, NotEvaluated)
    assert ("Neural Engine" if "ane" in schema else "GPU") in outcome.reason
