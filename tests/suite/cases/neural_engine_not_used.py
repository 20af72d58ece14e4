"""Models that a load prepares for the Neural Engine, and that never run there."""

from __future__ import annotations

from suite.frame import (
    INSUFFICIENT,
    LOOKALIKE,
    NEAR_ABOVE,
    NEAR_BELOW,
    NEGATIVE,
    NOT_APPLICABLE,
    POSITIVE,
    cases,
    each,
)
from suite.one_model import repeat, without_engine
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models
from tracekit.testing.recorder import App, Step, cpu, gpu, neural_engine, start_recording
from tracekit.testing.rows import LOAD_COLD
from tracekit.testing.stacks import COMPILE_ON_DEVICE, LOAD, LOAD_PROGRAM, espresso

ID = "neural-engine-not-used"
TRY = espresso("Espresso", "AOT", "Validators", "AneValidator", "Validate")
"""What tries the Neural Engine while a model is compiled."""


def tried(draws: Draws, *steps: Step, tried_ms: int = 600, others: bool = True, machine: int | None = None) -> App:
    """A load of 1.5 s that tries the Neural Engine for some of it, then predictions of these steps. With `others`,
    another process works on the Neural Engine a few times, so that its table has rows."""
    app = start_recording(draws, code=True, machine=machine)
    model = draw_models(draws)[0]
    assert app.code is not None
    start = app.now_ns
    app.load(model, 1_500 * MS, LOAD_COLD)
    app.pause(3_000 * MS)
    inner = (TRY, COMPILE_ON_DEVICE, LOAD_PROGRAM, LOAD)
    kept = [row for row in app.scenario.samples if not start <= row.time_ns < start + tried_ms * MS]
    app.scenario.samples[:] = kept
    app.code.runs(start, tried_ms * MS, *inner)
    if others:
        for at in range(5):
            app.scenario.other_neural_engine(start + at * 20 * MS, MS)
    for _ in range(60):
        app.predict(model, *steps)
        app.pause(MS)
    return app


def on_gpu(draws: Draws) -> App:
    """All predictions on the GPU."""
    return tried(draws, gpu(draws.integer(6, 20) * MS), tried_ms=draws.integer(300, 1_200))


def on_cpu(draws: Draws) -> App:
    """All on the CPU."""
    return tried(draws, cpu(draws.integer(3, 12) * MS), tried_ms=draws.integer(300, 1_200))


def with_empty_table(draws: Draws) -> App:
    """On the GPU; the engine's table has no row of anybody, as in public recordings."""
    app = tried(draws, gpu(draws.integer(6, 20) * MS), others=False)
    app.scenario.emptied.add(app.scenario.xcode.neural_engine_schema)
    return app


def on_engine(draws: Draws, machine: int | None = None) -> App:
    """What was tried is used."""
    return tried(draws, neural_engine(draws.integer(5, 15) * MS), machine=machine)


def in_part(draws: Draws) -> App:
    """A short part of each prediction runs on the engine."""
    return tried(draws, neural_engine(MS), gpu(draws.integer(6, 12) * MS))


def now_and_then(draws: Draws) -> App:
    """Few predictions run on the engine, the others on the GPU."""
    app = start_recording(draws, code=True)
    model = draw_models(draws)[0]
    app.load(model, 1_500 * MS, LOAD_COLD)
    assert app.code is not None
    app.code.runs(app.now_ns - 800 * MS, 500 * MS, TRY, COMPILE_ON_DEVICE, LOAD_PROGRAM, LOAD)
    app.pause(3_000 * MS)
    for number in range(60):
        app.predict(model, neural_engine(8 * MS) if number % 6 == 0 else gpu(8 * MS))
        app.pause(MS)
    return app


def never_tried(draws: Draws) -> App:
    """A cold load that compiles without trying the engine."""
    app = start_recording(draws, code=True)
    model = draw_models(draws)[0]
    app.load(model, 1_500 * MS, LOAD_COLD)
    app.pause(3_000 * MS)
    return repeat(app, model, lambda _: gpu(9 * MS), 60, host_ns=MS)


def from_the_cache(draws: Draws) -> App:
    """A load from the cache tries nothing."""
    app = start_recording(draws, code=True)
    model = draw_models(draws)[0]
    app.load(model, 90 * MS)
    return repeat(app, model, lambda _: gpu(9 * MS), 60, host_ns=MS)


def for_so_long(draws: Draws, tried_ms: int) -> App:
    """Tried for so many ms."""
    return tried(draws, gpu(9 * MS), tried_ms=tried_ms)


COLD = ("cold-load", "foreign-neural-engine-work")

CASES = [
    *cases(ID, POSITIVE, 4, on_gpu, also=COLD),
    *cases(ID, POSITIVE, 3, on_cpu, also=COLD),
    *cases(ID, POSITIVE, 3, with_empty_table, also=COLD),
    *cases(ID, NEGATIVE, 6, on_engine, also=COLD),
    *cases(ID, NEGATIVE, 4, in_part, also=(*COLD, "idle-compute-units")),
    *each(ID, NEAR_ABOVE, (101, 102, 105, 110, 120), for_so_long, also=COLD),
    *each(ID, NEAR_BELOW, (99, 98, 95, 90, 80), for_so_long, expected=NOT_APPLICABLE, also=COLD),
    *cases(
        ID, LOOKALIKE, 2, now_and_then, page="Few predictions run on the Neural Engine", also=(*COLD, "shape-switching")
    ),
    *cases(ID, LOOKALIKE, 2, never_tried, also=COLD),
    *cases(ID, LOOKALIKE, 2, from_the_cache, page="The load comes from the cache", also=COLD),
    *cases(
        ID,
        INSUFFICIENT,
        3,
        # A system that records no requests to the engine.
        lambda draws: without_engine(on_engine(draws, machine=5)),
        page="The Neural Engine was not recorded",
        also=COLD,
    ),
]
