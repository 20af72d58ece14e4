"""A command-line tool without the entitlement that lets Instruments watch: its Core ML table stays empty.

The Neural Engine was busy, but its rows carry generic labels and no process, and the GPU table shows the whole Mac. So
nothing can be said of any model, and least of all that Core ML was not used.
"""

from __future__ import annotations

from tracekit.testing.machines import MAC, WINDOW_SERVER, Process
from tracekit.testing.rng import Draws, on_clock
from tracekit.testing.scenario import Scenario

_TOOL = Process("embed-images", 17382, "/usr/local/bin/embed-images")
_BROWSER = Process("com.apple.WebKit.GPU", 1290, "/System/Library/Frameworks/WebKit.framework/com.apple.WebKit.GPU")


def not_instrumented() -> Scenario:
    """About 420 predictions of the Neural Engine that nobody can be named for."""
    draws = Draws(404)
    scenario = Scenario(
        _TOOL,
        duration_ns=6_912_377_500,
        device=MAC,
        host=None,
        processes=[WINDOW_SERVER, _BROWSER, Process("aned", 412, "/usr/libexec/aned")],
    )
    load = draws.around(64_000_000, 50)
    scenario.other_neural_engine(702_455_000, load, "Neural Engine Load")
    now = 702_455_000 + load
    for _ in range(420):
        now += draws.around(2_300_000, 120)
        length = draws.around(11_200_000, 50)
        scenario.other_neural_engine(now, length)
        now += length
    _screen(draws, scenario)
    return scenario


def _screen(draws: Draws, scenario: Scenario) -> None:
    """What else the GPU does: the screen, a browser, and a row or two that no process is known for."""
    now, frame = 40_000_000, 1
    while now < scenario.duration_ns - 40_000_000:
        process = _BROWSER if draws.chance(250) else WINDOW_SERVER
        start = on_clock(now)
        vertex, fragment = draws.around(140_000, 150), draws.around(720_000, 180)
        scenario.gpu_work(start, vertex, process, channel="Vertex", frame=frame)
        scenario.gpu_work(start + vertex, fragment, process, frame=frame)
        now += draws.around(50_000_000, 160)
        frame += 1
    scenario.gpu_work(3_210_004_000, 88_250, None, channel="Compute", label="")
