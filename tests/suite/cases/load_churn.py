"""Models that are released and loaded again."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, at_once, repeat, started, timed
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models, many_models_app, neural_engine_app
from tracekit.testing.recorder import App, gpu, neural_engine, start_recording
from tracekit.testing.rows import LOAD_CACHED, LOAD_COLD, Model

ID = "load-churn"


def sessions(
    draws: Draws, count: int, load_ms: int, calls: int, idle_ms: int, *, instances: int = 1, exact: bool = False
) -> App:
    """A load and some calls of 10 ms, so often, with a pause between."""
    app, model = started(draws, **(EXACT if exact else {}))
    unit = draws.choice((neural_engine, gpu))
    for number in range(count):
        model = Model(model.base, number % instances + 1)
        app.load(model, load_ms * MS)
        if exact:
            timed(app, model, [10 * MS] * calls, gap_ns=0, around_ns=0)
        else:
            repeat(app, model, unit(10 * MS), calls)
        app.pause(idle_ms * MS)
    return app


def churning(draws: Draws) -> App:
    """The model is thrown out after each run of calls and comes back one to four seconds later."""
    return sessions(
        draws,
        draws.integer(4, 9),
        draws.integer(150, 500),
        draws.integer(20, 60),
        draws.integer(1_000, 4_000),
        instances=draws.integer(1, 3),
    )


def after_a_pause(draws: Draws, idle_ms: int) -> App:
    """The pause between last use and reload decides."""
    return sessions(draws, 5, 300, 40, idle_ms, exact=True)


def of_this_share(draws: Draws, load_ms: int) -> App:
    """Three loads and 3 x 100 calls of 10 ms: two of three loads are a tenth of the time from 176.5 ms on."""
    return sessions(draws, 3, load_ms, 100, 1_500, exact=True)


def per_screen(draws: Draws) -> App:
    """A screen loads the model and releases it when it is left; the user comes back much later."""
    return sessions(draws, 6, 250, draws.integer(15, 40), draws.integer(7_000, 15_000))


def stages(draws: Draws) -> App:
    """A speech app that loads its stages for each sentence, at little cost: the published one loads five times."""
    app = start_recording(draws)
    base = draw_models(draws)[0].base
    decode, voice = Model(f"{base}_decode"), Model(f"{base}_voice")
    for _ in range(5):
        app.load(decode, 180 * MS, engine=True)
        repeat(app, decode, neural_engine(11 * MS), draws.integer(240, 280), inputs=5)
        app.load(voice, 90 * MS)
        repeat(app, voice, gpu(450 * MS), 3)
    return app


def one_more_instance_each_time(draws: Draws) -> App:
    """Instances are added while the first ones stay in use, each at its own work at the same time."""
    app, model = started(draws)
    for number in range(1, 5):
        models = [Model(model.base, each_number) for each_number in range(1, number + 1)]
        app.load(models[-1], 200 * MS)
        at_once(app, models, gpu(9 * MS), 20)
        app.pause(1_500 * MS)
    return app


def taking_turns(draws: Draws) -> App:
    """Two models that are loaded in turn: on purpose, or because they push each other out."""
    app = start_recording(draws)
    first, second = draw_models(draws, 2)
    for _ in range(5):
        for model in (first, second):
            app.load(model, draws.integer(250, 500) * MS)
            repeat(app, model, neural_engine(10 * MS), draws.integer(15, 30))
            app.pause(400 * MS)
    return app


Plan = tuple[int, tuple[int, ...], int, int, int]
"""Loads; predictions after each, in turn; time in ms between the last of them and the next load; time in ms of a load;
and of a prediction."""


def planned(draws: Draws, plan: Plan) -> App:
    """Loads with predictions after each, exactly as planned."""
    count, calls, idle_ms, load_ms, call_ms = plan
    app, model = started(draws, **EXACT)
    for number in range(count):
        app.load(model, load_ms * MS)
        timed(app, model, [call_ms * MS] * calls[number % len(calls)], gap_ns=0, around_ns=0)
        app.pause(idle_ms * MS)
    return app


SEVERAL_CALLS: tuple[Plan, ...] = (
    (160, (1, 2, 3), 20, 24, 7),
    (160, (3, 1, 2), 0, 24, 11),
    (60, (2,), 50, 24, 8),
    (40, (5,), 10, 30, 6),
    (20, (3,), 900, 100, 20),
    (10, (6,), 3_000, 200, 20),
    (3, (20,), 4_000, 250, 10),
    # Later than a screen, but each load takes three times as long as its use, and a call waits for it.
    (30, (12,), 8_000, 900, 10),
    (12, (4,), 20_000, 800, 50),
    (5, (3,), 60_000, 300, 20),
)
"""Reloads that cost a tenth of the model's time or more and serve several predictions each."""

