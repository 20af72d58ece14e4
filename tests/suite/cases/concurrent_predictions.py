"""Predictions in flight, on one device that takes them one after the other."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from tracekit.testing import Draws
from tracekit.testing.apps import MS, async_app, draw_models, neural_engine_app
from tracekit.testing.recorder import App, gpu, neural_engine, start_recording
from tracekit.testing.rows import Model

ID = "concurrent-predictions"


def piled_up(draws: Draws) -> App:
    """Four to eight calls in flight behind a phase of single calls."""
    unit = draws.choice(("neural engine", "gpu"))
    return async_app(draws, in_flight=draws.integer(4, 8), alone=draws.integer(10, 25), unit=unit)


def deep_from_the_start(draws: Draws) -> App:
    """No call ever runs alone; five or more in flight are still too many for one instance."""
    return async_app(draws, in_flight=draws.integer(5, 9), alone=0)


def bursts(draws: Draws, calls: int, alone_ms: int = 10, together_ms: int = 20, count: int = 20) -> App:
    """Twenty single calls, then bursts of calls at once that all take the same time, without any jitter."""
    app = start_recording(draws, jitter=0, noise=False)
    model = draw_models(draws)[0]
    app.load(model)
    for _ in range(20):
        app.scenario.predict(model, app.now_ns, alone_ms * MS)
        app.now_ns += (alone_ms + 5) * MS
    for _ in range(count):
        for _ in range(calls):
            app.scenario.predict(model, app.now_ns, together_ms * MS)
        app.now_ns += (together_ms + 5) * MS
    return app


def slowed_down(draws: Draws, permille: int) -> App:
    """Four calls at once take this much of the time of one alone."""
    app = start_recording(draws, jitter=0, noise=False)
    model = draw_models(draws)[0]
    app.load(model)
    for index in range(60):
        alone = index < 20
        length = 10 * MS if alone else 10_000 * permille
        for _ in range(1 if alone else 4):
            app.scenario.predict(model, app.now_ns, length)
        app.now_ns += length + 5 * MS
    return app


def short_peaks(draws: Draws, crowded_ms: int) -> App:
    """900 ms of calls alone, and one pile of four that lasts this long: from 100 ms on it is a tenth of the time."""
    app = start_recording(draws, jitter=0, noise=False)
    model = draw_models(draws)[0]
    app.load(model)
    for _ in range(90):
        app.scenario.predict(model, app.now_ns, 10 * MS)
        app.now_ns += 15 * MS
    # Five piles in a row, so that there are enough calls for a median.
    for _ in range(5):
        for _ in range(4):
            app.scenario.predict(model, app.now_ns, crowded_ms * MS // 5)
        app.now_ns += crowded_ms * MS // 5 + 2 * MS
    return app


def parallel_device(draws: Draws) -> App:
    """Three to six calls in flight that are hardly slower than alone: the device works in parallel."""
    return bursts(draws, draws.integer(3, 6), alone_ms=20, together_ms=draws.integer(20, 24))


def different_models(draws: Draws) -> App:
    """Six models at work at once, one call of each."""
    app = start_recording(draws)
    models = draw_models(draws, 6)
    for model in models:
        app.load(model, 20 * MS)
    for _ in range(20):
        started = app.now_ns
        for model in models:
            app.now_ns = started
            app.predict(model, neural_engine(2 * MS))
    return app


def several_instances(draws: Draws) -> App:
    """Four instances, never one alone: they may run on different devices, and nothing shows whether they slow down."""
    app = start_recording(draws)
    name = draw_models(draws)[0].base
    models = [Model(name, number) for number in range(1, 5)]
    for model in models:
        app.load(model, 20 * MS)
    for _ in range(20):
        started = app.now_ns
        for model in models:
            app.now_ns = started
            app.predict(model, gpu(8 * MS))
            app.now_ns = started + 3 * MS
    return app


def batch(draws: Draws) -> App:
    """Batches of twenty inputs: Core ML makes one prediction after the other, without a pause."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    app.load(model)
    for _ in range(5):
        for _ in range(20):
            app.predict(model, neural_engine(8 * MS))
        app.pause(1_500 * MS)
    return app


def few_calls(draws: Draws) -> App:
    """Five calls at once, and that is all."""
    return async_app(draws, in_flight=5, alone=0, predictions=draws.integer(4, 8))


def three_from_the_start(draws: Draws) -> App:
    """Three in flight all the time: that may be for throughput, and no single call is there to compare with."""
    return async_app(draws, in_flight=3, alone=0)


CASES = [
    *cases(ID, POSITIVE, 7, piled_up),
    *cases(ID, POSITIVE, 4, deep_from_the_start),
    *cases(ID, NEGATIVE, 5, async_app, page="Throughput matters and two or three"),
    *cases(ID, NEGATIVE, 5, neural_engine_app),
    *each(ID, NEAR_ABOVE, (1500, 1520, 1550), slowed_down),
    *each(ID, NEAR_ABOVE, (100, 105, 110), short_peaks),
    *each(ID, NEAR_BELOW, (1450, 1480, 1499), slowed_down),
    *each(ID, NEAR_BELOW, (90, 95, 99), short_peaks),
    *cases(ID, LOOKALIKE, 2, parallel_device),
    *cases(
        ID, LOOKALIKE, 2, different_models, also=("neural-engine-contention",), page="Several models run concurrently"
    ),
    *cases(ID, LOOKALIKE, 2, batch, page="A batch is predicted"),
    *cases(ID, INSUFFICIENT, 1, few_calls),
    *cases(ID, INSUFFICIENT, 1, three_from_the_start),
    *cases(ID, INSUFFICIENT, 1, several_instances, page="Several instances of one model"),
]
