"""A device that becomes hot."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, repeat
from suite.several_loads import loaded_again
from suite.together import Caller, together
from tracekit.testing import Draws
from tracekit.testing.apps import MS, Before, async_app, camera_app, gpu_app, neural_engine_app, steady_app
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


def slowdown(draws: Draws, permille: int) -> App:
    """Exact calls that take this much of the usual time from the change of state on."""
    app = start_recording(draws, **EXACT)
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
        repeat(app, model, lambda index: neural_engine((6 + index // 3) * MS), 40, 150_000)
        app.pause(2_500 * MS)
    return app


def larger_inputs(draws: Draws) -> App:
    """Larger inputs from the middle on, on a device that stays cool."""
    large = draws.integer(14, 22)
    return neural_engine_app(
        draws,
        compute_ns=lambda index: (10 if index < 50 else large) * MS,
        predictions=100,
        runs=1,
        before=warming(10_000),
    )


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


def beside_another(draws: Draws) -> App:
    """Two models on different units, at work at once; both take 1.6 times as long in state Serious."""

    def work(usual_ns: int, hot_from: int) -> Callable[[int], int]:
        return lambda index: usual_ns * (16 if index >= hot_from else 10) // 10

    first = Caller("neural engine", work(9 * MS, 70), 30 * MS)
    second = Caller("gpu", work(12 * MS, 50), 42 * MS)
    return together(draws, first, second, calls=140, before=warming(70, "Serious"))


def on_one_unit(draws: Draws) -> App:
    """The same where both share the Neural Engine, and queue now and then."""
    first = Caller("neural engine", lambda index: (9 if index < 70 else 15) * MS, 40 * MS)
    second = Caller("neural engine", lambda index: (5 if index < 51 else 8) * MS, 55 * MS)
    return together(draws, first, second, calls=140, before=warming(70, "Serious"))


def going_on_hot(app: App, in_flight: int, calls: int, work_ms: int) -> App:
    """The same, and the device becomes hot, with so many predictions in flight."""
    app.thermal("Serious")
    for _ in range(calls):
        app.now_ns = max(app.now_ns + 400_000, app.room_at(in_flight) + 50_000)
        app.predict(app.model, neural_engine(work_ms * MS), wait=False)
    return app


def two_in_flight(draws: Draws, slow_ms: int = 0) -> App:
    """The app always keeps two predictions in flight."""
    slow_ms = slow_ms or draws.integer(14, 20)
    return going_on_hot(async_app(draws, in_flight=2, compute_ns=10 * MS, predictions=60, alone=0), 2, 60, slow_ms)


def more_in_flight_when_hot(draws: Draws) -> App:
    """One call at a time while cool and four at once while hot: calls take longer, and the work does not."""
    return going_on_hot(neural_engine_app(draws, compute_ns=10 * MS, predictions=40, runs=1), 4, 80, 10)


CONTENTION = ("neural-engine-contention", "foreign-neural-engine-work")


def another_configuration(draws: Draws) -> App:
    """A slower setting, loaded in the minute in which the device becomes warm."""
    slow, state = draws.integer(14, 30) * MS, draws.choice(HOT)

    def before(app: App, load: int, index: int) -> None:
        if index == 0:
            app.thermal(state if load else "Nominal")

    unit = draws.choice(("neural engine", "gpu", "cpu"))
    return loaded_again(draws, unit, lambda load, _: slow if load else 10 * MS, loads=2, calls=60, before=before)


def hot_on_each_load(draws: Draws) -> App:
    """Two settings, each a load, and the device becomes warm with both."""
    slow, state = draws.integer(14, 22), draws.choice(HOT)

    def before(app: App, load: int, index: int) -> None:
        if index in (0, 30):
            app.thermal(state if index else "Nominal")

    def work(load: int, index: int) -> int:
        return (slow if index >= 30 else 10) * (3 if load else 1) * MS

    return loaded_again(draws, draws.choice(("neural engine", "gpu", "cpu")), work, loads=2, calls=60, before=before)


CASES = [
    *cases(ID, POSITIVE, 5, throttled),
    *cases(ID, POSITIVE, 3, in_steps),
    *cases(ID, POSITIVE, 3, recovering),
    *cases(ID, POSITIVE, 3, beside_another, also=(ID,)),
    # Nominal throughout.
    *cases(ID, NEGATIVE, 5, lambda draws: neural_engine_app(draws, before=warming(10_000))),
    *cases(ID, POSITIVE, 3, on_one_unit, also=(ID, *CONTENTION)),
    *cases(ID, POSITIVE, 3, two_in_flight),
    # Serious from the middle on, without any effect.
    *cases(ID, NEGATIVE, 5, lambda draws: camera_app(draws, frames=100, before=warming(50, "Serious"))),
    # The same without any effect of the heat.
    *cases(ID, NEGATIVE, 2, partial(two_in_flight, slow_ms=10)),
    *each(ID, NEAR_ABOVE, (1200, 1205, 1210, 1220, 1240), slowdown),
    *each(ID, NEAR_BELOW, (1199, 1195, 1190, 1180, 1160), slowdown),
    *cases(ID, LOOKALIKE, 2, growing_and_warm, also=("growing-latency",), page="Latency grows with a sequence"),
    *cases(ID, LOOKALIKE, 2, contended_while_warm, also=CONTENTION, page="Predictions queue behind other models"),
    *cases(ID, LOOKALIKE, 2, larger_inputs, also=("lasting-slowdown",), page="Inputs get larger after a while"),
    *cases(ID, LOOKALIKE, 2, slow_before_hot, also=("latency-jitter", "shape-switching")),
    *cases(ID, LOOKALIKE, 2, more_in_flight_when_hot, also=("concurrent-predictions",)),
    *cases(ID, INSUFFICIENT, 2, hot_from_the_start),
    # A dozen calls.
    *cases(ID, INSUFFICIENT, 1, partial(neural_engine_app, predictions=14, runs=1, before=warming(7, "Serious"))),
    # Five calls in the hot state.
    *cases(ID, INSUFFICIENT, 1, partial(neural_engine_app, predictions=60, runs=1, before=warming(55, "Serious"))),
    *cases(ID, LOOKALIKE, 4, another_configuration, also=("load-churn",), page="A setting changes, and the model"),
    *cases(ID, POSITIVE, 4, hot_on_each_load, also=("load-churn", "latency-jitter")),
]
