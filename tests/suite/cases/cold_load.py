"""Loads that prepare the model for the device."""

from __future__ import annotations

from functools import partial

from suite.cases.slow_load import (
    LENGTHS,
    WAITS,
    after_a_load,
    another_instance_goes_on,
    at_a_users_pace,
    attached_late,
    before_many_slow_calls,
    calls,
    exact,
    waiting,
)
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, repeat, started
from suite.weight import Weight
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models, neural_engine_app
from tracekit.testing.recorder import App, neural_engine, start_recording
from tracekit.testing.rows import LOAD, LOAD_CACHED, LOAD_COLD

ID = "cold-load"
LOADS = (400, 30_000)
"""In ms."""
call_after = partial(exact, label=LOAD_COLD)
"""The first call comes so long after a cold load of 2 s."""


def plain_rows(draws: Draws) -> App:
    """The same on a system that does not tell cold from cached, but the Neural Engine shows the preparation."""
    app, model = started(draws)
    start, length = app.now_ns, draws.integer(800, 9_000) * MS
    app.load(model, length, LOAD)
    app.scenario.other_neural_engine(start + length // 5, length // 2, model.engine_label(1, "Compile"))
    return calls(app, draws, model)


def first_of_many(draws: Draws) -> App:
    """Plain loads: the first takes far longer than the same model's later ones."""
    app, model = started(draws)
    app.load(model, draws.integer(1_500, 6_000) * MS, LOAD)
    for _ in range(4):
        calls(app, draws, model, 30)
        app.pause(9_000 * MS)
        app.load(model, draws.integer(20, 60) * MS, LOAD)
    return calls(app, draws, model, 30)


def on_the_main_thread(draws: Draws) -> App:
    """The load blocks the main thread; the model is called much later."""
    app, model = started(draws)
    start = app.now_ns
    app.load(model, draws.integer(600, 5_000) * MS, LOAD_COLD, engine=True)
    app.scenario.hang(start + MS, app.now_ns - start - 2 * MS)
    app.pause(3_000 * MS)
    return calls(app, draws, model)


def load_of(draws: Draws, load_ms: int) -> App:
    """A cold load of this length that the first call waits for."""
    return exact(draws, load_us=load_ms * 1_000, label=LOAD_COLD)


def behind_other_setup(draws: Draws, between: str = "load") -> App:
    """The app goes through further setup before it gets to the first call of the model that it prepared."""
    app = start_recording(draws)
    large, small = draw_models(draws, 2)
    app.load(large, draws.integer(1_000, 11_000) * MS, LOAD_COLD, engine=True)
    if "compile" in between:
        app.compile(small, draws.integer(150, 900) * MS)
    app.load(small, draws.integer(150, 400) * MS)
    if "first call" in between:
        app.predict(small, neural_engine(draws.integer(120, 300) * MS))
    calls(app, draws, large, 40)
    return repeat(app, small, lambda _: neural_engine(draws.integer(9, 10) * MS), 20, MS)


def side_by_side(draws: Draws) -> App:
    """Two models are loaded at the same time, and the call comes when the longer load has ended."""
    app = start_recording(draws)
    (first, second), start = draw_models(draws, 2), app.now_ns
    app.scenario.load(second, start + 5 * MS, 4_000 * MS, LOAD_CACHED)
    app.load(first, 2_500 * MS, LOAD_COLD)
    app.now_ns = start + 4_010 * MS
    calls(app, draws, first, 40)
    return calls(app, draws, second, 20)


def gap_in_the_chain(draws: Draws, gap_us: int) -> App:
    """A cold load, so long a gap, a cached load of another model, and the call at once."""
    app = start_recording(draws, **EXACT)
    large, small = draw_models(draws, 2)
    app.load(large, 2_000 * MS, LOAD_COLD)
    begin = app.scenario.coreml[-1].end_ns + gap_us * 1_000
    end = app.scenario.load(small, begin, 240 * MS, LOAD_CACHED)
    for k in range(60):
        for model in (large, small):
            app.scenario.predict(model, end + k * 40 * MS, 15 * MS).event("CPU", 0, 15 * MS)
            end += 20 * MS
    return app


def while_another_is_loaded(draws: Draws) -> App:
    """A second model is still being prepared in the background when the user gets to the first, seconds after it."""
    app = start_recording(draws)
    first, second = draw_models(draws, 2)
    start = app.now_ns
    app.load(first, 2_000 * MS, LOAD_COLD)
    app.scenario.load(second, start + 500 * MS, 20_000 * MS, LOAD_COLD)
    app.pause(5_000 * MS)
    calls(app, draws, first)
    app.now_ns = start + 25_000 * MS
    return calls(app, draws, second, 20)


SETUP = ("warm-up-spike", "latency-jitter", "recompiled-each-run")
"""A slow first call of the other model is one, and so is a model that is compiled each time."""


def one_wait_for_several(draws: Draws, models: int) -> App:
    """So many models are prepared at the same time, for 6 s, and then called in turn."""
    app = start_recording(draws, **EXACT)
    drawn, start = draw_models(draws, models), app.now_ns
    for model in drawn:
        app.scenario.load(model, start, 6_000 * MS, LOAD_COLD)
    app.now_ns = start + 6_000 * MS
    for _ in range(10):
        for model in drawn:
            app.predict(model, neural_engine(9 * MS))
    return app


CASES = [
    *(
        case
        for wait_ms, severity in WAITS.items()
        for case in each(
            ID, POSITIVE, LENGTHS, waiting(wait_ms, LOAD_COLD), weight=Weight(severity, savings_ms=wait_ms)
        )
    ),
    *each(ID, POSITIVE, (2, 4, 2, 4), one_wait_for_several, also=(ID,), weight=Weight("critical", 6_000)),
    *cases(
        ID,
        POSITIVE,
        2,
        partial(before_many_slow_calls, label=LOAD_COLD),
        also=("latency-jitter",),
        weight=Weight("critical", 6_000, first=True),
    ),
    *each(
        ID, POSITIVE, ("load", "load", "compile", "first call", "compile, first call"), behind_other_setup, also=SETUP
    ),
    *cases(ID, POSITIVE, 2, side_by_side, also=("slow-load",)),
    *each(ID, NEAR_ABOVE, (0, 99_000, 100_000), gap_in_the_chain),
    *each(ID, NEAR_BELOW, (100_010, 101_000, 150_000), gap_in_the_chain),
    *cases(ID, LOOKALIKE, 2, while_another_is_loaded),
    # The model is loaded when it is needed, and the first call waits.
    *cases(ID, POSITIVE, 5, lambda draws: after_a_load(draws, LOADS, LOAD_COLD, engine=True)),
    *cases(ID, POSITIVE, 3, plain_rows),
    *cases(ID, POSITIVE, 2, first_of_many, also=("load-churn",)),
    *cases(ID, POSITIVE, 2, on_the_main_thread, also=("main-thread-work",)),
    *cases(ID, NEGATIVE, 5, neural_engine_app),
    *cases(
        ID,
        NEGATIVE,
        5,
        lambda draws: after_a_load(draws, LOADS, LOAD_COLD, engine=True, pause_ms=(500, 5_000)),
        page="The model is specialized in",
    ),
    *each(ID, NEAR_ABOVE, (90_000, 99_000, 100_000), call_after),
    *each(ID, NEAR_ABOVE, (100, 101, 105), load_of),
    *each(ID, NEAR_BELOW, (100_001, 101_000, 110_000), call_after),
    *each(ID, NEAR_BELOW, (99, 97, 90), load_of),
    # A large model that takes long to load from the cache.
    *cases(
        ID, LOOKALIKE, 2, lambda draws: after_a_load(draws, LOADS, engine=True), also=("slow-load",), page="A large"
    ),
    *cases(
        ID,
        LOOKALIKE,
        2,
        lambda draws: after_a_load(draws, LOADS, LOAD_COLD, engine=True, warm_up=True, pause_ms=(1_500, 5_000)),
        page="A single prediction warms up",
    ),
    *cases(ID, LOOKALIKE, 1, lambda draws: another_instance_goes_on(draws, LOAD_COLD, 60), page="Other instances keep"),
    *cases(ID, INSUFFICIENT, 2, lambda draws: after_a_load(draws, (400, 9_000), LOAD)),
    *cases(ID, INSUFFICIENT, 1, attached_late, also=("attached-late",)),
    # The first call follows a cold load at once, the second after a gap; all others come as the user taps.
    *cases(ID, INSUFFICIENT, 4, partial(at_a_users_pace, label=LOAD_COLD)),
]
