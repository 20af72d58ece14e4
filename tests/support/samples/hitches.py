"""A camera app with live filters: its gallery scrolls while a model cuts people out on the GPU.

What the compositor draws waits for the model, so frames come late; a few are late because the app takes too long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.scenarios import app_method
from tracekit.testing import Draws, Model, Simulation, gpu
from tracekit.testing.frames import MS, Refreshes, Screen, Work, predicted
from tracekit.testing.machines import Process
from tracekit.testing.simulation import Running

if TYPE_CHECKING:
    from tracekit.testing.scenario import Scenario
    from tracekit.testing.simulation import Thread

FRAMES, HEAVY_EVERY = 420, 83
MODEL_NS, CAMERA_NS = 12_800_000, 133_333_000
_APP = Process("FilterCam", 4_120, "/Applications/FilterCam.app/Contents/MacOS/FilterCam")
_MODEL = Model("PersonSegmenter")
_CALLERS = (
    app_method("FilterCam", "LiveFilter", "cutOut", 64),
    app_method("FilterCam", "CameraFeed", "captured", 31),
)
_LIGHT = Work(4 * MS, 2 * MS, 3 * MS)


def camera_hitches() -> Scenario:
    """Seven seconds of scrolling at 60 Hz, with seven and a half predictions a second."""
    simulation = Simulation(Draws(71), machine=4, attached=False, code=True, handover_ns=20_000, handover_permille=0)
    scenario, code = simulation.scenario, simulation.recorded.code
    assert code is not None
    scenario.target, scenario.start_date = _APP, "2026-11-21T18:04:55.613+01:00"
    code.caller = _CALLERS
    screen, app = Screen(simulation, Refreshes.steady(60)), Running(simulation, _APP, recorded=True)

    def camera() -> Thread:
        yield from app.load(_MODEL, 74 * MS)
        for number in range(52):
            yield from app.until(1_390 * MS + number * CAMERA_NS)
            yield from predicted(app, _MODEL, gpu(MODEL_NS))

    def work(number: int) -> Work:
        return _LIGHT._replace(update=27 * MS) if number % HEAVY_EVERY == 0 else _LIGHT

    simulation.start(camera())
    simulation.start(screen.animate(app, FRAMES, work, start_ns=1_350 * MS))
    return screen.finish(simulation.run()).finish(tail_ns=1_300 * MS)
