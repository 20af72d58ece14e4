"""Predictions that are cut into pieces on the Neural Engine."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, Allowed, cases, each
from suite.one_model import EXACT, loaded, without_engine
from tracekit.testing import Draws
from tracekit.testing.apps import MS, decoder_app, draw_models, neural_engine_app, pipeline_app
from tracekit.testing.recorder import App, Stage, cpu, neural_engine, start_recording

ID = "neural-engine-fragmentation"
ASSISTANT = "Assistant_main__Op0_AneInference Prediction"


def cut(app: App, pieces: int, work_ns: int, gap_ns: int, count: int = 60) -> App:
    """Predictions of so many pieces with a gap after each but the last."""
    model = draw_models(app.draws)[0]
    app.load(model, engine=True)
    for _ in range(count):
        works = [app.draws.around(work_ns, app.work.jitter) for _ in range(pieces)]
        gaps = [app.draws.around(gap_ns, app.work.jitter) for _ in range(pieces - 1)] + [0]
        prediction = app.scenario.predict(model, app.now_ns, sum(works) + sum(gaps) + 60_000)
        at = 30_000
        for number, (work, gap) in enumerate(zip(works, gaps, strict=True)):
            prediction.neural_engine(at, work, operation=2 * number)
            at += work + gap
        prediction.event("Input Validation", 3_000, 7_500)
        app.now_ns += at + 300_000
    return app


def in_pieces(draws: Draws) -> App:
    """Three to twelve pieces, and a gap of a fifth to a whole piece after each."""
    work = draws.integer(1, 4) * MS
    return cut(start_recording(draws), draws.integer(3, 12), work, work * draws.integer(20, 100) // 100)


def to_share(draws: Draws, permille: int) -> App:
    """Exact calls of 20 ms in three pieces with gaps of this share in all."""
    app, model = loaded(draws, engine=True, **EXACT)
    gap = 10 * MS * permille // 1_000
    work = (20 * MS - 2 * gap) // 3
    for _ in range(60):
        prediction = app.scenario.predict(model, app.now_ns, 20 * MS)
        for number in range(3):
            prediction.neural_engine(number * (work + gap), work, operation=2 * number)
        app.now_ns += 21 * MS
    return app


def without_gaps(draws: Draws) -> App:
    """Pieces that follow each other at once."""
    return cut(start_recording(draws), 6, 2 * MS, 40_000)


def stages(draws: Draws) -> App:
    """A pipeline of four models on the Neural Engine."""
    return pipeline_app(draws, stages=tuple(Stage(name, (neural_engine(4 * MS),)) for name in "ABCD"))


def others_in_between(draws: Draws) -> App:
    """Work of others between the pieces of an otherwise whole model."""
    app, model = loaded(draws, engine=True, noise=False)
    for _ in range(60):
        prediction = app.scenario.predict(model, app.now_ns, 21 * MS)
        for number in range(3):
            prediction.neural_engine(number * 8 * MS, 4 * MS, operation=number)
            if number < 2:
                app.scenario.other_neural_engine(app.now_ns + number * 8 * MS + 4 * MS, 4 * MS, ASSISTANT)
        app.now_ns += 25 * MS
    return app


def converted(draws: Draws) -> App:
    """Between parts on the Neural Engine, the CPU converts what these exchange."""
    app, model = loaded(draws, engine=True, **EXACT)
    for _ in range(60):
        prediction = app.scenario.predict(model, app.now_ns, 20 * MS)
        for turn in range(4):
            prediction.neural_engine(5 * turn * MS, 2 * MS, operation=turn)
            prediction.event("Data Cast", (5 * turn + 2) * MS, 3 * MS - 50_000)
        app.now_ns += 21 * MS
    return app


def cpu_in_between(draws: Draws) -> App:
    """The CPU works in the gaps."""
    app, model = loaded(draws, engine=True)
    for _ in range(60):
        app.predict(model, *(neural_engine(3 * MS), cpu(2 * MS)) * 2, neural_engine(3 * MS))
        app.pause(300_000)
    return app


OTHERS: tuple[Allowed, ...] = ("neural-engine-contention", "foreign-neural-engine-work")
COPIES: tuple[Allowed, ...] = ("excess-data-copies", "float-conversion")
BACK_AND_FORTH: tuple[Allowed, ...] = ("compute-unit-ping-pong", "idle-compute-units")

CASES = [
    *cases(ID, POSITIVE, 11, in_pieces),
    *cases(ID, NEGATIVE, 4, neural_engine_app),
    *cases(ID, NEGATIVE, 3, decoder_app, expected="no_finding"),
    *cases(ID, NEGATIVE, 3, pipeline_app),
    *each(ID, NEAR_ABOVE, (100, 101, 103, 106, 110), to_share),
    *each(ID, NEAR_BELOW, (85, 92, 95, 98, 99), to_share),
    # One cut, with a long gap.
    *cases(ID, NEAR_BELOW, 2, lambda draws: cut(start_recording(draws), 2, 5 * MS, 2 * MS)),
    *cases(ID, LOOKALIKE, 2, without_gaps, page="Segments follow each other without a gap"),
    *cases(ID, LOOKALIKE, 2, stages, page="A pipeline runs several models"),
    *cases(ID, LOOKALIKE, 2, others_in_between, also=OTHERS, page="The Neural Engine works for others"),
    *cases(ID, LOOKALIKE, 2, cpu_in_between, also=BACK_AND_FORTH, page="Other units work between the segments"),
    *cases(ID, LOOKALIKE, 1, converted, also=COPIES, page="Copies and conversions fill"),
    # Nine calls.
    *cases(ID, INSUFFICIENT, 2, lambda draws: cut(start_recording(draws), 5, 2 * MS, MS, count=9)),
    *cases(ID, INSUFFICIENT, 1, lambda draws: without_engine(in_pieces(draws))),
]
