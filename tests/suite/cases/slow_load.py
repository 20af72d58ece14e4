"""Long loads from the cache that a prediction waits for."""

from __future__ import annotations

from collections.abc import Callable

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, instances, loaded, repeat, started
from suite.weight import Weight
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models, gpu_app, many_models_app, neural_engine_app
from tracekit.testing.recorder import App, gpu, neural_engine, start_recording
from tracekit.testing.rows import LOAD, LOAD_CACHED, LOAD_COLD, Model

ID = "slow-load"


def calls(app: App, draws: Draws, model: Model, count: int | None = None) -> App:
    """A steady run of calls."""
    return repeat(app, model, neural_engine(9 * MS), count or draws.integer(40, 90), 200_000, inputs=2)


LONG = (1_300, 9_000)
"""Loads in ms that are too long to wait for."""
LENGTHS = ((20, 0), (300, 60), (1_000, 800))
"""Calls after a wait that comes once, and seconds of idle time behind them: recordings of 5 s to 15 min."""
WAITS = {900: "low", 1_500: "medium", 2_500: "high", 7_200: "critical"}
"""Waits in ms and their severity, as docs/report.md gives it."""


def waiting(wait_ms: int, label: str = LOAD_CACHED) -> Callable[[Draws, tuple[int, int]], App]:
    """Recipe: a load of this length that the first call waits for, and so much behind it."""

    def waits_once(draws: Draws, behind: tuple[int, int]) -> App:
        count, idle_s = behind
        app, model = loaded(draws, wait_ms * MS, label, engine=label == LOAD_COLD, **EXACT)
        repeat(app, model, neural_engine(9 * MS), count, MS)
        app.pause(idle_s * 1_000 * MS)
        return app

    return waits_once


def before_many_slow_calls(draws: Draws, label: str = LOAD_CACHED) -> App:
    """A load of 6 s that the user waits for, and minutes of calls of which one in twelve is held up."""
    app, model = loaded(draws, 6_000 * MS, label, **EXACT)
    return repeat(
        app, model, neural_engine(50 * MS), 2_400, MS, host_ns=lambda index: (100 if index % 12 == 7 else 0) * MS
    )


def after_a_load(
    draws: Draws,
    load_ms: tuple[int, int],
    label: str = LOAD_CACHED,
    *,
    engine: bool = False,
    warm_up: bool = False,
    pause_ms: tuple[int, int] | None = None,
) -> App:
    """A load between these lengths, with a call to warm up or without, and use: at once, or after a pause."""
    app, model = started(draws)
    app.load(model, draws.integer(*load_ms) * MS, label, engine=engine)
    if warm_up:
        app.predict(model, neural_engine(20 * MS))
    if pause_ms is not None:
        app.pause(draws.integer(*pause_ms) * MS)
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
    return repeat(app, small, gpu(12 * MS), 20, MS)


def at_each_visit(draws: Draws) -> App:
    """A screen loads the model, uses it for seconds and releases it; the user comes back later."""
    app, model = started(draws)
    for _ in range(3):
        app.load(model, 1_500 * MS)
        repeat(app, model, gpu(90 * MS), 25, MS)
        app.pause(20_000 * MS)
    return app


def exact(draws: Draws, wait_us: int = 200, load_us: int = 2_000_000, label: str = LOAD_CACHED) -> App:
    """A load of this length, and the first call so long after it; nothing is left to chance."""
    app, model = loaded(draws, load_us * 1_000, label, **EXACT)
    end = app.scenario.coreml[-1].end_ns
    for k in range(60):
        app.scenario.predict(model, end + wait_us * 1_000 + k * 20 * MS, 15 * MS).event("CPU", 0, 15 * MS)
    return app


def load_of(draws: Draws, load_us: int) -> App:
    """A load of this length that the first call waits for."""
    return exact(draws, load_us=load_us)


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


