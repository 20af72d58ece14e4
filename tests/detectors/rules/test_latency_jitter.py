"""Calls that take longer than the others."""

import pytest

from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing.rows import Model, StateRow
from tracekit.testing.scenario import CORE_ML, Prediction

ID = "latency-jitter"
MS = 1_000_000
MODEL = Model("Segmenter")


def calls(scenario, lengths_ms, work_ms=None):
    now = 100 * MS
    for index, length_ms in enumerate(lengths_ms):
        prediction = scenario.predict(MODEL, now, round(length_ms * MS))
        if work_ms is not None:
            prediction.neural_engine(1_000, round(work_ms[index] * MS))
        now += 60 * MS


def sometimes(length, usual=10, every=10, count=100):
    return [length if index % every == 5 else usual for index in range(count)]


def test_time_beyond_the_median_is_the_cost(scenario, judge):
    calls(scenario, sometimes(25))
    finding = judge(scenario, ID)["Segmenter"]
    assert finding.cost.ns == 10 * 15 * MS
    assert finding.cost.share == pytest.approx(150 / (900 + 250))
    assert finding.evidence_total == 10
    assert "thermal state was not recorded" in finding.summary


@pytest.mark.parametrize(
    ("lengths_ms", "expected"),
    [
        (sometimes(25, every=25), Passed),  # Fewer than one in twenty.
        (sometimes(3, usual=2), Finding),  # One ms longer.
        (sometimes(2.85, usual=1.9), Passed),
        ([30 if index % 3 == 1 else 10 for index in range(20)], Finding),
        ([30 if index % 3 == 1 else 10 for index in range(19)], NotEvaluated),
        ([30 if index % 6 == 3 and index < 36 else 10 for index in range(60)], Finding),  # Six slow ones.
        ([30 if index % 6 == 3 and index < 30 else 10 for index in range(60)], NotEvaluated),  # Five can be chance.
    ],
)
def test_thresholds(scenario, judge, lengths_ms, expected):
    calls(scenario, lengths_ms)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


def test_work_and_waiting_are_told_apart(scenario, judge):
    lengths = [25 + index % 7 if index % 10 == 5 else 10 for index in range(100)]
    calls(scenario, lengths, [9] * 100)
    assert "of the extra time is compute unit work." in judge(scenario, ID)["Segmenter"].summary


def test_more_work_is_called_so(scenario, judge):
    # Long calls of any length form no group of their own.
    lengths = [18 + 2 * (index // 5) if index % 10 == 5 else 10 for index in range(100)]
    calls(scenario, lengths, [length - 1 for length in lengths])
    assert "compute unit work: they ran at lower clocks" in judge(scenario, ID)["Segmenter"].summary


def test_the_state_of_the_gpu_is_named_where_it_coincides(scenario, judge):
    calls(scenario, ([10] * 40 + [25] * 10) * 2)
    for begin, state in ((0, "Maximum"), (40, "Minimum"), (50, "Maximum"), (90, "Minimum")):
        length = {0: 40, 40: 10, 50: 40, 90: 10}[begin]
        scenario.gpu_performance.append(StateRow((90 + begin * 60) * MS, length * 60 * MS, state))
    assert "minimum performance state" in judge(scenario, ID)["Segmenter"].summary


@pytest.mark.parametrize(("more_ms", "expected"), [(4, Finding), (1, NotEvaluated)])
def test_work_of_hardware_alone_shows_how_long_predictions_take_at_least(scenario, judge, more_ms, expected):
    # One in ten is slower, each by another amount: no group of calls with work of its own.
    calls(scenario, [10 + more_ms * (1 + index // 10) if index % 10 == 5 else 10 for index in range(100)])
    for index in range(len(scenario.coreml)):
        prediction = Prediction(scenario, index)
        prediction.gpu(MS, prediction.row.duration_ns - 2 * MS, buffers=3)
    scenario.emptied.add(CORE_ML)
    (outcome,) = judge(scenario, ID).values()
    assert isinstance(outcome, expected)
    assert expected is NotEvaluated or " is at least " in outcome.summary


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        pytest.param(True, True, Finding, id="other work on another unit"),
        pytest.param(False, True, NotEvaluated, id="its own unit is not known"),
        pytest.param(True, False, NotEvaluated, id="theirs is not known"),
    ],
)
def test_work_of_others_on_an_unknown_unit_leaves_it_unclear(scenario, judge, own, others, expected):
    lengths = [18 + 2 * (index // 5) if index % 10 == 5 else 10 for index in range(100)]
    for index, length in enumerate(lengths):
        start = (100 + 60 * index) * MS
        prediction = scenario.predict(MODEL, start, length * MS)
        if own:
            prediction.event("CPU", 1_000, length * MS - 2_000)
        if length > 10:
            other = scenario.predict(Model("Other"), start + MS, (length - 2) * MS)
            if others:
                other.gpu(MS, (length - 4) * MS)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


def test_overlapping_predictions_and_prompts_are_not_compared(scenario, judge):
    for sequence in range(6):
        for index in range(20):
            start, long = (100 + 3_000 * sequence + 60 * index) * MS, index == 0
            scenario.predict(MODEL, start, (30 if long else 10) * MS)
            if index == 9:
                scenario.predict(MODEL, start + MS, 30 * MS)
    assert isinstance(judge(scenario, ID)["Segmenter"], Passed)
    for index in range(100):
        scenario.predict(MODEL, (100 + 3_000 * (index // 20) + 60 * (index % 20) + 1) * MS, 10 * MS)
    outcome = judge(scenario, ID)["Segmenter"]
    assert isinstance(outcome, NotEvaluated)
    assert outcome.record == "Record a phase without overlapping predictions."
