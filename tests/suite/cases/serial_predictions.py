"""Calls that could overlap with the work of the app."""

from __future__ import annotations

from functools import partial

from suite.cases.concurrent_predictions import batch
from suite.cases.pipeline_gaps import changing, gap_share, packing_pixels, unsteady_camera
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import loaded, loaded_on_any, several_loaded
from tracekit.testing import Draws, Model
from tracekit.testing.apps import MS, async_app, camera_app, cpu_app, draw_models, gpu_app, neural_engine_app
from tracekit.testing.recorder import App, Step, neural_engine, start_recording
from tracekit.testing.simulation import Running, Simulation, Thread
from tracekit.testing.work import Unit

ID = "serial-predictions"


def one_after_the_other(draws: Draws) -> App:
    """A library of photos: prepare, predict, store."""
    return neural_engine_app(
        draws, compute_ns=changing(draws, 10, 16), gap_ns=draws.integer(5, 10) * MS, predictions=150, runs=1
    )


def on_the_gpu(draws: Draws) -> App:
    """The same on the GPU."""
    return gpu_app(draws, compute_ns=changing(draws, 18, 28), gap_ns=draws.integer(9, 16) * MS, predictions=150, runs=1)


def on_the_cpu(draws: Draws) -> App:
    """The same on the CPU, which has several cores."""
    return cpu_app(draws, compute_ns=changing(draws, 8, 14), gap_ns=draws.integer(5, 8) * MS, predictions=150, runs=2)


