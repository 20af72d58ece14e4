"""What the samples share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.scenarios import MAKE_READY, OPEN_MODEL
from tracekit.testing import stacks
from tracekit.testing.code import SAMPLE_NS
from tracekit.testing.machines import BACKBOARD
from tracekit.testing.rng import Draws, on_clock

if TYPE_CHECKING:
    from tracekit.testing.code import Code
    from tracekit.testing.scenario import Scenario


def draw_phone_screen(draws: Draws, scenario: Scenario, every_ns: int, length_ns: int) -> None:
    """The system of a phone draws the screen now and then, beside the work of the model."""
    now, frame = 70_000_000, 1
    while now < scenario.duration_ns - 50_000_000:
        scenario.gpu_work(on_clock(now), draws.around(length_ns, 150), BACKBOARD, frame=frame)
        now += draws.around(every_ns, 180)
        frame += 1


def share(length_ns: int, permille: int) -> int:
    """A share of a time, on the clock."""
    return on_clock(length_ns * permille // 1_000)


def catch_load(code: Code, start_ns: int, end_ns: int) -> None:
    """Call stacks of a load from the cache: the thread opens the model, waits for the system, and makes it ready."""
    code.runs(start_ns, SAMPLE_NS, OPEN_MODEL, stacks.LOAD)
    code.runs(start_ns + SAMPLE_NS, SAMPLE_NS, stacks.LOAD_PROGRAM, stacks.LOAD)
    code.runs(end_ns - SAMPLE_NS, SAMPLE_NS, MAKE_READY, stacks.LOAD)


def draw_interface(draws: Draws, code: Code) -> None:
    """The main thread draws now and then, for a moment."""
    now = 90_000_000
    while now < code.scenario.duration_ns - 50_000_000:
        code.draws_interface(on_clock(now), draws.around(1_900_000, 200))
        now += draws.around(110_000_000, 150)
