"""What the main thread waits for, and what runs between calls."""

from __future__ import annotations

import numpy as np
import pytest

from support.handover import trace_of
from support.scenarios import CONVERT_PIXELS, READ_ELEMENT
from tracekit.analysis.code.threads import (
    PREPARING,
    app_work,
    core_ml_time,
    main_thread_calls,
    runs_interface,
    work_between,
)
from tracekit.intervals import Intervals
from tracekit.testing import Draws, Model, cpu
from tracekit.testing.recorder import App, start_recording
from tracekit.testing.scenario import CORE_ML
from tracekit.testing.stacks import app_function
from tracekit.trace.calls.stacks import Api
from tracekit.trace.trace import Trace

MS = 1_000_000
NET = Model("Net")
PACK, SHOW = app_function("pack", 61, "Input.swift"), app_function("show", 12, "View.swift")


@pytest.fixture
def app():
    """Without draws, noise and jitter: times are as given."""
    return start_recording(Draws(1), jitter=0, noise=False, code=True)


def traced(app: App) -> Trace:
    return trace_of(app.finish())


def test_loads_on_the_main_thread_that_follow_at_once_are_one_period(app):
    app.code.on_main = True
    app.load(NET, 150 * MS)
    app.load(Model("Other"), 150 * MS)
    app.now_ns += 500 * MS
    app.load(Model("Third"), 150 * MS)
    app.code.on_main = False
    app.load(Model("Fourth"), 900 * MS)
    trace = traced(app)
    assert runs_interface(trace) is True
    on_main = main_thread_calls(trace, PREPARING, 250 * MS)
    assert on_main.periods.durations.tolist() == [300 * MS + 60_000]
    assert on_main.calls.model.as_objects().tolist() == ["Net", "Other"]
    assert on_main.known == 4
    assert len(main_thread_calls(trace, PREPARING, 301 * MS).periods) == 0


def test_without_rows_of_core_ml_a_load_reaches_half_a_sample_beyond_its_own(app):
    app.code.on_main = True
    app.load(NET, 300 * MS)
    app.scenario.emptied.add(CORE_ML)
    trace = traced(app)
    on_main = main_thread_calls(trace, PREPARING, 250 * MS)
    # Nothing follows the last sample: the load is not known to go on.
    assert on_main.periods.durations.tolist() == [300 * MS]
    assert core_ml_time(trace) == 300 * MS
    assert on_main.calls.table.as_objects().tolist() == ["time-profile"]


def test_a_thread_without_a_loop_of_an_interface_has_none(app):
    app.code.on_main, app.code.interface = True, False
    app.load(NET, 20 * MS)
    assert runs_interface(traced(app)) is False


def test_no_sample_of_a_main_thread_tells_nothing(app):
    app.load(NET, 20 * MS)
    assert runs_interface(traced(app)) is None


def test_calls_while_another_thread_calls_too_do_not_count(app):
    app.code.on_main = True
    app.predict(NET, cpu(200 * MS), inputs=0)
    row = app.predictions[0].row
    assert len(main_thread_calls(traced(app), (Api.PREDICTION,), 100 * MS).periods) == 1
    app.code.on_main = False
    app.code.predict(row.start_ns, row.duration_ns, [cpu(200 * MS)])
    on_main = main_thread_calls(trace_of(app.scenario), (Api.PREDICTION,), 100 * MS)
    assert (len(on_main.periods), on_main.known) == (0, 0)


def test_what_runs_between_calls_is_named_with_its_share(app):
    start = app.now_ns
    app.busy(30 * MS, PACK)
    app.busy(10 * MS, SHOW)
    gaps = Intervals(np.array([start]), np.array([start + 80 * MS]))
    work = work_between(traced(app), gaps)
    assert work.running == pytest.approx(0.5, abs=0.02)
    assert [(site.function, site.samples, site.of) for site in work.sites] == [
        ("App.pack", 30, 40),
        ("App.show", 10, 40),
    ]
    elsewhere = Intervals(np.array([start + 100 * MS]), np.array([start + 200 * MS]))
    assert work_between(trace_of(app.scenario), elsewhere).sites == ()


def test_element_access_is_a_share_of_its_threads_outside_of_loads(app):
    app.load(NET, 50 * MS)
    app.predict(NET, cpu(20 * MS), inputs=0)
    before = len(app.scenario.samples) - 50
    app.busy(10 * MS, READ_ELEMENT, PACK)
    work = app_work(traced(app), Api.ELEMENT)
    assert (work.samples, work.of) == (10, before + 10)
    assert work.time.covered_ns == 10 * MS
    assert work.pieces.durations.tolist() == [10 * MS]
    (site,) = work.sites
    assert (site.function, site.line, site.share) == ("App.pack", 61, 1.0)


def test_conversions_count_between_the_predictions_of_their_thread(app):
    app.busy(10 * MS, CONVERT_PIXELS, PACK)
    for _ in range(2):
        app.predict(NET, cpu(20 * MS), inputs=0)
        app.busy(10 * MS, CONVERT_PIXELS, PACK)
    app.code.thread = 2
    app.busy(10 * MS, CONVERT_PIXELS, PACK)
    assert app_work(traced(app), Api.BETWEEN).samples == 10


def test_without_samples_nothing_is_told():
    app = start_recording(Draws(1), noise=False)
    app.load(NET)
    trace = traced(app)
    assert runs_interface(trace) is None
    assert main_thread_calls(trace, PREPARING, MS) is None
    assert app_work(trace, Api.ELEMENT) is None
    assert app_work(trace, Api.BETWEEN) is None
    assert work_between(trace, Intervals(np.array([0]), np.array([MS]))) is None


def test_samples_stand_for_as_long_as_they_say(app):
    """The same work, sampled each ms and each 5 ms."""
    app.predict(NET, cpu(100 * MS), inputs=0)
    begin = app.now_ns
    app.busy(200 * MS, READ_ELEMENT, SHOW)
    end = app.now_ns
    app.predict(NET, cpu(100 * MS), inputs=0)
    scenario = app.finish()
    each_ms = trace_of(scenario)
    scenario.samples, scenario.sample_ns = scenario.samples[::5], 5 * MS
    each_5_ms = trace_of(scenario)
    for trace, period_ns in ((each_ms, MS), (each_5_ms, 5 * MS)):
        access = app_work(trace, Api.ELEMENT)
        assert access is not None
        assert access.period_ns == period_ns
        assert access.samples == pytest.approx((end - begin) / period_ns, abs=1)
        assert access.time.covered_ns == pytest.approx(end - begin, abs=period_ns)
        (piece,) = access.pieces.durations
        assert piece == pytest.approx(end - begin, abs=2 * period_ns)
        between = work_between(trace, Intervals(np.array([begin]), np.array([end])))
        assert between is not None
        assert between.running == pytest.approx(1, abs=period_ns / (end - begin))
