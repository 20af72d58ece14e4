"""Recordings that began after the app had loaded its models."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, NOT_APPLICABLE, POSITIVE, cases, each
from support.samples import SAMPLES
from support.scenarios import CLEAN_APPS
from tracekit.testing import Draws, Scenario
from tracekit.testing.apps import MS, draw_models
from tracekit.testing.recorder import App, neural_engine, start_recording
from tracekit.testing.rows import LOAD_CACHED, PREDICTION, CoreMLRow, Model
from tracekit.testing.scenario import CORE_ML

ID = "attached-late"
FROM_LOADS = ("warm-up-spike", "latency-jitter", "shape-switching", "unused-load")
"""What may be found because nobody knows which call was the first."""


def without_loads(draws: Draws) -> App:
    """A clean app of any kind whose models were loaded before."""
    app = draws.choice(tuple(CLEAN_APPS.values()))(draws, attached=True)
    return unload(app)


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
    for _ in range(30):
        app.predict(first, neural_engine(8 * MS))
        app.pause(MS)
    app.load(second, engine=True)
    for _ in range(30):
        app.predict(second, neural_engine(8 * MS))
        app.pause(MS)
    return app


def without_names(draws: Draws) -> App:
    """Predictions that name no model, since names come with the load."""
    app = start_recording(draws, attached=True)
    model = draw_models(draws)[0]
    app.load(model, engine=True)
    for number in range(60):
        app.predict(Model("", None) if number % 2 else model, neural_engine(8 * MS))
        app.pause(MS)
    return app


def attached_in_time(draws: Draws) -> App:
    """Attached, and the models are loaded while recording."""
    return draws.choice(tuple(CLEAN_APPS.values()))(draws, attached=True)


def launched(draws: Draws) -> App:
    """Launched, and all loads are there."""
    return draws.choice(tuple(CLEAN_APPS.values()))(draws, attached=False)


def sample(_: Draws, name: str) -> Scenario:
    """A sample; some were attached."""
    return SAMPLES[name]()


def load_beside_the_first_call(draws: Draws, later_us: int) -> App:
    """The load begins so long after the first call, before it where negative."""
    app = start_recording(draws, attached=True, noise=False)
    model = draw_models(draws)[0]
    app.models.append(model)
    first = 500 * MS
    app.scenario.load(model, first + later_us * 1_000, 0)
    for number in range(60):
        app.scenario.predict(model, first + number * 12 * MS, 10 * MS).neural_engine(500_000, 9 * MS)
    app.now_ns = first + 800 * MS
    return app


def loads_are_not_told(draws: Draws) -> App:
    """The launch was recorded, so that the loads are missing for another reason."""
    return unload(draws.choice(tuple(CLEAN_APPS.values()))(draws, attached=False))


def last_seconds(draws: Draws) -> App:
    """Only the last seconds were kept, and the loads came before."""
    app = without_loads(draws)
    app.scenario.recording_mode = "Windowed"
    return app


def hidden(draws: Draws) -> App:
    """Core ML's table is empty."""
    app = without_loads(draws)
    app.scenario.emptied.add(CORE_ML)
    return app


def unload_again(draws: Draws) -> App:
    """Loaded while recording, released, and loaded again later."""
    app = start_recording(draws, attached=True)
    model = draw_models(draws)[0]
    for _ in range(2):
        app.load(model, engine=True)
        for _ in range(40):
            app.predict(model, neural_engine(8 * MS))
            app.pause(MS)
        app.pause(4_000 * MS)
    return app


CASES = [
    *cases(ID, POSITIVE, 7, without_loads, also=FROM_LOADS),
    *cases(ID, POSITIVE, 3, one_of_two, also=FROM_LOADS),
    *cases(ID, POSITIVE, 2, without_names, also=FROM_LOADS, expected={None: "finding"}),
    *cases(ID, NEGATIVE, 8, attached_in_time, page="Instruments attached before the models"),
    *cases(ID, NEGATIVE, 4, launched),
    *each(ID, NEAR_ABOVE, (1, 10, 100, 1_000, 50_000), load_beside_the_first_call),
    *each(ID, NEAR_BELOW, (0, -1, -10, -100, -50_000), load_beside_the_first_call),
    *each(ID, LOOKALIKE, ("style_transfer_fixed", "sharpen_float16"), sample),
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
    *cases(ID, INSUFFICIENT, 2, loads_are_not_told, also=FROM_LOADS, page="The app was launched by Instruments"),
    *cases(ID, INSUFFICIENT, 1, hidden, also=("core-ml-not-instrumented", *FROM_LOADS)),
]
