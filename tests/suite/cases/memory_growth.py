"""A footprint that grows with each prediction."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.memory_apps import MB, SECOND, not_recorded, of_others, predicting
from tracekit.testing import Draws
from tracekit.testing.apps import MS, many_models_app
from tracekit.testing.recorder import App

ID = "memory-growth"
KB = 1_000


def kept_outputs(draws: Draws) -> App:
    """The app keeps the output of each prediction: 0.4 to 3 MB."""
    size = draws.integer(400, 3_000) * KB
    return predicting(draws, lambda _app, _index: size)


def pixel_buffers(draws: Draws) -> App:
    """Pixel buffers of one size out of three stay, so that some predictions add nothing."""
    size = draws.integer(2_000, 6_000) * KB
    return predicting(draws, lambda app, _index: size if app.draws.chance(330) else 0, model_mb=20)


def drained_late(draws: Draws) -> App:
    """An autorelease pool is drained now and then, and a part of what it holds stays each time."""
    size = draws.integer(1_000, 2_000) * KB
    return predicting(draws, lambda _app, index: -5 * size if index % 10 == 9 else size)


def drained(draws: Draws) -> App:
    """What each prediction adds is freed with every tenth one."""
    size = draws.integer(400, 3_000) * KB
    return predicting(draws, lambda _app, index: -9 * size if index % 10 == 9 else size)


def exact(draws: Draws, bytes_each: int, *, calls: int = 120, model_mb: int = 80) -> App:
    """Each prediction adds the same, and nothing else happens."""
    return predicting(draws, lambda _app, _index: bytes_each, calls=calls, model_mb=model_mb, noise=False, jitter=0)


def bends(draws: Draws, late_percent: int) -> App:
    """The first half of the predictions adds 1 MB each, the second half so many percent of that."""
    return predicting(
        draws, lambda _app, index: MB if index < 66 else MB * late_percent // 100, calls=120, noise=False, jitter=0
    )


def filling_cache(draws: Draws) -> App:
    """A cache that is full after a third of the predictions."""
    size = draws.integer(1_000, 3_000) * KB
    return predicting(draws, lambda _app, index: size if index < 40 else 0)


def another_screen(draws: Draws) -> App:
    """The app opens a screen that takes memory of its own."""
    at, size = draws.integer(40, 90), draws.integer(60, 200) * MB
    return predicting(draws, lambda _app, index: size if index == at else 0)


def grows_anyway(draws: Draws) -> App:
    """The app downloads something all the time: it grows as fast in pauses as during predictions."""
    rate = draws.integer(2, 5) * MB

    def holds(app: App, index: int) -> int:
        if index % 30 == 29:
            for _ in range(8):
                app.now_ns += SECOND
                app.hold(rate)
        return rate * 4 // 10

    return predicting(draws, holds)


def wanders(draws: Draws) -> App:
    """The footprint goes up and down at random by tens of MB, and ends higher than it began."""
    app = predicting(draws, model_mb=300)
    walk = 0
    for index, time in enumerate(range(2 * SECOND, app.now_ns, 2 * SECOND)):
        step = draws.integer(-60, 60) * MB
        walk += step
        app.held.append((time, step + (8 * MB if index else 0)))
    return app


def several_models(draws: Draws) -> App:
    """Several models in rounds; the app keeps something of each round."""
    size = draws.integer(3, 8) * MB

    def before(app: App, _index: int) -> None:
        app.pause(1_200 * MS)
        app.hold(size)

    return many_models_app(draws, before=before, memory=True)


OTHERS = ("pipeline-gaps", "serial-predictions")

CASES = [
    *cases(ID, POSITIVE, 5, kept_outputs),
    *cases(ID, POSITIVE, 3, pixel_buffers),
    *cases(ID, POSITIVE, 2, drained_late),
    *cases(ID, POSITIVE, 3, several_models),
    # The app holds what it held at the beginning.
    *cases(ID, NEGATIVE, 7, lambda draws: predicting(draws, model_mb=draws.integer(20, 400))),
    *cases(ID, NEGATIVE, 4, drained),
    # 20 MB over 120 predictions are 166,667 bytes each; 5% of a footprint of 660 MB are 33 MB.
    *each(ID, NEAR_ABOVE, (168_000, 175_000, 200_000), exact),
    *each(ID, NEAR_ABOVE, (60, 70, 90), bends),
    *each(ID, NEAR_BELOW, (165_000, 150_000, 100_000), exact),
    *each(ID, NEAR_BELOW, (10, 20, 25), bends),
    *cases(ID, LOOKALIKE, 4, filling_cache, page="A cache fills"),
    *cases(ID, LOOKALIKE, 4, another_screen, page="The footprint rises in one step"),
    *cases(ID, LOOKALIKE, 4, grows_anyway, page="The footprint grows as fast while nothing", found_in_more=(ID,)),
    *cases(ID, LOOKALIKE, 4, wanders, page="The footprint varies so much"),
    # Seconds of predictions, with a handful of samples.
    *cases(
        ID, INSUFFICIENT, 3, lambda draws: predicting(draws, lambda _app, _index: MB, every_ms=draws.integer(40, 150))
    ),
    # Activity Monitor saw other processes only.
    *cases(ID, INSUFFICIENT, 2, lambda draws: of_others(kept_outputs(draws))),
    *cases(ID, INSUFFICIENT, 2, lambda draws: not_recorded(kept_outputs(draws))),
]
