"""Several instances of one model."""

from __future__ import annotations

from collections.abc import Sequence

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, at_once, instances, repeat, started, timed
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models, many_models_app, neural_engine_app
from tracekit.testing.machines import Process
from tracekit.testing.recorder import App, Step, cpu, gpu, neural_engine, start_recording
from tracekit.testing.rows import LOAD_CACHED, LOAD_COLD, Model

ID = "duplicate-instances"


def loaded(app: App, draws: Draws, count: int, load_ms: int = 120) -> list[Model]:
    """So many instances of a model, loaded one after the other."""
    base = draw_models(draws)[0].base
    models = [Model(base, number) for number in range(1, count + 1)]
    for model in models:
        app.load(model, load_ms * MS)
    return models


def a_view_each(draws: Draws) -> App:
    """Two or three parts of the app have loaded the model for themselves and call it in turns."""
    app = start_recording(draws)
    models = loaded(app, draws, draws.integer(2, 3), draws.integer(40, 300))
    unit = draws.choice((neural_engine, gpu))
    for number in range(draws.integer(60, 100)):
        app.predict(models[number % len(models)] if number < 12 else draws.choice(tuple(models)), unit(8 * MS))
        app.pause(draws.integer(1, 20) * MS)
    return app


def loaded_twice(draws: Draws) -> App:
    """The app loads the model twice at its start and uses one of the two."""
    app = start_recording(draws)
    first, second = loaded(app, draws, 2, draws.integer(80, 400))
    model = draws.choice((first, second))
    return repeat(app, model, neural_engine(8 * MS), 60, 250 * MS)


def released_before_use(draws: Draws) -> App:
    """The screen appears twice: the first load is thrown away before it is used."""
    app, model = started(draws)
    length = draws.integer(80, 400)
    for _ in range(2):
        app.load(model, length * MS)
        app.pause(30 * MS)
    return repeat(app, model, gpu(12 * MS), 60, MS)


def exact(draws: Draws, pattern: str) -> App:
    """Calls of 10 ms, each of the instance that its digit names."""
    app, models = instances(draws, 2, **EXACT)
    for digit in pattern:
        timed(app, models[int(digit) - 1], [10 * MS], 5 * MS, around_ns=0)
    return app


def of_this_spread(draws: Draws, second_us: int) -> App:
    """Two instances in turns; calls of the first take 10 ms."""
    app, models = instances(draws, 2, **EXACT)
    for number in range(60):
        timed(app, models[number % 2], [second_us * 1_000 if number % 2 else 10 * MS], around_ns=0)
    return app


def one_after_the_other(draws: Draws) -> App:
    """A new instance takes over from the old one, two or three times."""
    app = start_recording(draws)
    base = draw_models(draws)[0].base
    for number in range(1, draws.integer(3, 4)):
        model = Model(base, number)
        app.load(model, 40 * MS)
        repeat(app, model, neural_engine(9 * MS), 40)
        app.pause(9_000 * MS)
    return app


def in_parallel(draws: Draws) -> App:
    """Two instances, on purpose: each call of one overlaps a call of the other."""
    return at_once(*instances(draws, 2), cpu(9 * MS), 40, 2 * MS, inputs=0)


def prompt_and_tokens(draws: Draws) -> App:
    """One file with two functions: an instance for prompts, one for tokens."""
    app, (prompt, token) = instances(draws, 2)
    for _ in range(12):
        app.predict(prompt, neural_engine(60 * MS))
        repeat(app, token, neural_engine(9 * MS), 8)
    return app


def prepared_ahead(draws: Draws) -> App:
    """A cold load that only fills the cache, then the load that is used."""
    app, model = started(draws)
    for label in (LOAD_COLD, LOAD_CACHED):
        app.load(model, 300 * MS, label)
        app.pause(500 * MS)
    return repeat(app, model, neural_engine(9 * MS), 60, MS)


def in_turns(app: App, work: Sequence[tuple[Model, Step, int]], rounds: int = 30) -> App:
    """The instances are called one after the other, each with its own work and number of inputs."""
    for _ in range(rounds):
        for model, step, inputs in work:
            app.predict(model, step, inputs=inputs)
            app.pause(150_000)
    return app


def two_models_of_one_name(draws: Draws) -> App:
    """Two files called alike, of which one takes one input and the other three."""
    app, (first, second) = instances(draws, 2)
    unit, few = draws.choice((neural_engine, gpu)), draws.integer(1, 2)
    return in_turns(app, ((first, unit(9 * MS), few), (second, unit(9 * MS), few + draws.integer(1, 2))))


def on_two_units(draws: Draws) -> App:
    """One instance for the Neural Engine and one for the GPU or the CPU, with calls as long as each other."""
    app, (first, second) = instances(draws, 2)
    other = draws.choice((gpu, cpu))
    return in_turns(app, ((first, neural_engine(9 * MS), 1), (second, other(9 * MS), 1)))


def without_hardware(draws: Draws, units: tuple[str, str]) -> App:
    """Two instances whose units only Core ML's own rows show."""
    app = start_recording(draws)
    app.scenario.missing |= {app.scenario.xcode.neural_engine_schema, "metal-gpu-intervals", "mps-hw-intervals"}
    steps = [{"neural engine": neural_engine, "gpu": gpu, "cpu": cpu}[unit](9 * MS) for unit in units]
    return in_turns(app, [(model, step, 2) for model, step in zip(loaded(app, draws, 2), steps, strict=True)])


