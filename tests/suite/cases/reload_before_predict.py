"""Loads between predictions."""

from __future__ import annotations

from dataclasses import replace

from suite.cases.load_churn import Plan, first_run, planned
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, repeat, started
from suite.weight import Weight
from tracekit.testing import Draws
from tracekit.testing.apps import MS, Before, draw_models, many_models_app, neural_engine_app
from tracekit.testing.recorder import App, neural_engine, start_recording
from tracekit.testing.rows import Model

ID = "reload-before-predict"


def reloading(load_ns: int, every: int = 1) -> Before:
    """Load the model again before every so many predictions."""

    def before(app: App, index: int) -> None:
        if index and index % every == 0:
            app.load(app.model, load_ns, engine=True)

    return before


def rebuilt_at_each_access(draws: Draws) -> App:
    """A computed property: a load before every prediction."""
    return neural_engine_app(draws, before=reloading(draws.integer(8, 180) * MS))


def rebuilt_for_a_new_instance(draws: Draws) -> App:
    """The same with names that count the instances up."""
    app = start_recording(draws)
    name, load = draw_models(draws)[0].base, draws.integer(10, 60) * MS
    for index in range(70):
        model = Model(name, index % 3 + 1)
        app.load(model, load)
        app.predict(model, neural_engine(6 * MS))
        app.pause(draws.integer(1, 30) * MS)
    return app


def alternating(draws: Draws, calls: tuple[int, ...], loads: int = 30, pause_ms: int = 4) -> App:
    """Loads with so many predictions after each, in turn."""
    app, model = started(draws, jitter=0)
    for index in range(loads):
        app.load(model, 20 * MS)
        repeat(app, model, neural_engine(6 * MS), calls[index % len(calls)])
        app.pause(pause_ms * MS)
    return app


def after_a_pause(draws: Draws, pause_ms: int) -> App:
    """A model that is loaded, used once, and loaded again after so long."""
    return alternating(draws, (1,), loads=20, pause_ms=pause_ms)


def pool(draws: Draws) -> App:
    """Eight instances loaded up front for parallel work, each used once in a while: nothing is loaded again."""
    app = start_recording(draws)
    models = [Model(draw_models(draws)[0].base, number) for number in range(1, 9)]
    models = [Model(models[0].base, model.instance) for model in models]
    for model in models:
        app.load(model, 30 * MS)
    for model in models:
        app.predict(model, neural_engine(9 * MS))
    return app


def runs_of_calls(draws: Draws) -> App:
    """A load for every run of calls, as when the user switches a feature on and off."""
    return alternating(draws, (draws.integer(6, 15),), loads=8, pause_ms=1_500)


SINGLE_CALLS: tuple[Plan, ...] = (
    (160, (1,), 20, 24, 7),
    (100, (1, 1, 1, 1, 2), 30, 24, 8),
    (40, (1,), 900, 60, 60),
    # Later than a screen, but each load takes three times as long as its use, and a call waits for it.
    (30, (1,), 8_000, 900, 120),
    (20, (1,), 60_000, 500, 100),
)
"""Loads for each prediction."""

WORTH_IT: tuple[Plan, ...] = (
    # After a long time unused: too short to be felt, or less than three times the use.
    (20, (1,), 8_000, 240, 30),
    (30, (1,), 8_000, 300, 120),
    (12, (1,), 30_000, 500, 400),
)
"""Loads for each prediction that an app may mean: what a screen loads and releases."""


CHURN = ("load-churn",)
"""Loads for several predictions each."""


def of_one_length(draws: Draws, load_ms: int) -> App:
    """Forty times a load of this length and a call of 20 ms; what the app does between has no part in the share."""
    app, model = started(draws, **EXACT)
    for _ in range(40):
        app.load(model, load_ms * MS)
        app.scenario.predict(model, app.now_ns, 20 * MS).event("CPU", 0, 20 * MS)
        app.now_ns += draws.integer(30, 900) * MS
    return app


def weight_of(load_ms: int) -> Weight:
    """All loads but the first are saved, of the time of all loads and calls."""
    share = 39 * load_ms / (40 * (load_ms + 20))
    severity = next(name for name, least in (("critical", 0.5), ("high", 0.25), ("medium", 0.1)) if share >= least)
    return Weight(severity, savings_ms=39 * load_ms, share=share)


CASES = [
    *(
        replace(case, weight=weight_of(case.variant))
        for case in each(ID, POSITIVE, (4, 6, 8, 18, 22, 60), of_one_length)
    ),
    *each(ID, POSITIVE, SINGLE_CALLS, planned),
    *each(ID, NEGATIVE, WORTH_IT, planned, page="A model is used once"),
    # Loads 8 s after a call of 120 ms: three times as long from 360 ms on.
    *each(ID, NEAR_ABOVE, ((8, (1,), 8_000, 360, 120), (8, (1,), 8_000, 365, 120)), planned),
    *each(ID, NEAR_BELOW, ((8, (1,), 8_000, 359, 120), (8, (1,), 8_000, 350, 120)), planned),
    *cases(ID, LOOKALIKE, 1, first_run, page="One load specializes the model"),
    *cases(ID, POSITIVE, 7, rebuilt_at_each_access),
    *cases(ID, POSITIVE, 3, rebuilt_for_a_new_instance),
    # Several models, of which the first alone is loaded before each use.
    *cases(ID, POSITIVE, 2, lambda draws: many_models_app(draws, before=reloading(draws.integer(20, 60) * MS))),
    *cases(ID, NEGATIVE, 5, neural_engine_app),
    *cases(ID, NEGATIVE, 3, many_models_app),
    *cases(ID, NEGATIVE, 2, runs_of_calls, also=("load-churn",)),
    # 80 % of the loads used at most once, with at least one load for two calls.
    *each(ID, NEAR_ABOVE, [(1, 1, 1, 1, 4), (1, 1, 1, 1, 5), (1, 1, 1, 1, 6)], alternating),
    # A load before every prediction, some times.
    *each(ID, NEAR_ABOVE, [3], lambda draws, loads: alternating(draws, (1,), loads=loads)),
    *each(ID, NEAR_ABOVE, [4_900], after_a_pause),
    *each(ID, NEAR_BELOW, [(1, 1, 1, 4), (1, 1, 1, 1, 7), (1, 2, 1, 1)], alternating, also=CHURN),
    *each(ID, NEAR_BELOW, [5_100, 5_300], after_a_pause),
    # A model that a screen loads, uses once and releases, six seconds or more apart.
    *cases(ID, LOOKALIKE, 2, lambda draws: after_a_pause(draws, draws.integer(6_000, 9_000)), page="A model is used"),
    *cases(ID, LOOKALIKE, 1, pool, page="Several instances are loaded up"),
    # One load and one prediction, or two of each.
    *cases(ID, INSUFFICIENT, 3, lambda draws: alternating(draws, (1,), loads=draws.integer(1, 2))),
]
