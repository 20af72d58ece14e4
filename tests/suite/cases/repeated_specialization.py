"""Models that are specialized again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, unseen
from tracekit.testing import Draws, stacks
from tracekit.testing.apps import MS, cpu_app, gpu_app, neural_engine_app
from tracekit.testing.code import Code
from tracekit.testing.recorder import App, Step, start_recording
from tracekit.testing.rows import ENGINE_PREPARE, Model

ID = "repeated-specialization"
GPU_CODE = (stacks.OPERATIONS["gpu"], stacks.EXECUTE, *stacks.PREDICT)
GRAPH = stacks.objective_c(
    "MetalPerformanceShadersGraph", "-[MPSGraphExecutable specializedModuleWithDevice:inputTypes:]"
)
SAMPLED = {
    "graph": GRAPH,
    "pipelines": stacks.objective_c("Metal", "-[MTLCompiler compileFunctionInternal:]"),
    "on device": stacks.COMPILE_ON_DEVICE,
}
EVIDENCE = (*SAMPLED, "compiler", "prepare", "compile", "half of each")
"""What shows preparation: call stacks, rows of the compiler for GPU code, rows of the Neural Engine."""


def show(app: App, evidence: str, start_ns: int, length_ns: int) -> None:
    """What the recording holds of preparation in a prediction."""
    if evidence == "half of each":
        show(app, "graph", start_ns, length_ns // 2)
        show(app, "compiler", start_ns + length_ns // 2, length_ns // 2)
    elif evidence in SAMPLED:
        Code(app.scenario).runs(start_ns, length_ns, SAMPLED[evidence], *GPU_CODE)
    elif evidence == "compiler":
        for part in range(5):
            app.scenario.compile_shader(start_ns + part * length_ns // 5, length_ns // 5)
    else:
        label = ENGINE_PREPARE if evidence == "prepare" else "Neural Engine Compile"
        app.scenario.other_neural_engine(start_ns, length_ns, label)


def prepared(
    draws: Draws,
    evidence: str,
    *,
    prepares: Callable[[int], bool] = lambda _: True,
    calls: int = 40,
    length_ns: int | None = None,
    loads: bool = False,
    **recording: bool | int,
) -> App:
    """Calls on the GPU or the Neural Engine, of which some prepare the model for so long before they work."""
    app, model = start_recording(draws, **recording), Model("Decoder")
    unit = "neural engine" if evidence in ("prepare", "compile", "on device") else "gpu"
    work, length = draws.integer(6, 25) * MS, length_ns or draws.integer(30, 250) * MS
    app.load(model)
    for index in range(calls):
        if loads and index:
            app.load(model, 60 * MS)
        called = app.predict(model, Step(unit, work), host_ns=length if prepares(index) else 0).row
        sampling = Code(app.scenario)
        sampling.runs(called.start_ns, MS, stacks.BIND, *stacks.PREDICT)
        if prepares(index):
            show(app, evidence, called.end_ns - length, length)
        app.pause(draws.integer(1, 900) * MS)
    return app


def every_second(draws: Draws, evidence: str) -> App:
    """Two sizes in turn, of which one is new each time."""
    return prepared(draws, evidence, prepares=lambda index: index % 2 == 1, calls=60)


def few(draws: Draws, evidence: str) -> App:
    """A short recording."""
    return prepared(draws, evidence, calls=draws.integer(6, 10))


def without_core_ml(draws: Draws, period: int) -> App:
    """Core ML's table stays empty; call stacks alone tell of calls. Each, or one of several, prepares."""
    return unseen(prepared(draws, "graph", prepares=lambda index: index % period == 0, calls=60))


def to_share(draws: Draws, percent: int) -> App:
    """The first half knows its shapes; of 40 later calls so many percent prepare."""
    chosen = {41 + place * 100 // percent for place in range(40 * percent // 100)}
    return prepared(draws, "graph", prepares=chosen.__contains__, calls=81, **EXACT)


def first_of_shapes(draws: Draws) -> App:
    """A dozen shapes come up in the first half, and are known in the second."""
    return prepared(draws, draws.choice(EVIDENCE), prepares=lambda index: index < 30 and index % 3 == 0, calls=80)


def only_first(draws: Draws) -> App:
    """The first call prepares."""
    return prepared(draws, draws.choice(EVIDENCE), prepares=lambda index: index == 0, calls=60)


def looked_up(draws: Draws) -> App:
    """Each call looks something up for a moment."""
    return prepared(draws, "graph", length_ns=draws.integer(1, 3) * MS)


def loaded_each_time(draws: Draws) -> App:
    """The app loads the model for each call, which prepares again."""
    return prepared(draws, draws.choice(("graph", "compiler")), loads=True)


def of_the_app_alone(draws: Draws) -> App:
    """Another process compiles GPU code all the time."""
    app = gpu_app(draws, compute_ns=20 * MS)
    other = app.scenario.processes[0]
    for begin in range(0, app.now_ns - 40 * MS, 40 * MS):
        app.scenario.compile_shader(begin, 39 * MS, process=other)
    return app


def two_calls(draws: Draws) -> App:
    """Two or three calls."""
    return prepared(draws, draws.choice(EVIDENCE), calls=draws.integer(2, 3))


def nothing_sampled(draws: Draws) -> App:
    """No call stacks were recorded, and most time has no rows."""
    app = prepared(draws, "graph")
    app.scenario.samples.clear()
    return app


BLANK = ("unexplained-time",)
CASES = [
    *each(ID, POSITIVE, EVIDENCE * 2, prepared),
    *each(ID, POSITIVE, EVIDENCE, every_second),
    *each(ID, POSITIVE, EVIDENCE, few),
    *each(ID, POSITIVE, (1, 2, 3), without_core_ml),
    *cases(ID, NEGATIVE, 3, partial(neural_engine_app, code=True)),
    *cases(ID, NEGATIVE, 3, partial(gpu_app, code=True)),
    *cases(ID, NEGATIVE, 2, partial(cpu_app, code=True)),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *each(ID, NEAR_ABOVE, (20, 21, 22, 25, 30), to_share),
    *each(ID, NEAR_BELOW, (13, 15, 16, 18, 19), to_share),
    *cases(ID, LOOKALIKE, 7, first_of_shapes, expected="passed", page="The first prediction of each of a few"),
    *cases(ID, LOOKALIKE, 7, only_first, also=("warm-up-spike",), page="Only the first prediction after a load"),
    *cases(ID, LOOKALIKE, 3, looked_up, page="A short lookup in the cache"),
    *cases(
        ID,
        LOOKALIKE,
        2,
        loaded_each_time,
        also=("reload-before-predict", "load-churn"),
        page="The model is loaded again",
    ),
    *cases(ID, LOOKALIKE, 2, of_the_app_alone),
    *cases(ID, INSUFFICIENT, 3, two_calls),
    *cases(ID, INSUFFICIENT, 3, nothing_sampled, also=BLANK),
]
