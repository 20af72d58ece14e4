"""What the samples share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.testing.machines import BACKBOARD
from tracekit.testing.rng import Draws, on_clock

if TYPE_CHECKING:
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
