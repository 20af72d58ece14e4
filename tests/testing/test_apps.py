from itertools import pairwise

import pytest

from support.scenarios import CLEAN_APPS
from tracekit.testing.apps import MS, async_app, camera_app, decoder_app, neural_engine_app
from tracekit.testing.rng import Draws
from tracekit.testing.rows import LOAD_CACHED, PREDICTION

SEEDS = range(5)


@pytest.mark.turns(3)
@pytest.mark.parametrize("kind", CLEAN_APPS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_clean_app_loads_each_model_once_and_units_work_on_one_request_at_a_time(kind, seed):
    app = CLEAN_APPS[kind](Draws(seed))
    scenario = app.finish()
    assert 60 <= len(app.predictions) <= 210
    for model in app.models:
        rows = [row for row in scenario.coreml if row.model == model]
        assert [row.label for row in rows].count(LOAD_CACHED) == 1
        assert rows[0].label == LOAD_CACHED
        assert min(row.start_ns for row in rows if row.label == PREDICTION) >= rows[0].end_ns
    for rows in (scenario.neural_engine, scenario.gpu):
        own_rows = sorted({row for row in rows if row.prediction is not None}, key=lambda row: row.start_ns)
        assert all(a.start_ns + a.duration_ns <= b.start_ns for a, b in pairwise(own_rows))
        for row in own_rows:
            caused = scenario.coreml[row.prediction]
            assert caused.start_ns <= row.start_ns <= row.start_ns + row.duration_ns <= caused.end_ns


@pytest.mark.parametrize("kind", CLEAN_APPS)
def test_a_seed_fixes_a_recording_and_another_gives_another(kind):
    first, again, other = (CLEAN_APPS[kind](Draws(seed)).finish() for seed in (1, 1, 2))
    assert first == again
    assert first.coreml != other.coreml


def test_devices_and_versions_vary():
    scenarios = [neural_engine_app(Draws(seed), predictions=2).scenario for seed in range(30)]
    assert len({scenario.xcode_version for scenario in scenarios}) == 5
    assert {scenario.launched for scenario in scenarios} == {True, False}
    assert len({scenario.coreml[0].model.base for scenario in scenarios}) > 6


def test_a_problem_can_be_added_before_each_prediction():
    seen = []

    def before(app, index):
        seen.append(index)
        app.load(app.model, 30 * MS)

    app = neural_engine_app(Draws(1), predictions=5, before=before)
    assert seen == list(range(5))
    assert sum(row.label == LOAD_CACHED for row in app.scenario.coreml) == 6


def test_work_may_depend_on_the_number_of_the_prediction():
    app = neural_engine_app(Draws(1), predictions=4, jitter=0, compute_ns=lambda index: (index + 1) * MS, noise=False)
    rows = [row for row in app.scenario.neural_engine if row.prediction is not None]
    assert [row.duration_ns for row in rows] == [MS, 2 * MS, 3 * MS, 4 * MS]


def test_a_period_sets_the_pace():
    app = neural_engine_app(Draws(1), compute_ns=4 * MS, predictions=20, runs=1, period_ns=20 * MS, jitter=0)
    starts = [prediction.row.start_ns for prediction in app.predictions]
    assert {b - a for a, b in pairwise(starts)} == {20 * MS}


def test_a_camera_keeps_its_pace():
    app = camera_app(Draws(4), fps=30)
    starts = [prediction.row.start_ns for prediction in app.predictions]
    assert all(abs(b - a - 1_000 * MS // 30) <= 400_000 for a, b in pairwise(starts))
    assert max(prediction.row.duration_ns for prediction in app.predictions) < 1_000 * MS // 30


@pytest.mark.parametrize("depth", [2, 5])
def test_no_more_than_so_many_calls_are_in_flight(depth):
    app = async_app(Draws(2), in_flight=depth, alone=3)
    rows = [prediction.row for prediction in app.predictions]
    at_once = [sum(other.start_ns <= row.start_ns < other.end_ns for other in rows) for row in rows]
    assert max(at_once) == depth
    assert at_once[:3] == [1, 1, 1]


def test_a_decoder_calls_its_second_model_once_per_token():
    app = decoder_app(Draws(1), turns=2, tokens=10)
    names = [prediction.row.model.base for prediction in app.predictions]
    decode, prefill = (model.base for model in app.models)
    assert names == [prefill, *[decode] * 10] * 2
