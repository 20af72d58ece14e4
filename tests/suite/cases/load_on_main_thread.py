"""Models that the main thread loads, and loads that nobody waits for."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import repeat
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models, neural_engine_app
from tracekit.testing.recorder import App, gpu, neural_engine, start_recording
from tracekit.testing.rows import LOAD_CACHED, LOAD_COLD
from tracekit.testing.scenario import CORE_ML

ID = "load-on-main-thread"
ALSO = ("cold-load", "slow-load", "warm-up-spike", "unexplained-time")


def recorded(draws: Draws, load_ns: int, *, on_main: bool = True, label: str = LOAD_CACHED, **code: bool) -> App:
    """A load, by the main thread or not, and then predictions by a worker. The main thread draws before and after."""
    app = start_recording(draws, jitter=0, code=True)
    assert app.code is not None
    app.code.draws_interface(20 * MS, 30 * MS)
    app.code.on_main = on_main
    app.code.interface = code.get("interface", True)
    model = draw_models(draws)[0]
    app.load(model, load_ns, label)
    app.code.on_main = False
    app.pause(2_500 * MS)
    step = draws.choice((neural_engine, gpu))(8 * MS)
    return repeat(app, model, step, 60, lambda _: draws.integer(1, 12) * MS)


def at_launch(draws: Draws) -> App:
    """The app loads before it shows its first screen."""
    return recorded(draws, draws.integer(260, 4_000) * MS, label=draws.choice((LOAD_CACHED, LOAD_COLD)))


def several_in_a_row(draws: Draws) -> App:
    """Loads that are short by themselves and follow each other at once."""
    app = start_recording(draws, jitter=0, code=True)
    assert app.code is not None
    app.code.on_main = True
    models = draw_models(draws, 4)
    for model in models:
        app.load(model, draws.integer(80, 120) * MS)
    app.code.on_main = False
    app.pause(2_500 * MS)
    for _ in range(60):
        for model in models:
            app.predict(model, neural_engine(6 * MS))
            app.pause(draws.integer(1, 6) * MS)
    return app


def unseen_by_core_ml(draws: Draws) -> App:
    """Core ML's table stays empty; call stacks alone tell of the load."""
    app = at_launch(draws)
    app.scenario.emptied.add(CORE_ML)
    return app


def in_the_background(draws: Draws) -> App:
    """A worker loads while the main thread draws."""
    return recorded(draws, draws.integer(260, 4_000) * MS, on_main=False)


def short(draws: Draws) -> App:
    """The main thread loads from the cache."""
    return recorded(draws, draws.integer(20, 200) * MS)


def loaded_for(draws: Draws, load_ms: int) -> App:
    """A load of so many ms."""
    return recorded(draws, load_ms * MS)


def command_line_tool(draws: Draws) -> App:
    """A tool without an interface loads before it does anything."""
    app = start_recording(draws, jitter=0, code=True)
    assert app.code is not None
    app.code.on_main, app.code.interface = True, False
    model = draw_models(draws)[0]
    app.load(model, draws.integer(300, 4_000) * MS)
    app.pause(2_500 * MS)
    return repeat(app, model, gpu(8 * MS), 60, lambda _: draws.integer(1, 12) * MS)


def two_at_once(draws: Draws) -> App:
    """The main thread and a worker load at the same time: samples cannot tell which load is whose."""
    app = recorded(draws, 600 * MS)
    assert app.code is not None
    load = app.scenario.coreml[0]
    app.code.thread = 2
    app.code.load(load.start_ns, load.duration_ns, load.label)
    return app


def nothing_sampled(draws: Draws) -> App:
    """Call stacks, none of which is in a load."""
    app = recorded(draws, 400 * MS)
    load = app.scenario.coreml[0]
    app.scenario.samples = [row for row in app.scenario.samples if row.time_ns >= load.end_ns]
    return app


def main_thread_unseen(draws: Draws) -> App:
    """A worker loads, and the main thread never runs."""
    app = recorded(draws, 400 * MS, on_main=False)
    app.scenario.samples = [row for row in app.scenario.samples if row.thread.name != "Main Thread"]
    return app


CASES = [
    *cases(ID, POSITIVE, 6, at_launch, also=ALSO),
    *cases(ID, POSITIVE, 4, several_in_a_row, also=("serialized-specialization", *ALSO)),
    *cases(ID, POSITIVE, 3, unseen_by_core_ml, also=ALSO),
    *cases(ID, NEGATIVE, 6, in_the_background, also=ALSO, page="The load takes place on a worker"),
    *cases(ID, NEGATIVE, 5, short, also=ALSO, page="Loads from the cache are shorter"),
    *each(ID, NEAR_ABOVE, (250, 251, 255, 260, 270), loaded_for, also=ALSO),
    *each(ID, NEAR_BELOW, (249, 248, 245, 240, 230), loaded_for, also=ALSO),
    *cases(ID, LOOKALIKE, 3, command_line_tool, also=ALSO, page="A command-line tool loads"),
    *cases(ID, LOOKALIKE, 2, two_at_once, also=ALSO),
    *cases(ID, INSUFFICIENT, 1, neural_engine_app),
    *cases(ID, INSUFFICIENT, 2, nothing_sampled, also=ALSO),
    *cases(ID, INSUFFICIENT, 2, main_thread_unseen, also=ALSO),
]
