"""Models that are loaded, used or not."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, Case, cases, each
from suite.one_model import EXACT, repeat, several_loaded
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models, many_models_app, neural_engine_app, pipeline_app
from tracekit.testing.recorder import App, neural_engine, start_recording
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario

ID = "unused-load"
MINUTE = 60_000 * MS


def forgotten(draws: Draws) -> App:
    """One to three models are loaded at launch and never used; another one is."""
    app = start_recording(draws)
    *unused, model = draw_models(draws, draws.integer(2, 4))
    for other in unused:
        app.load(other, draws.integer(40, 900) * MS, engine=draws.chance(500))
    app.load(model, 90 * MS)
    return repeat(app, model, neural_engine(12 * MS), 60, lambda _: draws.integer(1_200, 1_800) * MS)


def exact(draws: Draws, after_ms: int, calls: int = 60) -> Scenario:
    """A model that is not used for so long until the end, while another makes so many calls."""
    app = start_recording(draws, **EXACT)
    unused, model = draw_models(draws, 2)
    app.load(model, 50 * MS)
    app.load(unused, 200 * MS)
    loaded = app.scenario.coreml[-1].end_ns
    repeat(app, model, neural_engine(12 * MS), calls, 20 * MS)
    scenario = app.finish()
    scenario.duration_ns = loaded + after_ms * MS
    scenario.gpu_performance.clear()
    return scenario


def of_calls(draws: Draws, calls: int) -> Scenario:
    """A model that is not used for two minutes, while another makes so many calls."""
    return exact(draws, 120_000, calls)


def used_late(draws: Draws) -> App:
    """A model that is loaded at launch and first used after more than a minute."""
    app, (early, late) = several_loaded(draws, 2, 120 * MS)
    repeat(app, early, neural_engine(12 * MS), 50, 1_500 * MS)
    return repeat(app, late, neural_engine(20 * MS), 10)


def stage_by_itself(draws: Draws) -> App:
    """A stage of a pipeline is also loaded by itself, and used in the pipeline only."""
    app = pipeline_app(draws)
    app.load(Model("Backbone"), 60 * MS)
    app.pause(MINUTE * 2)
    repeat(app, app.model, neural_engine(9 * MS), 12)
    app.pause(MINUTE)
    return app


def named_by_the_hardware(draws: Draws) -> App:
    """Only the Neural Engine shows that the model worked."""
    app = forgotten(draws)
    for model in app.models[:-1]:
        for _ in range(5):
            app.scenario.other_neural_engine(app.now_ns, 8 * MS, model.engine_label(1))
            app.pause(50 * MS)
    return app


def too_short(draws: Draws) -> App:
    """A model is loaded for later, and the recording ends within half a minute."""
    app = start_recording(draws)
    later, model = draw_models(draws, 2)
    for each_model in (later, model):
        app.load(each_model, 120 * MS)
    return repeat(app, model, neural_engine(12 * MS), draws.integer(40, 80), lambda _: draws.integer(2, 250) * MS)


WHOLE = {"passed": {None: "passed"}, "finding": {None: "finding"}, "insufficient": {None: "not_evaluated"}}

CASES: list[Case] = [
    *cases(ID, POSITIVE, 10, forgotten, expected=WHOLE["finding"]),
    *cases(ID, NEGATIVE, 4, neural_engine_app, expected=WHOLE["passed"]),
    *cases(ID, NEGATIVE, 3, many_models_app, expected=WHOLE["passed"]),
    *cases(ID, NEGATIVE, 3, used_late, expected=WHOLE["passed"]),
    *each(ID, NEAR_ABOVE, (60_000, 60_001, 61_000), exact, expected=WHOLE["finding"]),
    *each(ID, NEAR_ABOVE, (10, 11), of_calls, expected=WHOLE["finding"]),
    *each(ID, NEAR_BELOW, (59_999, 59_900, 59_000), exact, expected=WHOLE["insufficient"]),
    *each(ID, NEAR_BELOW, (9, 8), of_calls, expected=WHOLE["insufficient"]),
    *cases(ID, LOOKALIKE, 2, stage_by_itself, expected=WHOLE["passed"], page="A pipeline uses the model"),
    *cases(ID, LOOKALIKE, 2, named_by_the_hardware, expected=WHOLE["passed"]),
    *cases(ID, INSUFFICIENT, 3, too_short, expected=WHOLE["insufficient"], page="A model is loaded ahead"),
]
