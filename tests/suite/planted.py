"""Problems to plant in a simulated app: threads of one model each, with the finding that must come of them.

Figures lie well on the problem's side of every threshold of its page. The last ones come of what else runs, or of what
the app did before.
"""

from __future__ import annotations

from suite.planting import PLANTED, Part, idle, plants
from tracekit.testing import Model
from tracekit.testing.rng import on_clock
from tracekit.testing.rows import LOAD_COLD
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.threads import MS, overlapping, paced_app, steady
from tracekit.testing.work import Step, Unit, cpu

__all__ = ["PLANTED"]

ENGINE: tuple[Unit, ...] = ("neural engine",)
QUEUES: tuple[Unit, ...] = ("neural engine", "gpu")


@plants("reload-before-predict", "load-churn", "unexplained-time")
def reload_each_time(part: Part) -> Thread:
    """The model is loaded for each call."""
    load, length = part.ms(15, 90), part.ms(5, 15)
    for _ in range(part.draws.integer(30, 60)):
        yield from part.load(load)
        yield from part.calls(1, length, lambda _: part.ms(1, 40))


@plants("load-churn")
def released_between_uses(part: Part) -> Thread:
    """The model is released after some calls, and loaded again a little later."""
    load, length = part.ms(250, 500), part.ms(6, 12)
    for _ in range(part.draws.integer(5, 8)):
        calls = part.draws.integer(8, 20)
        yield from steady(part.app, part.model, (part.step(length),), calls=calls, load_ns=load)
        yield from part.app.pause(part.ms(1_000, 2_500))


@plants("cold-load", "unexplained-time")
def cold_before_the_first_call(part: Part) -> Thread:
    """A load of seconds prepares the model, and the call that waits follows."""
    yield from part.load(part.ms(800, 6_000), LOAD_COLD, engine=part.on_engine)
    yield from steady(part.app, part.model, (part.step(part.ms(6, 14)),), calls=80, load_ns=0)


@plants("excess-data-copies", "state-copies", "float-conversion")
def large_inputs(part: Part) -> Thread:
    """Copies of inputs take a fifth to a half of each call."""
    length = part.ms(6, 12)
    yield from part.load()
    copy = length * part.draws.integer(25, 80) // 100
    yield from part.calls(part.draws.integer(60, 100), length, inputs=1, copy_ns=copy)


@plants("concurrent-predictions", units=QUEUES)
def many_in_flight(part: Part) -> Thread:
    """Four to six calls are in flight at once and queue behind each other."""
    steps = (part.step(part.ms(6, 12)),)
    yield from overlapping(part.app, part.model, steps, in_flight=part.draws.integer(4, 6), calls=100)


