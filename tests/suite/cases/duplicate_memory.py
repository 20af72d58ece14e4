"""Copies of one model's memory."""

from __future__ import annotations

from functools import partial

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.memory_apps import MB, SECOND, of_others, predicting, taking_turns
from suite.one_model import EXACT, at_once, repeat, started
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models
from tracekit.testing.machines import Process
from tracekit.testing.recorder import App, cpu, neural_engine, start_recording
from tracekit.testing.rows import Model

ID = "duplicate-memory"
DOUBLED = ("duplicate-instances",)


def two_copies(draws: Draws) -> App:
    """Two or three instances, each with all of its memory."""
    size = draws.integer(60, 400)
    return taking_turns(draws, size, size, count=draws.integer(2, 3))


def smaller_copies(draws: Draws) -> App:
    """Further instances that share a part of what the first one holds."""
    size = draws.integer(100, 400)
    return taking_turns(draws, size, size * draws.integer(60, 90) // 100)


def quiet(draws: Draws, further_kb: int, first_kb: int = 0) -> App:
    """Two instances in turns of which nothing but the loads changes the footprint: by as much unless told otherwise."""
    app, model = started(draws, memory=True, **EXACT)
    for number, size in enumerate((first_kb or further_kb, further_kb), 1):
        app.pause(3 * SECOND)
        app.load(Model(model.base, number), 120 * MS)
        app.hold(size * 1_000)
    app.pause(3 * SECOND)
    for number in range(60):
        app.predict(Model(model.base, number % 2 + 1), neural_engine(8 * MS))
        app.pause(10 * MS)
    return app


to_200_mb = partial(quiet, first_kb=200_000)


def shared_weights(draws: Draws) -> App:
    """Instances whose weights are mapped from one file: a further one adds little."""
    return taking_turns(draws, draws.integer(200, 400), draws.integer(2, 12))


def replaced(draws: Draws) -> App:
    """An instance takes over from another, and holds as much."""
    app = start_recording(draws, memory=True)
    base, size = draw_models(draws)[0].base, draws.integer(60, 300) * MB
    for number in (1, 2):
        app.load(Model(base, number), 60 * MS)
        app.hold(size)
        repeat(app, Model(base, number), neural_engine(9 * MS), 40, 60 * MS)
        app.pause(3 * SECOND)
    return app


def in_parallel(draws: Draws) -> App:
    """Two instances on purpose: each call of one overlaps a call of the other."""
    app, model = started(draws, memory=True)
    models = [Model(model.base, 1), Model(model.base, 2)]
    for each_model in models:
        app.pause(3 * SECOND)
        app.load(each_model, 120 * MS)
        app.hold(200 * MB)
    app.pause(2 * SECOND)
    return at_once(app, models, cpu(9 * MS), 40, 2 * MS, inputs=0)


def attached(draws: Draws) -> App:
    """The first sample comes after the first load."""
    app = taking_turns(draws, 200, 200)
    scenario = app.finish()
    first = min(row.end_ns for row in scenario.coreml)
    scenario.memory = [row for row in scenario.memory if row.start_ns > first]
    return app


def not_sampled(draws: Draws) -> App:
    """Activity Monitor saw other processes only."""
    app = of_others(two_copies(draws))
    app.scenario.processes.append(Process("Helper", 9_001))
    return app


CASES = [
    *cases(ID, POSITIVE, 7, two_copies, also=DOUBLED),
    *cases(ID, POSITIVE, 4, smaller_copies, also=DOUBLED),
    # One instance.
    *cases(ID, NEGATIVE, 7, lambda draws: predicting(draws, calls=70)),
    *cases(ID, NEGATIVE, 4, shared_weights, also=DOUBLED, page="Instances share their weights"),
    *each(ID, NEAR_ABOVE, (102_000, 110_000, 140_000), to_200_mb, also=DOUBLED),
    *each(ID, NEAR_ABOVE, (20_100, 21_000, 25_000), quiet, also=DOUBLED),
    *each(ID, NEAR_BELOW, (98_000, 90_000, 60_000), to_200_mb, also=DOUBLED),
    *each(ID, NEAR_BELOW, (19_800, 18_000, 10_000), quiet, also=DOUBLED),
    *cases(ID, LOOKALIKE, 3, in_parallel, page="Instances run in parallel"),
    *cases(ID, LOOKALIKE, 3, replaced, page="A new instance replaces another"),
    # Two instances that are loaded between two samples.
    *cases(ID, INSUFFICIENT, 3, lambda draws: taking_turns(draws, 200, 200, apart_s=0), also=DOUBLED),
    *cases(ID, INSUFFICIENT, 2, attached, also=DOUBLED),
    *cases(ID, INSUFFICIENT, 2, not_sampled, also=DOUBLED),
]
