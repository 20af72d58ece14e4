"""When the main thread ran and what held it up, from samples written by hand and of a recorded app."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from support.handover import trace_of
from tracekit.columns import Flags, numbers_by_code
from tracekit.lanes.categories import Category
from tracekit.lanes.lanes import main_thread
from tracekit.lanes.process import main_thread_stretches
from tracekit.testing import Draws, Model, cpu
from tracekit.testing.recorder import start_recording
from tracekit.testing.scenario import CORE_ML
from tracekit.trace.cache import Cache
from tracekit.trace.samples import SampleRows

MS = 1_000_000


def trace(*times_ms: float, main=True, pid=7, weight=MS, target=7):
    count = len(times_ms)
    samples = replace(
        SampleRows.blank(count),
        time_ns=np.array([round(time * MS) for time in times_ms], np.int64),
        main_thread=Flags(np.full(count, main is True), np.full(count, main is not None)),
        pid=numbers_by_code(np.zeros(count, np.int64), [pid]),
        weight_ns=numbers_by_code(np.zeros(count, np.int64), [weight]),
    )
    process = SimpleNamespace(pid=target)
    run = SimpleNamespace(target=SimpleNamespace(process=process))
    return SimpleNamespace(cache=Cache(), samples=samples, run=run, sites=None)


def test_samples_one_after_another_are_one_stretch_and_a_gap_ends_it():
    # Distances of real samples vary a little; the thread waits from 4 to 9.
    seen = main_thread_stretches(trace(1, 2.03, 3, 9, 10.02))
    assert (seen.start_ns / MS).tolist() == [1, 9]
    assert ((seen.start_ns + seen.duration_ns) / MS).tolist() == [4, 11.02]


@pytest.mark.parametrize(
    "without",
    [
        trace(),
        trace(1, 2, main=False),
        trace(1, 2, main=None),
        trace(1, 2, pid=8),
        SimpleNamespace(cache=Cache(), samples=None, sites=None),
    ],
)
def test_without_a_sample_of_the_main_thread_there_is_no_lane(without):
    assert len(main_thread_stretches(without)) == 0
    assert main_thread(without) == ()


def test_a_weight_that_is_not_recorded_is_that_of_instruments_and_samples_stay_as_they_were():
    assert main_thread_stretches(trace(1, weight=None)).duration_ns.tolist() == [MS]
    other = trace(1, 2, pid=8)
    assert len(main_thread_stretches(other)) == 0
    assert other.samples.main_thread.values.tolist() == [True, True]


def test_the_lane_is_a_pinned_strip():
    (lane,) = main_thread(trace(1, 2, 8))
    assert (lane.title, lane.pinned, lane.strip, len(lane.events)) == ("Main thread", True, True, 2)


def recorded(*, on_main=True, instrumented=False):
    """A load of 300 ms, 50 ms of drawing, and a prediction of 40 ms."""
    app = start_recording(Draws(3), jitter=0, noise=False, code=True)
    app.code.on_main = on_main
    load = (app.now_ns, app.now_ns + 300 * MS)
    app.load(Model("Net"), 300 * MS)
    app.code.draws_interface(app.now_ns + 10 * MS, 50 * MS)
    app.pause(100 * MS)
    call = app.predict(Model("Net"), cpu(40 * MS), inputs=0)
    if not instrumented:
        app.scenario.emptied.add(CORE_ML)
    return load, (call.row.start_ns, call.row.end_ns), trace_of(app.finish())


def test_inferred_calls_of_the_main_thread_stand_between_what_else_it_does():
    load, call, seen = recorded()
    stretches = main_thread_stretches(seen)
    assert stretches.state.as_objects().tolist() == ["in a load", "running", "in a prediction"]
    starts, lengths = stretches.start_ns, stretches.duration_ns
    assert (starts[1:] >= (starts + lengths)[:-1]).all()
    for row, truth in ((0, load), (2, call)):
        assert (starts[row], starts[row] + lengths[row]) == pytest.approx(truth, abs=MS)
    (lane,) = main_thread(seen)
    assert lane.events.categories.tolist() == [Category.INFERRED, Category.APP, Category.INFERRED]
    assert [lane.events.label(row) for row in range(3)] == stretches.state.as_objects().tolist()


@pytest.mark.parametrize("where", [{"on_main": False}, {"instrumented": True}])
def test_calls_of_other_threads_and_recorded_ones_are_not_put_on_the_main_thread(where):
    _, _, seen = recorded(**where)
    assert set(main_thread_stretches(seen).state.held()) == {"running"}
