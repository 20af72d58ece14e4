"""What fixing findings would bring, from a trace and its findings."""

import pytest

from support.handover import trace_of
from tracekit.detectors.runner import run_detectors
from tracekit.report.whatif import what_if
from tracekit.testing import Draws, Model, cpu, start_recording
from tracekit.testing.apps import MS
from tracekit.testing.simulation import Simulation
from tracekit.testing.threads import paced_app
from tracekit.testing.work import neural_engine


def said(trace, *wanted):
    return what_if(trace, "run", run_detectors(trace), wanted)


def test_frames_that_copies_drop_come_back():
    """Of 60 frames a second every fourth one is dropped, for copies of 8 ms beside 11 ms of work."""
    app = start_recording(Draws(3), jitter=0, noise=False, machine=0)
    model, period = Model("Camera"), 16_667_000
    app.load(model)
    first = app.now_ns
    frame = 0
    for index in range(90):
        slow = index % 3 == 2
        app.now_ns = first + frame * period
        app.predict(model, cpu(11 * MS), inputs=1, copy_ns=8 * MS if slow else 2 * MS)
        frame += 2 if slow else 1
    (replay,) = said(trace_of(app.finish()), "excess-data-copies").replays
    (change,) = replay.models
    # The last prediction is followed by none.
    assert (change.before.dropped_frames, change.after.dropped_frames) == (29, 0)
    assert change.after.per_second / change.before.per_second == (90 + 29) / 90
    # Checks of inputs and outputs take some microseconds more.
    saved = change.before.core_ml_ns - change.after.core_ml_ns
    assert saved == pytest.approx((60 * 2 + 30 * 8) * MS, rel=1e-3)


def test_what_cannot_be_replayed_says_why():
    simulation = Simulation(Draws(2))
    model = Model("Hot")
    start = simulation.clock.now_ns
    simulation.warm(start + 700 * MS, "Fair", 1_050)
    simulation.warm(start + 1_400 * MS, "Serious", 1_700)
    simulation.start(paced_app(simulation.app, model, (neural_engine(9 * MS),), period_ns=20 * MS, calls=160))
    result = said(trace_of(simulation.run().finish()), "thermal-throttling")
    assert result.replays == ()
    assert [(each.finding, each.reason) for each in result.unknown] == [
        ("thermal-throttling", "a recording does not show how fast a cooler device would be")
    ]
