"""Copies and conversions inside predictions."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, NOT_APPLICABLE, POSITIVE, cases, each
from suite.one_model import loaded
from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, cpu_app, decoder_app, gpu_app, neural_engine_app
from tracekit.testing.recorder import App
from tracekit.testing.rows import DATA, CoreMLRow

ID = "excess-data-copies"
BLANK = ("unexplained-time",)
"""Recordings made by hand hold nothing in a prediction but the copies."""


def converted_around_the_work(draws: Draws) -> App:
    """Inputs and outputs are converted on every call: 15 to 40 % of it."""
    app = draws.choice((neural_engine_app, gpu_app, camera_app))(draws)
    part, share = draws.choice(("Data Cast", "Input Copy")), draws.integer(15, 40)
    for prediction in app.predictions:
        length = prediction.row.duration_ns
        first = length * share // 200
        prediction.event(part, 20_000, first)
        prediction.event("Neural Engine - Data Copy", length - first - 20_000, first)
    return app


def large_input(draws: Draws) -> App:
    """One of four inputs is copied for 6 to 9 % of the prediction, the others for some µs."""
    app = neural_engine_app(draws, compute_ns=draws.integer(12, 20) * MS, inputs=3)
    share = draws.integer(6, 9)
    for prediction in app.predictions:
        prediction.event("Input Copy", 60_000, prediction.row.duration_ns * share // 100)
    return app


def exactly(draws: Draws, copies_ns: tuple[int, ...], calls: int = 60, length_ns: int = 10 * MS) -> App:
    """Predictions of exactly 10 ms with input copies of these lengths and nothing else."""
    app, model = loaded(draws, noise=False)
    for _ in range(calls):
        prediction = app.scenario.predict(model, app.now_ns, length_ns)
        at = 0
        for length in copies_ns:
            prediction.event("Input Copy", at, length)
            at += length
        app.now_ns += length_ns + 125_000
    return app


def tiny_model(draws: Draws) -> App:
    """Predictions below 1 ms, a third of them copies: fixed costs."""
    return exactly(draws, (draws.integer(100, 250) * 1_000,), length_ns=700_000)


def with_a_third(app: App, label: str) -> App:
    """The same, and a third of each prediction is such a row."""
    for prediction in app.predictions:
        prediction.event(label, 20_000, prediction.row.duration_ns // 3)
    return app


def shared_copies(draws: Draws) -> App:
    """Copy rows that repeat each other: 24 % if added up, 8 % of the time."""
    app = exactly(draws, ())
    for index in range(60):
        row = app.scenario.coreml[index + 1]
        for _ in range(3):
            app.scenario.coreml.append(CoreMLRow(row.start_ns, 800_000, "Data Cast", row.model, DATA, index + 1))
    return app


def copies_outside(draws: Draws) -> App:
    """Copy rows that lie in no single prediction, long enough to matter."""
    app = exactly(draws, ())
    for index in range(59):
        row = app.scenario.coreml[index + 1]
        app.scenario.coreml.append(CoreMLRow(row.end_ns + 1_000, 1_200_000, "Input Copy", row.model, DATA))
    return app


CASES = [
    *cases(ID, POSITIVE, 6, converted_around_the_work, also=("float-conversion",)),
    *cases(ID, POSITIVE, 3, large_input),
    # A decoder whose five inputs are its cache, each copied for 0.5 ms of some 10 ms.
    *cases(ID, POSITIVE, 3, lambda draws: decoder_app(draws, compute_ns=draws.integer(7, 10) * MS, copy_ns=500_000)),
    *cases(ID, NEGATIVE, 4, neural_engine_app, page="Copy rows take a few"),
    *cases(ID, NEGATIVE, 3, gpu_app),
    *cases(ID, NEGATIVE, 3, cpu_app),
    # The share decides at 10 %, a single input among others at 5 %.
    *each(ID, NEAR_ABOVE, [(1_000_000,), (1_010_000,), (1_050_000,)], exactly, also=BLANK),
    *each(ID, NEAR_ABOVE, [(500_000, 5_000, 6_000), (520_000, 40_000, 42_000)], exactly, also=BLANK),
    *each(ID, NEAR_BELOW, [(999_000,), (990_000,), (950_000,)], exactly, also=BLANK),
    *each(ID, NEAR_BELOW, [(499_000, 5_000, 6_000), (520_000, 60_000, 62_000)], exactly, also=BLANK),
    *cases(ID, LOOKALIKE, 2, tiny_model, expected=NOT_APPLICABLE, page="Predictions are shorter than `min_mean_ms`"),
    # Validation, which copies nothing.
    *cases(ID, LOOKALIKE, 2, lambda draws: with_a_third(cpu_app(draws), "Input Validation")),
    *cases(ID, LOOKALIKE, 1, shared_copies, also=("float-conversion", *BLANK)),
    # Two calls show no habit.
    *cases(ID, INSUFFICIENT, 2, lambda draws: exactly(draws, (4 * MS,), calls=2)),
    *cases(ID, INSUFFICIENT, 1, copies_outside),
]
