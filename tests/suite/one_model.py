"""Apps that load one model, or several in a row, and call them again and again: what most labeled recordings are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models
from tracekit.testing.recorder import App, Step, Unit, start_recording
from tracekit.testing.rows import LOAD_CACHED, Model
from tracekit.testing.scenario import CORE_ML

EXACT = {"jitter": 0, "noise": False}
"""For a recording in which nothing is left to chance."""
UNITS: tuple[Unit, ...] = ("neural engine", "gpu", "cpu")


def started(draws: Draws, **recording: Any) -> tuple[App, Model]:
    """A recording that has just begun, and a model for it; takes what `start_recording` takes."""
    return start_recording(draws, **recording), draw_models(draws)[0]


def loaded(
    draws: Draws, load_ns: int = 90 * MS, label: str = LOAD_CACHED, *, engine: bool = False, **recording: Any
) -> tuple[App, Model]:
    """The same after a load of the model."""
    app, model = started(draws, **recording)
    app.load(model, load_ns, label, engine=engine)
    return app, model


def loaded_on_any(draws: Draws, load_ns: int = 90 * MS, units: Sequence[Unit] = UNITS) -> tuple[App, Model, Unit]:
    """The same with a unit for the model, which is drawn."""
    app, model = started(draws)
    unit = draws.choice(tuple(units))
    app.load(model, load_ns)
    return app, model, unit


def several_loaded(
    draws: Draws, count: int, load_ns: int = 90 * MS, *, engine: bool = False, **recording: Any
) -> tuple[App, list[Model]]:
    """So many models, loaded one after the other."""
    app = start_recording(draws, **recording)
    models = draw_models(draws, count)
    for model in models:
        app.load(model, load_ns, engine=engine)
    return app, models


def instances(draws: Draws, count: int, load_ns: int = 120 * MS, **recording: Any) -> tuple[App, list[Model]]:
    """So many instances of one model, loaded one after the other."""
    app, model = started(draws, **recording)
    models = [Model(model.base, number) for number in range(1, count + 1)]
    for each in models:
        app.load(each, load_ns)
    return app, models


def repeat(
    app: App,
    model: Model,
    step: Step | Callable[[int], Step],
    count: int,
    pause_ns: int | Callable[[int], int] | None = None,
    **options: Any,
) -> App:
    """So many calls, with a pause after each. What differs from call to call is a function of its number: the step, the
    pause, and options of `predict`."""
    for index in range(count):
        given = {name: value(index) if callable(value) else value for name, value in options.items()}
        app.predict(model, step(index) if callable(step) else step, **given)
        if pause_ns is not None:
            app.pause(pause_ns(index) if callable(pause_ns) else pause_ns)
    return app


def timed(app: App, model: Model, lengths_ns: Iterable[int], gap_ns: int = MS, around_ns: int = 1_000) -> App:
    """Calls of exactly these lengths on the CPU, which works for all of each but a moment before and after."""
    for length in lengths_ns:
        app.scenario.predict(model, app.now_ns, length).event("CPU", around_ns, length - 2 * around_ns)
        app.now_ns += length + gap_ns
    return app


def at_once(app: App, models: Sequence[Model], step: Step, rounds: int, pause_ns: int = 0, inputs: int = 1) -> App:
    """All models are called at the same time, again and again."""
    for _ in range(rounds):
        begin = app.now_ns
        for model in models:
            app.now_ns = begin
            app.predict(model, step, inputs=inputs)
        if pause_ns:
            app.pause(pause_ns)
    return app


def without(app: App, *schemas: str) -> App:
    """The same, and these tables were not recorded."""
    app.scenario.missing.update(schemas)
    return app


def without_engine(app: App) -> App:
    """The same, and the Neural Engine was not recorded."""
    return without(app, app.scenario.xcode.neural_engine_schema)


def unseen(app: App) -> App:
    """The same with an empty table of Core ML: Instruments may not look into the app."""
    app.scenario.emptied.add(CORE_ML)
    return app
