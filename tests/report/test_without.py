"""What fixing findings would bring, from a trace and its findings."""

import pytest

from support.handover import trace_of
from tracekit.detectors.runner import run_detectors
from tracekit.report.without import without_findings
from tracekit.testing import Draws, Model, cpu, start_recording
from tracekit.testing.apps import MS
from tracekit.testing.simulation import Simulation
from tracekit.testing.threads import paced_app
from tracekit.testing.work import neural_engine


def said(trace, *wanted):
    return without_findings(trace, "run", run_detectors(trace), wanted)


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


@pytest.mark.parametrize(
    ("unit", "median_ms"),
    [
        # One starts when another ends: 20 + 10 of 110 do not wait, the others for 10, 20, ..., 80 ms.
        pytest.param("neural engine", 30, id="one after the other"),
        # Two share all cores and end together: they wait for 20, 40, 60 or 80 ms.
        pytest.param("cpu", 40, id="at the same time"),
    ],
)
def test_fewer_in_flight_are_faster_and_inputs_wait_in_the_app(unit, median_ms):
    """Ten times, ten inputs come at once, each of which takes 10 ms of the unit alone; with two in flight, 20 ms."""
    simulation = Simulation(Draws(5), jitter=0, handover_ns=0, noise=False)
    app, model, step = simulation.app, Model("Tagger"), cpu(10 * MS, 6) if unit == "cpu" else neural_engine(10 * MS)

    def thread():
        yield from app.load(model)
        for _ in range(10):
            yield from app.predict(model, step)
            yield from app.pause(5 * MS, 0)
        for _ in range(10):
            tasks = [app.start(app.predict(model, step)) for _ in range(10)]
            for task in tasks:
                yield from app.join(task)
            yield from app.pause(20 * MS, 0)

    simulation.start(thread())
    (change,) = said(trace_of(simulation.run().finish()), "concurrent-predictions").replays[0].models
    assert change.after.median_ns == pytest.approx(20 * MS, rel=0.03)
    assert change.after.p95_ns == pytest.approx(20 * MS, rel=0.06)
    assert change.wait_ns == pytest.approx((median_ms * MS, 80 * MS), rel=0.06)
    assert change.saved_ns == 0
