"""What fixing a problem would save by `tracekit why --without`, held against what it saves: the same app with the
problem and without, the same work drawn for both.

`PYTHONPATH=tests python -m suite.savings [STEP]` compares one pair in STEP, writes `docs/detectors/savings.md` and
prints it.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

import numpy as np

from suite.frame import read_back
from suite.processes import on_all_processors
from support.handover import trace_of
from support.samples import SAMPLES
from support.scenarios import COPY_BYTES
from tracekit.analysis.statistics import covered_ns
from tracekit.api import replay_without
from tracekit.detectors.fixes import fix_of
from tracekit.detectors.outcomes import Finding
from tracekit.detectors.registry import DETECTORS
from tracekit.detectors.replayed import Replays
from tracekit.detectors.runner import run_detectors
from tracekit.intervals import Intervals
from tracekit.report.groups import results_from
from tracekit.testing import Draws, Model
from tracekit.testing.apps import draw_models
from tracekit.testing.rng import on_clock
from tracekit.testing.rows import LOAD_CACHED, LOAD_COLD
from tracekit.testing.simulation import Simulation, Task, Thread
from tracekit.testing.stacks import app_function
from tracekit.testing.threads import MS, drawing, steady
from tracekit.testing.work import Step, Unit, cpu
from tracekit.trace.events import Level
from tracekit.units import format_share

PAGE = Path(__file__).parents[2] / "docs" / "detectors" / "savings.md"
UNITS: tuple[Unit, ...] = ("neural engine", "gpu", "cpu")
PAIRS = 36
"""For each check, unless many of them hide the problem."""
EXACT, CLOSE = 0.01, 0.10
SMALL = 0.005
"""A gain that is higher by more than the first exceeds what was said; within the second, it is close. Less than so much
of all that is measured is neither."""
CACHE = COPY_BYTES, app_function("update", 88, "KVCache.swift")
SAMPLER = (app_function("sample", 31, "Sampler.swift"),)
WAIT, LATENCY, INTERVAL = "time in Core ML", "mean latency", "time per prediction"
NET, READY, ROUND = "time in Core ML of all models", "time to the first prediction", "time per round of models"
"""What a gain is measured by."""


@dataclass
class App:
    """One side of a pair. All that both sides have in common is drawn before."""

    simulation: Simulation
    model: Model
    unit: Unit
    ill: bool
    """Whether the problem is there."""
    work_ns: list[int]
    """Of each call."""
    pace: str
    """`loop`, `camera` or `user`."""
    draws: Draws
    """For the recipe: the same numbers on both sides, so both draw the same ones."""
    gap_ns: list[int]
    """Before each call, in a loop or by the user."""
    period_ns: int

    def step(self, index: int) -> Step:
        """Work of a call."""
        work = self.work_ns[index]
        return cpu(work, 2) if self.unit == "cpu" else Step(self.unit, work)

    def wait(self, index: int, begin_ns: int) -> Thread:
        """Until a call may be made; `begin_ns` is when the sequence began."""
        app = self.simulation.app
        if self.pace == "camera":
            frame = max(index, -(-(app.now_ns - begin_ns) // self.period_ns))
            yield from app.until(begin_ns + frame * self.period_ns)
        else:
            yield from app.pause(self.gap_ns[index], 0)


Recipe = Callable[[App], Thread]


@dataclass(frozen=True)
class Problem:
    """What is compared of a check."""

    check: str
    recipe: Recipe
    units: tuple[Unit, ...] = UNITS
    paces: tuple[str, ...] = ("loop", "camera", "user")
    measure: str = WAIT
    beside: bool = True
    """Whether a third of the pairs have another model beside."""
    pairs: int = PAIRS
    code: bool = False
    """Whether call stacks are recorded."""


PROBLEMS: dict[str, Problem] = {}


def problem(check: str, kind: str = "", **more: object) -> Callable[[Recipe], Recipe]:
    """Put a recipe into `PROBLEMS`; `kind` tells several of one check apart, and `more` are fields."""

    def put(recipe: Recipe) -> Recipe:
        PROBLEMS[f"{check}, {kind}" if kind else check] = Problem(check, recipe, **more)  # type: ignore[arg-type]
        return recipe

    return put


def calls(
    app: App,
    *,
    first: int = 0,
    end: int | None = None,
    before: Callable[[int], Thread] | None = None,
    inputs: int = 2,
    **options: Callable[[int], int],
) -> Thread:
    """Calls one after the other, at the pace of the app. Options of `predict` follow from the number of the call."""
    begin = app.simulation.app.now_ns
    for index in range(first, len(app.work_ns) if end is None else end):
        yield from app.wait(index - first, begin)
        if before is not None:
            yield from before(index)
        given = {name: value(index) for name, value in options.items()}
        yield from app.simulation.app.predict(app.model, app.step(index), inputs=inputs, **given)


def ahead(app: App, depth: int, pause_ns: Callable[[int], int], *, together: bool = False) -> Thread:
    """The app works before each call, and waits for it; or it goes on, with so many calls in flight, and `together`
    works before each of them meanwhile, too."""
    running, tasks = app.simulation.app, list[Task]()

    def one(index: int, pause_ns: int) -> Thread:
        yield from running.pause(pause_ns, 0)
        yield from running.predict(app.model, app.step(index), inputs=2)

    for index in range(len(app.work_ns)):
        if app.ill:
            yield from one(index, pause_ns(index))
            continue
        if not together:
            yield from running.pause(pause_ns(index), 0)
        if len(tasks) == depth:
            yield from running.join(tasks.pop(0))
        tasks.append(running.start(one(index, pause_ns(index) if together else 0)))
    for task in tasks:
        yield from running.join(task)


@problem("reload-before-predict")
def loaded_each_time(app: App) -> Thread:
    """The model is loaded for each call, or once."""
    length = app.draws.integer(6, 15) * MS

    def load(index: int) -> Thread:
        if app.ill or not index:
            yield from app.simulation.app.load(app.model, length)

    yield from calls(app, before=load)


@problem("load-churn", paces=("loop", "camera"))
def loaded_for_each_run(app: App) -> Thread:
    """The model is loaded for each run of calls, or once."""
    length, run = app.draws.integer(250, 400) * MS, app.draws.integer(10, 14)
    for first in range(0, len(app.work_ns), run):
        if app.ill or not first:
            yield from app.simulation.app.load(app.model, length)
        yield from calls(app, first=first, end=min(first + run, len(app.work_ns)))
        yield from app.simulation.app.pause(1_500 * MS, 0)


def waited_for(app: App, most_ms: int, label: str, *, engine: bool) -> Thread:
    """The first call waits for a long load, or that was done before."""
    length = app.draws.integer(900, most_ms) * MS
    if app.ill:
        yield from app.simulation.app.load(app.model, length, label, engine=engine)
        yield from app.simulation.app.predict(app.model, app.step(0), inputs=2)
    yield from calls(app, first=1 if app.ill else 0)


@problem("cold-load")
def specialized_first(app: App) -> Thread:
    """The load specializes the model."""
    yield from waited_for(app, 5_000, LOAD_COLD, engine=app.unit == "neural engine")


@problem("slow-load")
def long_load(app: App) -> Thread:
    """The load comes from the cache."""
    yield from waited_for(app, 3_000, LOAD_CACHED, engine=False)


@problem("recompiled-each-run", paces=("loop", "camera"))
def compiled_again(app: App) -> Thread:
    """The app compiles the model for each run, or once."""
    length, running = app.draws.integer(200, 900) * MS, app.simulation.app
    third = len(app.work_ns) // 3
    for run in range(3):
        if app.ill or not run:
            recorded = app.simulation.recorded
            recorded.now_ns = running.now_ns
            recorded.compile(app.model, length)
            yield from running.until(recorded.now_ns)
        yield from running.load(app.model)
        yield from calls(app, first=run * third, end=(run + 1) * third)
        yield from running.pause(2_000 * MS, 0)


@problem("unused-load", paces=("user",), beside=False, measure=READY)
def never_used(app: App) -> Thread:
    """A model is loaded and never called, or not loaded; the first call follows at once."""
    length, app.gap_ns[0] = app.draws.integer(80, 400) * MS, MS
    if app.ill:
        yield from app.simulation.app.load(Model(f"{app.model.base}Extra"), length)
    yield from app.simulation.app.load(app.model)
    yield from calls(app)


@problem("unused-load", "in the background", paces=("user",), beside=False, measure=READY)
def never_used_nor_waited_for(app: App) -> Thread:
    """The same, while the app goes on."""
    running, length = app.simulation.app, app.draws.integer(80, 900) * MS
    at_once = app.draws.chance(500)
    if app.ill:
        running.simulation.start(
            running.load(Model(f"{app.model.base}Extra"), length), None if at_once else running.now_ns + 900 * MS
        )
    yield from running.load(app.model)
    yield from calls(app)


@problem("excess-data-copies")
def large_inputs(app: App) -> Thread:
    """Inputs are copied, or used in place."""
    share = app.draws.integer(25, 60)
    yield from app.simulation.app.load(app.model)
    copies = [on_clock(work * share // 100) if app.ill else 125 for work in app.work_ns]
    yield from calls(app, inputs=1, copy_ns=copies.__getitem__)


@problem("state-copies", paces=("loop",))
def cache_in_and_out(app: App) -> Thread:
    """A cache that grows goes in and out of each call, or is the state of the model."""
    running, step = app.simulation.app, app.draws.integer(20, 50) * 1_000
    yield from running.load(app.model)
    half = len(app.work_ns) // 2
    for index in range(len(app.work_ns)):
        size = on_clock(700_000 + step * (index % half)) if app.ill else 0
        call = yield from running.predict(
            app.model, app.step(index), inputs=1, copy_ns=size + 125, host_ns=size + 5_000
        )
        if app.ill:
            call.prediction.event("Output Transformation", call.duration_ns - size - 8_000, size)
        yield from running.pause(2_000 * MS if index == half - 1 else 200_000, 0)


@problem("excess-data-copies", "hidden by another prediction", units=("neural engine", "gpu"), paces=("loop",))
def hidden_copies(app: App) -> Thread:
    """Inputs are copied while the unit works for the prediction before, or used in place."""
    share, depth, tasks = app.draws.integer(25, 60), app.draws.integer(2, 3), list[Task]()
    running = app.simulation.app
    yield from running.load(app.model)
    for index, work in enumerate(app.work_ns):
        if len(tasks) == depth:
            yield from running.join(tasks.pop(0))
        copy = on_clock(work * share // 100) if app.ill else 125
        tasks.append(running.start(running.predict(app.model, app.step(index), copy_ns=copy)))
        yield from running.pause(400_000, 0)
    for task in tasks:
        yield from running.join(task)


@problem("float-conversion")
def converted(app: App) -> Thread:
    """A cast after the work, or none."""
    share, running = app.draws.integer(20, 45), app.simulation.app
    yield from running.load(app.model)
    begin = running.now_ns
    for index, work in enumerate(app.work_ns):
        yield from app.wait(index, begin)
        cast = on_clock(work * share // 100) if app.ill else 0
        call = yield from running.predict(app.model, app.step(index), host_ns=cast + 30_000)
        if app.ill:
            call.prediction.event("Data Cast", call.duration_ns - cast - 25_000, cast)


@problem("warm-up-spike")
def slow_first_call(app: App) -> Thread:
    """The first call prepares, or that was done before."""
    running, factor = app.simulation.app, app.draws.integer(6, 20)
    yield from running.load(app.model, engine=app.unit == "neural engine")
    begin = running.now_ns
    for index, work in enumerate(app.work_ns):
        if index:
            yield from app.wait(index, begin)
        yield from running.predict(app.model, app.step(index), host_ns=0 if index or not app.ill else work * factor)


@problem("concurrent-predictions", paces=("loop",), measure=LATENCY)
def many_in_flight(app: App) -> Thread:
    """Four to six are in flight, or two."""
    running, depth, tasks = app.simulation.app, app.draws.integer(4, 6), list[Task]()
    yield from running.load(app.model)
    for index in range(12):
        yield from running.predict(app.model, app.step(index), inputs=2)
        yield from running.pause(3 * MS, 0)
    for index in range(12, len(app.work_ns)):
        if len(tasks) == (depth if app.ill else 2):
            yield from running.join(tasks.pop(0))
        tasks.append(running.start(running.predict(app.model, app.step(index), inputs=2)))
        yield from running.pause(400_000, 0)
    for task in tasks:
        yield from running.join(task)


@problem("serial-predictions", units=("neural engine", "gpu"), paces=("loop",), measure=INTERVAL, beside=False)
def one_after_the_other(app: App) -> Thread:
    """Prepare and predict, one after the other, or with two or three in flight."""
    yield from app.simulation.app.load(app.model)
    shares, depth = [40 + gap // 125 % 25 for gap in app.gap_ns], app.draws.integer(2, 3)
    yield from ahead(
        app, depth, lambda index: app.work_ns[index] * shares[index] // 100, together=app.draws.chance(500)
    )


@problem("idle-compute-units", units=("neural engine", "gpu"), paces=("loop",), measure=INTERVAL, beside=False)
def units_in_turn(app: App) -> Thread:
    """A model with a part on the CPU is called one after the other, or with two in flight."""
    running, tasks, share = app.simulation.app, list[Task](), app.draws.integer(70, 140)
    yield from running.load(app.model)
    for index, work in enumerate(app.work_ns):
        if len(tasks) == (1 if app.ill else 2):
            yield from running.join(tasks.pop(0))
        yield from running.pause(200_000, 0)
        tasks.append(running.start(running.predict(app.model, cpu(work * share // 100, 2), app.step(index))))
    for task in tasks:
        yield from running.join(task)


@problem("pipeline-gaps", paces=("loop",), measure=INTERVAL, beside=False)
def packing_between_calls(app: App) -> Thread:
    """The app packs between calls for longer than they take, or while they run: for two more of them at once where
    they do not need the CPU."""
    usual, on_cpu = app.work_ns[0], app.unit == "cpu"
    yield from app.simulation.app.load(app.model)
    app.work_ns = [app.draws.around(usual, 300) for _ in range(2 * len(app.work_ns))]
    packs = [app.draws.around(usual * 23 // 10, 160) for _ in app.work_ns]
    yield from ahead(app, 1 if on_cpu else 3, packs.__getitem__, together=not on_cpu)


@problem(
    "copies-between-predictions",
    units=("neural engine", "gpu"),
    paces=("loop",),
    measure=INTERVAL,
    beside=False,
    code=True,
)
def copied_from_step_to_step(app: App) -> Thread:
    """The app copies a cache after each step, or Core ML keeps it; then it samples the next token."""
    running, share = app.simulation.app, app.draws.integer(60, 150)
    code = app.simulation.recorded.code
    assert code is not None
    yield from running.load(app.model)
    for index, work in enumerate(app.work_ns):
        call = yield from running.predict(app.model, app.step(index))
        code.predict(call.start_ns, call.duration_ns, (app.step(index),))
        for length, frames in ((work * share // 100 if app.ill else 0, CACHE), (app.gap_ns[index], SAMPLER)):
            if length:
                code.runs(running.now_ns, length, *frames)
                yield from running.pause(length, 0)


@problem("graph-partitions", units=("neural engine", "gpu"), paces=("loop", "camera"), measure=ROUND, beside=False)
def one_graph_in_parts(app: App) -> Thread:
    """A graph in four to eight models with operations between them, or in one model that runs these as well."""
    running, size, share = app.simulation.app, app.draws.integer(4, 8), app.draws.integer(20, 60)
    app.model = Model("onnxruntime-5A1C-0")
    models = [Model(f"onnxruntime-5A1C-{number}") for number in range(size if app.ill else 1)]
    for model in models:
        yield from running.load(model, 20 * MS)
    begin = running.now_ns
    for index, work in enumerate(app.work_ns):
        yield from app.wait(index, begin)
        for model in models:
            if model is not models[0]:
                yield from running.pause(work * share // 100, 0)
            yield from running.predict(model, Step(app.unit, on_clock(work // len(models))))


@problem("gpu-contention", units=("gpu",), paces=("loop", "camera"), beside=False)
def while_the_app_draws(app: App) -> Thread:
    """The app draws for half of the time, or never."""
    running, work = app.simulation.app, app.draws.integer(4, 9) * MS
    yield from running.load(app.model)
    if app.ill:
        until = running.now_ns + 600 * MS
        running.start(drawing(running, work_ns=work, until_ns=until))
    yield from calls(app)


@problem("neural-engine-contention", units=("neural engine",), paces=("loop", "camera"), beside=False, pairs=48)
def behind_another_process(app: App) -> Thread:
    """Another process uses the Neural Engine at times, or never."""
    running, work = app.simulation.app, app.draws.integer(8, 20) * MS
    period = app.draws.integer(30, 60) * MS
    other = app.simulation.process("Photos", 4711)

    def uses() -> Thread:
        for number in range(30):
            yield from other.until(begin + number * period)
            yield from other.use("neural engine", work)

    yield from running.load(app.model)
    begin = running.now_ns
    if app.ill:
        other.start(uses())
    yield from calls(app)


def called_at_once(app: App) -> Thread:
    """Two models are called at once, or one after the other: one waits for the other, or the app for both."""
    running, other = app.simulation.app, Model(f"{app.model.base}Second")
    share, begin = app.draws.integer(40, 150), 0
    yield from running.load(app.model)
    yield from running.load(other)
    begin = running.now_ns
    for index, work in enumerate(app.work_ns):
        yield from app.wait(index, begin)
        second = running.predict(other, Step(app.unit, on_clock(work * share // 100)), inputs=2)
        first = running.predict(app.model, app.step(index), inputs=2)
        if app.ill:
            task = running.start(second)
            yield from first
            yield from running.join(task)
        else:
            yield from second
            yield from first


for _check, _unit in (("neural-engine-contention", "neural engine"), ("gpu-contention", "gpu")):
    problem(_check, "two models at once", units=(_unit,), paces=("loop", "camera"), beside=False, measure=NET)(
        called_at_once
    )


@problem("slow-after-idle", paces=("loop", "camera"))
def slow_after_pauses(app: App) -> Thread:
    """The first call after each pause prepares again, or nothing was let go."""
    running, extra, run = app.simulation.app, app.draws.integer(25, 90) * MS, app.draws.integer(11, 14)
    yield from running.load(app.model, engine=app.unit == "neural engine")
    for first in range(0, len(app.work_ns), run):
        held_up = first if app.ill and first else None
        last = min(first + run, len(app.work_ns))
        yield from calls(app, first=first, end=last, host_ns=lambda index, at=held_up: extra if index == at else 0)
        yield from running.pause(app.draws.integer(2_000, 5_000) * MS, 0)


@problem("new-shape-spike", paces=("loop",))
def slow_new_shape(app: App) -> Thread:
    """Two sizes of images; the first call of the second size prepares, or that was done before."""
    extra, begins = app.draws.integer(60, 300) * MS, 5 * app.draws.integer(2, 4)
    large = [index >= begins and index % 5 < 2 for index in range(len(app.work_ns))]
    app.work_ns = [on_clock(work * 22 // 10) if twice else work for work, twice in zip(app.work_ns, large, strict=True)]
    yield from app.simulation.app.load(app.model, engine=app.unit == "neural engine")
    yield from calls(app, host_ns=lambda index: extra if app.ill and index == begins else 0)


@problem("repeated-specialization", paces=("loop",))
def each_new_shape(app: App) -> Thread:
    """Most inputs have a new shape, for which GPU code is compiled, or they are padded to one."""
    running, extra = app.simulation.app, app.draws.integer(30, 200) * MS
    new = [app.draws.chance(800) for _ in app.work_ns]
    yield from running.load(app.model, engine=app.unit == "neural engine")
    for index in range(len(app.work_ns)):
        yield from running.pause(app.gap_ns[index], 0)
        takes = extra if app.ill and new[index] else 0
        call = yield from running.predict(app.model, app.step(index), inputs=2, host_ns=takes)
        if takes:
            app.simulation.scenario.compile_shader(call.end_ns - takes, takes)


@problem("latency-jitter", paces=("loop", "camera"))
def held_up_now_and_then(app: App) -> Thread:
    """Some calls are held up on the host, or none."""
    extra = [app.draws.integer(15, 60) * MS if app.draws.chance(110) else 0 for _ in app.work_ns]
    yield from app.simulation.app.load(app.model, engine=app.unit == "neural engine")
    yield from calls(app, host_ns=lambda index: extra[index] if app.ill and index else 0)


@problem("duplicate-instances", paces=("loop", "camera"))
def several_instances(app: App) -> Thread:
    """Calls go to two or three instances in turn, each with a load of its own, or to one."""
    length, count = app.draws.integer(80, 500) * MS, app.draws.integer(2, 3)
    instances = [replace(app.model, instance=number + 1) for number in range(count if app.ill else 1)]
    for instance in instances:
        yield from app.simulation.app.load(instance, app.draws.around(length, 60))
    begin = app.simulation.app.now_ns
    for index in range(len(app.work_ns)):
        yield from app.wait(index, begin)
        yield from app.simulation.app.predict(instances[index % len(instances)], app.step(index), inputs=2)


class Key(NamedTuple):
    """A pair."""

    problem: str
    number: int

    @property
    def asked(self) -> Problem:
        """What is compared."""
        return PROBLEMS[self.problem]


@dataclass(frozen=True)
class Compared:
    """Gains of a pair in ns."""

    key: Key
    measured: float = 0
    of: float = 0
    """What is measured, of the side with the problem."""
    said: float | None = None
    """None where the problem was not found, or its savings are unknown."""
    error: str = ""

    @property
    def exceeded(self) -> bool:
        """Whether the fix brings more than was said."""
        return self.said is not None and self.measured > self.said * (1 + EXACT) + SMALL * self.of

    @property
    def close(self) -> bool:
        """Whether it brings about what was said."""
        return self.said is not None and abs(self.said - self.measured) <= CLOSE * abs(self.measured) + SMALL * self.of


def keys() -> list[Key]:
    """All pairs."""
    return [Key(name, number) for name, asked in PROBLEMS.items() for number in range(asked.pairs)]


def app_of(key: Key, *, ill: bool) -> App:
    """One side of a pair, recorded."""
    draws = Draws(170_000 + 1_000 * list(PROBLEMS).index(key.problem) + key.number)
    asked = key.asked
    pace, unit = draws.choice(asked.paces), draws.choice(asked.units)
    length, count = draws.integer(5, 13) * MS, draws.integer(70, 110)
    own, other = draw_models(draws, 2)
    work = [draws.around(length, 60) for _ in range(count)]
    gaps = [draws.around(length // 8, 200) for _ in range(count)]
    if pace == "user":
        gaps = [draws.integer(600, 1_400) * MS for _ in range(count)]
    beside = asked.beside and draws.chance(333)
    other_unit, other_work = draws.choice((*UNITS, unit, unit)), draws.integer(3, 8) * MS
    other_gap = other_work * draws.choice((25, 100, 300)) // 100
    simulation = Simulation(Draws(draws.integer(0, 10**9)), jitter=0, handover_permille=0, code=asked.code)
    app = App(
        simulation,
        own,
        unit,
        ill,
        work,
        pace,
        Draws(draws.integer(0, 10**9)),
        gaps,
        draws.choice((33_333_000, 50_000_000)),
    )
    simulation.start(asked.recipe(app))
    if beside:
        lengths = [draws.around(other_work, 80) for _ in range(150)]
        steps = [(cpu(length, 2) if other_unit == "cpu" else Step(other_unit, length),) for length in lengths]
        simulation.start(steady(simulation.app, other, steps.__getitem__, calls=150, gap_ns=other_gap, load_ns=0))
    simulation.run()
    return app


def compared(key: Key) -> Compared:
    """The gain of a pair, as measured and as replayed."""
    try:
        ill, well = (app_of(key, ill=each) for each in (True, False))
        before = measured_of(ill, key)
        measured = before - measured_of(well, key)
        trace = read_back(ill.simulation.recorded, bundle=False)
        answers = run_detectors(trace)
        about = (ill.model.base, None)
        found = [
            each
            for each in answers
            if each.detector.id == key.asked.check and isinstance(each.outcome, Finding) and each.outcome.model in about
        ]
        if not found:
            return Compared(key, measured, before)
        known = [one for one in results_from(found, Replays(trace, found)) if one.saved]
        if not known:
            return Compared(key, measured, before)
        if key.asked.measure in (WAIT, NET, READY):
            return Compared(key, measured, before, sum(one.saved_ns or 0 for one in known))
        return Compared(
            key, measured, before, sum(one.saved.each.saved_ns for one in known if one.saved and one.saved.each)
        )
    except Exception:
        return Compared(key, error=traceback.format_exc())


def measured_of(app: App, key: Key) -> float:
    """What the gain of a pair is measured by, of one side, by the simulation: ns."""
    base, measure = app.model.base, key.asked.measure
    calls = app.simulation.calls
    predictions = [call for call in calls if call.model.base == base]
    if measure == LATENCY:
        return mean(call.duration_ns for call in predictions)
    if measure == ROUND:
        calls = sorted(calls, key=lambda call: call.start_ns)
        size = len({call.model for call in calls})
        return mean(calls[at + size - 1].end_ns - calls[at].start_ns for at in range(0, len(calls), size))
    if measure == INTERVAL:
        ends = sorted(call.end_ns for call in predictions)
        return (ends[-1] - ends[0]) / (len(ends) - 1)
    if measure == READY:
        return min(call.start_ns for call in predictions)
    setup = [row for row in app.simulation.scenario.coreml if row.label.startswith(("Load", "Compile"))]
    if measure == WAIT:
        setup, calls = [row for row in setup if row.model.base.startswith(base)], predictions
    times = [(row.start_ns, row.start_ns + row.duration_ns) for row in setup]
    times += [(call.start_ns, call.end_ns) for call in calls]
    return Intervals(*np.array(sorted(times)).T).covered_ns


def of_samples() -> Iterator[tuple[str, str, float]]:
    """The apps of WWDC22: names of the samples with and without the problem, and what all fixes save, measured over
    said. Both recordings are drawn on their own, after published times."""
    for names in (("sharpen_8bit", "sharpen_float16"), ("style_transfer_reload", "style_transfer_fixed")):
        ill, well = (trace_of(SAMPLES[name]()) for name in names)
        before, after = (
            int(covered_ns(each.activity.where(each.activity.level.is_any(Level.TOP)))) for each in (ill, well)
        )
        yield (*names, (before - after) / replay_without(ill).replays[-1].saved_ns)


COLUMNS = "check|gain in|pairs|found|exceeded|within 10%|measured / said"
HEAD = """# What fixes bring