def another_instance_goes_on(draws: Draws, label: str = LOAD_CACHED, count: int = 200) -> App:
    """A second instance is loaded while the first one is in use."""
    app, (first,) = instances(draws, 1, 60 * MS)
    start = app.now_ns
    calls(app, draws, first, count)
    length = 1_500 * MS if label == LOAD_CACHED else (app.now_ns - start) // 2
    app.scenario.load(Model(first.base, 2), start + 20 * MS, length, label)
    return calls(app, draws, first, 20)


def for_each_call(draws: Draws) -> App:
    """A large model that is loaded again for each prediction."""
    app, model = started(draws)
    for _ in range(12):
        app.load(model, draws.integer(1_200, 2_000) * MS)
        app.predict(model, gpu(40 * MS))
        app.pause(300 * MS)
    return app


def attached_late(draws: Draws) -> App:
    """The app had loaded the model before."""
    app = start_recording(draws, attached=True)
    return calls(app, draws, draw_models(draws)[0])


def at_a_users_pace(draws: Draws, label: str = LOAD_CACHED) -> App:
    """The first call follows a long load at once, the second after a gap; all others come as the user taps."""
    app, model = started(draws)
    app.load(model, draws.integer(3_000, 16_000) * MS, label, engine=True)
    app.pause(19 * MS)
    app.predict(model, neural_engine(20 * MS))
    app.pause(draws.integer(9_000, 15_000) * MS)
    return repeat(app, model, neural_engine(20 * MS), draws.integer(12, 20), lambda _: draws.integer(700, 1_500) * MS)


def tapped_from_the_load_on(draws: Draws) -> App:
    """The same without an unusual gap."""
    app, model = started(draws)
    app.load(model, draws.integer(3_000, 16_000) * MS)
    return repeat(app, model, neural_engine(20 * MS), 20, lambda _: draws.integer(1_200, 3_500) * MS)


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
    # A large model is loaded when it is needed, and the first call waits.
    *cases(ID, POSITIVE, 5, lambda draws: after_a_load(draws, LONG, engine=True)),
    *cases(ID, POSITIVE, 4, behind_another, found_in_more=("warm-up-spike",)),
    *cases(ID, POSITIVE, 2, at_each_visit),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *cases(ID, NEGATIVE, 2, gpu_app),
    *cases(ID, NEGATIVE, 3, many_models_app),
    *cases(ID, NEGATIVE, 3, lambda draws: after_a_load(draws, LONG, pause_ms=(500, 5_000)), page="The model loads in"),
    *each(ID, NEAR_ABOVE, (1_000_000, 1_000_010, 1_050_000), load_of),
    *each(ID, NEAR_ABOVE, (100_000, 99_000), exact),
    *each(ID, NEAR_BELOW, (999_990, 990_000, 900_000), load_of),
    *each(ID, NEAR_BELOW, (100_010, 110_000), exact),
    *cases(
        ID,
        LOOKALIKE,
        2,
        lambda draws: after_a_load(draws, LONG, LOAD_COLD, engine=True),
        also=("cold-load",),
        page="A load specializes the model",
    ),
    *cases(
        ID,
        LOOKALIKE,
        2,
        lambda draws: after_a_load(draws, LONG, warm_up=True, pause_ms=(1_500, 5_000)),
        page="A single prediction warms up",
    ),
    *cases(ID, LOOKALIKE, 2, another_instance_goes_on, page="Other instances"),
    *cases(ID, LOOKALIKE, 2, for_each_call, also=("reload-before-predict",), page="A model is loaded repeatedly"),
    *cases(ID, LOOKALIKE, 2, background_of_another),
    # Nothing shows what a plain load did.
    *cases(ID, INSUFFICIENT, 2, lambda draws: after_a_load(draws, LONG, LOAD)),
    *cases(ID, INSUFFICIENT, 1, attached_late, also=("attached-late",)),
    *cases(ID, INSUFFICIENT, 4, at_a_users_pace),
    *cases(ID, POSITIVE, 3, tapped_from_the_load_on),
]
