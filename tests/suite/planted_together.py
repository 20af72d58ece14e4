"""Problems to plant in a simulated app that come of what else runs, or of what the app did before."""

from __future__ import annotations

from suite.planting import plants, work
from tracekit.testing import Draws, Model
from tracekit.testing.rng import on_clock
from tracekit.testing.rows import LOAD_COLD
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.threads import MS, paced_app, steady
from tracekit.testing.work import Step, Unit, cpu


@plants(
    "neural-engine-contention",
    "latency-jitter",
    "foreign-neural-engine-work",
    ("serial-predictions", "Large"),
    units=("neural engine",),
)
def behind_a_long_model(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """Another model of the app takes the Neural Engine just before most calls. The app pauses after each pair for less
    than a frame at 60 fps, which counts as its work before the first of the two."""
    app, length = simulation.app, draws.integer(5, 9) * MS
    long = Model(f"{model.base}Large")
    yield from app.load(long)
    yield from app.load(model)
    for _ in range(60):
        running = app.start(app.predict(long, work(unit, 2 * length)))
        yield from app.pause(400_000)
        yield from app.predict(model, work(unit, length))
        yield from app.join(running)
        yield from app.pause(15 * MS)


@plants("gpu-contention", "latency-jitter", units=("gpu",))
def behind_drawing(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """The app draws for longer than a call takes before every other call."""
    app, length = simulation.app, draws.integer(9, 16) * MS
    yield from app.load(model)
    for _ in range(80):
        drawn = app.start(app.use(unit, length)) if draws.chance(500) else None
        yield from app.predict(model, work(unit, length))
        if drawn is not None:
            yield from app.join(drawn)
        yield from app.pause(2 * MS)


@plants("cpu-contention", "latency-jitter", units=("cpu",))
def sharing_the_cores(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """Another model of the app works on all cores during every second or third call."""
    app, length, often = simulation.app, draws.integer(8, 16) * MS, draws.choice((2, 3))
    other = Model(f"{model.base}Large")
    yield from app.load(other)
    yield from app.load(model)
    for index in range(draws.integer(70, 110)):
        running = app.start(app.predict(other, cpu(length, 6))) if index % often == 0 else None
        yield from app.predict(model, cpu(length, 6))
        if running is not None:
            yield from app.join(running)
        yield from app.pause(MS)


@plants("state-copies", "excess-data-copies", "float-conversion", "unaccounted-time")
def cache_in_and_out(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """A language model whose cache goes into and out of each call, for a sixth of it each way."""
    app, length = simulation.app, draws.integer(7, 12) * MS
    copy = on_clock(length * draws.integer(15, 25) // 100)
    prompt = Model(f"{model.base}Prompt")
    yield from app.load(model)
    yield from app.load(prompt)
    for _ in range(3):
        yield from app.predict(prompt, work(unit, 40 * MS))
        for _ in range(draws.integer(25, 35)):
            yield from app.pause(150_000)
            call = yield from app.predict(model, work(unit, length), copy_ns=copy, host_ns=copy + 30_000)
            call.prediction.event("Input Copy", 2_000, 1_625)
            call.prediction.event("Output Transformation", call.duration_ns - copy - 25_000, copy)
        yield from app.pause(1_900 * MS)


@plants("serialized-specialization", "cold-load", "unaccounted-time", units=("neural engine",), whole=True)
def prepared_one_by_one(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """Three models are prepared for the device, each after the one before, and then called."""
    app = simulation.app
    models = [model, Model(f"{model.base}Head"), Model(f"{model.base}Tail")]
    for each in models:
        yield from app.load(each, draws.integer(700, 2_500) * MS, LOAD_COLD, engine=True)
    for _ in range(30):
        for each in models:
            yield from app.predict(each, work(unit, 8 * MS))
            yield from app.pause(MS)


@plants("foreign-neural-engine-work", units=("neural engine",), whole=True)
def others_on_the_engine(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """Another process uses the Neural Engine with a model of its own, before and after the app uses its model."""
    app, other = simulation.app, simulation.process("Assistant", 931)
    listener = Model("Listener")
    yield from steady(other, listener, (work(unit, 12 * MS),), calls=40)
    yield from steady(app, model, (work(unit, draws.integer(6, 12) * MS),), calls=80)
    yield from steady(other, listener, (work(unit, 12 * MS),), calls=40, load_ns=0)


@plants("missed-deadline", "latency-jitter", "shape-switching")
def frames_dropped(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """A camera at 30 frames per second; one call in six or seven takes longer than a frame, and the next is dropped."""
    slow = set(draws.permutation(range(1, 180))[: draws.integer(26, 30)])

    def steps(index: int) -> tuple[Step, ...]:
        return (work(unit, draws.integer(38, 52) * MS if index in slow else 12 * MS),)

    yield from paced_app(simulation.app, model, steps, period_ns=33_333_000, calls=180)


@plants("slow-load")
def cached_but_slow(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """A load from the cache takes seconds, and the call that waits follows."""
    load = draws.integer(1_300, 6_000) * MS
    yield from steady(simulation.app, model, (work(unit, draws.integer(6, 14) * MS),), calls=80, load_ns=load)


def _prepares_alone(simulation: Simulation, model: Model) -> bool:
    """Whether no model is loaded while the longest call of this one lasts, and nobody else is on its unit: either can
    be the reason as well."""
    longest = max((call for call in simulation.calls if call.model == model), key=lambda call: call.duration_ns)
    loads = [(row.start_ns, row.end_ns) for row in simulation.scenario.coreml if row.label.startswith("Load")]
    units = {use.unit for use in longest.uses}
    others = [(use.begin_ns, use.end_ns) for use in simulation.uses if use.model != model and use.unit in units]
    return not any(start < longest.end_ns and longest.start_ns < end for start, end in loads + others)


@plants("new-shape-spike", "shape-switching", "latency-jitter", "unaccounted-time", shows=_prepares_alone)
def another_shape(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """From some call on, inputs have one of two shapes, of different work. The first of the second shape takes long to
    prepare."""
    app, length = simulation.app, draws.integer(5, 15) * MS
    start, run, extra = draws.integer(3, 30), draws.integer(2, 6), draws.integer(60, 400) * MS
    second = length * draws.integer(180, 400) // 100
    yield from app.load(model)
    for index in range(draws.integer(80, 140)):
        other = index >= start and (index - start) // run % 2 == 0
        usual = work(unit, second if other else length)
        yield from app.predict(model, usual, host_ns=extra if index == start else 0)
        yield from app.pause(200_000)
