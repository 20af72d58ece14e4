"""Recordings that began after the app had loaded its models."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, NOT_APPLICABLE, POSITIVE, cases, each
from suite.one_model import loaded, repeat, started, unseen
from support.samples import SAMPLES
from support.scenarios import any_clean_app
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models
from tracekit.testing.recorder import App, neural_engine, start_recording
from tracekit.testing.rows import LOAD_CACHED, PREDICTION, CoreMLRow, Model

ID = "attached-late"
FROM_LOADS = ("warm-up-spike", "latency-jitter", "shape-switching", "unused-load")
"""What may be found because nobody knows which call was the first."""


def without_loads(draws: Draws) -> App:
    """A clean app of any kind whose models were loaded before."""
    return unload(any_clean_app(draws, attached=True))


def unload(app: App) -> App:
    """Take the load rows out; places of predictions in `coreml` stay as they are."""
    scenario = app.scenario
    for index, row in enumerate(scenario.coreml):
        if row.label == LOAD_CACHED:
            # A row that is there anyway, so that nothing else moves: an empty check of the first prediction.
            first = next(each for each in scenario.coreml if each.label == PREDICTION and each.model == row.model)
            scenario.coreml[index] = CoreMLRow(
                first.start_ns, 0, "Input Validation", first.model, "model-data-event", scenario.coreml.index(first)
            )
    return app


def one_of_two(draws: Draws) -> App:
    """A second model is loaded while recording, the first was before."""
    app = start_recording(draws, attached=True)
    first, second = draw_models(draws, 2)
    repeat(app, first, neural_engine(8 * MS), 30, MS)
    app.load(second, engine=True)
    return repeat(app, second, neural_engine(8 * MS), 30, MS)


def without_names(draws: Draws) -> App:
    """Predictions that name no model, since names come with the load."""
    app, model = loaded(draws, engine=True, attached=True)
    for number in range(60):
        app.predict(Model("", None) if number % 2 else model, neural_engine(8 * MS))
        app.pause(MS)
    return app


def load_beside_the_first_call(draws: Draws, later_us: int) -> App:
    """The load begins so long after the first call, before it where negative."""
    app, model = started(draws, attached=True, noise=False)
    app.models.append(model)
    first = 500 * MS
    app.scenario.load(model, first + later_us * 1_000, 0)
    for number in range(60):
        app.scenario.predict(model, first + number * 12 * MS, 10 * MS).neural_engine(500_000, 9 * MS)
    app.now_ns = first + 800 * MS
    return app


def last_seconds(draws: Draws) -> App:
    """Only the last seconds were kept, and the loads came before."""
    app = without_loads(draws)
    app.scenario.recording_mode = "Windowed"
    return app


def unload_again(draws: Draws) -> App:
    """Loaded while recording, released, and loaded again later."""
    app, model = started(draws, attached=True)
    for _ in range(2):
        app.load(model, engine=True)
        repeat(app, model, neural_engine(8 * MS), 40, MS)
        app.pause(4_000 * MS)
    return app


CASES = [
    *cases(ID, POSITIVE, 7, without_loads, also=FROM_LOADS),
    *cases(ID, POSITIVE, 3, one_of_two, also=FROM_LOADS),
    *cases(ID, POSITIVE, 2, without_names, also=FROM_LOADS, expected={None: "finding"}),
    *cases(ID, NEGATIVE, 8, lambda draws: any_clean_app(draws, attached=True), page="Instruments attached before the"),
    # Launched, and all loads are there.
    *cases(ID, NEGATIVE, 4, lambda draws: any_clean_app(draws, attached=False)),
    *each(ID, NEAR_ABOVE, (1, 10, 100, 1_000, 50_000), load_beside_the_first_call),
    *each(ID, NEAR_BELOW, (0, -1, -10, -100, -50_000), load_beside_the_first_call),
    *each(ID, LOOKALIKE, ("style_transfer_fixed", "sharpen_float16"), lambda _, name: SAMPLES[name]()),
    *cases(ID, LOOKALIKE, 2, unload_again, found_in_more=("load-churn",)),
    *cases(
        ID,
        LOOKALIKE,
        2,
        last_seconds,
        expected=NOT_APPLICABLE,
        also=("truncated-recording", *FROM_LOADS),
        page="The recording keeps only its last",
    ),
    # The launch was recorded, so that the loads are missing for another reason.
    *cases(
        ID, INSUFFICIENT, 2, lambda draws: unload(any_clean_app(draws, attached=False)), also=FROM_LOADS, page="The app"
    ),
    *cases(
        ID, INSUFFICIENT, 1, lambda draws: unseen(without_loads(draws)), also=("core-ml-not-instrumented", *FROM_LOADS)
    ),
]