CHEAP: tuple[Plan, ...] = (
    # Less than a tenth of the model's time.
    (100, (30,), 20, 10, 8),
    (10, (40,), 2_000, 30, 10),
    (30, (3,), 100, 20, 100),
    # After a long time unused: too short to be felt, or less than three times the use.
    (20, (4,), 8_000, 240, 5),
    (30, (12,), 8_000, 300, 12),
    (20, (3,), 8_000, 250, 40),
    (12, (2,), 30_000, 500, 300),
)
"""Reloads that are worth what they cost, or that an app may mean."""


def ahead_of_use(draws: Draws) -> App:
    """Each visit of a screen loads the model in the background, and the user gets to it a second later."""
    app, model = started(draws)
    for _ in range(12):
        app.load(model, 600 * MS)
        app.pause(1_200 * MS)
        repeat(app, model, neural_engine(9 * MS), 6)
        app.pause(8_000 * MS)
    return app


def first_run(draws: Draws) -> App:
    """A load that prepares the model, some calls to test it, a load from the cache, and use."""
    app, model = started(draws)
    app.load(model, draws.integer(800, 3_000) * MS, LOAD_COLD, engine=True)
    app.pause(300 * MS)
    repeat(app, model, neural_engine(10 * MS), 3)
    app.load(model, draws.integer(400, 700) * MS, LOAD_CACHED)
    return repeat(app, model, neural_engine(10 * MS), 60, MS)


EVERY_CALL: tuple[Plan, ...] = ((160, (1,), 20, 24, 7), (40, (1,), 900, 60, 60))
"""Loads for each prediction."""

CASES = [
    *each(ID, LOOKALIKE, EVERY_CALL, planned, also=("reload-before-predict",), page="A model is loaded for"),
    *each(ID, POSITIVE, SEVERAL_CALLS, planned),
    *each(ID, NEGATIVE, CHEAP, planned, page="Loads are cheap compared with"),
    # Loads 8 s after the last of 12 calls of 10 ms: three times as long from 360 ms on.
    *each(ID, NEAR_ABOVE, ((8, (12,), 8_000, 360, 10), (8, (12,), 8_000, 361, 10)), planned),
    *each(ID, NEAR_BELOW, ((8, (12,), 8_000, 359, 10), (8, (12,), 8_000, 350, 10)), planned),
    *cases(ID, LOOKALIKE, 2, ahead_of_use, page="A screen loads and releases"),
    *cases(ID, LOOKALIKE, 3, first_run, expected="passed", page="One load specializes the model"),
    *cases(ID, POSITIVE, 10, churning),
    *cases(ID, NEGATIVE, 5, neural_engine_app),
    *cases(ID, NEGATIVE, 5, many_models_app),
    *each(ID, NEAR_ABOVE, (5_000, 4_900, 4_700), after_a_pause),
    *each(ID, NEAR_ABOVE, (177, 180, 190), of_this_share),
    *each(ID, NEAR_BELOW, (5_010, 5_100, 5_500), after_a_pause),
    *each(ID, NEAR_BELOW, (176, 172, 160), of_this_share),
    *cases(ID, LOOKALIKE, 2, per_screen, page="A screen loads and releases"),
    *cases(ID, LOOKALIKE, 1, stages, page="Loads are cheap compared with"),
    *cases(
        ID,
        LOOKALIKE,
        1,
        one_more_instance_each_time,
        also=("gpu-contention", "concurrent-predictions"),
        page="More instances",
    ),
    *cases(ID, INSUFFICIENT, 2, taking_turns, page="Models alternate on purpose because"),
    # Two loads only.
    *cases(ID, INSUFFICIENT, 2, lambda draws: sessions(draws, 2, 400, 30, 2_000)),
]
