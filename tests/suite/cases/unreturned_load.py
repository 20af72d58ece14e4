"""Reloads whose memory stays."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.memory_apps import MB, SECOND, of_others, predicting, reloading
from suite.one_model import repeat, started
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models
from tracekit.testing.recorder import App, neural_engine, start_recording
from tracekit.testing.rows import Model

ID = "unreturned-load"


def never_released(draws: Draws) -> App:
    """Something holds on to each instance, so that all of it stays."""
    return reloading(draws, lambda _index, size: size, loads=draws.integer(6, 9))


def weights_stay(draws: Draws) -> App:
    """Buffers are returned and the weights stay."""
    percent = draws.integer(65, 95)
    return reloading(draws, lambda _index, size: size * percent // 100, loads=draws.integer(6, 9))


def mostly_released(draws: Draws) -> App:
    """A small part of each load stays."""
    percent = draws.integer(3, 25)
    return reloading(draws, lambda _index, size: size * percent // 100, loads=draws.integer(6, 9))


def exact(draws: Draws, percent: int) -> App:
    """So many percent of the 100 MB of each load stay."""
    return reloading(draws, lambda _index, size: size * percent // 100, model_mb=100, noise=False, jitter=0)


def of_size(draws: Draws, size_kb: int) -> App:
    """Loads of so many KB, all of which stays."""
    app, model = started(draws, memory=True, noise=False, jitter=0)
    for _ in range(7):
        app.load(model, 90 * MS)
        app.hold(size_kb * 1_000)
        app.pause(2 * SECOND)
        repeat(app, model, neural_engine(9 * MS), 12, 100 * MS)
        app.pause(9 * SECOND)
    return app


def first_stays(draws: Draws) -> App:
    """Core ML keeps what it set up with the first load."""
    return reloading(draws, lambda index, size: size if index == 0 else 0)


def swapped(draws: Draws) -> App:
    """The next instance is loaded before the last one is released."""
    app = start_recording(draws, memory=True)
    base, size = draw_models(draws)[0].base, draws.integer(60, 300) * MB
    for number in range(1, 8):
        app.load(Model(base, number), 90 * MS)
        app.hold(size)
        app.pause(1_500 * MS)
        if number > 1:
            app.hold(-size)
        repeat(app, Model(base, number), neural_engine(9 * MS), 16, 100 * MS)
        app.pause(9 * SECOND)
    return app


def grows_in_use(draws: Draws) -> App:
    """What predictions add stays, what loads add does not."""
    size = draws.integer(60, 100)
    return reloading(draws, lambda _index, _size: 0, model_mb=80, grown_mb=size, used_s=5)


def in_rounds(draws: Draws) -> App:
    """Two models that replace each other; of one of them, all stays."""
    app = start_recording(draws, memory=True)
    models = draw_models(draws, 2)
    for number in range(12):
        model = models[number % 2]
        app.load(model, 90 * MS)
        app.hold(120 * MB)
        app.pause(1_500 * MS)
        repeat(app, model, neural_engine(9 * MS), 10, 100 * MS)
        if number % 2:
            app.hold(-120 * MB)
        app.pause(6 * SECOND)
    return app


def too_fast(draws: Draws) -> App:
    """Loads that follow one another several times between two samples."""
    app, model = started(draws, memory=True)
    for _ in range(24):
        app.load(model, 60 * MS)
        app.hold(40 * MB)
        app.predict(model, neural_engine(9 * MS))
        app.pause(60 * MS)
    return app


OTHERS = ("load-churn", "reload-before-predict", "slow-load", "memory-growth")

CASES = [
    *cases(ID, POSITIVE, 6, never_released, also=OTHERS),
    *cases(ID, POSITIVE, 5, weights_stay, also=OTHERS),
    # What a load adds is returned.
    *cases(
        ID, NEGATIVE, 6, lambda draws: reloading(draws, lambda _index, _size: 0, loads=draws.integer(6, 9)), also=OTHERS
    ),
    *cases(ID, NEGATIVE, 5, mostly_released, also=OTHERS),
    *each(ID, NEAR_ABOVE, (51, 55, 60), exact, also=OTHERS),
    *each(ID, NEAR_ABOVE, (20_100, 21_000, 24_000), of_size, also=OTHERS),
    *each(ID, NEAR_BELOW, (49, 45, 40), exact, also=OTHERS),
    *each(ID, NEAR_BELOW, (19_800, 18_000, 12_000), of_size, also=OTHERS),
    *cases(ID, LOOKALIKE, 3, first_stays, also=OTHERS, page="The first load leaves something behind"),
    *cases(ID, LOOKALIKE, 3, swapped, also=OTHERS, page="The new instance is loaded before"),
    *cases(ID, LOOKALIKE, 3, grows_in_use, also=OTHERS, page="Predictions make the footprint grow"),
    # One load, which stays to the end.
    *cases(ID, LOOKALIKE, 3, lambda draws: predicting(draws, calls=70)),
    *cases(ID, INSUFFICIENT, 3, in_rounds, also=OTHERS, page="Other models are loaded in between"),
    *cases(ID, INSUFFICIENT, 3, too_fast, also=OTHERS, page="Loads follow one another faster"),
    # Activity Monitor saw other processes only.
    *cases(ID, INSUFFICIENT, 2, lambda draws: of_others(never_released(draws)), also=OTHERS),
]
