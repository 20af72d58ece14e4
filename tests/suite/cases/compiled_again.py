"""Loads that compile a model which an earlier load of the launch has compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from suite.cases.slow_load import calls
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, started
from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, neural_engine_app
from tracekit.testing.recorder import App, Step, gpu, neural_engine, start_recording
from tracekit.testing.rows import LOAD, LOAD_CACHED, LOAD_COLD, Model

ID = "compiled-again"
OTHERS = ("cold-load", "load-churn", "reload-before-predict", "warm-up-spike", "slow-load")
"""What is right to be found in some of these too: somebody waits, or the model is reloaded."""


def loaded_twice(draws: Draws, label: str = LOAD_COLD, load_ms: int = 0, pause_ms: int = 3_000, times: int = 2) -> App:
    """The model is used, released and loaded again, in the background; the first load is cold."""
    app, model = started(draws, **EXACT)
    for number in range(times):
        app.load(model, (load_ms or draws.integer(900, 6_000)) * MS, label if number else LOAD_COLD, engine=not load_ms)
        app.pause(pause_ms * MS)
        calls(app, draws, model, 60)
        app.pause(9_000 * MS)
    return app


def another_model_too(draws: Draws) -> App:
    """Of two models, one is compiled again."""
    app = start_recording(draws, **EXACT)
    for label in (LOAD_COLD, LOAD_CACHED):
        for model, of in ((Model("Listener"), label), (Model("Speaker"), LOAD_COLD)):
            app.load(model, (1_500 if of == LOAD_COLD else 60) * MS, of)
            app.pause(3_000 * MS)
            calls(app, draws, model, 40)
        app.pause(9_000 * MS)
    return app


def two_instances(draws: Draws, second: Callable[[int], Step], gap_ms: int = 3_000) -> App:
    """A second instance is compiled so long after the first one is, or begins that long before its end."""
    app, model = started(draws, **EXACT)
    first, other = (Model(model.base, number) for number in (1, 2))
    end = app.scenario.load(first, app.now_ns, 2_000 * MS, LOAD_COLD)
    app.now_ns = app.scenario.load(other, end + gap_ms * MS, 2_500 * MS, LOAD_COLD) + 3_000 * MS
    for _ in range(40):
        app.predict(first, neural_engine(9 * MS))
        app.predict(other, second(9 * MS))
        app.pause(20 * MS)
    return app


CASES = [
    *cases(ID, POSITIVE, 5, loaded_twice, also=OTHERS),
    *cases(ID, POSITIVE, 3, partial(loaded_twice, times=3), also=OTHERS),
    *cases(ID, POSITIVE, 2, partial(loaded_twice, pause_ms=0), also=OTHERS),
    *cases(ID, NEGATIVE, 4, neural_engine_app),
    *cases(ID, NEGATIVE, 2, camera_app),
    *cases(
        ID,
        NEGATIVE,
        4,
        partial(loaded_twice, label=LOAD_CACHED, load_ms=90),
        also=OTHERS,
        page="The first load compiles",
    ),
    *each(
        ID,
        NEAR_ABOVE,
        (100, 101, 102, 105, 110),
        lambda draws, load_ms: loaded_twice(draws, load_ms=load_ms),
        also=OTHERS,
    ),
    *each(
        ID, NEAR_BELOW, (99, 98, 97, 95, 90), lambda draws, load_ms: loaded_twice(draws, load_ms=load_ms), also=OTHERS
    ),
    *cases(ID, POSITIVE, 2, another_model_too, expected={"Speaker": "finding", "Listener": "passed"}, also=OTHERS),
    *cases(
        ID,
        LOOKALIKE,
        3,
        partial(two_instances, second=neural_engine, gap_ms=-1_000),
        also=("duplicate-instances",),
        page="Several instances",
    ),
    *cases(ID, LOOKALIKE, 3, partial(two_instances, second=gpu), page="Instances have another"),
    *cases(ID, INSUFFICIENT, 3, partial(loaded_twice, label=LOAD, load_ms=4_000), also=OTHERS),
]