How much of the est. savings does a fix really save? `make savings` writes this page: {pairs} pairs of the same app with
and without one problem, for {checks} checks. A replay removes the problem from the first recording
([how](../why.md#what-a-fix-would-bring)), and the second one shows what that saves. Apps call their models in a loop,
from a camera or for a user; some have another model beside it.{part}

- *found*: pairs in which the report says what the fix saves. Only these are compared.
- *exceeded*: the fix saves over 1% more than the report said.
- *within 10%*: the report is off by at most a tenth of what the fix saves.
- *measured / said*: lowest, median, highest.

Differences below 0.5% of the compared time do not count. Only work and gaps vary by chance, not the durations of single
steps. Nothing here is a real device.

"""
RULES = "../../tracekit/detectors/rules"


def page(results: Sequence[Compared], step: int = 1) -> str:
    """The page as Markdown."""
    part = "" if step == 1 else f"\n\n**These are the figures of one pair in {step}.**"
    lines = [
        HEAD.format(pairs=len(results), checks=len({asked.check for asked in PROBLEMS.values()}), part=part).rstrip(
            "\n"
        ),
        "",
    ]
    lines += [f"| {' | '.join(COLUMNS.split('|'))} |", "|---|---|---:|---:|---:|---:|---|"]
    for name, asked in PROBLEMS.items():
        some = [each for each in results if each.key.problem == name]
        linked = name.replace(asked.check, f"[{asked.check}]({RULES}/{asked.check}.md)", 1)
        lines.append(f"| {linked} | {asked.measure} | {' | '.join(_cells(some))} |")
    lines.append(f"| **all** | | {' | '.join(_cells(results))} |")
    lines += [
        "",
        "## Samples",
        "",
        "Measured / said of all fixes, for the apps of WWDC22 (session 10027), drawn after published times:",
        "",
    ]
    lines += [f"- {ill} and {well}: {ratio:.2f}" for ill, well, ratio in of_samples()]
    unknown = ", ".join(sorted(each.id for each in DETECTORS if isinstance(fix_of(each), str)))
    lines += [
        "",
        "## Savings unknown",
        "",
        "Reports and `tracekit why --without` give a reason instead of savings for these:",
    ]
    lines += [f"{unknown}."]
    return "\n".join(lines) + "\n"


def _cells(some: Sequence[Compared]) -> Iterator[str]:
    found = [each for each in some if each.said is not None]
    yield from (str(len(some)), str(len(found)), _share(each.exceeded for each in found))
    yield _share(each.close for each in found)
    ratios = sorted(each.measured / each.said for each in found if each.said)
    yield f"{ratios[0]:.2f}, {median(ratios):.2f}, {ratios[-1]:.2f}" if ratios else "–"


def _share(held: Iterable[bool]) -> str:
    counted = list(held)
    return format_share(sum(counted) / len(counted)) if counted else "–"


def main(step: int = 1) -> int:
    """Compare, print, write the page, and return the exit status."""
    results = on_all_processors(compared, keys()[::step])
    text = page(results, step)
    PAGE.write_text(text, encoding="utf-8", newline="\n")
    errors = [f"{each.key.problem} {each.key.number}: {each.error}" for each in results if each.error]
    sys.stdout.writelines([text, *errors])
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
