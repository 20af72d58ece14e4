"""Predictions in flight, on one device that takes them one after the other."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, at_once, instances, loaded, repeat, several_loaded
from tracekit.testing import Draws
from tracekit.testing.apps import MS, async_app, neural_engine_app
from tracekit.testing.recorder import App, gpu, neural_engine

ID = "concurrent-predictions"


def piled_up(draws: Draws) -> App:
    """Four to eight calls in flight behind a phase of single calls."""
    unit = draws.choice(("neural engine", "gpu"))
    return async_app(draws, in_flight=draws.integer(4, 8), alone=draws.integer(10, 25), unit=unit)


def piles(
    draws: Draws, in_flight: int, length_ns: int, alone: int = 20, alone_ms: int = 10, count: int = 20, gap_ms: int = 5
) -> App:
    """Single calls, then calls at once that all take the same time, so many times, without any jitter."""
    app, model = loaded(draws, **EXACT)
    for _ in range(alone):
        app.scenario.predict(model, app.now_ns, alone_ms * MS)
        app.now_ns += (alone_ms + 5) * MS
    for _ in range(count):
        for _ in range(in_flight):
            app.scenario.predict(model, app.now_ns, length_ns)
        app.now_ns += length_ns + gap_ms * MS
    return app


def slowed_down(draws: Draws, permille: int) -> App:
    """Four calls at once take this much of the time of one alone."""
    return piles(draws, 4, 10_000 * permille, count=40)


def short_peaks(draws: Draws, crowded_ms: int) -> App:
    """900 ms of calls alone, and piles of four that last this long: from 100 ms on a tenth of the time. Five piles
    in a row make enough calls for a median."""
    return piles(draws, 4, crowded_ms * MS // 5, alone=90, count=5, gap_ms=2)


def different_models(draws: Draws) -> App:
    """Six models at work at once, one call of each."""
    app, models = several_loaded(draws, 6, 20 * MS)
    return at_once(app, models, neural_engine(2 * MS), 20)


def several_instances(draws: Draws) -> App:
    """Four instances, never one alone: they may run on different devices, and nothing shows whether they slow down."""
    app, models = instances(draws, 4, 20 * MS)
    for _ in range(20):
        begin = app.now_ns
        at_once(app, models, gpu(8 * MS), 1)
        app.now_ns = begin + 3 * MS
    return app


def batch(draws: Draws) -> App:
    """Batches of twenty inputs: Core ML makes one prediction after the other, without a pause."""
    app, model = loaded(draws)
    for _ in range(5):
        repeat(app, model, neural_engine(8 * MS), 20)
        app.pause(1_500 * MS)
    return app


CASES = [
    *cases(ID, POSITIVE, 7, piled_up),
    # No call ever runs alone; five or more in flight are still too many for one instance.
    *cases(ID, POSITIVE, 4, lambda draws: async_app(draws, in_flight=draws.integer(5, 9), alone=0)),
    *cases(ID, NEGATIVE, 5, async_app, page="Throughput matters and two or three"),
    *cases(ID, NEGATIVE, 5, neural_engine_app),
    *each(ID, NEAR_ABOVE, (1500, 1520, 1550), slowed_down),
    *each(ID, NEAR_ABOVE, (100, 105, 110), short_peaks),
    *each(ID, NEAR_BELOW, (1450, 1480, 1499), slowed_down),
    *each(ID, NEAR_BELOW, (90, 95, 99), short_peaks),
    # Three to six calls in flight that are hardly slower than alone: the device works in parallel.
    *cases(ID, LOOKALIKE, 2, lambda draws: piles(draws, draws.integer(3, 6), draws.integer(20, 24) * MS, alone_ms=20)),
    *cases(ID, LOOKALIKE, 2, different_models, also=("neural-engine-contention",), page="Several models run"),
    *cases(ID, LOOKALIKE, 2, batch, page="A batch is predicted"),
    # Five calls at once, and that is all.
    *cases(ID, INSUFFICIENT, 1, lambda draws: async_app(draws, in_flight=5, alone=0, predictions=draws.integer(4, 8))),
    # Three in flight all the time: that may be for throughput, and no single call is there to compare with.
    *cases(ID, INSUFFICIENT, 1, lambda draws: async_app(draws, in_flight=3, alone=0)),
    *cases(ID, INSUFFICIENT, 1, several_instances, page="Several instances of one model"),
]
