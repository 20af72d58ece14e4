"""Caches that go into and out of each call."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import loaded
from suite.planted import cache_in_and_out
from suite.planting import Part
from tracekit.testing import Draws
from tracekit.testing.apps import MS, decoder_app, draw_models, gpu_app, neural_engine_app
from tracekit.testing.recorder import App, cpu, neural_engine, start_recording
from tracekit.testing.rows import Model
from tracekit.testing.simulation import Simulation
from tracekit.testing.threads import paced_app

ID = "state-copies"
COPIES = ("excess-data-copies", "unexplained-time")
GROWS = ("growing-latency", "latency-jitter", *COPIES)


def cache(prediction, into_ns: int, out_ns: int | None = None, token: bool = True) -> None:
    """Copies of a cache into and out of a call, and of the token beside it."""
    length = prediction.row.duration_ns
    out = into_ns if out_ns is None else out_ns
    if token:
        prediction.event("Input Copy", 12_000, 1_625)
    prediction.event("Input Copy", 14_000, into_ns)
    prediction.event("Output Transformation", length - out - 2_000, out)


def decode_calls(app: App) -> list:
    """Predictions of the decode model."""
    return [each for each in app.predictions if each.row.model.base.endswith("_decode")]


def after_prefill(draws: Draws) -> App:
    """A language model whose prompt runs in a model of its own, and whose cache is passed around."""
    app = decoder_app(draws, turns=3, compute_ns=draws.integer(8, 14) * MS)
    size = draws.integer(700, 1_800) * 1_000
    for prediction in decode_calls(app):
        cache(prediction, size, size * draws.integer(80, 120) // 100)
    return app


def one_model(draws: Draws) -> App:
    """Prompt and tokens run in the same model; the prompt takes far longer."""
    app, model = loaded(draws, engine=True)
    size = draws.integer(900, 1_500) * 1_000
    for _ in range(draws.integer(2, 4)):
        for number in range(draws.integer(28, 40)):
            prediction = app.predict(model, neural_engine((9 if number else 60) * MS), inputs=2)
            cache(prediction, size * (1 if number else 4))
            app.pause(200_000)
        app.pause(2_500 * MS)
    return app


def beside_a_camera(draws: Draws) -> App:
    """The same as `after_prefill`, while another model follows a camera on another unit."""
    model, camera = draw_models(draws, 2)
    simulation = Simulation(draws)
    simulation.start(cache_in_and_out(Part(simulation, draws, model, draws.choice(("neural engine", "gpu")))))
    simulation.start(paced_app(simulation.app, camera, (cpu(6 * MS),), period_ns=33_333_000, calls=240))
    return simulation.run()


def growing_cache(draws: Draws) -> App:
    """The cache holds the context so far, and grows with each token."""
    app, model = loaded(draws, engine=True)
    step = draws.integer(60, 120) * 1_000
    for _ in range(2):
        for number in range(40):
            size = 700_000 + step * number
            prediction = app.predict(model, neural_engine(8 * MS + 2 * size), inputs=1)
            cache(prediction, size)
            app.pause(200_000)
        app.pause(2_500 * MS)
    return app


def exactly(draws: Draws, into_us: int, out_us: int | None = None, tokens: int = 30) -> App:
    """Two turns of calls of exactly 10 ms after a prompt in another model."""
    app = start_recording(draws, noise=False)
    base = draw_models(draws)[0].base
    decode, prefill = Model(f"{base}_decode"), Model(f"{base}_prefill")
    app.load(decode)
    app.load(prefill)
    app.now_ns = 600 * MS
    for _ in range(2):
        app.scenario.predict(prefill, app.now_ns, 40 * MS).event("CPU", 0, 40 * MS)
        app.now_ns += 41 * MS
        for _ in range(tokens):
            prediction = app.scenario.predict(decode, app.now_ns, 10 * MS)
            cache(prediction, into_us * 1_000, (into_us if out_us is None else out_us) * 1_000)
            prediction.event("CPU", 0, 10 * MS)
            app.now_ns += 10 * MS + 125_000
        app.now_ns += 2_000 * MS
    return app


def balance(draws: Draws, out_us: int) -> App:
    """2 ms and a token in, so much out: a quarter of it is 500.4 µs."""
    return exactly(draws, 2_000, out_us)


def image_filter(draws: Draws) -> App:
    """Images in and out, one after the other: nothing shows that calls continue each other."""
    app = draws.choice((neural_engine_app, gpu_app))(draws, compute_ns=draws.integer(9, 16) * MS, inputs=1)
    for prediction in app.predictions:
        cache(prediction, prediction.row.duration_ns * 8 // 100, token=False)
    return app


def embedding(draws: Draws) -> App:
    """A large embedding goes into each call after one call of the encoder, and little comes out."""
    app = decoder_app(draws, turns=3, compute_ns=9 * MS)
    for prediction in decode_calls(app):
        cache(prediction, 1_500_000, 40_000)
    return app


CASES = [
    *cases(ID, POSITIVE, 5, after_prefill, also=COPIES),
    *cases(ID, POSITIVE, 4, one_model, also=(*COPIES, "latency-jitter", "shape-switching")),
    *cases(ID, POSITIVE, 3, growing_cache, also=GROWS),
    *cases(ID, NEGATIVE, 5, decoder_app, expected="no_finding", page="The model has a state"),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *cases(ID, NEGATIVE, 3, gpu_app),
    # A cache of this size each way; 500 µs and the token are a tenth of the call.
    *each(ID, NEAR_ABOVE, (500, 505, 520), exactly, also=COPIES),
    *each(ID, NEAR_ABOVE, (501, 510, 550), balance, also=COPIES),
    *each(ID, NEAR_BELOW, (498, 490, 470), exactly, also=COPIES),
    *each(ID, NEAR_BELOW, (499, 490, 450), balance, also=COPIES),
    *cases(ID, LOOKALIKE, 3, image_filter, also=COPIES, page="A filter takes an image"),
    *cases(ID, LOOKALIKE, 2, embedding, also=COPIES, page="A large input stays the same"),
    # Too few calls to see a habit.
    *cases(ID, INSUFFICIENT, 3, lambda draws: exactly(draws, 1_000, 1_000, tokens=draws.integer(8, 24)), also=COPIES),
    *cases(ID, POSITIVE, 3, beside_a_camera, also=COPIES),
]