@plants("latency-jitter")
def some_slow_calls(part: Part) -> Thread:
    """One call in twelve takes two to four and a half times as long, by any factor: too few for a group."""
    calls, length = part.draws.integer(120, 200), part.ms(6, 12)
    slow = set(part.draws.permutation(range(1, calls))[: calls // 12])

    def steps(index: int) -> tuple[Step, ...]:
        return (part.step(length * (part.draws.integer(220, 450) if index in slow else 100) // 100),)

    yield from steady(part.app, part.model, steps, calls=calls)


@plants("thermal-throttling", "latency-jitter", "growing-latency")
def hot(part: Part) -> Thread:
    """The device heats up and slows down everything; the heat is recorded."""
    start, length = part.simulation.clock.now_ns, part.ms(8, 14)
    part.simulation.warm(start + 700 * MS, "Fair", 1_050)
    part.simulation.warm(start + 1_400 * MS, "Serious", part.draws.integer(1_500, 1_800))
    yield from steady(part.app, part.model, (part.step(length),), calls=2_800 * MS // length)


@plants("shape-switching", "latency-jitter")
def two_shapes(part: Part) -> Thread:
    """A quarter to a half of the calls, in between the others, have an input that takes three to five times as long."""
    length, often, factor = part.ms(5, 9), part.draws.integer(250, 500), part.draws.integer(3, 5)

    def steps(index: int) -> tuple[Step, ...]:
        return (part.step(length * (factor if index and part.draws.chance(often) else 1)),)

    yield from steady(part.app, part.model, steps, calls=part.draws.integer(90, 140))


@plants("growing-latency", "latency-jitter", "unexplained-time")
def growing_context(part: Part) -> Thread:
    """In each of two or three sequences every call takes longer than the one before."""
    length, growth = part.ms(5, 9), part.draws.integer(30, 60)
    yield from part.load()
    for _ in range(part.draws.integer(2, 3)):
        calls = part.draws.integer(40, 60)
        yield from part.calls(calls, lambda index: length + length * growth * index // 1_000)
        yield from part.app.pause(2_000 * MS)


@plants("duplicate-instances")
def taking_turns(part: Part) -> Thread:
    """Two instances of one model do the same work in turns."""
    length = part.ms(6, 14)
    pair = [Model(part.model.base, number) for number in (1, 2)]
    for instance in pair:
        yield from part.app.load(instance, 120 * MS, engine=part.on_engine)
    for index in range(part.draws.integer(60, 100)):
        yield from part.app.predict(pair[index % 2], part.step(length), inputs=2)
        yield from part.app.pause(150_000)


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
def slow_first_call(part: Part) -> Thread:
    """The first call after the load prepares for five to twenty times as long as a call takes."""
    length, factor = part.ms(5, 12), part.draws.integer(5, 20)
    yield from part.load(engine=part.on_engine)
    yield from part.calls(90, length, 120_000, host_ns=lambda index: 0 if index else length * factor)


@plants("recompiled-each-run")
def compiled_again(part: Part) -> Thread:
    """The app compiles the model each time before it loads it."""
    recorded = part.simulation.recorded
    for _ in range(3):
        recorded.now_ns = part.app.now_ns
        recorded.compile(part.model, part.ms(200, 900))
        yield from part.app.until(recorded.now_ns)
        yield from steady(part.app, part.model, (part.step(9 * MS),), calls=30)
        yield from part.app.pause(6_000 * MS)


@plants("unused-load", whole=True)
def never_used(part: Part) -> Thread:
    """A model is loaded and never called, for more than a minute of use of the others."""
    yield from part.load(part.ms(80, 400))
    busy = Part(part.simulation, part.draws, part.further("Main"), part.unit)
    yield from busy.load()
    yield from busy.calls(40, 9 * MS, lambda _: part.ms(900, 3_000))


@plants("compute-unit-ping-pong", "idle-compute-units", units=QUEUES)
def back_and_forth(part: Part) -> Thread:
    """Each call changes between its unit and the CPU four times and more, and the CPU works for a fifth of it."""
    length = part.ms(2, 4)
    steps = (part.step(length), cpu(length // 3)) * part.draws.integer(2, 4) + (part.step(length),)
    yield from steady(part.app, part.model, steps, calls=part.draws.integer(50, 80))


@plants("neural-engine-fragmentation", units=ENGINE)
def in_pieces(part: Part) -> Thread:
    """The Neural Engine gets each call in three to eight pieces, and each piece takes a while to hand over."""
    length = part.ms(2, 4)
    piece = Step(part.unit, length, lead_ns=length * part.draws.integer(30, 80) // 100)
    steps = (piece,) * part.draws.integer(3, 8)
    yield from steady(part.app, part.model, steps, calls=part.draws.integer(50, 80))


@plants(
    "not-on-expected-unit",
    "idle-compute-units",
    units=("gpu", "cpu"),
    settings={"not-on-expected-unit.expected_unit": 1},
)
def not_on_the_engine(part: Part) -> Thread:
    """Half of the work or less is on the Neural Engine, where the author expects all of it."""
    length = part.ms(6, 14)
    first = (Step("neural engine", length * part.draws.integer(10, 50) // 100),) if part.draws.chance(500) else ()
    yield from steady(part.app, part.model, (*first, part.step(length)), calls=part.draws.integer(60, 90))


@plants("pipeline-gaps", "serial-predictions", shows=idle(0.6))
def packing_between_calls(part: Part) -> Thread:
    """The app works two to four times as long as the model between calls, whose work differs, and for less than a sleep
    would take."""
    gap = part.ms(10, 15)
    yield from steady(part.app, part.model, lambda _: (part.step(part.ms(28, 45) // 10),), calls=150, gap_ns=gap)


@plants("serial-predictions", "pipeline-gaps", shows=idle(0.25, 0.45))
def one_after_the_other(part: Part) -> Thread:
    """A library of photos: prepare, predict, store, with a third of the time between calls."""
    gap = part.ms(6, 9)
    yield from steady(part.app, part.model, lambda _: (part.step(part.ms(100, 160) // 10),), calls=150, gap_ns=gap)


@plants("unexplained-time")
def nothing_shows(part: Part) -> Thread:
    """Most of each call leaves no row."""
    length = part.ms(3, 6)
    yield from part.load()
    yield from part.calls(80, length, host_ns=lambda _: length * part.draws.integer(25, 40) // 10)


@plants("main-thread-work", whole=True)
def photos_on_main(part: Part) -> Thread:
    """A touch runs the model over some photos while the main thread does not answer."""
    yield from part.load(60 * MS)
    for _ in range(part.draws.integer(5, 8)):
        yield from part.app.pause(part.ms(1_500, 2_500))
        start = part.app.now_ns
        yield from part.calls(part.draws.integer(8, 14), 30 * MS, 400_000)
        part.simulation.scenario.hang(on_clock(start - 3 * MS), on_clock(part.app.now_ns - start + 6 * MS))


@plants("float-conversion", "excess-data-copies")
def converted(part: Part) -> Thread:
    """A cast after the work takes a sixth to a third of each call."""
    length = part.ms(6, 12)
    yield from part.load()
    for _ in range(part.draws.integer(60, 90)):
        cast = on_clock(length * part.draws.integer(20, 45) // 100)
        call = yield from part.app.predict(part.model, part.step(length), host_ns=cast + 30_000)
        call.prediction.event("Data Cast", call.duration_ns - cast - 25_000, cast)
        yield from part.app.pause(150_000)


@plants(
    "neural-engine-contention",
    "latency-jitter",
    "foreign-neural-engine-work",
    ("serial-predictions", "Large"),
    units=ENGINE,
)
def behind_a_long_model(part: Part) -> Thread:
    """Another model of the app takes the Neural Engine just before most calls. The app pauses after each pair for less
    than a frame at 60 fps, which counts as its work before the first of the two."""
    app, length, long = part.app, part.ms(5, 9), part.further("Large")
    yield from app.load(long)
    yield from part.load()
    for _ in range(60):
        running = app.start(app.predict(long, part.step(2 * length)))
        yield from app.pause(400_000)
        yield from app.predict(part.model, part.step(length))
        yield from app.join(running)
        yield from app.pause(15 * MS)


@plants("gpu-contention", "latency-jitter", units=("gpu",))
def behind_drawing(part: Part) -> Thread:
    """The app draws for longer than a call takes before every other call."""
    app, length = part.app, part.ms(9, 16)
    yield from part.load()
    for _ in range(80):
        drawn = app.start(app.use(part.unit, length)) if part.draws.chance(500) else None
        yield from app.predict(part.model, part.step(length))
        if drawn is not None:
            yield from app.join(drawn)
        yield from app.pause(2 * MS)


@plants("cpu-contention", "latency-jitter", units=("cpu",))
def sharing_the_cores(part: Part) -> Thread:
    """Another model of the app works on all cores during every second or third call."""
    app, length, often = part.app, part.ms(8, 16), part.draws.choice((2, 3))
    other = part.further("Large")
    yield from app.load(other)
    yield from part.load()
    for index in range(part.draws.integer(70, 110)):
        running = app.start(app.predict(other, cpu(length, 6))) if index % often == 0 else None
        yield from app.predict(part.model, cpu(length, 6))
        if running is not None:
            yield from app.join(running)
        yield from app.pause(MS)


@plants("state-copies", "excess-data-copies", "float-conversion", "unexplained-time")
def cache_in_and_out(part: Part) -> Thread:
    """A language model whose cache goes into and out of each call, for a sixth of it each way."""
    app, length = part.app, part.ms(7, 12)
    copy = on_clock(length * part.draws.integer(15, 25) // 100)
    prompt = part.further("Prompt")
    yield from part.load()
    yield from app.load(prompt)
    for _ in range(3):
        yield from app.predict(prompt, part.step(40 * MS))
        for _ in range(part.draws.integer(25, 35)):
            yield from app.pause(150_000)
            call = yield from app.predict(part.model, part.step(length), copy_ns=copy, host_ns=copy + 30_000)
            call.prediction.event("Input Copy", 2_000, 1_625)
            call.prediction.event("Output Transformation", call.duration_ns - copy - 25_000, copy)
        yield from app.pause(1_900 * MS)


@plants("serialized-specialization", "cold-load", "unexplained-time", units=ENGINE, whole=True)
def prepared_one_by_one(part: Part) -> Thread:
    """Three models are prepared for the device, each after the one before, and then called."""
    models = [part.model, part.further("Head"), part.further("Tail")]
    for each in models:
        yield from part.app.load(each, part.ms(700, 2_500), LOAD_COLD, engine=True)
    for _ in range(30):
        for each in models:
            yield from part.app.predict(each, part.step(8 * MS))
            yield from part.app.pause(MS)


@plants("foreign-neural-engine-work", units=ENGINE, whole=True)
def others_on_the_engine(part: Part) -> Thread:
    """Another process uses the Neural Engine with a model of its own, before and after the app uses its model."""
    other, listener, theirs = part.simulation.process("Assistant", 931), Model("Listener"), (part.step(12 * MS),)
    yield from steady(other, listener, theirs, calls=40)
    yield from steady(part.app, part.model, (part.step(part.ms(6, 12)),), calls=80)
    yield from steady(other, listener, theirs, calls=40, load_ns=0)


@plants("missed-deadline", "latency-jitter", "shape-switching")
def frames_dropped(part: Part) -> Thread:
    """A camera at 30 frames per second; one call in six or seven takes longer than a frame, and the next is dropped."""
    slow = set(part.draws.permutation(range(1, 180))[: part.draws.integer(26, 30)])

    def steps(index: int) -> tuple[Step, ...]:
        return (part.step(part.ms(38, 52) if index in slow else 12 * MS),)

    yield from paced_app(part.app, part.model, steps, period_ns=33_333_000, calls=180)


@plants("slow-load")
def cached_but_slow(part: Part) -> Thread:
    """A load from the cache takes seconds, and the call that waits follows."""
    load = part.ms(1_300, 6_000)
    yield from steady(part.app, part.model, (part.step(part.ms(6, 14)),), calls=80, load_ns=load)


def _prepares_alone(simulation: Simulation, model: Model) -> bool:
    """Whether no model is loaded while the longest call of this one lasts, and nobody else is on its unit: either can
    be the reason as well."""
    longest = max((call for call in simulation.calls if call.model == model), key=lambda call: call.duration_ns)
    loads = [(row.start_ns, row.end_ns) for row in simulation.scenario.coreml if row.label.startswith("Load")]
    units = {use.unit for use in longest.uses}
    others = [(use.begin_ns, use.end_ns) for use in simulation.uses if use.model != model and use.unit in units]
    return not any(start < longest.end_ns and longest.start_ns < end for start, end in loads + others)


@plants("new-shape-spike", "shape-switching", "latency-jitter", "unexplained-time", shows=_prepares_alone)
def another_shape(part: Part) -> Thread:
    """From some call on, inputs have one of two shapes, of different work. The first of the second shape takes long to
    prepare."""
    length = part.ms(5, 15)
    start, run, extra = part.draws.integer(3, 30), part.draws.integer(2, 6), part.ms(60, 400)
    second = length * part.draws.integer(180, 400) // 100
    yield from part.load()

    def work(index: int) -> int:
        return second if index >= start and (index - start) // run % 2 == 0 else length

    calls = part.draws.integer(80, 140)
    yield from part.calls(calls, work, 200_000, host_ns=lambda index: extra if index == start else 0)
