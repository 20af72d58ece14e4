"""Recordings that lack a part of what happened."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import started
from support.scenarios import any_clean_app
from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, draw_models, neural_engine_app
from tracekit.testing.recorder import App, neural_engine, start_recording
from tracekit.testing.rng import on_clock
from tracekit.testing.rows import LOAD_COLD, Model

ID = "truncated-recording"

REGULAR = ("Target app exited", "Time limit reached", "User pressed Stop")


def ended(app: App, tail_ns: int = 0) -> App:
    """The recording ends with the last row."""
    app.finish(tail_ns)
    return app


def load_in_flight(draws: Draws) -> App:
    """The recording ends while a model is being prepared for the device."""
    app = start_recording(draws, noise=False)
    app.load(draw_models(draws)[0], draws.integer(2_000, 20_000) * MS, LOAD_COLD)
    app.now_ns = app.scenario.coreml[-1].end_ns
    return ended(app)


def long_call_in_flight(draws: Draws) -> App:
    """It ends in the midst of a call that took longer than all others together."""
    app = neural_engine_app(draws, noise=False)
    spent = sum(row.duration_ns for row in app.scenario.coreml if row.label in ("Prediction", "Load (cached)"))
    app.pause(300 * MS)
    length = on_clock(spent * draws.integer(50, 150) // 100)
    app.scenario.predict(app.model, on_clock(app.now_ns), length).neural_engine(MS, length - 2 * MS)
    return ended(app)


def events_lost(draws: Draws) -> App:
    """Core ML's events end half-way, while the hardware goes on."""
    app = neural_engine_app(draws)
    for _ in range(draws.integer(60, 120)):
        app.scenario.other_neural_engine(on_clock(app.now_ns), 12 * MS, app.model.engine_label())
        app.now_ns += 14 * MS
    return app


def cut_after(draws: Draws, length_ms: int) -> App:
    """30 calls of 10 ms, and one of this length that is in flight at the end: 100 ms are a quarter."""
    app, model = started(draws, noise=False)
    app.models.append(model)
    for _ in range(30):
        app.scenario.predict(model, app.now_ns, 10 * MS).neural_engine(100_000, 9_800_000)
        app.now_ns += 12 * MS
    prediction = app.scenario.predict(model, app.now_ns, length_ms * MS)
    prediction.neural_engine(100_000, length_ms * MS - 200_000)
    app.now_ns = prediction.row.end_ns
    return ended(app)


def work_after(draws: Draws, length_us: int) -> App:
    """30 calls with 10 ms on the engine, and so much more after the last: 100,000 µs are a quarter."""
    app, model = started(draws, noise=False)
    app.models.append(model)
    for _ in range(30):
        app.scenario.predict(model, app.now_ns, 10 * MS).neural_engine(0, 10 * MS)
        app.now_ns += 12 * MS
    app.scenario.other_neural_engine(app.now_ns + 20 * MS, length_us * 1_000, model.engine_label())
    return app


def regular(draws: Draws) -> App:
    """A clean app of any kind, and one of the ways in which recordings end."""
    app = any_clean_app(draws)
    app.scenario.end_reason = draws.choice(REGULAR)
    return app


def at_the_time_limit(draws: Draws, *, launched: bool = False) -> App:
    """A camera app is in the midst of a call when the time is up."""
    app = camera_app(draws, attached=not launched)
    app.scenario.end_reason = "Time limit reached"
    app.predict(app.model, neural_engine(5 * MS))
    return ended(app)


def lost_call(draws: Draws) -> App:
    """The last call is in flight at the end, so that Core ML has no row of it and the hardware has."""
    app = neural_engine_app(draws, attached=True)
    app.scenario.end_reason = "Time limit reached"
    app.pause(10 * MS)
    app.scenario.other_neural_engine(on_clock(app.now_ns), 8 * MS, app.model.engine_label())
    return app


def others_go_on(draws: Draws) -> App:
    """Other processes use the engine after the app is done."""
    app = neural_engine_app(draws)
    for _ in range(80):
        app.scenario.other_neural_engine(on_clock(app.now_ns), 12 * MS, Model("PhotoScene").engine_label())
        app.now_ns += 14 * MS
    return app


def unknown_end(draws: Draws, reason: str) -> App:
    """It ended for a reason that tells nothing."""
    app = neural_engine_app(draws)
    app.scenario.end_reason = reason
    return app


CASES = [
    *cases(ID, POSITIVE, 4, load_in_flight, also=("unused-load",), lost_in_more=(ID,)),
    *cases(ID, POSITIVE, 4, long_call_in_flight, also=("latency-jitter", "unexplained-time"), lost_in_more=(ID,)),
    *cases(ID, POSITIVE, 4, events_lost, lost_in_more=(ID,)),
    *cases(ID, NEGATIVE, 12, regular),
    *each(ID, NEAR_ABOVE, (100, 101, 105), cut_after, also=("latency-jitter", "attached-late"), lost_in_more=(ID,)),
    *each(ID, NEAR_ABOVE, (100_000, 100_500, 104_000), work_after, also=("attached-late",), lost_in_more=(ID,)),
    *each(ID, NEAR_BELOW, (99, 98, 95), cut_after, also=("latency-jitter", "attached-late")),
    *each(ID, NEAR_BELOW, (99_000, 99_875, 96_000), work_after, also=("attached-late",)),
    *cases(ID, LOOKALIKE, 2, at_the_time_limit, page="The recording ends at its time"),
    # The same with an app that was launched, and ended with the recording.
    *cases(ID, LOOKALIKE, 2, lambda draws: at_the_time_limit(draws, launched=True), page="`xctrace` ends a launched"),
    *cases(ID, LOOKALIKE, 2, lost_call),
    *cases(ID, LOOKALIKE, 1, others_go_on, also=("foreign-neural-engine-work",), page="Another process works with a"),
    *each(ID, INSUFFICIENT, ("Device was disconnected", "Instruments quit unexpectedly", "Unknown"), unknown_end),
]
