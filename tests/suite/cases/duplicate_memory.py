"""Copies of one model's memory."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.memory_apps import MB, SECOND, predicting, taking_turns
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


def exact(draws: Draws, percent: int) -> App:
    """A further load that adds so many percent of the 200 MB of the first one."""
    return quiet(draws, 200_000, 2_000 * percent)


def of_size(draws: Draws, size_kb: int) -> App:
    """Two loads of so many KB."""
    return quiet(draws, size_kb, size_kb)


def quiet(draws: Draws, first_kb: int, further_kb: int) -> App:
    """Two instances in turns of which nothing but the loads changes the footprint."""
    app = start_recording(draws, memory=True, noise=False, jitter=0)
    base = draw_models(draws)[0].base
    for number, size in enumerate((first_kb, further_kb), 1):
        app.pause(3 * SECOND)
        app.load(Model(base, number), 120 * MS)
        app.hold(size * 1_000)
    app.pause(3 * SECOND)
    for number in range(60):
        app.predict(Model(base, number % 2 + 1), neural_engine(8 * MS))
        app.pause(10 * MS)
    return app


def shared_weights(draws: Draws) -> App:
    """Instances whose weights are mapped from one file: a further one adds little."""
    return taking_turns(draws, draws.integer(200, 400), draws.integer(2, 12))


def one_instance(draws: Draws) -> App:
    """One instance."""
    return predicting(draws, calls=70)


def replaced(draws: Draws) -> App:
    """An instance takes over from another, and holds as much."""
    app = start_recording(draws, memory=True)
    base, size = draw_models(draws)[0].base, draws.integer(60, 300) * MB
    for number in (1, 2):
        app.load(Model(base, number), 60 * MS)
        app.hold(size)
        for _ in range(40):
            app.predict(Model(base, number), neural_engine(9 * MS))
            app.pause(60 * MS)
        app.pause(3 * SECOND)
    return app


def in_parallel(draws: Draws) -> App:
    """Two instances on purpose: each call of one overlaps a call of the other."""
    app = start_recording(draws, memory=True)
    base = draw_models(draws)[0].base
    models = [Model(base, 1), Model(base, 2)]
    for model in models:
        app.pause(3 * SECOND)
        app.load(model, 120 * MS)
        app.hold(200 * MB)
    app.pause(2 * SECOND)
    for _ in range(40):
        started = app.now_ns
        for model in models:
            app.now_ns = started
            app.predict(model, cpu(9 * MS), inputs=0)
        app.pause(2 * MS)
    return app


def loaded_at_once(draws: Draws) -> App:
    """Two instances that are loaded between two samples."""
    return taking_turns(draws, 200, 200, apart_s=0)


def attached(draws: Draws) -> App:
    """The first sample comes after the first load."""
    app = taking_turns(draws, 200, 200)
    scenario = app.finish()
    first = min(row.end_ns for row in scenario.coreml)
    scenario.memory = [row for row in scenario.memory if row.start_ns > first]
    return app


def not_sampled(draws: Draws) -> App:
    """Activity Monitor saw other processes only."""
    app = two_copies(draws)
    scenario = app.finish()
    other = Process("Helper", 9_001)
    scenario.memory = [row for row in scenario.memory if row.process is not None] or scenario.memory[:0]
    scenario.processes.append(other)
    return app


CASES = [
    *cases(ID, POSITIVE, 7, two_copies, also=DOUBLED),
    *cases(ID, POSITIVE, 4, smaller_copies, also=DOUBLED),
    *cases(ID, NEGATIVE, 7, one_instance),
    *cases(ID, NEGATIVE, 4, shared_weights, also=DOUBLED, page="Instances share their weights"),
    *each(ID, NEAR_ABOVE, (51, 55, 70), exact, also=DOUBLED),
    *each(ID, NEAR_ABOVE, (20_100, 21_000, 25_000), of_size, also=DOUBLED),
    *each(ID, NEAR_BELOW, (49, 45, 30), exact, also=DOUBLED),
    *each(ID, NEAR_BELOW, (19_800, 18_000, 10_000), of_size, also=DOUBLED),
    *cases(ID, LOOKALIKE, 3, in_parallel, page="Instances run in parallel"),
    *cases(ID, LOOKALIKE, 3, replaced, page="A new instance replaces another"),
    *cases(ID, INSUFFICIENT, 3, loaded_at_once, also=DOUBLED),
    *cases(ID, INSUFFICIENT, 2, attached, also=DOUBLED),
    *cases(ID, INSUFFICIENT, 2, not_sampled, also=DOUBLED),
]
