"""Long loads from the cache that a prediction waits for."""

from __future__ import annotations

from collections.abc import Callable

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.weight import Weight
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models, gpu_app, many_models_app, neural_engine_app
from tracekit.testing.recorder import App, gpu, neural_engine, start_recording
from tracekit.testing.rows import LOAD, LOAD_CACHED, LOAD_COLD, Model

ID = "slow-load"


def calls(app: App, draws: Draws, model: Model, count: int | None = None) -> App:
    """A steady run of calls."""
    for _ in range(count or draws.integer(40, 90)):
        app.predict(model, neural_engine(9 * MS), inputs=2)
        app.pause(200_000)
    return app


LENGTHS = ((20, 0), (300, 60), (1_000, 800))
"""Calls after a wait that comes once, and seconds of idle time behind them: recordings of 5 s to 15 min."""
WAITS = {900: "low", 1_500: "medium", 2_500: "high", 7_200: "critical"}
"""Waits in ms and their severity, as docs/report.md gives it."""


def waiting(wait_ms: int, label: str = LOAD_CACHED) -> Callable[[Draws, tuple[int, int]], App]:
    """Recipe: a load of this length that the first call waits for, and so much behind it."""

    def waits_once(draws: Draws, behind: tuple[int, int]) -> App:
        count, idle_s = behind
        app = start_recording(draws, jitter=0, noise=False)
        model = draw_models(draws)[0]
        app.load(model, wait_ms * MS, label, engine=label == LOAD_COLD)
        for _ in range(count):
            app.predict(model, neural_engine(9 * MS))
            app.pause(MS)
        app.pause(idle_s * 1_000 * MS)
        return app

    return waits_once


def before_many_slow_calls(draws: Draws, label: str = LOAD_CACHED) -> App:
    """A load of 6 s that the user waits for, and minutes of calls of which one in twelve is held up."""
    app = start_recording(draws, jitter=0, noise=False)
    model = draw_models(draws)[0]
    app.load(model, 6_000 * MS, label)
    for index in range(2_400):
        app.predict(model, neural_engine(50 * MS), host_ns=(100 if index % 12 == 7 else 0) * MS)
        app.pause(MS)
    return app


def on_demand(draws: Draws, label: str = LOAD_CACHED) -> App:
    """A large model is loaded when it is needed, and the first call waits."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    app.load(model, draws.integer(1_300, 9_000) * MS, label, engine=True)
    return calls(app, draws, model)


def behind_another(draws: Draws) -> App:
    """A large model, then a second one whose load fills the time up to the first call."""
    app = start_recording(draws)
    large, small = draw_models(draws, 2)
    app.load(large, draws.integer(1_500, 6_000) * MS)
    app.load(small, draws.integer(150, 600) * MS)
    if draws.chance(500):
        app.predict(small, gpu(draws.integer(110, 200) * MS))
    calls(app, draws, large, 30)
    for _ in range(20):
        app.predict(small, gpu(12 * MS))
        app.pause(MS)
    return app


def at_each_visit(draws: Draws) -> App:
    """A screen loads the model, uses it for seconds and releases it; the user comes back later."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    for _ in range(3):
        app.load(model, 1_500 * MS)
        for _ in range(25):
            app.predict(model, gpu(90 * MS))
            app.pause(MS)
        app.pause(20_000 * MS)
    return app


def exact(draws: Draws, load_us: int, wait_us: int, label: str = LOAD_CACHED) -> App:
    """A load of this length, and the first call so long after it; nothing is left to chance."""
    app = start_recording(draws, jitter=0, noise=False)
    model = draw_models(draws)[0]
    app.load(model, load_us * 1_000, label)
    end = app.scenario.coreml[-1].end_ns
    for k in range(60):
        app.scenario.predict(model, end + wait_us * 1_000 + k * 20 * MS, 15 * MS).event("CPU", 0, 15 * MS)
    return app


def call_after(draws: Draws, wait_us: int) -> App:
    """The first call comes so long after a load of 2 s."""
    return exact(draws, 2_000_000, wait_us)


def load_of(draws: Draws, load_us: int) -> App:
    """A load of this length that the first call waits for."""
    return exact(draws, load_us, 200)


