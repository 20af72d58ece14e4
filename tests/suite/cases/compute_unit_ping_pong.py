"""Predictions whose work goes back and forth between compute units."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from suite.cases.neural_engine_fragmentation import COPIES, converted, in_pieces
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, loaded, without
from suite.weight import Weight
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models, gpu_app, neural_engine_app, pipeline_app
from tracekit.testing.recorder import App, Stage, Step, cpu, gpu, neural_engine, start_recording

ID = "compute-unit-ping-pong"


def calls(app: App, *steps: Step, count: int = 60) -> App:
    """The same steps in each prediction."""
    model = draw_models(app.draws)[0]
    app.load(model, engine=any(step.unit == "neural engine" for step in steps))
    for _ in range(count):
        app.predict(model, *steps, inputs=1)
        app.pause(300_000)
    return app


def engine_and_cpu(draws: Draws) -> App:
    """Operations that the Neural Engine does not support run on the CPU in between."""
    parts, work = draws.integer(3, 8), draws.integer(2, 4) * MS
    between = (neural_engine(work), cpu(draws.integer(500, 1_500) * 1_000))
    return calls(start_recording(draws), *between * (parts - 1), neural_engine(work))


def gpu_and_engine(draws: Draws) -> App:
    """The GPU and the Neural Engine take turns."""
    return calls(start_recording(draws), *(gpu(4 * MS), neural_engine(draws.integer(2, 3) * MS)) * 3)


def gpu_and_cpu(draws: Draws) -> App:
    """Operations that the GPU does not support."""
    return calls(start_recording(draws), *(gpu(5 * MS), cpu(draws.integer(800, 2_000) * 1_000)) * draws.integer(3, 5))


def to_share(draws: Draws, permille: int, turns: int = 3) -> App:
    """Exact calls of 20 ms: turns of the Neural Engine of which each but the last is followed by the CPU, which works
    for this share of the call in all."""
    app, model = loaded(draws, engine=True, **EXACT)
    between = 20 * MS * permille // 1_000 // (turns - 1)
    work = (20 * MS - between * (turns - 1)) // turns
    for _ in range(60):
        prediction = app.scenario.predict(model, app.now_ns, 20 * MS)
        for turn in range(turns):
            at = turn * (work + between)
            prediction.neural_engine(at, work, operation=2 * turn)
            if turn < turns - 1:
                prediction.event("CPU", at + work, between)
        app.now_ns += 21 * MS
    return app


def lacking(draws: Draws, cpu_ms: int, accelerator: Callable[[int], Step] = neural_engine) -> App:
    """The CPU has most of the work, in pieces after 1 ms each on another unit."""
    return calls(start_recording(draws), *(accelerator(MS), cpu(cpu_ms * MS)) * draws.integer(3, 8))


def around(draws: Draws) -> App:
    """The CPU has most of the work, before and after the Neural Engine, and one operation within."""
    steps = cpu(7 * MS), neural_engine(5 * MS), cpu(MS // 2), neural_engine(2 * MS), cpu(9 * MS)
    return calls(start_recording(draws), *steps)


def planned(draws: Draws) -> App:
    """First the Neural Engine, then the GPU, then the CPU."""
    return calls(start_recording(draws), neural_engine(6 * MS), gpu(3 * MS), cpu(2 * MS))


def many_requests(draws: Draws) -> App:
    """Several requests to the GPU, each with the short `CPU` row that belongs to it."""
    return calls(start_recording(draws), *(gpu(3 * MS),) * draws.integer(4, 7))


def stages(draws: Draws, *steps: Step) -> App:
    """A pipeline of three stages, each on a unit of its own."""
    return pipeline_app(draws, stages=tuple(Stage(name, (step,)) for name, step in zip("ABC", steps, strict=True)))


def in_stages(draws: Draws, cpu_ms: int) -> App:
    """A stage on the CPU has most of the work, between two on the Neural Engine."""
    return stages(draws, neural_engine(2 * MS), cpu(cpu_ms * MS), neural_engine(2 * MS))


def cpu_between(draws: Draws, count: int = 60) -> App:
    """Four turns of the Neural Engine and the CPU."""
    return calls(start_recording(draws), *(neural_engine(3 * MS), cpu(MS)) * 4, count=count)


IN_TURN = ("idle-compute-units",)
"""Right where units take turns and the app calls again at once."""

CASES = [
    *cases(ID, POSITIVE, 5, engine_and_cpu, also=IN_TURN),
    *cases(ID, POSITIVE, 3, gpu_and_engine, also=IN_TURN),
    *cases(ID, POSITIVE, 3, gpu_and_cpu, also=IN_TURN),
    *each(ID, POSITIVE, (4, 6, 10, 20), lacking, weight=Weight("critical")),
    *each(ID, POSITIVE, (4, 6, 10, 20), partial(lacking, accelerator=gpu), weight=Weight("critical")),
    # Two and more parts.
    *each(
        ID,
        POSITIVE,
        (2, 3, 8),
        lambda draws, turns: to_share(draws, 920, turns),
        weight=Weight("critical", metrics={"interrupted": 0.92}),
    ),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *cases(ID, NEGATIVE, 3, gpu_app),
    *cases(ID, NEGATIVE, 3, pipeline_app),
    *cases(ID, NEGATIVE, 2, planned, also=IN_TURN, page="There is one planned hand-off"),
    *each(ID, NEAR_ABOVE, (50, 51, 52, 54, 58), to_share, also=IN_TURN),
    *each(ID, NEAR_BELOW, (42, 45, 47, 48, 49), to_share, also=IN_TURN),
    # There and back once, for half of the time, and for a third.
    *each(ID, NEAR_ABOVE, (501, 510, 600), partial(to_share, turns=2), also=IN_TURN),
    *each(ID, NEAR_BELOW, (499, 490, 400), partial(to_share, turns=2), also=IN_TURN),
    *cases(ID, NEAR_BELOW, 2, lambda draws: to_share(draws, draws.integer(200, 400), 2), also=IN_TURN),
    *cases(ID, LOOKALIKE, 2, many_requests, page="A short `CPU` row comes"),
    *cases(ID, LOOKALIKE, 2, in_pieces, also=("neural-engine-fragmentation",), page="No other unit works in the gaps"),
    *cases(
        ID,
        LOOKALIKE,
        2,
        lambda draws: stages(draws, neural_engine(5 * MS), gpu(4 * MS), cpu(2 * MS)),
        also=IN_TURN,
        page="A pipeline runs its stages",
    ),
    *each(ID, LOOKALIKE, (6, 12), in_stages, also=IN_TURN, page="A pipeline runs its stages"),
    *cases(ID, LOOKALIKE, 2, around, also=IN_TURN, page="The CPU works before"),
    *cases(ID, LOOKALIKE, 1, converted, also=COPIES, page="Copies and conversions fill"),
    *cases(ID, INSUFFICIENT, 2, lambda draws: cpu_between(draws, count=9), also=IN_TURN),
    # The GPU was not recorded, so that it may have had turns as well.
    *cases(ID, INSUFFICIENT, 1, lambda draws: without(cpu_between(draws), "metal-gpu-intervals"), also=IN_TURN),
]
