"""A device that becomes hot."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from tracekit.testing import Draws
from tracekit.testing.apps import MS, Before, camera_app, gpu_app, neural_engine_app, steady_app
from tracekit.testing.recorder import App, neural_engine, start_recording
from tracekit.testing.rows import Model

ID = "thermal-throttling"
HOT = ("Fair", "Serious", "Critical")


def warming(at: int, *states: str, every: int = 30) -> Before:
    """The state changes at one call, and again after so many more."""

    def before(app: App, index: int) -> None:
        if index == 0:
            app.thermal("Nominal")
        elif index >= at and (index - at) % every == 0 and (index - at) // every < len(states):
            app.thermal(states[(index - at) // every])

    return before


def throttled(draws: Draws) -> App:
    """Hot from the middle on, and half as slow again or more."""
    slow = draws.integer(14, 22)
    return neural_engine_app(
        draws,
        compute_ns=lambda index: (10 if index < 50 else slow) * MS,
        predictions=100,
        period_ns=40 * MS,
        runs=1,
        before=warming(50, draws.choice(HOT)),
    )


def in_steps(draws: Draws) -> App:
    """Warmer and warmer, slower and slower."""
    return gpu_app(
        draws,
        compute_ns=lambda index: (20 + 6 * max(index - 20, 0) // 30) * MS,
        predictions=110,
        runs=1,
        before=warming(20, *HOT),
    )


def recovering(draws: Draws) -> App:
    """Hot for a while, then cool again."""
    return steady_app(
        draws,
        "cpu",
        compute_ns=lambda index: (16 if 30 <= index < 70 else 8) * MS,
        predictions=100,
        runs=1,
        inputs=0,
        before=warming(30, "Serious", "Nominal", every=40),
    )


def cool(draws: Draws) -> App:
    """Nominal throughout."""
    return neural_engine_app(draws, before=warming(10_000))


def hot_and_fast(draws: Draws) -> App:
    """Serious from the middle on, without any effect."""
    return camera_app(draws, frames=100, before=warming(50, "Serious"))


def slowdown(draws: Draws, permille: int) -> App:
    """Exact calls that take this much of the usual time from the change of state on."""
    app = start_recording(draws, jitter=0, noise=False)
    model = Model("Landmarks")
    app.thermal("Nominal")
    app.load(model)
    app.predict(model, neural_engine(10 * MS))
    for index in range(80):
        if index == 40:
            app.thermal("Serious")
        length = 10_000 * (permille if index >= 40 else 1_000)
        app.scenario.predict(model, app.now_ns, length).event("CPU", 1_000, length - 2_000)
        app.now_ns += 30 * MS
    return app


def growing_and_warm(draws: Draws) -> App:
    """Answers that grow with their length while the device happens to become warm."""
    app = start_recording(draws)
    model = Model("Landmarks")
    app.thermal("Nominal")
    app.load(model)
    for turn in range(4):
        if turn == 2:
            app.thermal("Fair")
        for index in range(40):
            app.predict(model, neural_engine((6 + index // 3) * MS))
            app.pause(150_000)
        app.pause(2_500 * MS)
    return app


def contended_while_warm(draws: Draws) -> App:
    """In the warm half, another process keeps the Neural Engine busy."""
    warm = warming(60, "Fair")

    def before(app: App, index: int) -> None:
        warm(app, index)
        if index >= 60 and index % 2:
            app.occupy("neural engine", app.now_ns, 9 * MS)

    return neural_engine_app(draws, compute_ns=9 * MS, predictions=120, runs=1, before=before)


def slow_before_hot(draws: Draws) -> App:
    """Long calls at random, in both states alike."""
    slow = {draws.integer(1, 119) for _ in range(40)}
    return neural_engine_app(
        draws,
        compute_ns=lambda index: (16 if index in slow else 9) * MS,
        predictions=120,
        runs=1,
        before=warming(60, "Serious"),
    )


def hot_from_the_start(draws: Draws) -> App:
    """Nothing to compare with."""
    return neural_engine_app(draws, before=lambda app, index: app.thermal("Serious") if index == 0 else None)


def few_calls(draws: Draws) -> App:
    """A dozen calls."""
    return neural_engine_app(draws, predictions=14, runs=1, before=warming(7, "Serious"))


def hot_for_a_moment(draws: Draws) -> App:
    """Five calls in the hot state."""
    return neural_engine_app(draws, predictions=60, runs=1, before=warming(55, "Serious"))


CONTENTION = ("neural-engine-contention", "foreign-neural-engine-work")

CASES = [
    *cases(ID, POSITIVE, 5, throttled),
    *cases(ID, POSITIVE, 3, in_steps),
    *cases(ID, POSITIVE, 3, recovering),
    *cases(ID, NEGATIVE, 5, cool),
    *cases(ID, NEGATIVE, 5, hot_and_fast),
    *each(ID, NEAR_ABOVE, (1200, 1205, 1210, 1220, 1240), slowdown),
    *each(ID, NEAR_BELOW, (1199, 1195, 1190, 1180, 1160), slowdown),
    *cases(ID, LOOKALIKE, 2, growing_and_warm, also=("growing-latency",)),
    *cases(ID, LOOKALIKE, 2, contended_while_warm, also=CONTENTION),
    *cases(ID, LOOKALIKE, 2, slow_before_hot, also=("latency-jitter", "shape-switching")),
    *cases(ID, INSUFFICIENT, 2, hot_from_the_start),
    *cases(ID, INSUFFICIENT, 1, few_calls),
    *cases(ID, INSUFFICIENT, 1, hot_for_a_moment),
]
