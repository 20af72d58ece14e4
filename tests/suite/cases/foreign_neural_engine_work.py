"""Other processes on the Neural Engine."""

from __future__ import annotations

from functools import partial

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, loaded, repeat, started, without_engine
from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, draw_models, gpu_app, neural_engine_app
from tracekit.testing.recorder import App, neural_engine, start_recording
from tracekit.testing.rng import on_clock
from tracekit.testing.rows import ENGINE_LOAD, ENGINE_PREDICTION, Model
from tracekit.testing.scenario import CORE_ML

ID = "foreign-neural-engine-work"
WAITS = ("neural-engine-contention", "latency-jitter", "unexplained-time", "shape-switching", "warm-up-spike")
"""Requests of the app wait for those of others."""


def photos(draws: Draws) -> App:
    """Another process analyzes photos while the app works: between its calls, and in their way."""
    label = Model("PhotoScene").engine_label() if draws.chance(500) else ENGINE_PREDICTION
    share = draws.integer(3, 8)

    def others(app: App, index: int) -> None:
        if index % 3 == 0:
            app.scenario.other_neural_engine(on_clock(app.now_ns), 2 * MS * share)
            app.now_ns += 2 * MS * share + 2 * MS

    app = neural_engine_app(draws, before=others)
    rows = app.scenario.neural_engine
    for position, row in enumerate(rows):
        if row.prediction is None and row.label == ENGINE_PREDICTION:
            rows[position] = type(row)(row.start_ns, row.duration_ns, label)
    return app


def afterwards(draws: Draws) -> App:
    """Dictation begins when the app is done."""
    app = camera_app(draws)
    for _ in range(60):
        app.pause(8 * MS)
        app.scenario.other_neural_engine(on_clock(app.now_ns), 14 * MS)
        app.now_ns += 14 * MS
    return app


def exactly(draws: Draws, others_us: int, label: str = ENGINE_PREDICTION) -> App:
    """95 calls with 10 ms on the engine each, and work of others for so long: 50 ms are a twentieth."""
    app, model = loaded(draws, **EXACT)
    for _ in range(95):
        prediction = app.scenario.predict(model, app.now_ns, 10 * MS)
        prediction.neural_engine(0, 10 * MS)
        app.now_ns += 12 * MS
    app.scenario.other_neural_engine(app.now_ns + 50 * MS, others_us * 1_000, label)
    app.pause(300 * MS)
    return app


def exactly_named(draws: Draws, others_us: int) -> App:
    """The same by a model that the target never loaded."""
    return exactly(draws, others_us, Model("PhotoScene").engine_label())


def own_work_elsewhere(draws: Draws) -> App:
    """The app's own model works outside any call, as labels tell."""
    app = neural_engine_app(draws)
    for _ in range(40):
        app.pause(20 * MS)
        app.scenario.other_neural_engine(on_clock(app.now_ns), 9 * MS, app.model.engine_label())
    app.pause(20 * MS)
    app.predict(app.model, neural_engine(9 * MS))
    return app


def loads_of_others(draws: Draws) -> App:
    """Other processes load models: that is no execution."""
    app = neural_engine_app(draws)
    for _ in range(6):
        app.pause(100 * MS)
        app.scenario.other_neural_engine(on_clock(app.now_ns), 80 * MS, ENGINE_LOAD)
    return app


def no_prediction(draws: Draws) -> App:
    """The app only loads its model while the engine works."""
    app = start_recording(draws)
    app.load(draw_models(draws)[0])
    for _ in range(30):
        app.pause(20 * MS)
        app.scenario.other_neural_engine(on_clock(app.now_ns), 8 * MS)
    return app


def nothing_to_compare_with(draws: Draws) -> App:
    """Core ML's table is empty."""
    app, model = started(draws, generic_labels=True)
    repeat(app, model, neural_engine(9 * MS), 8)
    app.scenario.emptied.add(CORE_ML)
    return app


CASES = [
    *cases(ID, POSITIVE, 8, photos, also=WAITS),
    *cases(ID, POSITIVE, 4, afterwards, also=WAITS),
    *cases(ID, NEGATIVE, 5, neural_engine_app),
    *cases(ID, NEGATIVE, 5, camera_app),
    *each(ID, NEAR_ABOVE, (50_000, 50_500, 52_000), exactly),
    *each(ID, NEAR_ABOVE, (50_000, 51_000, 53_000), exactly_named),
    *each(ID, NEAR_BELOW, (49_000, 49_875, 45_000), exactly),
    *each(ID, NEAR_BELOW, (49_000, 49_875, 46_000), exactly_named),
    *cases(ID, LOOKALIKE, 2, own_work_elsewhere, page="Core ML did not record"),
    # The app's model alone, with rows that name no model, each inside one of its calls.
    *cases(
        ID, LOOKALIKE, 2, partial(neural_engine_app, generic_labels=True), page="A row with a generic label is inside"
    ),
    *cases(ID, LOOKALIKE, 2, loads_of_others),
    *cases(ID, LOOKALIKE, 1, gpu_app),
    *cases(ID, INSUFFICIENT, 1, no_prediction),
    *cases(ID, INSUFFICIENT, 1, lambda draws: without_engine(neural_engine_app(draws))),
    *cases(ID, INSUFFICIENT, 1, nothing_to_compare_with),
]
