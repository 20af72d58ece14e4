"""Models that run while Core ML's table stays empty."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, NOT_APPLICABLE, POSITIVE, cases, each
from suite.one_model import loaded, repeat, unseen, without
from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, cpu_app, gpu_app, many_models_app, neural_engine_app
from tracekit.testing.machines import Process
from tracekit.testing.recorder import App, gpu, neural_engine
from tracekit.testing.rows import ENGINE_PREDICTION
from tracekit.testing.scenario import CORE_ML

ID = "core-ml-not-instrumented"

ALSO = ("foreign-neural-engine-work", "compute-unit-ping-pong", "neural-engine-fragmentation", "warm-up-spike")
"""What may be found as well in predictions that are put together from the hardware."""


def executions(draws: Draws, count: int) -> App:
    """So many executions of the Neural Engine without a name."""
    app, model = loaded(draws, generic_labels=True)
    return unseen(repeat(app, model, neural_engine(6 * MS), count, 3 * MS))


def command_buffers(draws: Draws, count: int) -> App:
    """So many predictions on the GPU."""
    app, model = loaded(draws)
    return unseen(repeat(app, model, gpu(6 * MS), count, 3 * MS))


def another_process(draws: Draws) -> App:
    """The GPU runs a model, of another process."""
    app, _ = loaded(draws)
    other = Process("photoanalysisd", 733)
    for number in range(40):
        label = f"PhotoScene_main__Op{number % 2}_MpsGraphInference:Compute Command 0"
        app.scenario.gpu_work(app.now_ns, 2 * MS, other, "Compute", label)
        app.pause(20 * MS)
    return unseen(app)


def own_shaders(draws: Draws) -> App:
    """The app uses the GPU for its own drawing and computing."""
    app, _ = loaded(draws)
    for number in range(60):
        channel = draws.choice(("Compute", "Fragment", "Vertex"))
        app.scenario.gpu_work(app.now_ns, 2 * MS, app.scenario.target, channel, f"Pass {number}:Command 0")
        app.pause(20 * MS)
    return unseen(app)


def background_work(draws: Draws) -> App:
    """The target runs no model; the system uses the engine a few times."""
    app, _ = loaded(draws)
    for _ in range(draws.integer(1, 8)):
        app.scenario.other_neural_engine(app.now_ns, 7 * MS, ENGINE_PREDICTION)
        app.pause(300 * MS)
    return unseen(app)


CASES = [
    # Labels of the GPU's work name model and process.
    *cases(ID, POSITIVE, 5, lambda draws: unseen(gpu_app(draws)), also=ALSO),
    # The Neural Engine is busy, with labels that name a model or not.
    *cases(
        ID, POSITIVE, 5, lambda draws: unseen(neural_engine_app(draws, generic_labels=draws.chance(500))), also=ALSO
    ),
    # Core ML was not recorded at all, and the GPU's labels show that the target ran a model.
    *cases(ID, POSITIVE, 2, lambda draws: without(gpu_app(draws), CORE_ML), also=ALSO),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *cases(ID, NEGATIVE, 3, gpu_app),
    *cases(ID, NEGATIVE, 2, camera_app),
    *cases(ID, NEGATIVE, 2, many_models_app),
    # Twenty executions of anybody, or one command buffer of the target.
    *each(ID, NEAR_ABOVE, (20, 21, 23), executions),
    *each(ID, NEAR_ABOVE, (1, 2), command_buffers),
    *each(ID, NEAR_BELOW, (19, 18, 16, 12, 10), executions, expected="not_evaluated"),
    # Nothing but call stacks shows the model, which runs on the CPU: its calls can be judged without Core ML.
    *cases(ID, LOOKALIKE, 3, lambda draws: unseen(cpu_app(draws, code=True)), expected=NOT_APPLICABLE, also=ALSO),
    *cases(ID, LOOKALIKE, 2, another_process),
    *cases(ID, LOOKALIKE, 2, own_shaders),
    # A model on the CPU, and a table that stays empty.
    *cases(ID, INSUFFICIENT, 2, lambda draws: unseen(cpu_app(draws))),
    *cases(ID, INSUFFICIENT, 1, background_work, page="The app runs no model"),
    # Nobody asked for Core ML's events, and the engine's rows name nobody.
    *cases(ID, INSUFFICIENT, 1, lambda draws: without(neural_engine_app(draws), CORE_ML)),
]
