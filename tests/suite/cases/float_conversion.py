"""Inputs and outputs that are converted on every call."""

from __future__ import annotations

from suite.cases.excess_data_copies import with_a_third
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import loaded
from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, cpu_app, gpu_app, neural_engine_app
from tracekit.testing.recorder import App

ID = "float-conversion"
COPIES = ("excess-data-copies",)


def float32_interface(draws: Draws) -> App:
    """A cast before the work and a transformation after it: 6 to 30 % of the call."""
    app = draws.choice((neural_engine_app, camera_app, gpu_app))(draws)
    share = draws.integer(60, 300)
    for prediction in app.predictions:
        length = prediction.row.duration_ns
        part = length * share // 2_000
        prediction.event("Data Cast", 20_000, part)
        prediction.event("Output Transformation", length - part - 20_000, part)
    return app


def engine_buffers(draws: Draws) -> App:
    """8-bit images: a short cast, and long copies into and out of the engine's buffers."""
    app = neural_engine_app(draws, compute_ns=draws.integer(8, 16) * MS)
    for prediction in app.predictions:
        length = prediction.row.duration_ns
        part = length * draws.integer(40, 110) // 1_000
        prediction.event("Data Cast", 20_000, draws.integer(40, 200) * 1_000)
        prediction.event("Neural Engine - Data Copy", 250_000, part)
        prediction.event("Neural Engine - Data Copy", length - part - 20_000, part)
    return app


def exactly(draws: Draws, cast_us: int, others_us: int = 0, calls: int = 60, length_ns: int = 10 * MS) -> App:
    """Calls of 10 ms with a cast of this length, and an engine copy of that one."""
    app, model = loaded(draws, noise=False)
    app.now_ns = 400 * MS
    for _ in range(calls):
        prediction = app.scenario.predict(model, app.now_ns, length_ns)
        prediction.event("Data Cast", 0, cast_us * 1_000)
        if others_us:
            prediction.event("Neural Engine - Data Copy", length_ns // 2, others_us * 1_000)
        prediction.event("CPU", cast_us * 1_000, length_ns // 2 - cast_us * 1_000)
        prediction.event("CPU", length_ns // 2 + others_us * 1_000, length_ns // 2 - others_us * 1_000)
        app.now_ns += length_ns + 125_000
    return app


def with_copies(draws: Draws, cast_us: int) -> App:
    """A cast of this length shows, from 20 µs on, that the copies of 0.6 ms convert."""
    return exactly(draws, cast_us, 600)


CASES = [
    *cases(ID, POSITIVE, 7, float32_interface, also=COPIES),
    *cases(ID, POSITIVE, 5, engine_buffers, also=(*COPIES, "state-copies")),
    *cases(ID, NEGATIVE, 4, neural_engine_app),
    *cases(ID, NEGATIVE, 3, gpu_app),
    *cases(ID, NEGATIVE, 3, cpu_app),
    # A twentieth of the call, in a call with a cast of 20 µs.
    *each(ID, NEAR_ABOVE, (500, 501, 520), exactly),
    *each(ID, NEAR_ABOVE, (20, 21, 25), with_copies),
    *each(ID, NEAR_BELOW, (499, 498, 480), exactly),
    *each(ID, NEAR_BELOW, (19, 18, 15), with_copies, expected="not_evaluated"),
    # Inputs of the right type.
    *cases(
        ID,
        LOOKALIKE,
        2,
        lambda draws: with_a_third(neural_engine_app(draws), "Input Copy"),
        also=COPIES,
        page="Data is copied without a cast",
    ),
    *each(ID, LOOKALIKE, (2, 5, 9), exactly, page="A cast takes a few"),
    # Validation, which converts nothing.
    *cases(ID, LOOKALIKE, 2, lambda draws: with_a_third(cpu_app(draws), "Input Validation")),
    # Calls below 1 ms, a third of them a cast: fixed costs.
    *cases(ID, LOOKALIKE, 1, lambda draws: exactly(draws, draws.integer(100, 250), length_ns=700_000)),
    # Two calls show no habit.
    *cases(ID, INSUFFICIENT, 1, lambda draws: exactly(draws, 3_000, calls=2), also=COPIES),
    # Copies for the engine that may move data or convert it.
    *cases(ID, INSUFFICIENT, 2, lambda draws: exactly(draws, 2, draws.integer(700, 2_000)), also=COPIES),
]
