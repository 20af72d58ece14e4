"""Calls that are too slow for the frame they belong to."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, NOT_APPLICABLE, POSITIVE, cases, each
from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, cpu_app, draw_models, neural_engine_app
from tracekit.testing.recorder import App, cpu, gpu, neural_engine, start_recording

ID = "missed-deadline"
BUDGET_60 = {"missed-deadline.budget_ms": 16.7}
BUDGET_30 = {"missed-deadline.budget_ms": 33.3}


def too_slow_for_60(draws: Draws) -> App:
    """Every call takes 20 to 30 ms, at 30 frames a second."""
    return camera_app(draws, fps=30, compute_ns=draws.integer(20, 28) * MS)


def too_slow_for_30(draws: Draws) -> App:
    """A model on the GPU that takes 40 to 60 ms."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    app.load(model)
    for _ in range(60):
        app.predict(model, gpu(draws.integer(40, 60) * MS))
        app.pause(300_000)
    return app


def in_time(draws: Draws) -> App:
    """Calls of 4 to 10 ms."""
    return neural_engine_app(draws, compute_ns=draws.integer(4, 10) * MS)


def late(draws: Draws, count: int) -> App:
    """So many of 200 calls take 18 ms and the others 12 ms, without any jitter."""
    app = start_recording(draws, jitter=0, noise=False)
    model = draw_models(draws)[0]
    app.load(model)
    app.predict(model, neural_engine(12 * MS))
    every = 200 // max(count, 1)
    for index in range(200):
        slow = index % every == 0 and index // every < count
        app.predict(model, cpu((18 if slow else 12) * MS))
        app.pause(150_000)
    return app


def cold_calls(draws: Draws) -> App:
    """Only the first calls after loads are late: one in ten."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    for _ in range(4):
        app.load(model, 30 * MS, engine=True)
        for call in range(10):
            app.predict(model, neural_engine((22 if call == 0 else 8) * MS))
        app.pause(6_000 * MS)
    return app


def no_budget(draws: Draws) -> App:
    """Slow work that nobody waits for frame by frame."""
    return cpu_app(draws, compute_ns=draws.integer(60, 90) * MS)


def seldom(draws: Draws) -> App:
    """One late call in forty."""
    return neural_engine_app(draws, compute_ns=lambda index: (30 if index % 40 == 20 else 9) * MS, predictions=120)


def few_calls(draws: Draws) -> App:
    """A dozen slow calls."""
    return neural_engine_app(draws, compute_ns=25 * MS, predictions=draws.integer(8, 19), runs=1)


CASES = [
    *cases(ID, POSITIVE, 6, too_slow_for_60, settings=BUDGET_60),
    *cases(ID, POSITIVE, 5, too_slow_for_30, settings=BUDGET_30),
    *cases(ID, NEGATIVE, 6, in_time, settings=BUDGET_60),
    *cases(ID, NEGATIVE, 5, too_slow_for_60, settings=BUDGET_30 | {"missed-deadline.missed_share": 1}),
    *each(ID, NEAR_ABOVE, (10, 11, 12, 13, 14), late, settings=BUDGET_60),
    *each(ID, NEAR_BELOW, (5, 6, 7, 8, 9), late, settings=BUDGET_60),
    *cases(ID, LOOKALIKE, 2, cold_calls, settings=BUDGET_60),
    *cases(ID, LOOKALIKE, 2, no_budget, expected=NOT_APPLICABLE),
    *cases(ID, LOOKALIKE, 2, seldom, settings=BUDGET_60),
    *cases(ID, INSUFFICIENT, 3, few_calls, settings=BUDGET_60),
]
