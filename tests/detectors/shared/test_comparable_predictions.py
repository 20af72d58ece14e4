"""Which calls can be compared, and why others are left out."""

from __future__ import annotations

import numpy as np
import pytest

from support.handover import trace_of
from tracekit.analysis.autoregression import opens_sequence
from tracekit.detectors import ModelView
from tracekit.detectors.shared.comparable_predictions import comparable_calls
from tracekit.detectors.views import model_views
from tracekit.testing.machines import WINDOW_SERVER
from tracekit.testing.rows import Model

MS = 1_000_000
MODEL, OTHER = Model("Segmenter"), Model("Other")
VIEW = ModelView("Segmenter", *[None] * 7)


def calls_of(scenario):
    return comparable_calls(next(view for view in model_views(trace_of(scenario)) if view.name == MODEL.base))[0]


def durations(calls):
    return [duration // MS for duration in calls.durations.tolist()]


def test_the_first_after_a_load_and_overlapping_ones_are_left_out(scenario):
    scenario.load(MODEL, 0, 10 * MS)
    for start, length in ((20, 9), (40, 5), (60, 6), (64, 6), (80, 7), (100, 0)):
        scenario.predict(MODEL, start * MS, length * MS)
    calls = calls_of(scenario)
    assert durations(calls) == [5, 7]
    assert (calls.cold, calls.overlapping, calls.waiting, calls.opening) == (1, 2, 0, 0)
    assert calls.exclusion_words == "1 first after a load, 2 overlapping"


def test_what_was_left_out_says_what_to_record(scenario):
    for index in range(25):
        start = 100 * index * MS
        scenario.load(MODEL, start, 10 * MS)
        scenario.predict(MODEL, start + 20 * MS, 9 * MS)
    scenario.predict(MODEL, 2_440 * MS, 9 * MS)
    answer = calls_of(scenario).too_few(VIEW, 20)
    assert answer.reason.startswith("Most predictions are the first after a load")
    assert answer.record == "Keep the model loaded between predictions and record again."


def test_overlapping_calls_ask_for_one_at_a_time(scenario):
    for index in range(21):
        scenario.predict(MODEL, 10 * index * MS, 15 * MS)
    answer = calls_of(scenario).too_few(VIEW, 20)
    assert answer.reason.startswith("Most predictions overlap")
    assert answer.record == "Record a phase without overlapping predictions."


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        (0, "No comparable predictions, 20 needed; not compared: 1 first after a load."),
        (1, "1 comparable prediction, 20 needed; not compared: 1 first after a load."),
        (3, "3 comparable predictions, 20 needed; not compared: 1 first after a load."),
    ],
)
def test_few_calls_ask_for_more(scenario, calls, reason):
    scenario.load(MODEL, 0, 10 * MS)
    for index in range(calls + 1):
        scenario.predict(MODEL, (20 + 20 * index) * MS, 5 * MS)
    answer = calls_of(scenario).too_few(VIEW, 20)
    assert (answer.reason, answer.record) == (reason, "Record longer, with more predictions.")


def test_predictions_that_overlap_are_to_be_recorded_alone(scenario):
    for index in range(3):
        scenario.predict(Model(MODEL.base, index), (20 + 4 * index) * MS, 5 * MS)
    scenario.predict(MODEL, 90 * MS, 5 * MS)
    assert calls_of(scenario).too_few(VIEW, 20).record == "Record longer, without overlapping predictions."


def gpu_calls(scenario, lengths):
    for index, length in enumerate(lengths):
        start = (100 + 100 * index) * MS
        scenario.predict(MODEL, start, length * MS).gpu(MS, (length - 2) * MS)


@pytest.mark.parametrize(
    ("others", "waiting"),
    [
        ([(1001, 6)], 1),  # They work for half of the extra 10 ms.
        ([(1001, 4)], 0),
        ([(201, 9)], 0),  # During another call.
        ([*((101 + 100 * index, 5) for index in range(9)), (1001, 10)], 0),  # As ordinary calls bear it.
        ([(1001, 7)], 1),
    ],
)
def test_a_long_call_waited_if_others_worked_for_its_extra_time(scenario, others, waiting):
    gpu_calls(scenario, [10] * 9 + [20])
    for start, length in others:
        scenario.gpu_work(start * MS, length * MS, WINDOW_SERVER)
    calls = calls_of(scenario)
    assert (calls.waiting, len(calls.rows)) == (waiting, 10 - waiting)


