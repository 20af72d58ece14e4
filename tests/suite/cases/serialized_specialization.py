"""Cold loads of several models in a row."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, without_engine
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models, many_models_app, neural_engine_app
from tracekit.testing.recorder import App, neural_engine, start_recording
from tracekit.testing.rows import LOAD, LOAD_CACHED, LOAD_COLD, Model

ID = "serialized-specialization"


def at_work(app: App, models: list[Model], rounds: int = 25) -> App:
    """All models in turn."""
    for _ in range(rounds):
        for model in models:
            app.predict(model, neural_engine(8 * MS), inputs=2)
            app.pause(MS)
    return app


def one_after_another(draws: Draws, label: str = LOAD_COLD, count: int | None = None, wait_ms: int = 0) -> App:
    """Three to five models are loaded, each after the one before, and then used."""
    app = start_recording(draws)
    models = draw_models(draws, count or draws.integer(3, 5))
    for model in models:
        app.load(model, draws.integer(800, 10_000) * MS, label, engine=True)
    app.pause(wait_ms * MS)
    return at_work(app, models)


def all_at_once(draws: Draws) -> App:
    """All loads begin together, and the Neural Engine prepares one model at a time."""
    app = start_recording(draws)
    models = draw_models(draws, draws.integer(3, 5))
    first = now = app.now_ns
    for model in models:
        length = draws.integer(1_000, 8_000) * MS
        app.scenario.other_neural_engine(now, length, model.engine_label(1, "Compile"))
        now += length
        app.scenario.load(model, first, now - first, LOAD_COLD)
    app.now_ns = now + MS
    return at_work(app, models)


def exact(draws: Draws, short_us: int) -> App:
    """A load of a second and two short ones, which together are what the row costs."""
    app = start_recording(draws, **EXACT)
    models = draw_models(draws, 3)
    for model, length in zip(models, (1_000_000, short_us, short_us), strict=True):
        app.load(model, length * 1_000, LOAD_COLD)
    return at_work(app, models)


def so_long_between(draws: Draws, gap_us: int) -> App:
    """Three loads of a second with a pause between them."""
    app = start_recording(draws, **EXACT)
    models = draw_models(draws, 3)
    for model in models:
        app.load(model, 1_000 * MS, LOAD_COLD)
        app.now_ns = app.scenario.coreml[-1].end_ns + gap_us * 1_000
    app.now_ns = app.scenario.coreml[-1].end_ns + MS
    return at_work(app, models)


def then_a_cached_one(draws: Draws) -> App:
    """Three or more models are prepared, a further one comes from the cache, and then the first is called."""
    app = start_recording(draws)
    models = draw_models(draws, draws.integer(4, 5))
    for model in models[:-1]:
        app.load(model, draws.integer(800, 6_000) * MS, LOAD_COLD)
    app.load(models[-1], draws.integer(150, 500) * MS)
    return at_work(app, models)


def in_the_background(draws: Draws) -> App:
    """The models are prepared at the first launch and needed seconds later."""
    return one_after_another(draws, wait_ms=draws.integer(500, 8_000))


def from_the_cache(draws: Draws) -> App:
    """Large models in a row, from the cache."""
    return one_after_another(draws, LOAD_CACHED)


def not_told(draws: Draws) -> App:
    """Long plain loads in a row."""
    app = start_recording(draws)
    models = draw_models(draws, draws.integer(3, 5))
    for model in models:
        app.load(model, draws.integer(800, 6_000) * MS, LOAD)
    return at_work(app, models)


WAITED = ("cold-load",)
FOUND, PASSED, OPEN = {None: "finding"}, {None: "passed"}, {None: "not_evaluated"}


def at_a_users_pace(draws: Draws) -> App:
    """One model is called right after the loads, and again after a gap; all further calls come as the user taps."""
    app = start_recording(draws)
    models = draw_models(draws, 3)
    for model in models:
        app.load(model, draws.integer(800, 3_000) * MS, LOAD_COLD, engine=True)
    app.predict(models[0], neural_engine(8 * MS))
    app.pause(12_000 * MS)
    for index in range(30):
        app.predict(models[index % 3], neural_engine(8 * MS))
        app.pause(draws.integer(600, 1_100) * MS // 3)
    return app


CASES = [
    *cases(ID, POSITIVE, 7, one_after_another, expected=FOUND, also=WAITED),
    *cases(ID, POSITIVE, 4, all_at_once, expected=FOUND, also=WAITED),
    *cases(ID, POSITIVE, 3, then_a_cached_one, expected=FOUND, also=WAITED),
    *cases(ID, NEGATIVE, 4, neural_engine_app, expected=PASSED),
    *cases(ID, NEGATIVE, 3, many_models_app, expected=PASSED),
    *cases(ID, NEGATIVE, 3, in_the_background, expected=PASSED, also=WAITED, page="At the first launch, all"),
    *each(ID, NEAR_ABOVE, (125_000, 126_000, 140_000), exact, expected=FOUND, also=WAITED),
    *each(ID, NEAR_ABOVE, (100_000, 99_000), so_long_between, expected=FOUND, also=WAITED),
    *each(ID, NEAR_BELOW, (124_900, 124_000, 110_000), exact, expected=PASSED, also=WAITED),
    *each(ID, NEAR_BELOW, (100_001, 101_000), so_long_between, expected=PASSED, also=WAITED),
    # Two models in a row.
    *cases(ID, LOOKALIKE, 2, lambda draws: one_after_another(draws, count=2), expected=PASSED, also=WAITED),
    *cases(ID, LOOKALIKE, 2, from_the_cache, expected=PASSED, also=("slow-load",), page="Loads from the cache"),
    *cases(ID, INSUFFICIENT, 2, not_told, expected=OPEN),
    *cases(
        ID,
        INSUFFICIENT,
        1,
        lambda draws: without_engine(all_at_once(draws)),
        expected=OPEN,
        also=WAITED,
        page="Loads overlap and no Neural",
    ),
    *cases(ID, INSUFFICIENT, 2, at_a_users_pace, expected=OPEN, also=WAITED),
]
