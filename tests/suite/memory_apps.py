"""Apps whose footprint is recorded: what they hold is said, so that it is known what must be found."""

from __future__ import annotations

from collections.abc import Callable

from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, draw_models, neural_engine_app
from tracekit.testing.recorder import App, Unit, cpu, gpu, neural_engine, start_recording
from tracekit.testing.rows import Model

MB = 1_000_000
SECOND = 1_000 * MS


def predicting(
    draws: Draws,
    holds: Callable[[App, int], int] = lambda _app, _index: 0,
    *,
    calls: int = 0,
    every_ms: int = 400,
    model_mb: int = 80,
    **recording: object,
) -> App:
    """A model that is loaded once and called at a pace; before each prediction the app holds so many bytes more."""
    app = start_recording(draws, memory=True, **recording)
    model = draw_models(draws)[0]
    app.load(model, engine=True)
    app.hold(model_mb * MB)
    work = draws.integer(6, 14) * MS
    for index in range(calls or draws.integer(110, 130)):
        app.hold(holds(app, index))
        start = app.now_ns
        app.predict(model, neural_engine(work))
        app.now_ns = start + every_ms * MS
    return app


def reloading(
    draws: Draws,
    kept: Callable[[int, int], int],
    *,
    loads: int = 7,
    model_mb: int = 0,
    grown_mb: int = 0,
    used_s: int = 0,
    **recording: object,
) -> App:
    """A model that is loaded, used for some seconds and released, again and again; of what load number `index` added,
    `kept(index, size)` bytes stay after its release. Each use adds `grown_mb` that stay too."""
    app = start_recording(draws, memory=True, **recording)
    model = draw_models(draws)[0]
    size = (model_mb or draws.integer(60, 300)) * MB
    for index in range(loads):
        app.load(model, 90 * MS, engine=True)
        app.hold(size)
        uses = used_s or draws.integer(3, 5)
        for _ in range(uses):
            app.pause(SECOND // 2)
            app.hold(grown_mb * MB // uses)
            for _ in range(4):
                app.predict(model, neural_engine(9 * MS))
                app.pause(100 * MS)
        app.pause(3 * SECOND)
        app.hold(kept(index, size) - size)
        app.pause(9 * SECOND)
    return app


def taking_turns(
    draws: Draws, size_mb: int, further_mb: int, *, count: int = 2, apart_s: int = 3, unit: Unit | None = None
) -> App:
    """Instances of one model that are called in turns: the first load adds `size_mb`, each further one `further_mb`."""
    app = start_recording(draws, memory=True)
    base = draw_models(draws)[0].base
    models = [Model(base, number) for number in range(1, count + 1)]
    for number, model in enumerate(models):
        app.pause(apart_s * SECOND)
        app.load(model, 120 * MS)
        app.hold((further_mb if number else size_mb) * MB)
    app.pause(apart_s * SECOND)
    makers = {"neural engine": neural_engine, "gpu": gpu, "cpu": cpu, None: draws.choice((neural_engine, gpu))}
    for number in range(draws.integer(60, 90)):
        app.predict(models[number % count], makers[unit](8 * MS))
        app.pause(draws.integer(1, 20) * MS)
    return app


def clean(draws: Draws) -> App:
    """An app whose footprint is recorded and stays level."""
    make = draws.choice((neural_engine_app, camera_app))
    app = make(draws, memory=True)
    app.held.append((200 * MS, draws.integer(20, 300) * MB))
    return app


def of_others(app: App) -> App:
    """The same, and Activity Monitor saw other processes only."""
    scenario = app.finish()
    scenario.memory = [row for row in scenario.memory if row.process is not None]
    return app


def not_recorded(app: App) -> App:
    """The same without footprints."""
    app.memory = False
    return app
