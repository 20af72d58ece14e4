"""Predictions without rows that explain them."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, loaded, repeat, without, without_engine
from suite.together import Caller, together
from tracekit.testing import Draws
from tracekit.testing.apps import MS, async_app, cpu_app, gpu_app, neural_engine_app, pipeline_app
from tracekit.testing.recorder import App, cpu, gpu, neural_engine

ID = "unexplained-time"


def blank(draws: Draws, unit: str = "cpu") -> App:
    """After a bit of work on a unit, most of each call leaves no row."""
    app, model = loaded(draws)
    work = draws.integer(2, 8) * MS
    step = {"cpu": cpu, "gpu": gpu, "neural engine": neural_engine}[unit](work)
    inputs, host = draws.integer(0, 3), draws.integer(2 * work, 20 * work)
    return repeat(app, model, step, draws.integer(60, 90), 300_000, inputs=inputs, host_ns=lambda _: draws.around(host))


def to_share(draws: Draws, permille: int) -> App:
    """Exact calls of 40 ms of which so much lies in no row."""
    app, model = loaded(draws, **EXACT)
    for _ in range(60):
        prediction = app.scenario.predict(model, app.now_ns, 40 * MS)
        prediction.event("CPU", 0, 40 * MS * (1_000 - permille) // 1_000)
        app.now_ns += 41 * MS
    return app


def waits_for_others(draws: Draws) -> App:
    """A system without request rows, and another process that occupies the Neural Engine before each call."""
    app, model = loaded(draws, engine=True, machine=5)
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
    app, model = loaded(draws)
    return repeat(app, model, cpu(80_000), 100, 200_000, inputs=0, host_ns=400_000)


def few_calls(draws: Draws) -> App:
    """Four calls."""
    app, model = loaded(draws)
    return repeat(app, model, cpu(4 * MS), 4, host_ns=40 * MS)


CASES = [
    *cases(ID, POSITIVE, 5, blank),
    # The same beside work of the Neural Engine.
    *cases(ID, POSITIVE, 3, lambda draws: blank(draws, "neural engine")),
    # The same beside work of the GPU.
    *cases(ID, POSITIVE, 3, lambda draws: blank(draws, "gpu")),
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
    *cases(
        ID, INSUFFICIENT, 2, lambda draws: without_engine(neural_engine_app(draws, machine=5)), page="The Neural Engine"
    ),
    *cases(ID, INSUFFICIENT, 2, lambda draws: without(blank(draws), "metal-gpu-intervals")),
    *cases(ID, INSUFFICIENT, 1, few_calls),
]
