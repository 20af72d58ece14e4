"""What samples of the footprint say of loads and of growth."""

from __future__ import annotations

import numpy as np
import pytest

from suite.memory_apps import MB, SECOND, predicting, reloading
from support.handover import trace_of
from tracekit.analysis.device_states import sustained
from tracekit.analysis.memory import Sureness, growth, levels, load_memory
from tracekit.testing import Draws, Model, Process, Scenario
from tracekit.testing.recorder import neural_engine, start_recording
from tracekit.testing.rows import MemoryRow

APP, NET = Process("Camera", 412), Model("Net")


def sampled(*megabytes: int, loads: tuple[tuple[int, int], ...], uses: tuple[int, ...] = ()) -> Scenario:
    """Samples at each second from 0 on, loads as start and length in ms, predictions of 10 ms at times in ms."""
    scenario = Scenario(APP, duration_ns=60 * SECOND)
    scenario.memory = [MemoryRow(second * SECOND, size * MB) for second, size in enumerate(megabytes)]
    for start, length in loads:
        scenario.load(NET, start * 1_000_000, length * 1_000_000)
    for time in uses:
        scenario.predict(NET, time * 1_000_000, 10_000_000)
    return scenario


def test_a_step_is_from_the_sample_before_the_load_to_the_one_after_it():
    (load,) = load_memory(trace_of(sampled(50, 50, 50, 90, 90, loads=((2_100, 300),))))
    assert (load.step_bytes, load.together_bytes, load.apart_ns) == (40 * MB, 40 * MB, SECOND)
    assert (load.sure, load.before_bytes, load.returned_bytes) == (Sureness.CLEAR, 50 * MB, None)


def test_loads_between_the_same_samples_are_not_told_apart():
    loads = load_memory(trace_of(sampled(50, 50, 50, 90, 90, loads=((2_100, 300), (2_500, 300)))))
    assert [each.sure for each in loads] == [Sureness.SHARED] * 2
    assert [(each.step_bytes, each.together_bytes) for each in loads] == [(None, 40 * MB)] * 2


def test_a_load_before_the_first_sample_has_no_step():
    scenario = sampled(50, 50, 90, 90, loads=((100, 300),))
    scenario.memory = [row for row in scenario.memory if row.start_ns >= SECOND]
    (load,) = load_memory(trace_of(scenario))
    assert (load.sure, load.step_bytes, load.returned_bytes) == (Sureness.UNSAMPLED, None, None)


def test_what_a_release_returns_is_known_where_a_sample_shows_it():
    sizes = (50, 50, 90, 90, 90, 60, 60, 95, 95, 95)
    first, last = load_memory(trace_of(sampled(*sizes, loads=((1_100, 300), (6_100, 300)), uses=(2_500, 4_000))))
    assert (first.returned_bytes, first.step_bytes) == (30 * MB, 40 * MB)
    # The last one may still be loaded.
    assert (last.returned_bytes, last.step_bytes) == (None, 35 * MB)


def test_nothing_sampled_is_nothing_known():
    trace = trace_of(sampled(loads=((1_000, 300),)))
    assert levels(trace) == ()
    assert load_memory(trace) == ()
    assert growth(trace) is None


@pytest.mark.parametrize("each", [0, 300_000, 2_000_000])
def test_growth_per_prediction_is_what_the_app_keeps(each):
    found = growth(trace_of(predicting(Draws(4), lambda _app, _index: each, calls=120).finish()))
    assert found is not None
    assert found.low <= each <= found.high
    assert found.high - found.low < 250_000


@pytest.mark.sweep
def test_the_interval_holds_for_a_footprint_that_wanders(request):
    above, count = 0, 60 if request.config.getoption("--every-case") else 20
    steps = np.random.default_rng(7).integers(-30, 31, (count, 60)) * MB
    for number, row in enumerate(steps.tolist()):
        app = predicting(Draws(number), calls=110, model_mb=900)
        app.held += [(second * SECOND, step) for second, step in enumerate(row)]
        found = growth(trace_of(app.finish()))
        assert found is not None
        above += found.low > 0 or found.high < 0
    # One in a hundred is expected.
    assert above <= count // 20


def test_growth_needs_a_stretch_without_loads():
    assert growth(trace_of(reloading(Draws(1), lambda _index, size: size).finish())) is None


def test_speed_is_compared_from_a_minute_on():
    app = predicting(Draws(5), calls=170, every_ms=400)
    app.scenario.memory.clear()
    (model,) = sustained(trace_of(app.finish()))
    assert model.speed_kept == pytest.approx(1, abs=0.02)
    assert (model.first.thermal, model.last.thermal) == (None, None)
    assert list(model.units) == ["neural-engine"]
    assert sustained(trace_of(predicting(Draws(5), calls=100, every_ms=400).finish())) == ()


@pytest.mark.parametrize(
    ("bursts", "calls", "pause_s", "span_ms"),
    [
        pytest.param(2, 25, 120, None, id="two bursts of 10 s, two minutes apart"),
        pytest.param(2, 170, 120, 169 * 400, id="two of more than a minute"),
        pytest.param(4, 45, 5, 179 * 400 + 15_000, id="short pauses, in which nothing cools"),
    ],
)
def test_a_long_pause_is_not_counted_as_use(bursts, calls, pause_s, span_ms):
    app = start_recording(Draws(5), jitter=0, noise=False)
    model = Model("Scene")
    for _ in range(bursts):
        for _ in range(calls):
            start = app.now_ns
            app.predict(model, neural_engine(9_000_000))
            app.now_ns = start + 400_000_000
        app.now_ns += pause_s * SECOND
    spans = [each.span_ns for each in sustained(trace_of(app.finish()))]
    assert spans == ([] if span_ms is None else [span_ms * 1_000_000])
