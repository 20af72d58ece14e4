"""What the cases of work that the app does itself, as samples of call stacks show it, have in common."""

from __future__ import annotations

from collections.abc import Callable

from suite.frame import INSUFFICIENT, NEAR_ABOVE, NEAR_BELOW, Case, cases, each
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models, gpu_app, neural_engine_app
from tracekit.testing.recorder import App, start_recording

ALSO = ("pipeline-gaps", "serial-predictions", "main-thread-work", "warm-up-spike", "unexplained-time")
"""What may be right wherever an app works between its predictions."""


def loaded(draws: Draws, load_ms: int = 90, *, exact: bool = False) -> App:
    """An app whose call stacks are recorded and that has loaded one model; `exact` without chance."""
    app = start_recording(draws, jitter=0, noise=False, code=True) if exact else start_recording(draws, code=True)
    app.load(draw_models(draws)[0], load_ms * MS)
    return app


def near(detector: str, permille: Callable[[Draws, int], App], samples: Callable[[Draws, int], App]) -> list[Case]:
    """Just above and below a tenth of 1,000 samples, and 20 samples."""
    return [
        *each(detector, NEAR_ABOVE, (100, 101, 110), permille, also=ALSO),
        *each(detector, NEAR_ABOVE, (20, 21), samples, also=ALSO),
        *each(detector, NEAR_BELOW, (99, 98, 90), permille, also=ALSO),
        *each(detector, NEAR_BELOW, (19, 18), samples, also=ALSO, found_in_more=(detector,)),
    ]


def insufficient(detector: str, hardly_sampled: Callable[[Draws], App]) -> list[Case]:
    """Recordings without call stacks, and with less than 20 ms of running threads."""
    return [
        *cases(detector, INSUFFICIENT, 1, neural_engine_app),
        *cases(detector, INSUFFICIENT, 1, gpu_app),
        *cases(detector, INSUFFICIENT, 2, hardly_sampled, also=ALSO),
    ]
