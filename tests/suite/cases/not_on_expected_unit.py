"""Models on another compute unit than their author expects."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, NOT_APPLICABLE, POSITIVE, cases, each
from suite.one_model import EXACT, loaded, repeat, without_engine
from suite.weight import Weight
from tracekit.testing import Draws
from tracekit.testing.apps import MS, cpu_app, draw_models, gpu_app, neural_engine_app, pipeline_app
from tracekit.testing.machines import WINDOW_SERVER
from tracekit.testing.recorder import App, cpu, gpu, neural_engine, start_recording
from tracekit.testing.rows import Model

ID = "not-on-expected-unit"
EXPECT_ANE = {f"{ID}.expected_unit": 1}
EXPECT_GPU = {f"{ID}.expected_unit": 2}
EXPECT_CPU = {f"{ID}.expected_unit": 3}


def mostly_elsewhere(draws: Draws) -> App:
    """A short piece on the Neural Engine, and the rest on the CPU."""
    app, model = loaded(draws, engine=True)
    work = draws.integer(2, 5) * MS
    for _ in range(70):
        app.predict(model, neural_engine(work), cpu(draws.integer(2, 4) * work))
        app.pause(300_000)
    return app


def name_with_blanks(draws: Draws, name: str) -> App:
    """All work of a model of this name on the Neural Engine."""
    app = start_recording(draws)
    model = Model(name)
    app.load(model, engine=True)
    return repeat(app, model, lambda _: neural_engine(draws.integer(4, 9) * MS), 40, 300_000)


def to_share(draws: Draws, permille: int) -> App:
    """Exact calls of 20 ms of work, of which so much on the CPU and the rest on the Neural Engine."""
    app, model = loaded(draws, engine=True, **EXACT)
    # Without a row of anybody, the table of the GPU would prove nothing.
    app.scenario.gpu_work(app.now_ns - 20 * MS, MS, WINDOW_SERVER)
    on_cpu = 20 * MS * permille // 1_000
    for _ in range(60):
        prediction = app.scenario.predict(model, app.now_ns, 22 * MS)
        prediction.event("CPU", MS, on_cpu)
        prediction.neural_engine(MS + on_cpu, 20 * MS - on_cpu)
        app.now_ns += 23 * MS
    return app


def head_on_the_cpu(draws: Draws) -> App:
    """A fifth of the work on the CPU, as models with an unsupported last layer have it."""
    app, model = loaded(draws, engine=True)
    for _ in range(70):
        app.predict(model, neural_engine(8 * MS), cpu(2 * MS))
        app.pause(300_000)
    return app


def both_at_once(draws: Draws) -> App:
    """A model on the CPU beside one on the Neural Engine, whose rows name no model."""
    app = start_recording(draws, generic_labels=True)
    slow, fast = draw_models(draws, 2)
    app.load(slow)
    app.load(fast, engine=True)
    for _ in range(60):
        start = app.now_ns
        app.predict(slow, cpu(6 * MS), host_ns=20 * MS, wait=False)
        app.now_ns = start + 8 * MS
        app.predict(fast, neural_engine(10 * MS))
        app.now_ns = start + 40 * MS
    return app


def requests_alone(draws: Draws) -> App:
    """A model on the Neural Engine whose table holds no row: only the requests show where it ran."""
    app = neural_engine_app(draws)
    for prediction in app.predictions:
        prediction.event("Neural Engine Request", 100_000, prediction.row.duration_ns - 200_000)
    app.scenario.emptied.add(app.scenario.xcode.neural_engine_schema)
    return app


def mostly_blank(draws: Draws) -> App:
    """Rows show hardly anything."""
    app, model = loaded(draws)
    return repeat(app, model, gpu(MS), 60, host_ns=40 * MS)


BLANKS = (" Segmenter", "  Pose  Net", "Pose  Net")

FACT = Weight("critical", savings_ms=0)
"""All calls run elsewhere; what the other unit would save, nobody knows."""

IN_TURN = ("idle-compute-units",)

CASES = [
    *each(ID, NEGATIVE, BLANKS, name_with_blanks, settings=EXPECT_ANE, also=("latency-jitter",)),
    *each(ID, POSITIVE, BLANKS, name_with_blanks, settings=EXPECT_GPU, also=("latency-jitter",)),
    *cases(ID, POSITIVE, 4, cpu_app, settings=EXPECT_ANE, weight=FACT),
    *cases(ID, POSITIVE, 3, gpu_app, settings=EXPECT_ANE, weight=FACT),
    *cases(ID, POSITIVE, 2, neural_engine_app, settings=EXPECT_GPU, weight=FACT),
    *cases(ID, POSITIVE, 2, gpu_app, settings=EXPECT_CPU, weight=FACT),
    *cases(ID, POSITIVE, 3, mostly_elsewhere, settings=EXPECT_ANE, weight=FACT, also=IN_TURN),
    *cases(ID, NEGATIVE, 4, neural_engine_app, settings=EXPECT_ANE),
    *cases(ID, NEGATIVE, 3, gpu_app, settings=EXPECT_GPU),
    *cases(ID, NEGATIVE, 3, cpu_app, settings=EXPECT_CPU),
    *cases(ID, NEGATIVE, 2, pipeline_app, settings=EXPECT_ANE),
    *each(ID, NEAR_ABOVE, (500, 501, 503, 505, 510), to_share, settings=EXPECT_ANE, also=IN_TURN),
    *each(ID, NEAR_BELOW, (490, 495, 497, 498, 499), to_share, settings=EXPECT_ANE, also=IN_TURN),
    *cases(ID, LOOKALIKE, 2, head_on_the_cpu, settings=EXPECT_ANE, also=IN_TURN),
    *cases(ID, LOOKALIKE, 2, cpu_app, expected=NOT_APPLICABLE),
    *cases(ID, LOOKALIKE, 2, both_at_once, settings=EXPECT_ANE, also=("unexplained-time",)),
    *cases(ID, LOOKALIKE, 2, requests_alone, settings=EXPECT_ANE, page="The Neural Engine has requests"),
    *cases(
        ID,
        INSUFFICIENT,
        2,
        lambda draws: without_engine(neural_engine_app(draws, machine=5)),
        settings=EXPECT_ANE,
        page="The unit's table was not recorded",
    ),
    *cases(ID, INSUFFICIENT, 2, mostly_blank, settings=EXPECT_ANE, also=("unexplained-time",)),
]
