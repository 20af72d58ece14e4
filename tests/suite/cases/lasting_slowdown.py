"""From some time on, the same work takes longer for good."""

from __future__ import annotations

from functools import partial

from suite.cases.latency_jitter import another_configuration, answers, slow_where
from suite.cases.thermal_throttling import contended_while_warm, throttled, warming
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import UNITS, loaded, without_engine
from suite.together import Caller, together
from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, gpu_app, many_models_app, neural_engine_app, steady_app
from tracekit.testing.recorder import App, Step, gpu, neural_engine, start_recording
from tracekit.testing.rows import Model
from tracekit.testing.scenario import CORE_ML

ID = "lasting-slowdown"
OTHER_WORK = ("latency-jitter", "shape-switching")


def slow_for_good(draws: Draws) -> App:
    """Low Power Mode is switched on in the middle, and nothing recorded shows it."""
    slow = draws.integer(18, 26)
    return gpu_app(draws, compute_ns=lambda index: (11 if index < 50 else slow) * MS, predictions=100, runs=1)


def after_a_burst(draws: Draws) -> App:
    """A small model on the Neural Engine, called back to back, on a device that stays cool: fast for some tens of
    predictions."""
    fast, usual = draws.integer(30, 60), draws.integer(50, 80) * 10_000
    slow = usual * draws.integer(18, 30) // 10
    return neural_engine_app(
        draws,
        compute_ns=lambda index: usual if index < fast else slow,
        predictions=draws.integer(200, 400),
        runs=1,
        before=warming(10_000),
    )


def in_two_steps(draws: Draws) -> App:
    """The system takes speed away twice, from a model on any unit."""
    work = draws.integer(6, 12) * MS
    return steady_app(
        draws,
        draws.choice(UNITS),
        compute_ns=lambda index: work * (10, 16, 25)[(index >= 40) + (index >= 80)] // 10,
        predictions=130,
        runs=1,
        inputs=0,
    )


def at_a_pace(draws: Draws) -> App:
    """A camera at 30 frames a second, whose model becomes slow in the background."""
    slow = draws.integer(17, 28)
    return camera_app(draws, fps=30, compute_ns=lambda index: (8 if index < 60 else slow) * MS, frames=150)


def beside_another(draws: Draws) -> App:
    """Another model goes on at its own speed on another unit."""
    slow = draws.integer(16, 24)
    first = Caller("neural engine", lambda index: (9 if index < 60 else slow) * MS, 33 * MS)
    return together(draws, first, Caller("gpu", lambda _: 12 * MS, 41 * MS), calls=140)


def of_unknown_units(draws: Draws) -> App:
    """The Neural Engine was not recorded."""
    return without_engine(after_a_burst(draws))


drift = partial(slow_where, slow=lambda index: index >= 40)


def slow_for_a_while(draws: Draws) -> App:
    """Something else holds predictions up in the middle of the recording."""
    slow, until = draws.integer(16, 30), draws.integer(60, 75)
    work = lambda index: (slow if 30 <= index < until else 9) * MS  # noqa: E731
    return neural_engine_app(draws, compute_ns=work, predictions=120, runs=1)


def larger_inputs(draws: Draws) -> App:
    """From some call on, inputs are larger: copying them takes longer too, and the work is in proportion."""
    app, model = loaded(draws)
    scale = draws.integer(2, 4)
    for index in range(110):
        larger = scale if index >= 50 else 1
        app.predict(model, neural_engine(7 * larger * MS), copy_ns=60_000 * larger)
        app.pause(200_000)
    return app


def joined(draws: Draws) -> App:
    """From the middle on, another model works on the same unit, and predictions wait for it."""
    work = draws.integer(8, 12) * MS
    second = Caller("neural engine", lambda _: work, offset_ns=60 * work)
    return together(draws, Caller("neural engine", lambda _: work), second, calls=120)


def few_calls(draws: Draws) -> App:
    """Two dozen calls, of which the last ten are slow."""
    app, model = loaded(draws)
    for index in range(25):
        app.predict(model, Step("cpu", (20 if index >= 15 else 8) * MS), inputs=0)
        app.pause(200_000)
    return app


def on_hardware_alone(draws: Draws, values: tuple[int, int]) -> App:
    """Core ML's table stays empty. From some time on, calls have more work of a unit. No row shows the CPU's
    time in each."""
    host_ms, percent = values
    app, model = start_recording(draws), Model("Landmarks")
    unit = draws.choice((neural_engine, gpu))
    for index in range(120):
        app.predict(model, unit(round((7 * percent / 100 if index >= 60 else 7) * MS)), host_ns=host_ms * MS)
        app.pause(200_000)
    app.scenario.emptied.add(CORE_ML)
    return app


CASES = [
    *cases(ID, POSITIVE, 3, slow_for_good),
    *cases(ID, POSITIVE, 5, after_a_burst),
    *cases(ID, POSITIVE, 4, in_two_steps, also=OTHER_WORK),
    *cases(ID, POSITIVE, 3, at_a_pace),
    *cases(ID, POSITIVE, 3, beside_another),
    *cases(ID, POSITIVE, 3, of_unknown_units, also=("unexplained-time",)),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *cases(ID, NEGATIVE, 3, gpu_app),
    *cases(ID, NEGATIVE, 3, camera_app),
    *cases(ID, NEGATIVE, 3, many_models_app),
    *each(ID, NEAR_ABOVE, (1500, 1501, 1505, 1510, 1530), drift),
    *each(ID, NEAR_BELOW, (1499, 1495, 1490, 1480, 1470), drift),
    *cases(ID, LOOKALIKE, 3, larger_inputs, page="Inputs get larger"),
    *cases(ID, LOOKALIKE, 2, answers, also=("growing-latency",), page="Latency grows from prediction"),
    *cases(ID, LOOKALIKE, 3, throttled, also=("thermal-throttling",)),
    *cases(ID, LOOKALIKE, 4, slow_for_a_while, also=OTHER_WORK, page="Predictions are slow for a while"),
    *cases(
        ID,
        LOOKALIKE,
        3,
        contended_while_warm,
        also=("neural-engine-contention", "foreign-neural-engine-work"),
        page="Predictions queue behind",
    ),
    *cases(
        ID,
        LOOKALIKE,
        4,
        another_configuration,
        also=("load-churn",),
        page="The model is loaded again with another setting",
    ),
    *cases(ID, INSUFFICIENT, 3, few_calls, also=OTHER_WORK),
    *cases(
        ID,
        LOOKALIKE,
        3,
        joined,
        also=(*OTHER_WORK, "neural-engine-contention"),
        page="Another model is called beside it",
    ),
    *each(ID, POSITIVE, ((0, 200), (1, 200), (7, 250)), on_hardware_alone, also=("core-ml-not-instrumented",)),
    *each(ID, INSUFFICIENT, ((7, 160), (8, 170), (9, 180)), on_hardware_alone, also=("core-ml-not-instrumented",)),
]
