"""Problems to plant in a simulated app: threads of one model each, with the finding that must come of them.

A recipe takes the simulation, draws, the model and the unit that it works on, and gives the thread. Figures lie well on
the problem's side of every threshold of its page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from suite.frame import Key
from tracekit.testing import Draws, Model
from tracekit.testing.rng import on_clock
from tracekit.testing.rows import LOAD_COLD
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.threads import MS, overlapping, paced, steady
from tracekit.testing.work import Step, Unit, cpu

Recipe = Callable[[Simulation, Draws, Model, Unit], Thread]
ALL: tuple[Unit, ...] = ("neural engine", "gpu", "cpu")


@dataclass(frozen=True)
class Planted:
    """A problem."""

    detector: str
    """What must find it."""
    also: tuple[str | tuple[str, str], ...]
    """What may be found in the models of the recipe as well; a pair gives what the name of the one model adds."""
    units: tuple[Unit, ...]
    recipe: Recipe
    whole: bool = False
    """Whether the finding is about the recording as a whole."""
    settings: Mapping[str, int] | None = None
    """Options for its model."""
    shows: Callable[[Simulation, Model], bool] | None = None
    """Whether the problem shows beside the other models; None where it always does. It may be found either way."""

    def key(self, model: Model) -> Key:
        """What a finding of it is about."""
        return self.detector, None if self.whole else model.base


PLANTED: list[Planted] = []
"""All problems."""


def plants(
    detector: str, *also: str | tuple[str, str], units: tuple[Unit, ...] = ALL, **more: Any
) -> Callable[[Recipe], Recipe]:
    """Put a recipe into `PLANTED`; `more` are further fields."""

    def put(recipe: Recipe) -> Recipe:
        PLANTED.append(Planted(detector, also, units, recipe, **more))
        return recipe

    return put


def idle(least: float, most: float = 1.0) -> Callable[[Simulation, Model], bool]:
    """Whether no model of the app is at work for such a share of the time of this one, as the page counts it."""

    def shows(simulation: Simulation, model: Model) -> bool:
        calls = [call for call in simulation.calls if call.prediction is not None]
        of_model = [call for call in calls if call.model.base == model.base]
        first, last = min(call.start_ns for call in of_model), max(call.end_ns for call in of_model)
        loads = [(row.start_ns, row.end_ns) for row in simulation.scenario.coreml if row.label.startswith("Load")]
        busy = sorted([(call.start_ns, call.end_ns) for call in calls] + loads)
        free, until = 0, first
        for start, end in busy:
            free += max(0, min(start, last) - until)
            until = max(until, min(end, last))
        return least <= free / (last - first) <= most

    return shows


def work(unit: Unit, work_ns: int) -> Step:
    """Work on a unit; on the CPU with two threads."""
    return cpu(work_ns, 2) if unit == "cpu" else Step(unit, work_ns)


@plants("reload-before-predict", "load-churn", "unaccounted-time")
def reload_each_time(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """The model is loaded for each call."""
    app, load, length = simulation.app, draws.integer(15, 90) * MS, draws.integer(5, 15) * MS
    for _ in range(draws.integer(30, 60)):
        yield from app.load(model, load)
        yield from app.predict(model, work(unit, length))
        yield from app.pause(draws.integer(1, 40) * MS)


@plants("load-churn")
def released_between_uses(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """The model is released after some calls, and loaded again a little later."""
    app, load, length = simulation.app, draws.integer(250, 500) * MS, draws.integer(6, 12) * MS
    for _ in range(draws.integer(5, 8)):
        yield from steady(app, model, (work(unit, length),), calls=draws.integer(8, 20), load_ns=load)
        yield from app.pause(draws.integer(1_000, 2_500) * MS)


@plants("cold-load", "unaccounted-time")
def cold_before_the_first_call(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """A load of seconds prepares the model, and the call that waits follows."""
    app = simulation.app
    yield from app.load(model, draws.integer(800, 6_000) * MS, LOAD_COLD, engine=unit == "neural engine")
    yield from steady(app, model, (work(unit, draws.integer(6, 14) * MS),), calls=80, load_ns=0)


@plants("excess-data-copies", "state-copies", "float-conversion")
def large_inputs(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """Copies of inputs take a fifth to a half of each call."""
    app, length = simulation.app, draws.integer(6, 12) * MS
    yield from app.load(model)
    copy = length * draws.integer(25, 80) // 100
    for _ in range(draws.integer(60, 100)):
        yield from app.predict(model, work(unit, length), inputs=1, copy_ns=copy)
        yield from app.pause(150_000)


@plants("concurrent-predictions", units=("neural engine", "gpu"))
def many_in_flight(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """Four to six calls are in flight at once and queue behind each other."""
    steps = (work(unit, draws.integer(6, 12) * MS),)
    yield from overlapping(simulation.app, model, steps, in_flight=draws.integer(4, 6), calls=100)


@plants("latency-jitter")
def some_slow_calls(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """One call in twelve takes two to four and a half times as long, by any factor: too few for a group."""
    calls, length = draws.integer(120, 200), draws.integer(6, 12) * MS
    slow = set(draws.shuffled(range(1, calls))[: calls // 12])

    def steps(index: int) -> tuple[Step, ...]:
        return (work(unit, length * (draws.integer(220, 450) if index in slow else 100) // 100),)

    yield from steady(simulation.app, model, steps, calls=calls)


@plants("thermal-throttling", "latency-jitter", "growing-latency")
def hot(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """The device heats up and slows down everything; the heat is recorded."""
    app, start = simulation.app, simulation.clock.now_ns
    length = draws.integer(8, 14) * MS
    simulation.warm(start + 700 * MS, "Fair", 1_050)
    simulation.warm(start + 1_400 * MS, "Serious", draws.integer(1_500, 1_800))
    yield from steady(app, model, (work(unit, length),), calls=2_800 * MS // length)


@plants("shape-switching", "latency-jitter")
def two_shapes(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """A quarter to a half of the calls, in between the others, have an input that takes three to five times as long."""
    length, often, factor = draws.integer(5, 9) * MS, draws.integer(250, 500), draws.integer(3, 5)

    def steps(index: int) -> tuple[Step, ...]:
        return (work(unit, length * (factor if index and draws.chance(often) else 1)),)

    yield from steady(simulation.app, model, steps, calls=draws.integer(90, 140))


@plants("growing-latency", "latency-jitter", "unaccounted-time")
def growing_context(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """In each of two or three sequences every call takes longer than the one before."""
    app, length, growth = simulation.app, draws.integer(5, 9) * MS, draws.integer(30, 60)
    yield from app.load(model)
    for _ in range(draws.integer(2, 3)):
        for index in range(draws.integer(40, 60)):
            yield from app.predict(model, work(unit, length + length * growth * index // 1_000))
            yield from app.pause(150_000)
        yield from app.pause(2_000 * MS)


@plants("duplicate-instances")
def taking_turns(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """Two instances of one model do the same work in turns."""
    app, length = simulation.app, draws.integer(6, 14) * MS
    pair = [Model(model.base, number) for number in (1, 2)]
    for instance in pair:
        yield from app.load(instance, 120 * MS, engine=unit == "neural engine")
    for index in range(draws.integer(60, 100)):
        yield from app.predict(pair[index % 2], work(unit, length), inputs=2)
        yield from app.pause(150_000)


def beyond_others(simulation: Simulation, model: Model) -> bool:
    """Whether the first call is far longer than usual even without all the time in which its unit works for others: no
    row tells whether a call waits or prepares meanwhile."""
    first, *later = [call for call in simulation.calls if call.model.base == model.base]
    unit = first.uses[0].unit
    others = [use for use in simulation.uses if use.unit == unit != "cpu" and use.model != model]
    shared = sum(max(0, min(first.end_ns, use.end_ns) - max(first.start_ns, use.begin_ns)) for use in others)
    usual = sorted(call.duration_ns for call in later)[len(later) // 2]
    return first.duration_ns - shared >= 4 * usual


@plants("warm-up-spike", shows=beyond_others)
def slow_first_call(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """The first call after the load prepares for five to twenty times as long as a call takes."""
    app, length, factor = simulation.app, draws.integer(5, 12) * MS, draws.integer(5, 20)
    yield from app.load(model, engine=unit == "neural engine")
    for index in range(90):
        yield from app.predict(model, work(unit, length), host_ns=0 if index else length * factor)
        yield from app.pause(120_000)


@plants("compile-at-runtime")
def compiled_again(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """The app compiles the model each time before it loads it."""
    app = simulation.app
    for _ in range(3):
        app.simulation.recorded.now_ns = app.now_ns
        app.simulation.recorded.compile(model, draws.integer(200, 900) * MS)
        yield from app.until(app.simulation.recorded.now_ns)
        yield from steady(app, model, (work(unit, 9 * MS),), calls=30)
        yield from app.pause(6_000 * MS)


@plants("unused-load", whole=True)
def never_used(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """A model is loaded and never called, for more than a minute of use of the others."""
    app = simulation.app
    yield from app.load(model, draws.integer(80, 400) * MS)
    busy = Model(f"{model.base}Main")
    yield from app.load(busy)
    for _ in range(40):
        yield from app.predict(busy, work(unit, 9 * MS))
        yield from app.pause(draws.integer(900, 3_000) * MS)


@plants("compute-unit-ping-pong", "neural-engine-fragmentation", units=("neural engine", "gpu"))
def back_and_forth(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """Each call changes between its unit and the CPU four times and more, and the CPU works for a fifth of it."""
    part = draws.integer(2, 4) * MS
    steps = (work(unit, part), cpu(part // 3)) * draws.integer(2, 4) + (work(unit, part),)
    yield from steady(simulation.app, model, steps, calls=draws.integer(50, 80))


@plants("neural-engine-fragmentation", units=("neural engine",))
def in_pieces(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """The Neural Engine gets each call in three to eight pieces, and each piece takes a while to hand over."""
    part = draws.integer(2, 4) * MS
    piece = Step(unit, part, lead_ns=part * draws.integer(30, 80) // 100)
    steps = (piece,) * draws.integer(3, 8)
    yield from steady(simulation.app, model, steps, calls=draws.integer(50, 80))


@plants("unexpected-device", units=("gpu", "cpu"), settings={"unexpected-device.expected_unit": 1})
def not_on_the_engine(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """Half of the work or less is on the Neural Engine, where the author expects all of it."""
    length = draws.integer(6, 14) * MS
    first = (work("neural engine", length * draws.integer(10, 50) // 100),) if draws.chance(500) else ()
    yield from steady(simulation.app, model, (*first, work(unit, length)), calls=draws.integer(60, 90))


@plants("pipeline-gaps", "serial-predictions", shows=idle(0.6))
def packing_between_calls(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """The app works two to four times as long as the model between calls, whose work differs, and for less than a sleep
    would take."""
    app, gap = simulation.app, draws.integer(10, 15) * MS
    yield from steady(app, model, lambda _: (work(unit, draws.integer(28, 45) * MS // 10),), calls=150, gap_ns=gap)


@plants("serial-predictions", "pipeline-gaps", shows=idle(0.25, 0.45))
def one_after_the_other(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """A library of photos: prepare, predict, store, with a third of the time between calls."""
    gap = draws.integer(6, 9) * MS
    yield from steady(
        simulation.app, model, lambda _: (work(unit, draws.integer(100, 160) * MS // 10),), calls=150, gap_ns=gap
    )


@plants("unaccounted-time")
def nothing_shows(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """Most of each call leaves no row."""
    app, length = simulation.app, draws.integer(3, 6) * MS
    yield from app.load(model)
    for _ in range(80):
        yield from app.predict(model, work(unit, length), host_ns=length * draws.integer(25, 40) // 10)
        yield from app.pause(150_000)


@plants("main-thread-work", whole=True)
def photos_on_main(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """A touch runs the model over some photos while the main thread does not answer."""
    app = simulation.app
    yield from app.load(model, 60 * MS)
    for _ in range(draws.integer(5, 8)):
        yield from app.pause(draws.integer(1_500, 2_500) * MS)
        start = app.now_ns
        for _ in range(draws.integer(8, 14)):
            yield from app.predict(model, work(unit, 30 * MS))
            yield from app.pause(400_000)
        app.simulation.scenario.hang(on_clock(start - 3 * MS), on_clock(app.now_ns - start + 6 * MS))


@plants("float-conversion", "excess-data-copies")
def converted(simulation: Simulation, draws: Draws, model: Model, unit: Unit) -> Thread:
    """A cast after the work takes a sixth to a third of each call."""
    app, length = simulation.app, draws.integer(6, 12) * MS
    yield from app.load(model)
    for _ in range(draws.integer(60, 90)):
        cast = on_clock(length * draws.integer(20, 45) // 100)
        call = yield from app.predict(model, work(unit, length), host_ns=cast + 30_000)
        call.prediction.event("Data Cast", call.duration_ns - cast - 25_000, cast)
        yield from app.pause(150_000)


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
    slow = set(draws.shuffled(range(1, 180))[: draws.integer(26, 30)])

    def steps(index: int) -> tuple[Step, ...]:
        return (work(unit, draws.integer(38, 52) * MS if index in slow else 12 * MS),)

    yield from paced(simulation.app, model, steps, period_ns=33_333_000, calls=180)


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
