"""Models that run while Core ML's table stays empty."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, NOT_APPLICABLE, POSITIVE, cases, each
from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, cpu_app, draw_models, gpu_app, many_models_app, neural_engine_app
from tracekit.testing.machines import Process
from tracekit.testing.recorder import App, gpu, neural_engine, start_recording
from tracekit.testing.rows import ENGINE_PREDICTION
from tracekit.testing.scenario import CORE_ML

ID = "core-ml-not-instrumented"

ALSO = ("foreign-neural-engine-work", "compute-unit-ping-pong", "neural-engine-fragmentation", "warm-up-spike")
"""What may be found as well in predictions that are put together from the hardware."""


def hidden(app: App) -> App:
    """Instruments may not look into the app: the table of Core ML is recorded and stays empty."""
    app.scenario.emptied.add(CORE_ML)
    return app


def on_the_gpu(draws: Draws) -> App:
    """Labels of the GPU's work name model and process."""
    return hidden(gpu_app(draws))


def on_the_engine(draws: Draws) -> App:
    """The Neural Engine is busy, with labels that name a model or not."""
    return hidden(neural_engine_app(draws, generic_labels=draws.chance(500)))


def seen_in_stacks(draws: Draws) -> App:
    """Nothing but call stacks shows the model, which runs on the CPU: its calls can be judged without Core ML."""
    return hidden(cpu_app(draws, code=True))


def not_asked_for(draws: Draws) -> App:
    """Core ML was not recorded at all, and the GPU's labels show that the target ran a model."""
    app = gpu_app(draws)
    app.scenario.missing.add(CORE_ML)
    return app


def executions(draws: Draws, count: int) -> App:
    """So many executions of the Neural Engine without a name."""
    app = start_recording(draws, generic_labels=True)
    model = draw_models(draws)[0]
    app.load(model)
    for _ in range(count):
        app.predict(model, neural_engine(6 * MS))
        app.pause(3 * MS)
    return hidden(app)


def command_buffers(draws: Draws, count: int) -> App:
    """So many predictions on the GPU."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    app.load(model)
    for _ in range(count):
        app.predict(model, gpu(6 * MS))
        app.pause(3 * MS)
    return hidden(app)


def another_process(draws: Draws) -> App:
    """The GPU runs a model, of another process."""
    app = start_recording(draws)
    app.load(draw_models(draws)[0])
    other = Process("photoanalysisd", 733)
    for number in range(40):
        label = f"PhotoScene_main__Op{number % 2}_MpsGraphInference:Compute Command 0"
        app.scenario.gpu_work(app.now_ns, 2 * MS, other, "Compute", label)
        app.pause(20 * MS)
    return hidden(app)


def own_shaders(draws: Draws) -> App:
    """The app uses the GPU for its own drawing and computing."""
    app = start_recording(draws)
    app.load(draw_models(draws)[0])
    for number in range(60):
        channel = draws.choice(("Compute", "Fragment", "Vertex"))
        app.scenario.gpu_work(app.now_ns, 2 * MS, app.scenario.target, channel, f"Pass {number}:Command 0")
        app.pause(20 * MS)
    return hidden(app)


def only_the_engine_was_recorded(draws: Draws) -> App:
    """Nobody asked for Core ML's events, and the engine's rows name nobody."""
    app = neural_engine_app(draws)
    app.scenario.missing.add(CORE_ML)
    return app


def nothing_shows(draws: Draws) -> App:
    """A model on the CPU, and a table that stays empty."""
    return hidden(cpu_app(draws))


def background_work(draws: Draws) -> App:
    """The target runs no model; the system uses the engine a few times."""
    app = start_recording(draws)
    app.load(draw_models(draws)[0])
    for _ in range(draws.integer(1, 8)):
        app.scenario.other_neural_engine(app.now_ns, 7 * MS, ENGINE_PREDICTION)
        app.pause(300 * MS)
    return hidden(app)


CASES = [
    *cases(ID, POSITIVE, 5, on_the_gpu, also=ALSO),
    *cases(ID, POSITIVE, 5, on_the_engine, also=ALSO),
    *cases(ID, POSITIVE, 2, not_asked_for, also=ALSO),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *cases(ID, NEGATIVE, 3, gpu_app),
    *cases(ID, NEGATIVE, 2, camera_app),
    *cases(ID, NEGATIVE, 2, many_models_app),
    # Twenty executions of anybody, or one command buffer of the target.
    *each(ID, NEAR_ABOVE, (20, 21, 23), executions),
    *each(ID, NEAR_ABOVE, (1, 2), command_buffers),
    *each(ID, NEAR_BELOW, (19, 18, 16, 12, 10), executions, expected="not_evaluated"),
    *cases(ID, LOOKALIKE, 3, seen_in_stacks, expected=NOT_APPLICABLE, also=ALSO),
    *cases(ID, LOOKALIKE, 2, another_process),
    *cases(ID, LOOKALIKE, 2, own_shaders),
    *cases(ID, INSUFFICIENT, 2, nothing_shows),
    *cases(ID, INSUFFICIENT, 1, background_work, page="The app runs no model"),
    *cases(ID, INSUFFICIENT, 1, only_the_engine_was_recorded),
]
