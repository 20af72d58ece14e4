"""Calls that grow with their sequence, on both sides of each threshold."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, InsufficientData, NotApplicable, Passed
from tracekit.testing.rows import Model, StateRow
from tracekit.testing.scenario import CORE_ML, Prediction

ID = "growing-latency"
MS = 1_000_000
MODEL = Model("Writer")


def sequences(scenario, count, calls=40, first=10 * MS, step=MS // 2, pause=2_000 * MS, gap=MS):
    """Sequences of calls that each take `step` longer than the one before; returns the end."""
    now = 100 * MS
    for _ in range(count):
        for index in range(calls):
            length = first + step * index
            scenario.predict(MODEL, now, length)
            now += length + gap
        now += pause
    return now


def test_what_calls_take_beyond_the_beginning_is_the_cost(scenario, judge):
    sequences(scenario, 2)
    found = judge(scenario, ID)["Writer"]
    assert isinstance(found, Finding)
    # The first tenth, 10 to 11.5 ms, has the median 10.75 ms; calls from the third on (11 ms) take longer.
    beyond = 2 * sum(round((10 + 0.5 * index - 10.75) * MS) for index in range(2, 40))
    spent = 2 * sum(round((10 + 0.5 * index) * MS) for index in range(40))
    assert found.cost.ns == beyond
    assert found.cost.share == pytest.approx(beyond / spent)
    assert int((found.lost.ends - found.lost.starts).sum()) == beyond
    assert found.evidence_total == 2 * 38
    assert found.evidence[0].end_ns - found.evidence[0].start_ns == 29_500_000
    assert "start afresh" in found.summary


@pytest.mark.parametrize(("step", "expected"), [(160_000, Finding), (130_000, Passed)])
def test_half_as_long_again_decides(scenario, judge, step, expected):
    # Medians of the first and last tenth of 40 calls: 1.5 and 37.5 steps from the beginning.
    # 160 µs: 16.0 / 10.24 = 1.56. 130 µs: 14.875 / 10.195 = 1.46.
    sequences(scenario, 2, step=step)
    assert isinstance(judge(scenario, ID)["Writer"], expected)


@pytest.mark.parametrize(("calls", "expected"), [(20, Finding), (19, InsufficientData)])
def test_short_sequences_are_not_judged(scenario, judge, calls, expected):
    sequences(scenario, 2, calls=calls, step=MS)
    assert isinstance(judge(scenario, ID)["Writer"], expected)


@pytest.mark.parametrize(("gap", "expected"), [(400 * MS, Finding), (600 * MS, InsufficientData)])
def test_one_sequence_is_judged_if_it_is_too_quick_for_heat(scenario, judge, gap, expected):
    # 40 calls: 39 pauses are 15.6 s or 23.4 s.
    sequences(scenario, 1, gap=gap)
    outcome = judge(scenario, ID)["Writer"]
    assert isinstance(outcome, expected)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        pytest.param([StateRow(0, 60_000 * MS, "Nominal")], Finding, id="cool throughout"),
        pytest.param(
            [StateRow(0, 15_000 * MS, "Nominal"), StateRow(15_000 * MS, 45_000 * MS, "Serious")],
            Finding,
            id="in the cool too",
        ),
        pytest.param(
            [StateRow(0, 1_000 * MS, "Nominal"), StateRow(1_000 * MS, 59_000 * MS, "Serious")],
            InsufficientData,
            id="hot",
        ),
    ],
)
def test_one_long_sequence_is_judged_by_the_thermal_state(scenario, judge, states, expected):
    sequences(scenario, 1, gap=600 * MS)
    scenario.thermal += states
    assert isinstance(judge(scenario, ID, ratio=1.3)["Writer"], expected)


def test_a_rise_that_goes_on_after_pauses_is_no_growth_of_a_sequence(scenario, judge):
    now = 100 * MS
    for index in range(120):
        length = 10 * MS + index * MS * 3 // 8
        scenario.predict(MODEL, now, length)
        now += length + (2_000 * MS if index % 40 == 39 else MS)
    outcome = judge(scenario, ID)["Writer"]
    assert isinstance(outcome, Passed)
    assert "does not come from their length" in outcome.summary


def test_a_model_without_predictions_is_not_applicable(scenario, judge):
    scenario.load(MODEL, 0, MS)
    assert isinstance(judge(scenario, ID)["Writer"], NotApplicable)


def test_predictions_inferred_from_the_gpu_show_growth_too(scenario, judge):
    sequences(scenario, 2)
    for index in range(len(scenario.coreml)):
        prediction = Prediction(scenario, index)
        prediction.gpu(MS, prediction.row.duration_ns - 2 * MS, buffers=3)
    scenario.emptied.add(CORE_ML)
    found = judge(scenario, ID)["Writer"]
    assert isinstance(found, Finding)
    # On the GPU each call takes 2 ms less: 8 to 9.5 ms in the first tenth (median 8.75), 8 + 19.5 ms in the last one.
    assert found.cost.ns == 2 * sum(round((8 + 0.5 * index - 8.75) * MS) for index in range(2, 40))
