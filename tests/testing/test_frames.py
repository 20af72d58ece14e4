"""The simulated pipeline of frames, and what is read of its tables."""

import numpy as np
import pytest

from tracekit.testing import Draws, Model, Simulation, gpu, write_export
from tracekit.testing.frames import MS, QUANTUM_NS, Refreshes, Screen, Work, predicted
from tracekit.trace.build import open_trace

MODEL = Model("Segmenter")


def simulated(refreshes, *, model):
    simulation = Simulation(Draws(3), machine=1, code=True, noise=False, attached=True)
    screen = Screen(simulation, refreshes)
    app = simulation.app

    def worker():
        yield from app.load(MODEL, 60 * MS)
        for number in range(20):
            yield from app.until(1_300 * MS + number * 111 * MS)
            yield from predicted(app, MODEL, gpu(21 * MS))

    simulation.start(screen.animate(app, 150, Work(2 * MS, MS, MS), start_ns=1_250 * MS))
    if model:
        simulation.start(worker())
    return screen, screen.finish(simulation.run())


@pytest.mark.parametrize("refreshes", [Refreshes.steady(60), Refreshes.steady(120), Refreshes.variable(Draws(5))])
def test_only_work_on_the_gpu_makes_frames_late_and_by_whole_refreshes(refreshes, tmp_path):
    assert not simulated(refreshes, model=False)[0].late
    screen, app = simulated(refreshes, model=True)
    assert len(screen.late) >= 5
    for frame in screen.late.values():
        assert frame.shown_ns in refreshes.times
        assert frame.due_ns in refreshes.times
        assert frame.gpu[0] - frame.render[1] > MS
    write_export(app.finish(), tmp_path)
    frames = open_trace(tmp_path).frames
    read = dict(zip(frames.swap.values.tolist(), frames.duration_ns.tolist(), strict=True))
    assert read == {frame.swap: frame.late_ns for frame in screen.frames if frame.shown_ns is not None}
    known = {frame.swap: frame.interval_ns for frame in screen.frames}
    made = np.array([known[swap] for swap in frames.swap.values.tolist()])
    assert np.abs(made - frames.interval_ns.values).max() <= 1


def test_refreshes_of_a_variable_rate_are_multiples():
    steps = np.diff(Refreshes.variable(Draws(9)).times)
    assert not (steps % QUANTUM_NS).any()
    assert len({*steps.tolist()}) > 1
