"""Predictions that share the GPU with drawing."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, Allowed, cases, each
from suite.one_model import EXACT, loaded, without
from suite.several_loads import loaded_again
from tracekit.testing import Draws
from tracekit.testing.apps import MS, Before, async_app, gpu_app, neural_engine_app
from tracekit.testing.machines import WINDOW_SERVER
from tracekit.testing.recorder import App, gpu

ID = "gpu-contention"
LATE: tuple[Allowed, ...] = ("latency-jitter", "shape-switching")
"""Waiting that comes and goes may rightly be called jitter too, and its steps may look like shapes."""


def drawing(draws: Draws, own: bool = True) -> App:
    """Heavy drawing goes before some of the predictions."""
    app, model = loaded(draws)
    work, often = draws.integer(8, 20) * MS, draws.integer(2, 6)
    process = app.scenario.target if own else WINDOW_SERVER
    for index in range(draws.integer(70, 100)):
        if index % 10 < often:
            app.occupy("gpu", app.now_ns, work * draws.integer(60, 90) // 100, process=process)
        app.predict(model, gpu(work), inputs=2)
        app.pause(500_000)
    return app


def exact(draws: Draws, others_permille: int, longer_permille: int) -> App:
    """Exact calls of 10 ms; every third is longer by a share of that, and others work for a share of its time."""
    app, model = loaded(draws, **EXACT)
    for index in range(90):
        length = 10 * MS * (1_000 + longer_permille) // 1_000 if index % 3 == 2 else 10 * MS
        prediction = app.scenario.predict(model, app.now_ns, length)
        others = length * others_permille // 1_000 if index % 3 == 2 else 0
        prediction.event("GPU Request", 0, length)
        if others:
            app.scenario.gpu_work(app.now_ns, others, app.scenario.target)
        prediction.gpu(others, length - others)
        app.now_ns += length + 200_000
    return app


def so_slow(draws: Draws, permille: int) -> App:
    """Others work for a third of disturbed calls, which are longer by this share."""
    return exact(draws, 333, permille)


def so_much(draws: Draws, permille: int) -> App:
    """Others work for this share of disturbed calls, which are longer by a quarter."""
    return exact(draws, permille, 250)


def draws_before(length_ms: int, after_ms: int = 0, *, always: bool = False, blocks: bool = True) -> Before:
    """The app draws so long from the begin of every other prediction on, or of each, or so long after it."""

    def draw(app: App, index: int) -> None:
        if always or index % 2:
            at = app.now_ns + after_ms * MS
            app.occupy("gpu", at, length_ms * MS, process=app.scenario.target, blocks=blocks)

    return draw


def side_by_side(draws: Draws) -> App:
    """Drawing that overlaps predictions and slows none of them down."""
    return gpu_app(draws, compute_ns=14 * MS, before=draws_before(8, 2, blocks=False))


def more_work(draws: Draws) -> App:
    """Every other call has three times the work, and others draw for a part of it."""
    draw = draws_before(9, 4, blocks=False)
    return gpu_app(draws, compute_ns=lambda index: (36 if index % 2 else 12) * MS, before=draw)


def met_by_chance(draws: Draws) -> App:
    """Every other call has three times the work; drawing comes and goes beside them and slows nothing down."""

    def draw(app: App, index: int) -> None:
        if index % 7 == 0:
            app.occupy(
                "gpu", app.now_ns + draws.integer(0, 100) * MS, 24 * MS, process=app.scenario.target, blocks=False
            )

    return gpu_app(draws, compute_ns=lambda index: (36 if index % 2 else 12) * MS, predictions=200, runs=1, before=draw)


def another_configuration(draws: Draws) -> App:
    """A slower setting, loaded when the app begins to draw, which fills its time."""
    slow = draws.integer(15, 30) * MS

    def before(app: App, load: int, index: int) -> None:
        if load and index % 2:
            app.scenario.gpu_work(app.now_ns, slow, WINDOW_SERVER)

    return loaded_again(draws, "gpu", lambda load, _: slow if load else 9 * MS, loads=2, calls=50, before=before)


def drawing_on_each_load(draws: Draws) -> App:
    """Two settings, each a load, and drawing slows down both."""

    def before(app: App, load: int, index: int) -> None:
        if index % 3 == 0:
            app.occupy("gpu", app.now_ns, (20 if load else 8) * MS)

    return loaded_again(draws, "gpu", lambda load, _: (25 if load else 10) * MS, loads=2, calls=60, before=before)


CASES = [
    *cases(ID, POSITIVE, 7, drawing, also=LATE),
    # Another process draws.
    *cases(ID, POSITIVE, 4, lambda draws: drawing(draws, own=False), also=LATE),
    *cases(ID, NEGATIVE, 8, gpu_app, page="An idle desktop is drawn"),
    # Predictions of the model wait for each other.
    *cases(ID, NEGATIVE, 3, lambda draws: async_app(draws, unit="gpu", compute_ns=10 * MS, alone=30)),
    *each(ID, NEAR_ABOVE, (200, 205, 210, 230, 250), so_slow, also=LATE),
    *each(ID, NEAR_ABOVE, (200, 205, 215), so_much, also=LATE),
    *each(ID, NEAR_BELOW, (150, 180, 190, 195, 199), so_slow, also=LATE),
    *each(ID, NEAR_BELOW, (185, 195, 199), so_much, also=LATE),
    *cases(ID, LOOKALIKE, 2, side_by_side, page="Drawing overlaps predictions without slowing"),
    *cases(ID, LOOKALIKE, 2, more_work, also=LATE, page="Predictions do more work of their"),
    *cases(ID, LOOKALIKE, 6, met_by_chance, also=LATE, page="Some predictions are long because"),
    # Heavy drawing beside a model on the Neural Engine.
    *cases(
        ID, LOOKALIKE, 2, lambda draws: neural_engine_app(draws, compute_ns=8 * MS, before=draws_before(9, always=True))
    ),
    *cases(
        ID,
        INSUFFICIENT,
        2,
        lambda draws: gpu_app(draws, compute_ns=10 * MS, before=draws_before(8, always=True)),
        page="The app draws all the time",
    ),
    # Nine calls, half of them disturbed.
    *cases(
        ID,
        INSUFFICIENT,
        1,
        lambda draws: gpu_app(draws, compute_ns=10 * MS, predictions=9, before=draws_before(9)),
        also=LATE,
    ),
    *cases(ID, INSUFFICIENT, 1, lambda draws: without(drawing(draws), "metal-gpu-intervals"), also=LATE),
    *cases(ID, LOOKALIKE, 3, another_configuration, also=("load-churn",)),
    *cases(ID, POSITIVE, 3, drawing_on_each_load, also=(*LATE, "load-churn")),
]
