"""Compilations on the device."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, repeat, started
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models, many_models_app, neural_engine_app
from tracekit.testing.recorder import App, gpu, neural_engine, start_recording
from tracekit.testing.rows import LOAD_COLD, Model

ID = "recompiled-each-run"


def sessions(draws: Draws, count: int | None = None, compile_ms: int | None = None) -> App:
    """The feature is opened some times, some ten seconds apart, and each time compiles the model again."""
    app, model = started(draws)
    unit = draws.choice((neural_engine, gpu))
    for _ in range(count or draws.integer(2, 5)):
        app.compile(model, (compile_ms or draws.integer(300, 4_000)) * MS)
        app.load(model, 60 * MS)
        repeat(app, model, unit(9 * MS), draws.integer(20, 40), MS)
        app.pause(11_000 * MS)
    return app


def programs(draws: Draws) -> App:
    """The Neural Engine compiles the same program again and again while the app runs."""
    app = neural_engine_app(draws)
    for _ in range(draws.integer(3, 8)):
        app.scenario.other_neural_engine(
            app.now_ns, draws.integer(200, 2_500) * MS, app.model.engine_label(1, "Compile")
        )
        app.pause(3_000 * MS)
    return app


def exact(draws: Draws, compile_us: int) -> App:
    """Two compilations of this length; only the second is avoidable."""
    app, model = started(draws, **EXACT)
    for _ in range(2):
        app.compile(model, compile_us * 1_000)
        app.load(model, 50 * MS)
        repeat(app, model, neural_engine(8 * MS), 30)
        app.pause(11_000 * MS)
    return app


def engine_exact(draws: Draws, count: int) -> App:
    """One program that the Neural Engine compiles so often."""
    app = neural_engine_app(draws)
    for _ in range(count):
        app.scenario.other_neural_engine(app.now_ns, 400 * MS, app.model.engine_label(1, "Compile"))
        app.pause(2_000 * MS)
    return app


def downloaded_models(draws: Draws) -> App:
    """Each of several downloaded models is compiled once, and quickly."""
    app = many_models_app(draws, noise=False)
    for model in app.models:
        app.compile(model, draws.integer(20, 80) * MS)
    return app


def segments(draws: Draws) -> App:
    """A model of many segments, each of which the Neural Engine compiles once."""
    app = neural_engine_app(draws)
    for operation in range(draws.integer(6, 14)):
        app.scenario.other_neural_engine(app.now_ns, 300 * MS, app.model.engine_label(operation, "Compile"))
        app.pause(350 * MS)
    return app


def others_compile(draws: Draws) -> App:
    """Another process compiles its own model again and again."""
    app = neural_engine_app(draws)
    label = Model("Foreign_encoder").engine_label(1, "Compile")
    for _ in range(10):
        app.occupy("neural engine", app.now_ns, draws.integer(1_500, 3_000) * MS, label=label)
        app.pause(3_500 * MS)
    return app


def two_files_of_one_name(draws: Draws) -> App:
    """Two downloaded models whose files are called alike, each compiled once: one takes one input, the other three."""
    app = start_recording(draws)
    base = draw_models(draws)[0].base
    models = [Model(base, 1), Model(base, 2)]
    for model in models:
        app.compile(model, draws.integer(400, 3_000) * MS)
    for model in models:
        app.load(model, 60 * MS)
    for _ in range(30):
        for model, inputs in zip(models, (1, 3), strict=True):
            app.predict(model, neural_engine(9 * MS), inputs=inputs)
            app.pause(MS)
    return app


def prepared_by_the_load(draws: Draws) -> App:
    """The Neural Engine compiles the parts of a model during its first load on the device."""
    app, model = started(draws)
    start = app.now_ns
    app.load(model, 4_000 * MS, LOAD_COLD)
    for operation in range(4):
        label = model.engine_label(operation, "Compile")
        app.scenario.other_neural_engine(start + (200 + 900 * operation) * MS, 700 * MS, label)
    app.pause(3_000 * MS)
    return repeat(app, model, neural_engine(9 * MS), 60, MS)


def one_download(draws: Draws) -> App:
    """One compilation: of a downloaded model, or at each launch."""
    return sessions(draws, count=1, compile_ms=draws.integer(300, 4_000))


CASES = [
    *cases(ID, POSITIVE, 7, sessions),
    *cases(ID, POSITIVE, 4, programs),
    *cases(ID, NEGATIVE, 5, neural_engine_app),
    *cases(ID, NEGATIVE, 3, many_models_app),
    *cases(ID, NEGATIVE, 2, downloaded_models),
    *each(ID, NEAR_ABOVE, (100_000, 101_000, 110_000), exact),
    *each(ID, NEAR_ABOVE, (3, 4), engine_exact),
    # Each repetition adds to what is lost.
    *each(ID, NEAR_BELOW, (99_990, 99_000, 90_000), exact, found_in_more=(ID,)),
    *each(ID, NEAR_BELOW, (1, 2), engine_exact, found_in_more=(ID,)),
    *cases(ID, LOOKALIKE, 3, two_files_of_one_name, page="Several models have the same"),
    *cases(ID, LOOKALIKE, 2, prepared_by_the_load, page="The Neural Engine compiles"),
    *cases(ID, LOOKALIKE, 2, segments),
    *cases(ID, LOOKALIKE, 2, others_compile, also=("foreign-neural-engine-work",), page="Other processes compile: the"),
    *cases(ID, INSUFFICIENT, 3, one_download, page="The model was just downloaded"),
]
