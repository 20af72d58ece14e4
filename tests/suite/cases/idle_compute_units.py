"""Models whose compute units take turns, called one after the other, and calls that cannot or do already overlap."""

from __future__ import annotations

from suite.cases.copies_between_predictions import COPIES, UPDATES
from suite.cases.pipeline_gaps import changing
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, loaded, repeat
from tracekit.testing import Draws
from tracekit.testing.apps import MS, cpu_app
from tracekit.testing.recorder import App, Step, cpu, neural_engine
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.stacks import core_ml
from tracekit.testing.work import Unit

ID = "idle-compute-units"


def in_turn(draws: Draws, parts: tuple[tuple[Unit, int], ...], *, count: int = 120, gap_ns: int = 300_000) -> App:
    """Calls of a model with parts on these units, in ms, in a tight loop."""
    app, model = loaded(draws)
    for _ in range(count):
        scale = draws.around(1_000, 80)
        app.predict(model, *(Step(unit, work * scale * 1_000) for unit, work in parts))
        app.pause(draws.around(gap_ns, 200))
    return app


CPU_THEN_ENGINE, ENGINE_THEN_CPU = (("cpu", 8), ("neural engine", 4)), (("neural engine", 7), ("cpu", 6))
GPU_AND_ENGINE = (("gpu", 9), ("neural engine", 8))
BACK_AND_FORTH = (("cpu", 4), ("neural engine", 6), ("cpu", 3))


def busiest(draws: Draws, permille: int) -> App:
    """The CPU works for this share of the time from call to call, and the Neural Engine for the rest, but 0.2 ms."""
    app, model = loaded(draws, **EXACT)
    lengths = (18, 22, 20, 19, 21)
    for index in range(120):
        length = lengths[index * 7 % 5] * MS
        on_cpu = length * permille // 1_000 // 125 * 125
        call = app.scenario.predict(model, app.now_ns, length)
        call.event("CPU", 100_000, on_cpu)
        begin, rest = on_cpu + 110_000, length - on_cpu - 200_000
        call.neural_engine(begin, rest // 125 * 125)
        app.now_ns += length
    return app


def tokens(draws: Draws) -> App:
    """A language model: a long call for the prompt, then one per token, several times."""
    app, model = loaded(draws)
    for _ in range(4):
        for index in range(40):
            times = 8 if index == 0 else 1
            scale = draws.around(1_000, 80)
            app.predict(model, cpu(5 * times * scale * 1_000), neural_engine(4 * times * scale * 1_000))
            app.pause(200_000)
        app.pause(2_000 * MS)
    return app


def one_answer(draws: Draws) -> App:
    """The same once."""
    app, model = loaded(draws)
    for index in range(100):
        times = 20 if index == 0 else 1
        scale = draws.around(1_000, 80)
        app.predict(model, cpu(5 * times * scale * 1_000), neural_engine(4 * times * scale * 1_000))
        app.pause(200_000)
    return app


def decoder(draws: Draws, stateful: bool) -> App:
    """Steps of a decoder: with a state that Core ML keeps, or with arrays that the app copies in between."""
    app, model = loaded(draws, code=True)
    assert app.code is not None
    for _ in range(120):
        scale = draws.around(1_000, 80)
        call = app.predict(model, cpu(5 * scale * 1_000), neural_engine(4 * scale * 1_000))
        if stateful:
            state = core_ml("-[MLModel predictionFromFeatures:usingState:error:]")
            app.code.runs(call.row.start_ns + 3 * MS, MS, state)
            app.pause(200_000)
        else:
            app.busy(draws.around(1_500_000, 80), *draws.choice(COPIES), UPDATES[0])
    return app


def camera(draws: Draws) -> App:
    """Frames at 60 fps, for which both units work most of the time."""
    app, model = loaded(draws)
    begin = app.now_ns
    for frame in range(150):
        app.now_ns = max(app.now_ns, begin + frame * 16_667_000)
        scale = draws.around(1_000, 60)
        app.predict(model, cpu(7 * scale * 1_000), neural_engine(6 * scale * 1_000))
    return app


def two_in_flight(draws: Draws) -> App:
    """The app keeps two in flight already."""
    simulation, steps = Simulation(draws), changing(draws, 6, 8)
    model = loaded(Draws(draws.integer(0, 10**6)))[1]

    def thread() -> Thread:
        yield from simulation.app.load(model)
        tasks = []
        for index in range(120):
            if len(tasks) == 2:
                yield from simulation.app.join(tasks.pop(0))
            work = steps(index)
            tasks.append(simulation.app.start(simulation.app.predict(model, cpu(work, 2), neural_engine(work))))
        for task in tasks:
            yield from simulation.app.join(task)

    simulation.start(thread())
    return simulation.run()


def working_between(draws: Draws) -> App:
    """The app works for a third of the time."""
    return in_turn(draws, ENGINE_THEN_CPU, gap_ns=7 * MS)


def copying_within(draws: Draws) -> App:
    """Inputs are copied for half of each call."""
    app, model = loaded(draws)
    works = changing(draws, 5, 7)
    return repeat(app, model, lambda index: neural_engine(works(index)), 100, 200_000, copy_ns=6 * MS)


ALSO = ("compute-unit-ping-pong", "not-on-expected-unit", "warm-up-spike", "unexplained-time", "gpu-contention")
HYBRID = (*ALSO, "serial-predictions", "pipeline-gaps", "copies-between-predictions", "concurrent-predictions")

CASES = [
    *cases(ID, POSITIVE, 3, lambda draws: in_turn(draws, CPU_THEN_ENGINE), also=ALSO),
    *cases(ID, POSITIVE, 3, lambda draws: in_turn(draws, ENGINE_THEN_CPU), also=ALSO),
    *cases(ID, POSITIVE, 3, lambda draws: in_turn(draws, GPU_AND_ENGINE), also=ALSO),
    *cases(ID, POSITIVE, 3, lambda draws: in_turn(draws, BACK_AND_FORTH), also=ALSO),
    *cases(ID, NEGATIVE, 4, lambda draws: in_turn(draws, (("neural engine", 9),)), also=ALSO),
    *cases(ID, NEGATIVE, 3, lambda draws: in_turn(draws, (("gpu", 11), ("cpu", 1))), also=ALSO),
    *cases(ID, NEGATIVE, 3, cpu_app),
    *each(ID, NEAR_ABOVE, (745, 735, 720, 700, 660), busiest, also=ALSO),
    *each(ID, NEAR_BELOW, (755, 765, 780, 800, 850), busiest, also=ALSO),
    *cases(ID, LOOKALIKE, 2, tokens, also=HYBRID, page="Each prediction needs the result"),
    *cases(ID, LOOKALIKE, 2, one_answer, expected="not_evaluated", also=HYBRID),
    *each(ID, LOOKALIKE, (True, False), decoder, also=HYBRID),
    *cases(ID, LOOKALIKE, 2, camera, also=HYBRID, page="Camera frames, audio"),
    *cases(ID, LOOKALIKE, 2, two_in_flight, also=HYBRID),
    *cases(ID, LOOKALIKE, 2, working_between, also=HYBRID, page="The app or other models work in between"),
    *cases(ID, LOOKALIKE, 2, copying_within, also=(*HYBRID, "excess-data-copies"), page="Copies or conversions"),
    # A dozen calls.
    *cases(ID, INSUFFICIENT, 3, lambda draws: in_turn(draws, CPU_THEN_ENGINE, count=12), also=ALSO),
]
