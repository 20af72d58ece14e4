"""Live captions: while somebody speaks, the app starts a prediction for each piece of sound without waiting.

The Neural Engine takes one after the other, so up to eight predictions wait in flight, and each takes longer the more
wait before it. In the pauses, one at a time suffices. iOS 27.2 writes no compute rows for the Neural Engine.
"""

from __future__ import annotations

from support.samples.common import draw_phone_screen
from tracekit.testing.machines import BACKBOARD, NEW_IPHONE, NEW_MAC, Process
from tracekit.testing.rng import Draws, on_clock
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario

_APP = Process("Captions", 5566, "/private/var/containers/Bundle/Application/Captions.app/Captions")
_MODEL = Model("CaptionEncoder")
_SERVICE_NS = 11_700_000
"""Time of the Neural Engine for one prediction."""
_LEAD_NS = 950_000
"""From the call to the Neural Engine."""
_MOST_IN_FLIGHT = 8
_TURNS = 6
"""Pauses and speech alternate so often."""
_QUIET = 12
_SPOKEN = 34


def captions_concurrent() -> Scenario:
    """Predictions pile up four to eight deep for most of the time."""
    draws = Draws(2027)
    scenario = Scenario(
        _APP,
        duration_ns=10_120_540_000,
        xcode_version="27.2",
        device=NEW_IPHONE,
        host=NEW_MAC,
        processes=[BACKBOARD, Process("aned", 354, "/usr/libexec/aned"), Process("mediaserverd", 91)],
        launched=False,
        end_reason="User pressed Stop",
        start_date="2026-10-06T14:02:37.415+02:00",
        event_types=False,
    )
    now = scenario.load(_MODEL, 284_330_125, draws.around(181_000_000, 40)) + 120_000_000
    queue = _Queue(draws, scenario)
    for _ in range(_TURNS):
        for _ in range(_QUIET):
            queue.predict(now)
            now += draws.around(43_000_000, 60)
        for _ in range(_SPOKEN):
            now = max(now, queue.room_at)
            queue.predict(now)
            now += draws.around(8_200_000, 120)
        now = queue.free_at + draws.around(95_000_000, 100)
    draw_phone_screen(draws, scenario, every_ns=120_000_000, length_ns=450_000)
    return scenario


class _Queue:
    """The Neural Engine with the predictions that wait for it."""

    def __init__(self, draws: Draws, scenario: Scenario) -> None:
        self._draws = draws
        self._scenario = scenario
        self._ends: list[int] = []
        self.free_at = 0
        """When the Neural Engine has nothing left to do, in ns."""

    @property
    def room_at(self) -> int:
        """When fewer than the most predictions are in flight, in ns."""
        return self._ends[-_MOST_IN_FLIGHT] if len(self._ends) >= _MOST_IN_FLIGHT else 0

    def predict(self, start_ns: int) -> None:
        """One prediction, from the call to its end behind those that wait."""
        draws = self._draws
        start = on_clock(start_ns)
        begin = max(start + draws.around(_LEAD_NS, 90), self.free_at + draws.around(140_000, 120))
        service = draws.around(_SERVICE_NS, 35)
        self.free_at = begin + service
        prediction = self._scenario.predict(_MODEL, start, self.free_at + draws.around(110_000, 150) - start)
        self._ends.append(prediction.row.end_ns)
        prediction.event("Input Validation", 4_000, draws.around(7_500, 150))
        prediction.event("Input Copy", 15_000, draws.around(1_625, 200))
        prediction.event("Output Transformation", prediction.row.duration_ns - 9_000, draws.around(2_500, 150))
        prediction.neural_engine(begin - start, service)