def in_the_background(draws: Draws) -> App:
    """The model is loaded at the launch and needed seconds later."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    app.load(model, draws.integer(1_300, 9_000) * MS)
    app.pause(draws.integer(500, 5_000) * MS)
    return calls(app, draws, model)


def background_of_another(draws: Draws) -> App:
    """While a second model is still being loaded in the background, the user gets to the first."""
    app = start_recording(draws)
    large, later = draw_models(draws, 2)
    start = app.now_ns
    app.load(large, 2_000 * MS)
    app.scenario.load(later, start + 500 * MS, 9_000 * MS, LOAD_CACHED)
    app.pause(4_000 * MS)
    calls(app, draws, large)
    app.now_ns = start + 20_000 * MS
    return calls(app, draws, later, 20)


def specialized(draws: Draws) -> App:
    """The load specializes the model: not from the cache."""
    return on_demand(draws, LOAD_COLD)


def warmed_up(draws: Draws) -> App:
    """A load in the background with one call to warm up, and use seconds later."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    app.load(model, draws.integer(1_300, 9_000) * MS)
    app.predict(model, neural_engine(20 * MS))
    app.pause(draws.integer(1_500, 5_000) * MS)
    return calls(app, draws, model)


def another_instance_goes_on(draws: Draws) -> App:
    """A second instance is loaded while the first one is in use."""
    app = start_recording(draws)
    name = draw_models(draws)[0].base
    first = Model(name, 1)
    app.load(first, 60 * MS)
    start = app.now_ns
    calls(app, draws, first, 200)
    app.scenario.load(Model(name, 2), start + 20 * MS, 1_500 * MS, LOAD_CACHED)
    return calls(app, draws, first, 20)


def for_each_call(draws: Draws) -> App:
    """A large model that is loaded again for each prediction."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    for _ in range(12):
        app.load(model, draws.integer(1_200, 2_000) * MS)
        app.predict(model, gpu(40 * MS))
        app.pause(300 * MS)
    return app


def not_told(draws: Draws) -> App:
    """A long plain load that the first call waits for, and nothing that shows what it did."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    app.load(model, draws.integer(1_300, 9_000) * MS, LOAD)
    return calls(app, draws, model)


def attached_late(draws: Draws) -> App:
    """The app had loaded the model before."""
    app = start_recording(draws, attached=True)
    return calls(app, draws, draw_models(draws)[0])


def at_a_users_pace(draws: Draws, label: str = LOAD_CACHED) -> App:
    """The first call follows a long load at once, the second after a gap; all others come as the user taps."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    app.load(model, draws.integer(3_000, 16_000) * MS, label, engine=True)
    app.pause(19 * MS)
    app.predict(model, neural_engine(20 * MS))
    app.pause(draws.integer(9_000, 15_000) * MS)
    for _ in range(draws.integer(12, 20)):
        app.predict(model, neural_engine(20 * MS))
        app.pause(draws.integer(700, 1_500) * MS)
    return app


def tapped_from_the_load_on(draws: Draws) -> App:
    """The same without an unusual gap."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    app.load(model, draws.integer(3_000, 16_000) * MS)
    for _ in range(20):
        app.predict(model, neural_engine(20 * MS))
        app.pause(draws.integer(1_200, 3_500) * MS)
    return app


CASES = [
    *(
        case
        for wait_ms, severity in WAITS.items()
        if wait_ms >= 1_000  # Reported from a second on.
        for case in each(ID, POSITIVE, LENGTHS, waiting(wait_ms), weight=Weight(severity, savings_ms=wait_ms))
    ),
    *cases(
        ID, POSITIVE, 2, before_many_slow_calls, also=("latency-jitter",), weight=Weight("critical", 6_000, first=True)
    ),
    *cases(ID, POSITIVE, 5, on_demand),
    *cases(ID, POSITIVE, 4, behind_another, found_in_more=("warm-up-spike",)),
    *cases(ID, POSITIVE, 2, at_each_visit),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *cases(ID, NEGATIVE, 2, gpu_app),
    *cases(ID, NEGATIVE, 3, many_models_app),
    *cases(ID, NEGATIVE, 3, in_the_background, page="The model loads in the"),
    *each(ID, NEAR_ABOVE, (1_000_000, 1_000_010, 1_050_000), load_of),
    *each(ID, NEAR_ABOVE, (100_000, 99_000), call_after),
    *each(ID, NEAR_BELOW, (999_990, 990_000, 900_000), load_of),
    *each(ID, NEAR_BELOW, (100_010, 110_000), call_after),
    *cases(ID, LOOKALIKE, 2, specialized, also=("cold-load",), page="A load specializes the model"),
    *cases(ID, LOOKALIKE, 2, warmed_up, page="A single prediction warms up"),
    *cases(ID, LOOKALIKE, 2, another_instance_goes_on, page="Other instances"),
    *cases(ID, LOOKALIKE, 2, for_each_call, also=("reload-before-predict",), page="A model is loaded repeatedly"),
    *cases(ID, LOOKALIKE, 2, background_of_another),
    *cases(ID, INSUFFICIENT, 2, not_told),
    *cases(ID, INSUFFICIENT, 1, attached_late, also=("attached-late",)),
    *cases(ID, INSUFFICIENT, 4, at_a_users_pace),
    *cases(ID, POSITIVE, 3, tapped_from_the_load_on),
]