def language_model(draws: Draws) -> App:
    """Prefill and decode: the app samples the next token for a third of the time, and each call needs it."""
    app = start_recording(draws)
    prefill, decode = draw_models(draws, 2)
    app.load(decode)
    app.load(prefill)
    for _ in range(4):
        app.predict(prefill, neural_engine(40 * MS))
        for _ in range(40):
            app.pause(4 * MS)
            app.predict(decode, neural_engine(draws.integer(70, 110) * MS // 10))
        app.pause(2_000 * MS)
    return app


def one_model_for_both(draws: Draws) -> App:
    """The same with one model, whose first call takes the whole prompt."""
    app, model = loaded(draws)
    for _ in range(4):
        for index in range(40):
            work = 60 if index == 0 else 0
            app.predict(model, neural_engine(work * MS or draws.integer(70, 110) * MS // 10))
            app.pause(4 * MS)
        app.pause(2_000 * MS)
    return app


def one_answer(draws: Draws) -> App:
    """One prompt and one long answer; the app samples each token for a quarter to a third of the time."""
    app, model, unit = loaded_on_any(draws)
    app.predict(model, Step(unit, draws.integer(60, 400) * MS))
    for _ in range(draws.integer(80, 140)):
        app.pause(4 * MS)
        app.predict(model, Step(unit, draws.integer(70, 110) * MS // 10))
    return app


def one_answer_of_two_models(draws: Draws) -> App:
    """The same with a model for the prompt and one for the tokens."""
    app = start_recording(draws)
    prefill, decode = draw_models(draws, 2)
    app.load(decode)
    app.load(prefill)
    app.predict(prefill, neural_engine(120 * MS))
    for _ in range(100):
        app.pause(4 * MS)
        app.predict(decode, neural_engine(draws.integer(70, 110) * MS // 10))
    return app


def sleeping(draws: Draws) -> App:
    """The app sleeps for 20 ms between calls of 40 ms."""
    return cpu_app(draws, jitter=10, compute_ns=changing(draws, 32, 48), gap_ns=20 * MS, predictions=80, runs=1)


def in_turn(draws: Draws) -> App:
    """Two models in turn: each waits a third of the time, in which the other one works."""
    app, (first, second) = several_loaded(draws, 2)
    for _ in range(60):
        app.predict(first, neural_engine(draws.integer(8, 12) * MS))
        app.pause(100_000)
        app.predict(second, neural_engine(draws.integer(4, 6) * MS))
        app.pause(100_000)
    return app


FIRST, SECOND = Model("Detector"), Model("Captioner")


def both_at_once(draws: Draws, units: tuple[Unit, Unit]) -> App:
    """Two models are asked for each photo at once, on these units, and both are waited for; then the app works.

    Only the first waits for the app: the second is asked for when the first is.
    """
    simulation = Simulation(draws)
    first_unit, other = units
    long, short = draws.integer(10, 14), draws.integer(4, 7)
    queued = first_unit == other != "cpu"
    gap = draws.integer(40, 80) * (long + short if queued else long) * MS // 100

    def thread(app: Running) -> Thread:
        for model, unit in ((FIRST, first_unit), (SECOND, other)):
            yield from app.load(model, engine=unit == "neural engine")
        for _ in range(90):
            first = app.start(app.predict(FIRST, Step(first_unit, draws.around(long * MS, 200))))
            yield from app.pause(300_000)
            yield from app.predict(SECOND, Step(other, draws.around(short * MS, 200)))
            yield from app.join(first)
            yield from app.pause(gap, 100)

    simulation.start(thread(simulation.app))
    return simulation.run()


def drawing_between(draws: Draws) -> App:
    """The GPU draws for the app in the pauses, so that it does not rest."""

    def before(app: App, index: int) -> None:
        if index:
            app.scenario.gpu_work((app.now_ns - 8 * MS) // 125 * 125, 7_500_000, app.scenario.target)

    return gpu_app(draws, compute_ns=changing(draws, 14, 22), gap_ns=8 * MS, predictions=120, runs=1, before=before)


NEEDS_RESULT = "Each prediction needs the result"
"""Where the app loads its model twice, a first call that is as slow both times warms it up."""

CASES = [
    *cases(ID, POSITIVE, 4, one_after_the_other),
    *cases(ID, POSITIVE, 4, on_the_gpu),
    *cases(ID, POSITIVE, 4, on_the_cpu),
    *each(
        ID,
        POSITIVE,
        (("neural engine", "neural engine"), ("gpu", "gpu"), ("cpu", "cpu"), ("neural engine", "gpu"), ("gpu", "cpu"))
        * 2,
        both_at_once,
        expected={FIRST.base: "finding", SECOND.base: "no_finding"},
        also=("neural-engine-contention", "cpu-contention", "gpu-contention", "latency-jitter"),
        # Calls vary so much that their p95 lies near the threshold, and twice as many have another p95.
        found_in_more=("latency-jitter",),
    ),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *cases(ID, NEGATIVE, 3, cpu_app),
    *cases(ID, NEGATIVE, 3, async_app),
    # A camera whose model takes two thirds of the frame.
    *cases(ID, NEGATIVE, 2, lambda draws: camera_app(draws, fps=30, compute_ns=draws.integer(18, 24) * MS)),
    *each(ID, NEAR_ABOVE, (201, 205, 210, 220, 240), gap_share),
    *each(ID, NEAR_BELOW, (199, 195, 190, 180, 160), gap_share),
    *cases(ID, LOOKALIKE, 2, language_model, page=NEEDS_RESULT),
    *cases(ID, LOOKALIKE, 2, one_model_for_both),
    *cases(ID, LOOKALIKE, 4, one_answer, expected="not_evaluated", also=("warm-up-spike",), page=NEEDS_RESULT),
    *cases(ID, LOOKALIKE, 2, one_answer_of_two_models),
    *cases(ID, LOOKALIKE, 2, sleeping, page="The app sleeps for a fixed"),
    *cases(ID, LOOKALIKE, 2, in_turn, page="Several models alternate"),
    *cases(ID, LOOKALIKE, 2, batch, page="A batch is predicted"),
    *cases(ID, LOOKALIKE, 2, drawing_between, also=("gpu-contention",)),
    *cases(ID, LOOKALIKE, 2, packing_pixels, also=("pipeline-gaps",)),
    *cases(ID, LOOKALIKE, 1, unsteady_camera, page="Camera frames"),
    # A dozen photos at a time.
    *cases(ID, INSUFFICIENT, 3, partial(neural_engine_app, compute_ns=10 * MS, gap_ns=5 * MS, predictions=12, runs=1)),
]
