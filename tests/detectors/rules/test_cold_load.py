"""Loads that prepare the model, waited for or not."""

from __future__ import annotations

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed, Severity, severity_of
from tracekit.testing.rows import ENGINE_LOAD, ENGINE_PREPARE, LOAD, LOAD_CACHED, LOAD_COLD, Model
from tracekit.testing.scenario import Scenario

ID = "cold-load"
MS = 1_000_000
ENCODER = Model("Encoder")


def predictions(scenario: Scenario, start: int, count: int = 10, every: int = 30 * MS, model: Model = ENCODER) -> None:
    """Calls of 20 ms at a steady pace."""
    for k in range(count):
        scenario.predict(model, start + k * every, 20 * MS)


def test_a_cold_load_that_the_first_call_waits_for_is_found_with_its_cost(scenario, judge):
    end = scenario.load(ENCODER, 100 * MS, 3_000 * MS, LOAD_COLD)
    predictions(scenario, end + 2 * MS)
    finding = judge(scenario, ID)["Encoder"]
    assert finding.cost.ns == 3_000 * MS
    # Ten calls of 20 ms beside it.
    assert finding.cost.share == pytest.approx(3_000 / 3_200)
    assert severity_of(finding) is Severity.CRITICAL
    assert values(finding)["cold loads the app waited for"] == 1
    assert [(entry.start_ns, entry.end_ns) for entry in finding.evidence] == [(100 * MS, 3_100 * MS)]
    assert finding.affected.starts.tolist() == [100 * MS]
    assert finding.affected.ends.tolist() == [3_100 * MS]
    assert finding.summary.startswith("A prediction waited 3.00 s while Core ML compiled the model.")


@pytest.mark.parametrize(
    ("label", "later", "length", "settings", "expected", "said"),
    [
        (LOAD, 1, 60, {}, Passed, ""),  # So short a load is in order, cold or not.
        (LOAD, 1, 3_000, {}, NotEvaluated, "specialized or loaded from the cache"),
        (LOAD_CACHED, 1, 3_000, {}, Passed, "none known to have specialized the model; the longest took 3.00 s"),
        (LOAD_COLD, 2, 3_000, {"min_wait_ms": 3_001}, Passed, ""),
        (LOAD_COLD, 2, 3_000, {"soon_ms": 2}, Finding, "A prediction waited 3.00 s"),
        (LOAD_COLD, 2, 3_000, {"soon_ms": 1}, Passed, "once, in 3.00 s at most; no prediction waited long for it"),
        (LOAD_COLD, 2_000, 3_000, {}, Passed, "(hangs were not recorded)"),
    ],
)
def test_thresholds(scenario, judge, label, later, length, settings, expected, said):
    end = scenario.load(ENCODER, 100 * MS, length * MS, label)
    predictions(scenario, end + later * MS)
    outcome = judge(scenario, ID, **settings)["Encoder"]
    assert isinstance(outcome, expected)
    assert said in (outcome.reason if expected is NotEvaluated else outcome.summary)


@pytest.mark.parametrize(("hang", "expected"), [(1_500, Finding), (1_490, Passed)])
def test_a_main_thread_that_hangs_for_half_of_the_load_waits_for_it(scenario, judge, hang, expected):
    end = scenario.load(ENCODER, 100 * MS, 3_000 * MS, LOAD_COLD)
    scenario.hang(50 * MS, (hang + 50) * MS)
    predictions(scenario, end + 5_000 * MS)
    outcome = judge(scenario, ID)["Encoder"]
    assert isinstance(outcome, expected)
    if expected is Finding:
        assert "possible but not certain" in outcome.summary


@pytest.mark.parametrize(
    ("label", "length", "expected"),
    [
        (ENCODER.engine_label(1, "Compile"), 200, Finding),
        (ENGINE_PREPARE, 750, Finding),
        (ENGINE_PREPARE, 740, NotEvaluated),
        (ENGINE_LOAD, 2_000, NotEvaluated),
        (Model("Other").engine_label(1, "Compile"), 2_000, NotEvaluated),
    ],
)
def test_the_neural_engine_tells_whether_a_plain_load_was_cold(scenario, judge, label, length, expected):
    end = scenario.load(ENCODER, 0, 3_000 * MS, LOAD)
    scenario.other_neural_engine(500 * MS, length * MS, label)
    predictions(scenario, end + MS)
    outcome = judge(scenario, ID)["Encoder"]
    assert isinstance(outcome, expected)
    if label == ENGINE_PREPARE and expected is Finding:
        assert "Possible but not certain" in outcome.summary


def test_unnamed_preparation_inside_loads_of_two_models_proves_nothing(scenario, judge):
    end = scenario.load(ENCODER, 0, 3_000 * MS, LOAD)
    scenario.load(Model("Decoder"), 0, 4_000 * MS, LOAD)
    scenario.other_neural_engine(500 * MS, 2_000 * MS, ENGINE_PREPARE)
    predictions(scenario, end + MS)
    assert isinstance(judge(scenario, ID)["Encoder"], NotEvaluated)


@pytest.mark.parametrize(
    ("first", "others", "expected"), [(500, 3, Finding), (499, 3, NotEvaluated), (900, 2, NotEvaluated)]
)
def test_a_plain_load_is_compared_with_ten_times_the_median_of_three_others(scenario, judge, first, others, expected):
    now = scenario.load(ENCODER, 0, first * MS, LOAD)
    for _ in range(others):
        predictions(scenario, now + MS)
        now = scenario.load(ENCODER, now + 1_000 * MS, 50 * MS, LOAD)
    outcome = judge(scenario, ID)["Encoder"]
    assert isinstance(outcome, expected)
    if expected is Finding:
        assert "many times longer" in outcome.summary


def test_several_cold_loads_count_together(scenario, judge):
    now = 0
    for length in (1_000, 2_000):
        now = scenario.load(ENCODER, now, length * MS, LOAD_COLD)
        predictions(scenario, now + MS)
        now += 400 * MS
    finding = judge(scenario, ID)["Encoder"]
    assert finding.cost.ns == 3_000 * MS
    assert "2 loads (3.00 s in total, longest 2.00 s)" in finding.summary


def test_the_model_file_tells_the_size(scenario, judge, inspected):
    end = scenario.load(ENCODER, 100 * MS, 3_000 * MS, LOAD_COLD)
    predictions(scenario, end + 2 * MS)
    # 32 × 32 × 3 × 3 weights of two bytes; a convolution and a ReLU.
    outcome = judge(scenario, ID, file=inspected("float16_interface"))["Encoder"]
    assert outcome.summary.endswith(" By its file, the model has 18.4 KB of weights and 2 operations.")
    assert outcome.cost == judge(scenario, ID)["Encoder"].cost