def two_alike_and_one_elsewhere(draws: Draws) -> App:
    """Two instances that do the same on one unit, and a third on another."""
    app, (first, second, third) = instances(draws, 3)
    units = draws.choice(((neural_engine, gpu), (gpu, neural_engine)))
    return in_turns(app, ((first, units[0](9 * MS), 2), (second, units[0](9 * MS), 2), (third, units[1](9 * MS), 2)))


def without_copies(draws: Draws) -> App:
    """Two instances that do the same; the buffers of one caller need no copy, which leaves no row."""
    app, (first, second) = instances(draws, 2)
    return in_turns(app, ((first, neural_engine(9 * MS), 2), (second, neural_engine(9 * MS), 0)))


def two_processes(draws: Draws, numbers: tuple[int, int]) -> App:
    """All processes are recorded, and two of them have loaded a model of one name and run it on the GPU."""
    app = start_recording(draws)
    app.scenario.all_processes = True
    other = Process("Assistant", 40_123)
    app.scenario.processes.append(other)
    base = draw_models(draws)[0].base
    callers = [(Model(base, numbers[0]), app.scenario.target), (Model(base, numbers[1]), other)]
    for model, _ in callers:
        app.load(model, 120 * MS)
    for _ in range(40):
        for model, process in callers:
            call = app.scenario.predict(model, app.now_ns, 12 * MS, process)
            call.event("Input Copy", 20_000, 5_000)
            call.gpu(MS, 10 * MS)
            app.now_ns += draws.integer(13, 18) * MS
    return app


def two_processes_or_one(draws: Draws) -> App:
    """All processes are recorded, and nothing shows which of them the instances belong to."""
    app = a_view_each(draws)
    app.scenario.all_processes = True
    app.scenario.gpu.clear()
    return app


def first_run(draws: Draws) -> App:
    """A load that prepares the model and is used, and one from the cache beside it."""
    app, model = started(draws)
    length = draws.integer(300, 500)
    app.scenario.load(model, app.now_ns, length * MS, LOAD_CACHED)
    app.now_ns += 10 * MS
    app.load(model, length * MS, LOAD_COLD)
    return repeat(app, model, neural_engine(9 * MS), 60, MS)


def loaded_before_the_end(draws: Draws) -> App:
    """A second instance is loaded seconds before the recording ends."""
    app = start_recording(draws)
    base = draw_models(draws)[0].base
    app.load(Model(base, 1), 120 * MS)
    for number in range(60):
        app.predict(Model(base, 1), neural_engine(9 * MS))
        app.pause(300 * MS)
        if number == 40:
            app.load(Model(base, 2), 120 * MS)
    return app


TWO_SPEEDS = ("shape-switching", "latency-jitter")
"""Calls of two instances that differ in time are also calls of one model that do."""

CASES = [
    *cases(ID, POSITIVE, 5, a_view_each),
    *cases(ID, POSITIVE, 3, loaded_twice),
    *cases(ID, POSITIVE, 3, released_before_use),
    *cases(ID, NEGATIVE, 4, neural_engine_app),
    *cases(ID, NEGATIVE, 3, many_models_app),
    *cases(ID, NEGATIVE, 3, one_after_the_other, page="A new instance replaces another"),
    # Taking over needs one change of instance; five more make the pattern.
    *each(ID, NEAR_ABOVE, ("1" * 20 + "22122122" + "1" * 20, "1" * 20 + "2121212" + "2" * 20), exact),
    *each(ID, NEAR_ABOVE, (15_000, 14_900, 14_000), of_this_spread, also=TWO_SPEEDS),
    *each(ID, NEAR_BELOW, ("1" * 20 + "222122" + "1" * 20, "1" * 20 + "21212" + "2" * 20), exact, found_in_more=(ID,)),
    *each(ID, NEAR_BELOW, (15_010, 15_200, 16_000), of_this_spread, also=TWO_SPEEDS),
    *cases(ID, POSITIVE, 4, two_alike_and_one_elsewhere),
    *cases(ID, POSITIVE, 2, without_copies),
    *each(ID, POSITIVE, (("gpu", "gpu"), ("cpu", "cpu"), ("neural engine",) * 2), without_hardware),
    *each(
        ID,
        LOOKALIKE,
        (("neural engine", "gpu"), ("neural engine", "cpu"), ("gpu", "cpu")),
        without_hardware,
        page="Instances have another configuration or",
    ),
    *cases(ID, LOOKALIKE, 4, two_models_of_one_name, page="Different models have the same"),
    *cases(ID, LOOKALIKE, 4, on_two_units, page="Instances have another configuration or"),
    *each(ID, LOOKALIKE, ((1, 2), (1, 2), (1, 1), (1, 1)), two_processes, page="Several processes use the same"),
    *cases(ID, LOOKALIKE, 2, first_run, also=("cold-load",), page="A cold load"),
    *cases(ID, LOOKALIKE, 2, loaded_before_the_end, page="An instance was loaded shortly", found_in_more=(ID,)),
    *cases(ID, INSUFFICIENT, 3, two_processes_or_one),
    *cases(ID, LOOKALIKE, 2, in_parallel, page="Several instances run in parallel"),
    *cases(ID, LOOKALIKE, 2, prompt_and_tokens, also=TWO_SPEEDS, page="Instances have another configuration or"),
    *cases(ID, LOOKALIKE, 1, prepared_ahead, page="A cold load"),
    # Two instances, a handful of calls.
    *cases(ID, INSUFFICIENT, 3, lambda draws: exact(draws, ("12" * 5)[: draws.integer(3, 9)])),
]
