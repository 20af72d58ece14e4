"""Predictions without rows that explain them."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.together import Caller, together
from tracekit.testing import Draws
from tracekit.testing.apps import MS, async_app, cpu_app, draw_models, gpu_app, neural_engine_app, pipeline_app
from tracekit.testing.recorder import App, cpu, gpu, neural_engine, start_recording

ID = "unaccounted-time"


def blank(draws: Draws, unit: str = "cpu") -> App:
    """After a bit of work on a unit, most of each call leaves no row."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    app.load(model)
    work = draws.integer(2, 8) * MS
    step = {"cpu": cpu, "gpu": gpu, "neural engine": neural_engine}[unit](work)
    inputs, host = draws.integer(0, 3), draws.integer(2 * work, 20 * work)
    for _ in range(draws.integer(60, 90)):
        app.predict(model, step, inputs=inputs, host_ns=draws.around(host))
        app.pause(300_000)
    return app


def blank_beside_engine(draws: Draws) -> App:
    """The same beside work of the Neural Engine."""
    return blank(draws, "neural engine")


def blank_beside_gpu(draws: Draws) -> App:
    """The same beside work of the GPU."""
    return blank(draws, "gpu")


def to_share(draws: Draws, permille: int) -> App:
    """Exact calls of 40 ms of which so much lies in no row."""
    app = start_recording(draws, jitter=0, noise=False)
    model = draw_models(draws)[0]
    app.load(model)
    for _ in range(60):
        prediction = app.scenario.predict(model, app.now_ns, 40 * MS)
        prediction.event("CPU", 0, 40 * MS * (1_000 - permille) // 1_000)
        app.now_ns += 41 * MS
    return app


def waits_for_others(draws: Draws) -> App:
    """A system without request rows, and another process that occupies the Neural Engine before each call."""
    app = start_recording(draws, machine=5)
    model = draw_models(draws)[0]
    app.load(model, engine=True)
    for _ in range(70):
        app.occupy("neural engine", app.now_ns, 20 * MS, label="Assistant_main__Op0_AneInference Prediction")
        app.predict(model, neural_engine(6 * MS))
        app.pause(2 * MS)
    return app


def piled_up(draws: Draws) -> App:
    """Six calls in flight, some alone: those that wait leave no row."""
    return async_app(draws, in_flight=6)


def of_either(draws: Draws) -> App:
    """Two models at once on the Neural Engine, whose rows name neither: most lie inside calls of both."""
    first = Caller("neural engine", lambda _: 8 * MS)
    second = Caller("neural engine", lambda _: 11 * MS)
    return together(draws, first, second, generic_labels=True, machine=5)


def tiny(draws: Draws) -> App:
    """Calls of less than a millisecond, most of it the fixed cost."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    app.load(model)
    for _ in range(100):
        app.predict(model, cpu(80_000), inputs=0, host_ns=400_000)
        app.pause(200_000)
    return app


def without_engine_table(draws: Draws) -> App:
    """A model on the Neural Engine, and a recording without its table."""
    app = neural_engine_app(draws, machine=5)
    app.scenario.missing.add(app.scenario.xcode.neural_engine_schema)
    return app


def without_gpu_table(draws: Draws) -> App:
    """Unexplained calls, and a recording without the table of the GPU."""
    app = blank(draws)
    app.scenario.missing.add("metal-gpu-intervals")
    return app


def few_calls(draws: Draws) -> App:
    """Four calls."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    app.load(model)
    for _ in range(4):
        app.predict(model, cpu(4 * MS), host_ns=40 * MS)
    return app


CASES = [
    *cases(ID, POSITIVE, 5, blank),
    *cases(ID, POSITIVE, 3, blank_beside_engine),
    *cases(ID, POSITIVE, 3, blank_beside_gpu),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *cases(ID, NEGATIVE, 3, gpu_app),
    *cases(ID, NEGATIVE, 3, cpu_app),
    *cases(ID, NEGATIVE, 2, pipeline_app),
    *each(ID, NEAR_ABOVE, (500, 501, 503, 506, 510), to_share),
    *each(ID, NEAR_BELOW, (490, 494, 497, 498, 499), to_share),
    *cases(ID, LOOKALIKE, 2, waits_for_others, also=("neural-engine-contention", "foreign-neural-engine-work")),
    *cases(ID, LOOKALIKE, 2, piled_up, also=("concurrent-predictions",), page="Several predictions are in flight"),
    *cases(ID, LOOKALIKE, 2, of_either, also=("neural-engine-contention",), page="Rows are inside two predictions"),
    *cases(ID, LOOKALIKE, 1, tiny, also=("serial-predictions",), page="Predictions are very short"),
    *cases(ID, INSUFFICIENT, 2, without_engine_table, page="The Neural Engine or GPU"),
    *cases(ID, INSUFFICIENT, 2, without_gpu_table),
    *cases(ID, INSUFFICIENT, 1, few_calls),
]
