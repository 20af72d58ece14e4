"""Calls that take longer now and then."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from suite.cases.shape_switching import larger_inputs, off_the_engine, prompt_and_tokens, slow_by_any_amount, waiting
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, loaded, repeat, several_loaded, timed
from suite.several_loads import loaded_again
from suite.together import Caller, together
from tracekit.testing import Draws
from tracekit.testing.apps import (
    MS,
    async_app,
    camera_app,
    cpu_app,
    draw_models,
    gpu_app,
    many_models_app,
    neural_engine_app,
)
from tracekit.testing.recorder import App, Unit, cpu, gpu, neural_engine, start_recording
from tracekit.testing.rows import Model
from tracekit.testing.scenario import CORE_ML

ID = "latency-jitter"


def held_up_at_random(draws: Draws) -> App:
    """One call in nine is held up on the host for 6 to 60 ms."""
    app, model = loaded(draws, engine=True)
    for index in range(120):
        held_up = index and (index % 9 == draws.integer(0, 8) or index % 10 == 0)
        app.predict(model, neural_engine(9 * MS), host_ns=draws.integer(6, 60) * MS if held_up else 0)
        app.pause(200_000)
    return app


def low_priority(draws: Draws) -> App:
    """A task of background priority: the CPU works at changing clocks, by any factor up to four."""
    return cpu_app(draws, compute_ns=lambda _: draws.integer(60, 260) * MS // 10, predictions=110, runs=1)


def spikes(draws: Draws) -> App:
    """Seven calls in a hundred take four times as long, on any unit."""
    slow = set()
    while len(slow) < 9:
        slow.add(draws.integer(1, 119))
    return neural_engine_app(draws, compute_ns=lambda index: (32 if index in slow else 8) * MS, predictions=120, runs=1)


def slow_where(draws: Draws, permille: int, slow: Callable[[int], bool]) -> App:
    """Exact calls of 10 ms, and this much of it where they are slow."""
    app, model = start_recording(draws, **EXACT), Model("Landmarks")
    app.load(model)
    app.predict(model, cpu(10 * MS))
    return timed(app, model, (10_000 * (permille if slow(index) else 1_000) for index in range(100)))


tail = partial(slow_where, slow=lambda index: index % 10 == 0)


def slow_at_the_end(draws: Draws) -> App:
    """Calls take longer for good, late in the recording."""
    slow = draws.integer(18, 30)
    return neural_engine_app(draws, compute_ns=lambda index: (9 if index < 75 else slow) * MS, predictions=100, runs=1)


def one_in_forty(draws: Draws) -> App:
    """A long call in forty."""
    return camera_app(draws, fps=30, compute_ns=lambda index: (28 if index % 40 == 20 else 9) * MS, frames=130)


def tiny_model(draws: Draws) -> App:
    """Calls of a tenth of a millisecond, some of which take three times as long."""
    app, model = loaded(draws)
    return repeat(app, model, lambda index: cpu(300_000 if index % 8 == 0 else 100_000), 100, 10_000, inputs=0)


def answers(draws: Draws) -> App:
    """Answers of a model without a cache: latency rises with each token, and starts afresh."""
    app, model = loaded(draws)
    for _ in range(3):
        repeat(app, model, lambda index: neural_engine((6 + index // 2) * MS), 40, 150_000)
        app.pause(2_000 * MS)
    return app


def waking_up(draws: Draws) -> App:
    """Each time the user comes back, the first call takes longer."""
    return neural_engine_app(
        draws, compute_ns=lambda index: (20 if index % 12 == 0 else 7) * MS, predictions=96, runs=8
    )


def few_calls(draws: Draws) -> App:
    """A dozen calls, some of them long."""
    return cpu_app(draws, compute_ns=lambda index: (30 if index % 5 == 2 else 8) * MS, predictions=15, runs=1)


def slow_at_random(draws: Draws, calls: int = 140, tenths: tuple[int, int] = (20, 45)) -> Callable[[int], int]:
    """Work of 8 ms, and of 2 to 4.5 times as much in one call of twelve."""
    slow = {draws.integer(12 * part + 1, 12 * part + 11) for part in range(calls // 12 + 1)}
    return lambda index: (8 * draws.integer(*tenths) // 10 if index in slow else 8) * MS


def beside_a_decoder(draws: Draws) -> App:
    """The Neural Engine is slow now and then, while another model decodes on the GPU without a break."""
    decoder = Caller("gpu", lambda _: 11 * MS)
    return together(draws, Caller("neural engine", slow_at_random(draws), 33 * MS), decoder, calls=140)


def beside_two_others(draws: Draws) -> App:
    """The same on the CPU, beside models on both other units."""
    others = Caller("gpu", lambda _: 14 * MS, 30 * MS), Caller("neural engine", lambda _: 6 * MS, 20 * MS)
    return together(draws, Caller("cpu", slow_at_random(draws), 25 * MS), *others, calls=140)


def clocks_that_come_up(draws: Draws) -> App:
    """Twice after a rest, fifty calls in a row are slow."""
    return neural_engine_app(
        draws, compute_ns=lambda index: (19 if index % 100 < 50 else 9) * MS, predictions=200, runs=2
    )


def queue_of_two(
    draws: Draws, unit: Unit = "neural engine", work_ms: int = 8, theirs: tuple[int, int] = (13, 97)
) -> App:
    """Two models share a unit, and calls of the first wait for those of the second now and then."""
    length_ms, period_ms = theirs
    other = Caller(unit, lambda _: length_ms * MS, period_ms * MS)
    return together(draws, Caller(unit, lambda _: work_ms * MS, 31 * MS), other, calls=120)


def processor_shared(draws: Draws) -> App:
    """Two models on the CPU: while both run, the first takes nearly twice as long."""
    app, (first, second) = several_loaded(draws, 2)
    for index in range(100):
        begin = app.now_ns
        if index % 8 == 3:
            app.predict(second, cpu(22 * MS), inputs=0, wait=False)
        app.predict(first, cpu((18 if index % 8 == 3 else 10) * MS), inputs=0)
        app.now_ns = begin + 40 * MS
    return app


def unknown_units(draws: Draws) -> App:
    """The same, and no row tells on which unit either of them ran."""
    app = processor_shared(draws)
    app.scenario.coreml[:] = [row for row in app.scenario.coreml if row.label != "CPU"]
    return app


def few_slow_calls(draws: Draws) -> App:
    """Three to five slow calls among sixty."""
    slow = set()
    while len(slow) < 5:
        slow.add(draws.integer(1, 59))
    return neural_engine_app(draws, compute_ns=lambda index: (21 if index in slow else 8) * MS, predictions=60, runs=1)


CONTENTION = ("neural-engine-contention", "foreign-neural-engine-work")


def long_work_in_a_queue(draws: Draws) -> App:
    """One call in twelve keeps the Neural Engine twice as long and more, and waits for another model as others do."""
    usual, other = draws.integer(7, 9) * MS, draws.integer(9, 12) * MS
    slow = {index: draws.integer(27, 34) for index in range(6, 160, 12)}
    first = Caller("neural engine", lambda index: usual * slow.get(index, 10) // 10)
    second = Caller("neural engine", lambda _: other, period_ns=2 * other)
    return together(draws, first, second, calls=160)


def another_configuration(draws: Draws) -> App:
    """A slower setting from the middle on: the app loads the model for it."""
    slow = draws.integer(18, 40) * MS
    unit = draws.choice(("neural engine", "gpu", "cpu"))
    return loaded_again(draws, unit, lambda load, _: slow if load else 9 * MS, loads=2, calls=60)


def now_and_then_a_better_one(draws: Draws) -> App:
    """One prediction in nine comes from an instance with a slower setting."""
    app = start_recording(draws)
    base, unit = draw_models(draws)[0].base, draws.choice((neural_engine, cpu))
    usual, better = Model(base, 1), Model(base, 2)
    app.load(usual, 30 * MS)
    app.load(better, 30 * MS)
    for index in range(180):
        app.predict(*((better, unit(27 * MS)) if index % 9 == 8 else (usual, unit(9 * MS))), inputs=0)
        app.pause(200_000)
    return app


def slow_on_each_load(draws: Draws) -> App:
    """Calls are slow now and then with either of two settings, each of which is a load."""
    slow = {index for index in range(3, 60) if index % 7 == draws.integer(0, 6)} | {10, 20, 30, 40}
    unit = draws.choice(("neural engine", "gpu", "cpu"))

    def work(load: int, index: int) -> int:
        return (20 if load % 2 else 8) * (draws.integer(17, 60) if index in slow else 10) * MS // 10

    return loaded_again(draws, unit, work, loads=4, calls=60)


def on_hardware_alone(draws: Draws, values: tuple[int, int]) -> App:
    """Core ML's table stays empty. One call in 14 has more work of a unit than the others. No row shows the
    CPU's time in each."""
    host_ms, most_ms = values
    app, model = start_recording(draws), Model("Landmarks")
    unit, slow = draws.choice((neural_engine, gpu)), draws.integer(0, 6)
    for index in range(120):
        work = draws.integer(8 * most_ms, 10 * most_ms) if index % 14 == slow else 80
        app.predict(model, unit(work * MS // 10), host_ns=host_ms * MS)
        app.pause(200_000)
    app.scenario.emptied.add(CORE_ML)
    return app


CASES = [
    *cases(ID, POSITIVE, 4, held_up_at_random, also=("unexplained-time",)),
    *cases(ID, POSITIVE, 3, low_priority),
    *cases(ID, POSITIVE, 3, spikes),
    *cases(ID, POSITIVE, 3, beside_a_decoder),
    *cases(ID, POSITIVE, 3, beside_two_others),
    *cases(ID, POSITIVE, 2, clocks_that_come_up),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *cases(ID, NEGATIVE, 3, gpu_app),
    *cases(ID, NEGATIVE, 3, camera_app),
    *cases(ID, NEGATIVE, 3, many_models_app),
    *cases(ID, NEGATIVE, 2, one_in_forty),
    *each(ID, NEAR_ABOVE, (1500, 1505, 1510, 1520, 1550), tail),
    *each(ID, NEAR_BELOW, (1450, 1470, 1480, 1490, 1499), tail),
    *cases(ID, LOOKALIKE, 2, off_the_engine, also=("shape-switching", "not-on-expected-unit")),
    *cases(ID, LOOKALIKE, 2, prompt_and_tokens, expected="no_finding", page="The first predictions after a"),
    *cases(ID, LOOKALIKE, 2, waiting, also=CONTENTION, page="Predictions queue behind other models"),
    *cases(ID, LOOKALIKE, 2, larger_inputs, page="Inputs differ in size: if"),
    *cases(ID, LOOKALIKE, 2, answers, also=("growing-latency",), page="Inputs have a few shapes"),
    *cases(ID, LOOKALIKE, 3, slow_at_the_end, also=("lasting-slowdown",), page="Predictions stay slow from"),
    *cases(ID, LOOKALIKE, 1, tiny_model),
    *cases(ID, LOOKALIKE, 2, waking_up, page="The first predictions after a"),
    *cases(ID, LOOKALIKE, 3, queue_of_two, also=CONTENTION, page="Predictions queue behind other models"),
    *cases(ID, LOOKALIKE, 3, partial(queue_of_two, unit="gpu", work_ms=10, theirs=(24, 127)), also=("gpu-contention",)),
    *cases(ID, LOOKALIKE, 3, processor_shared, also=("cpu-contention",)),
    *cases(ID, INSUFFICIENT, 3, unknown_units, also=("unexplained-time",)),
    *cases(ID, INSUFFICIENT, 3, few_slow_calls),
    *cases(ID, INSUFFICIENT, 2, few_calls),
    *cases(ID, INSUFFICIENT, 2, async_app),
    *cases(ID, POSITIVE, 4, long_work_in_a_queue, also=("neural-engine-contention", "shape-switching")),
    *cases(ID, LOOKALIKE, 4, another_configuration, also=("load-churn",), page="A setting changes, and the model"),
    *cases(ID, LOOKALIKE, 2, now_and_then_a_better_one, page="A setting changes, and the model"),
    *cases(ID, POSITIVE, 4, slow_on_each_load, also=("load-churn",)),
    *cases(ID, POSITIVE, 5, slow_by_any_amount),
    *each(
        ID,
        POSITIVE,
        ((0, 30), (0, 25), (1, 30), (2, 25), (8, 30)),
        on_hardware_alone,
        also=("core-ml-not-instrumented",),
    ),
    *each(ID, INSUFFICIENT, ((8, 13), (9, 13), (10, 14)), on_hardware_alone, also=("core-ml-not-instrumented",)),
]
