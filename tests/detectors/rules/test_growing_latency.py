"""Calls that grow with their sequence."""

import pytest

from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
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
    finding = judge(scenario, ID)["Writer"]
    # The first tenths, 10 to 11.5 ms, have the median 11 ms without the first call after the gap.
    beyond = 2 * sum(round((10 + 0.5 * index - 11) * MS) for index in range(3, 40))
    spent = 2 * sum(round((10 + 0.5 * index) * MS) for index in range(40))
    assert finding.cost.ns == beyond
    assert finding.cost.share == pytest.approx(beyond / spent)
    assert int((finding.affected.ends - finding.affected.starts).sum()) == beyond
    assert finding.evidence_total == 2 * 37
    assert finding.evidence[0].end_ns - finding.evidence[0].start_ns == 29_500_000
    assert "starts fast again" in finding.summary


@pytest.mark.parametrize(
    ("count", "given", "expected"),
    [
        (2, {"calls": 20, "step": MS}, Finding),
        (2, {"calls": 19, "step": MS}, NotEvaluated),
        # One sequence is judged if it is too quick for heat. 39 gaps between 40 calls are 15.6 s or 23.4 s.
        (1, {"gap": 400 * MS}, Finding),
        (1, {"gap": 600 * MS}, NotEvaluated),
    ],
)
def test_thresholds(scenario, judge, count, given, expected):
    sequences(scenario, count, **given)
    assert isinstance(judge(scenario, ID)["Writer"], expected)


def test_a_jump_at_the_end_of_a_short_sequence_is_no_growth(scenario, judge):
    # By chance, the calls before the jump become a little longer on the whole: rank correlation 0.82 over all.
    usual = (9.0, 10.3, 8.9, 9.6, 9.4, 10.3, 10.0, 10.4, 9.7, 10.4, 9.5, 11.0, 10.6, 10.6, 10.5, 9.9, 10.6, 11.0)
    now = 100 * MS
    for length in (*usual, 37.2, 37.3, 38.4):
        scenario.predict(MODEL, now, round(length * MS))
        now += round(length * MS) + MS
    assert isinstance(judge(scenario, ID)["Writer"], Passed)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        pytest.param([("Nominal", 60)], Finding, id="cool throughout"),
        pytest.param([("Nominal", 15), ("Serious", 45)], Finding, id="rises in the cool too"),
        pytest.param([("Nominal", 1), ("Serious", 59)], NotEvaluated, id="hot"),
        pytest.param([("Serious", 12), ("Nominal", 48)], Finding, id="cooler and cooler"),
    ],
)
def test_one_long_sequence_is_judged_by_the_thermal_state(scenario, judge, states, expected):
    sequences(scenario, 1, gap=600 * MS)
    begin = 0
    for state, seconds in states:
        scenario.thermal.append(StateRow(begin, seconds * 1_000 * MS, state))
        begin += seconds * 1_000 * MS
    assert isinstance(judge(scenario, ID)["Writer"], expected)


def across_turns(scenario, pause, turns=3, calls=40):
    now, scenario.duration_ns = 100 * MS, 100_000 * MS
    for index in range(turns * calls):
        length = 10 * MS + index * MS * 3 // 8
        scenario.predict(MODEL, now, length)
        now += length + (pause if index % calls == calls - 1 else MS)
    return now


@pytest.mark.parametrize(
    ("calls", "pause_s", "states", "expected"),
    [
        pytest.param(40, 2, None, Finding, id="too quick for heat"),
        pytest.param(40, 25, None, NotEvaluated, id="slow enough for heat"),
        pytest.param(40, 25, ["Nominal"] * 3, Finding, id="cool throughout"),
        pytest.param(40, 25, ["Nominal", "Fair", "Serious"], Finding, id="rising in each state"),
        pytest.param(15, 2, None, Finding, id="short turns, too quick for heat"),
        pytest.param(15, 25, None, NotEvaluated, id="short turns, slow enough for heat"),
        pytest.param(15, 25, ["Nominal"] * 3, Finding, id="short turns, cool throughout"),
        pytest.param(15, 25, ["Nominal", "Fair", "Serious"], Passed, id="short turns, hotter with each"),
    ],
)
def test_a_rise_that_goes_on_after_pauses(scenario, judge, calls, pause_s, states, expected):
    end = across_turns(scenario, pause_s * 1_000 * MS, calls=calls)
    scenario.duration_ns = end
    for number, state in enumerate(states or ()):
        scenario.thermal.append(StateRow(number * end // 3, end // 3, state))
    outcome = judge(scenario, ID)["Writer"]
    assert isinstance(outcome, expected)
    if expected is Finding:
        assert (f"from sequence to sequence, over {3 * calls} predictions" in outcome.summary) is (calls == 15)


@pytest.mark.parametrize(("rest_s", "expected"), [(180, NotEvaluated), (20, Finding)])
def test_a_rest_in_which_a_device_could_cool_down_leaves_it_open(scenario, judge, rest_s, expected):
    scenario.duration_ns = 500_000 * MS
    sequences(scenario, 2, calls=60, step=MS // 5, gap=480 * MS, pause=rest_s * 1_000 * MS)
    assert isinstance(judge(scenario, ID)["Writer"], expected)


def test_a_slow_rise_is_told_as_what_it_is(scenario, judge):
    sequences(scenario, 2, step=MS // 10)
    # Medians of the first and last tenth: 10.15 and 13.75 ms.
    assert "the last tenth takes 1.35x as long as the first (median)" in judge(scenario, ID)["Writer"].summary


def test_predictions_inferred_from_the_gpu_show_growth_too(scenario, judge):
    sequences(scenario, 2)
    for index in range(len(scenario.coreml)):
        prediction = Prediction(scenario, index)
        prediction.gpu(MS, prediction.row.duration_ns - 2 * MS, buffers=3)
    scenario.emptied |= {CORE_ML, "metal-application-command-buffer-submissions"}
    finding = judge(scenario, ID)["Writer"]
    # On the GPU each call takes 2 ms less: 8 to 9.5 ms in the first tenth (median 9), 8 + 19.5 ms in the last one.
    assert finding.cost.ns == 2 * sum(round((8 + 0.5 * index - 9) * MS) for index in range(3, 40))