def test_work_on_another_unit_explains_nothing(scenario):
    gpu_calls(scenario, [10] * 9 + [20])
    scenario.other_neural_engine(1001 * MS, 15 * MS)
    assert calls_of(scenario).waiting == 0


def cpu_call(scenario, model, start_ms, length_ms):
    scenario.predict(model, start_ms * MS, length_ms * MS).event("CPU", 1_000, length_ms * MS - 2_000)


def test_work_of_another_model_on_the_cpu_explains_a_long_call_on_the_cpu(scenario):
    for index, length in enumerate([10] * 9 + [20]):
        cpu_call(scenario, MODEL, 100 + 100 * index, length)
    cpu_call(scenario, OTHER, 1001, 10)
    assert calls_of(scenario).waiting == 1


def test_a_prediction_of_another_model_on_another_unit_explains_nothing(scenario):
    for index, length in enumerate([10] * 9 + [20]):
        cpu_call(scenario, MODEL, 100 + 100 * index, length)
    scenario.predict(OTHER, 1001 * MS, 12 * MS).gpu(MS, 10 * MS)
    calls = calls_of(scenario)
    assert (calls.waiting, calls.unclear) == (0, 0)


@pytest.mark.parametrize("hidden", ["own", "others"])
def test_a_unit_that_is_not_known_leaves_it_unclear(scenario, hidden):
    for index, length in enumerate([10] * 9 + [20]):
        if hidden == "own":
            scenario.predict(MODEL, (100 + 100 * index) * MS, length * MS)
        else:
            cpu_call(scenario, MODEL, 100 + 100 * index, length)
    if hidden == "own":
        cpu_call(scenario, OTHER, 1001, 15)
    else:
        scenario.predict(OTHER, 1001 * MS, 15 * MS)
    calls = calls_of(scenario)
    assert (calls.waiting, calls.unclear) == (0, 1)
    assert (durations(calls), durations(calls.with_unclear)) == ([10] * 9, [10] * 9 + [20])


def test_a_row_without_a_name_is_not_the_models_own_where_its_rows_are_named(scenario):
    for index, length in enumerate([10] * 9 + [20]):
        prediction = scenario.predict(MODEL, (100 + 100 * index) * MS, length * MS)
        prediction.neural_engine((length - 9) * MS, 8 * MS)
    scenario.other_neural_engine(1001 * MS, 9 * MS)
    assert calls_of(scenario).waiting == 1


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        pytest.param([[30, 10, 10], [30, 10, 10]], [1, 0, 0, 1, 0, 0], id="each opens with a long call"),
        pytest.param([[30, 30, 10, 10, 10]] * 2, [1, 1, 0, 0, 0] * 2, id="with two"),
        pytest.param([[30, 10, 10], [10, 10, 10], [10, 10, 10]], [0] * 9, id="too seldom"),
        pytest.param([[30, 10, 10]], [0] * 3, id="only one sequence"),
        pytest.param([[10, 30, 10]] * 2, [0] * 6, id="not at the beginning"),
        pytest.param([[14, 10, 10]] * 2, [0] * 6, id="not long enough"),
        pytest.param([[30] * 8 + [10] * 20] * 2, ([1] * 8 + [0] * 20) * 2, id="a long prompt in pieces"),
        pytest.param([[30] * 9 + [10] * 20] * 2, [0] * 58, id="more than a prompt"),
    ],
)
def test_long_calls_that_open_sequences(groups, expected):
    values = np.array([value for group in groups for value in group], np.int64)
    burst = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    assert opens_sequence(values, burst).tolist() == [bool(flag) for flag in expected]


def test_a_load_beside_ordinary_calls_does_not_hide_that_others_make_calls_long(scenario):
    for index in range(60):
        start, slow = (100 + 30 * index) * MS, index % 2 == 1
        scenario.predict(MODEL, start, (20 if slow else 10) * MS).event("CPU", 0, (20 if slow else 10) * MS)
        if slow:
            scenario.predict(OTHER, start, 20 * MS).event("CPU", 0, 20 * MS)
    # It covers five of the ordinary calls.
    scenario.load(Model("Third"), 95 * MS, 270 * MS)
    calls = calls_of(scenario)
    assert (calls.waiting, set(durations(calls))) == (30, {10})
