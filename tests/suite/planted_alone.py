"""Problems to plant in a simulated app: threads of one model each, with the finding that must come of them.

A recipe takes the simulation, draws, the model and the unit that it works on, and gives the thread. Figures lie well on
the problem's side of every threshold of its page.
"""

from __future__ import annotations

from suite.planting import idle, plants, work
from tracekit.testing import Draws, Model
from tracekit.testing.rng import on_clock
from tracekit.testing.rows import LOAD_COLD
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.threads import MS, overlapping, steady
from tracekit.testing.work import Step, Unit, cpu


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
    slow = set(draws.permutation(range(1, calls))[: calls // 12])

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
