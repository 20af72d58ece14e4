"""Loads and predictions that block the main thread, and hangs that have another cause."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, loaded, repeat, started
from support.scenarios import any_clean_app
from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, draw_models, neural_engine_app
from tracekit.testing.recorder import App, cpu, gpu, neural_engine, start_recording
from tracekit.testing.rng import on_clock
from tracekit.testing.rows import LOAD_CACHED, LOAD_COLD
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.threads import paced_app

ID = "main-thread-work"
HANGS = "potential-hangs"
LONG_CALLS = ("unexplained-time", "warm-up-spike", "latency-jitter", "missed-deadline")


def hang_around(app: App, start: int, end: int, slack_ns: int = 3 * MS) -> None:
    """The main thread does not answer from shortly before to shortly after."""
    app.scenario.hang(on_clock(start - slack_ns), on_clock(end - start + 2 * slack_ns))


def load_on_main(draws: Draws) -> App:
    """A load in the foreground; the model is called in the background later."""
    app, model = started(draws)
    start = app.now_ns
    app.load(model, draws.integer(150, 4_000) * MS, draws.choice((LOAD_CACHED, LOAD_COLD)), engine=True)
    hang_around(app, start, app.now_ns)
    app.pause(draws.choice((300_000, 2_500 * MS)))
    return repeat(app, model, neural_engine(8 * MS), 60, lambda _: draws.integer(1, 12) * MS)


def photos_on_main(draws: Draws) -> App:
    """A touch runs the model over some photos before the interface goes on."""
    app, model = loaded(draws, 60 * MS, engine=True)
    step = draws.choice((neural_engine, gpu, cpu))(draws.integer(20, 60) * MS)
    for _ in range(draws.integer(4, 8)):
        app.pause(draws.integer(2_000, 5_000) * MS)
        start = app.now_ns
        repeat(app, model, step, draws.integer(8, 14), 400_000)
        hang_around(app, start, app.now_ns)
    return app


def long_calls_on_main(draws: Draws) -> App:
    """Each call blocks for longer than a hang needs."""
    app, model = loaded(draws, 60 * MS)
    for _ in range(25):
        app.pause(draws.integer(300, 900) * MS)
        start = app.now_ns
        app.predict(model, cpu(draws.integer(180, 260) * MS))
        hang_around(app, start, app.now_ns)
    return app


def no_hang(draws: Draws) -> App:
    """A clean app of any kind whose main thread answers all the time."""
    app = any_clean_app(draws)
    app.scenario.recorded.add(HANGS)
    return app


def hangs_elsewhere(draws: Draws) -> App:
    """A clean app that hangs before and after it uses the model."""
    app = neural_engine_app(draws)
    for _ in range(3):
        app.pause(900 * MS)
        app.scenario.hang(on_clock(app.now_ns), draws.integer(150, 700) * MS)
        app.now_ns += 800 * MS
    return app


def load_and_hang(draws: Draws, lengths_ms: tuple[int, int]) -> App:
    """A load and a hang of these lengths, the shorter in the longer."""
    load_ms, hang_ms = lengths_ms
    app, model = started(draws, **EXACT)
    app.models.append(model)
    app.scenario.load(model, (501 if load_ms < hang_ms else 500) * MS, load_ms * MS)
    app.scenario.hang(500 * MS, hang_ms * MS)
    for number in range(60):
        app.scenario.predict(model, 9_000 * MS + number * 12 * MS, 10 * MS).neural_engine(500_000, 9 * MS)
    app.now_ns = 10_000 * MS
    return app


def busy_in_the_background(draws: Draws) -> App:
    """The model works all the time in the background, while something else makes the app hang."""
    app = neural_engine_app(draws, predictions=150, runs=1)
    start, span = app.predictions[20].row.start_ns, app.now_ns
    for number in range(3):
        app.scenario.hang(on_clock(start + number * (span - start) // 4), on_clock(min(span // 10, 400 * MS)))
    return app


def camera_with_hangs(draws: Draws) -> App:
    """A camera app whose list of photos hangs while frames go on."""
    app = camera_app(draws, frames=140)
    for at_frame in (30, 80):
        app.scenario.hang(on_clock(app.predictions[at_frame].row.start_ns), draws.integer(150, 500) * MS)
    return app


def _beside_a_camera(draws: Draws, models: int, *, blocks: bool) -> App:
    """Models that work in the background all the time, each at its own pace, and hangs, which a call of another model
    makes if it `blocks`. That one is named first."""
    simulation = Simulation(draws, cores=8)
    app, (blocker, *others) = simulation.app, draw_models(draws, 1 + models)
    simulation.recorded.models.append(blocker)
    for number, model in enumerate(others):
        step = neural_engine(draws.integer(8, 11) * MS) if number == 0 else gpu(draws.integer(12, 18) * MS)
        simulation.start(paced_app(app, model, (step,), period_ns=(33_333_000, 41_667_000)[number], calls=320))

    def on_main() -> Thread:
        yield from app.load(blocker, 60 * MS)
        for _ in range(5):
            yield from app.pause(draws.integer(1_100, 1_700) * MS)
            start, length = app.now_ns, draws.integer(250, 500) * MS
            if blocks:
                yield from app.predict(blocker, cpu(length), inputs=0)
            else:
                yield from app.pause(length)
            hang_around(simulation.recorded, start, app.now_ns)
        if not blocks:
            yield from app.predict(blocker, cpu(8 * MS), inputs=0)

    simulation.start(on_main())
    return simulation.run()


def moment_in_a_long_load(draws: Draws) -> App:
    """A long load in the background, and a hang of a moment in it."""
    app, model = started(draws)
    start = app.now_ns
    app.load(model, 6_000 * MS, LOAD_CACHED, engine=True)
    app.scenario.hang(on_clock(start + 2_000 * MS), draws.integer(200, 900) * MS)
    app.pause(2_000 * MS)
    return repeat(app, model, neural_engine(8 * MS), 60, MS)


def _seen(draws: Draws, **code: bool) -> App:
    """A recording with call stacks, whose main thread draws."""
    app = start_recording(draws, jitter=0, code=True)
    assert app.code is not None
    app.code.on_main, app.code.interface = code.get("on_main", True), code.get("interface", True)
    app.code.draws_interface(20 * MS, 40 * MS)
    return app


def _photos(app: App, draws: Draws) -> App:
    """Bursts of predictions, of more than 100 ms each."""
    model = draw_models(draws)[0]
    app.load(model, 60 * MS)
    for _ in range(6):
        app.pause(draws.integer(2_000, 5_000) * MS)
        repeat(app, model, lambda _: gpu(draws.integer(14, 24) * MS), draws.integer(8, 12), 400_000)
    return app


def seen_on_a_worker(draws: Draws) -> App:
    """A worker predicts, and whatever makes the main thread hang meanwhile is something else."""
    app = _photos(_seen(draws, on_main=False), draws)
    rows = [prediction.row for prediction in app.predictions]
    hang_around(app, rows[0].start_ns, rows[7].end_ns)
    return app


def tool(draws: Draws) -> App:
    """A command-line tool predicts on its only thread."""
    app = start_recording(draws, jitter=0, code=True)
    assert app.code is not None
    app.code.on_main, app.code.interface = True, False
    return _photos(app, draws)


def predicted_for(draws: Draws, ms: int) -> App:
    """A prediction of so many ms on the main thread, several times."""
    app = _seen(draws)
    model = draw_models(draws)[0]
    app.load(model, 60 * MS)
    for _ in range(3):
        app.pause(3_000 * MS)
        start = on_clock(app.now_ns)
        app.scenario.predict(model, start, ms * MS)
        assert app.code is not None
        app.code.predict(start, ms * MS, [cpu(ms * MS)])
        app.now_ns = start + ms * MS
    return app


CASES = [
    *cases(ID, POSITIVE, 5, load_on_main, also=("cold-load", *LONG_CALLS)),
    *cases(ID, POSITIVE, 4, photos_on_main, also=LONG_CALLS),
    *cases(ID, POSITIVE, 3, long_calls_on_main, also=LONG_CALLS),
    # Call stacks show a burst of predictions on the main thread; hangs were not recorded.
    *cases(ID, POSITIVE, 4, lambda draws: _photos(_seen(draws), draws), also=LONG_CALLS),
    # A call on the main thread blocks it; a camera model goes on.
    *cases(ID, POSITIVE, 3, lambda draws: _beside_a_camera(draws, 1, blocks=True), also=LONG_CALLS),
    # Two models in the background use most of the time around the hangs.
    *cases(ID, POSITIVE, 3, lambda draws: _beside_a_camera(draws, 2, blocks=True), also=LONG_CALLS),
    # Something else blocks the main thread.
    *cases(ID, NEGATIVE, 3, lambda draws: _beside_a_camera(draws, 2, blocks=False), also=LONG_CALLS),
    *cases(ID, NEGATIVE, 7, no_hang),
    *cases(ID, NEGATIVE, 3, seen_on_a_worker, also=LONG_CALLS),
    *cases(ID, NEGATIVE, 4, hangs_elsewhere),
    # Half of the hang, and four fifths of the load.
    *each(ID, NEAR_ABOVE, ((500, 1_000), (501, 1_000), (510, 1_000)), load_and_hang),
    *each(ID, NEAR_ABOVE, ((1_000, 800), (1_000, 801), (1_000, 820)), load_and_hang),
    *each(ID, NEAR_ABOVE, (100, 101, 110), predicted_for, also=LONG_CALLS),
    *each(ID, NEAR_BELOW, (99, 98, 90), predicted_for, also=LONG_CALLS),
    *each(ID, NEAR_BELOW, ((499, 1_000), (498, 1_000), (480, 1_000)), load_and_hang),
    *each(ID, NEAR_BELOW, ((1_000, 799), (1_000, 798), (1_000, 780)), load_and_hang),
    *cases(ID, LOOKALIKE, 2, busy_in_the_background, page="A model runs in the background"),
    *cases(ID, LOOKALIKE, 2, camera_with_hangs),
    *cases(ID, LOOKALIKE, 1, moment_in_a_long_load, page="A long load runs in the background"),
    *cases(ID, LOOKALIKE, 3, tool, also=LONG_CALLS),
    *cases(ID, INSUFFICIENT, 3, neural_engine_app),
]
