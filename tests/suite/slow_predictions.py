"""Random apps in which one prediction is slow for a known reason.

A model is called again and again, at the pace of a timer or at once; other models and processes may work beside it.
Once it meets what makes it slow: a queue, heat, more work, another unit, copies, pipelines, a thread that does not run,
preparation, a load, or a gap. In other random apps, the slowest prediction of each model has the cause that the
simulation knows.

`PYTHONPATH=tests python -m suite.slow_predictions [COUNT [FIRST]]` prints what was answered wrong.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from suite import random_apps
from suite.queued import Works
from support.handover import trace_of
from tracekit.analysis.ledger.account import Account, ledger
from tracekit.analysis.ledger.causes import Cause
from tracekit.arrays import IntArray
from tracekit.testing import Draws, Model
from tracekit.testing.apps import draw_models
from tracekit.testing.code import Code
from tracekit.testing.rows import ENGINE_PREPARE
from tracekit.testing.simulation import Call, Running, Simulation, Thread
from tracekit.testing.stacks import app_function
from tracekit.testing.threads import MS, drawing, paced_app
from tracekit.testing.work import Step, Unit


@dataclass
class Slow:
    """An app that is being made."""

    draws: Draws
    simulation: Simulation
    model: Model
    unit: Unit
    work_ns: int
    calls: int
    at: int
    """Number of the slow call."""
    extra_ns: int
    """About how much longer it is."""
    permille: int = 1_000
    """So many thousandths of its time the slow one takes in the heat."""
    slow: Call | None = None
    sampled: bool = False
    crowd: int = 0
    """Other threads that run at once while the thread of the slow call does not."""

    @property
    def app(self) -> Running:
        return self.simulation.app

    def step(self, unit: Unit | None = None, work_ns: int | None = None, **options: int) -> Step:
        return Step(unit or self.unit, work_ns or self.work_ns, **options)


Plant = Callable[[Slow], Thread]
"""Makes the slow call, and returns it."""


def _queued(slow: Slow, thread: Thread, length_ns: int) -> Thread:
    """The slow call behind what a thread has just begun on the unit, which takes so long."""
    slow.app.start(thread)
    # By then the unit has begun with it.
    yield from slow.app.until(slow.app.now_ns + length_ns // 9 + MS)
    return (yield from slow.app.predict(slow.model, slow.step()))


def own(slow: Slow) -> Thread:
    """Behind earlier calls of the same model."""
    for _ in range(max(slow.extra_ns // slow.work_ns, 1)):
        slow.app.start(slow.app.predict(slow.model, slow.step()))
        yield from slow.app.pause(300_000)
    return (yield from slow.app.predict(slow.model, slow.step()))


def other_model(slow: Slow) -> Thread:
    """Behind another model of the app."""
    length = slow.extra_ns + 3 * MS
    call = slow.app.predict(Model("Background"), slow.step(work_ns=length))
    return (yield from _queued(slow, call, length))


def other_process(slow: Slow) -> Thread:
    """Behind another process."""
    other, length = slow.simulation.process("Assistant", 931), slow.extra_ns + 3 * MS
    if slow.unit == "gpu" and slow.draws.chance(500):
        return (yield from _queued(slow, other.use("gpu", length, frame=1), length))
    return (yield from _queued(slow, other.predict(Model("Listener"), slow.step(work_ns=length)), length))


def clock(slow: Slow) -> Thread:
    """The same work while the device is hot, with calls before and after it."""
    slow.permille = 1_000 + max(slow.extra_ns * 1_000 // slow.work_ns, 200)
    slow.simulation.warm(slow.app.now_ns, slow.draws.choice(("Fair", "Serious", "Critical")), slow.permille)
    yield from slow.app.until(slow.app.now_ns + MS)
    for _ in range(slow.draws.integer(0, 4)):
        yield from slow.app.predict(slow.model, slow.step())
        yield from slow.app.pause(slow.work_ns // 4)
    call = yield from slow.app.predict(slow.model, slow.step())
    slow.simulation.warm(slow.app.now_ns, "Nominal", 1_000)
    yield from slow.app.until(slow.app.now_ns + MS)
    return call


def more_work(slow: Slow) -> Thread:
    """A larger input."""
    return (yield from slow.app.predict(slow.model, slow.step(work_ns=slow.work_ns + slow.extra_ns)))


def other_unit(slow: Slow) -> Thread:
    """On another compute unit, which takes longer."""
    unit = slow.draws.choice([each for each in UNITS if each != slow.unit])
    return (yield from slow.app.predict(slow.model, slow.step(unit, slow.work_ns + slow.extra_ns)))


def copies(slow: Slow) -> Thread:
    """Copies of inputs."""
    inputs = slow.draws.integer(1, 4)
    return (yield from slow.app.predict(slow.model, slow.step(), inputs=inputs, copy_ns=slow.extra_ns // inputs))


def pipelines(slow: Slow) -> Thread:
    """Metal compiles pipelines for it."""
    call = yield from slow.app.predict(slow.model, slow.step(), host_ns=slow.extra_ns)
    count = slow.draws.integer(3, 11)
    begin, length = call.end_ns - slow.extra_ns, slow.extra_ns // count
    for number in range(count):
        slow.simulation.scenario.compile_shader(begin + number * length, length)
    return call


def blocked(slow: Slow) -> Thread:
    """The thread does not run: the main thread hangs, or samples show nothing of it."""
    call = yield from slow.app.predict(slow.model, slow.step(), host_ns=slow.extra_ns)
    slow.sampled = slow.draws.chance(500)
    # As many of them run elsewhere as leave cores free.
    slow.crowd = slow.draws.integer(0, 3)
    if not slow.sampled:
        begin = call.end_ns - slow.extra_ns
        slow.simulation.scenario.hang(begin, slow.extra_ns)
    return call


def preempted(slow: Slow) -> Thread:
    """The thread does not run, while others have all cores."""
    call = yield from slow.app.predict(slow.model, slow.step(), host_ns=slow.extra_ns)
    slow.sampled, slow.crowd = True, slow.draws.integer(8, 16)
    return call


def prepared(slow: Slow) -> Thread:
    """The Neural Engine prepares the model inside the call."""
    call = yield from slow.app.predict(slow.model, slow.step(), host_ns=slow.extra_ns)
    slow.simulation.scenario.other_neural_engine(call.end_ns - slow.extra_ns, slow.extra_ns, ENGINE_PREPARE)
    return call


def first(slow: Slow) -> Thread:
    """The first after the model was loaded again, which nothing else explains."""
    yield from slow.app.load(slow.model, engine=slow.unit == "neural engine")
    return (yield from slow.app.predict(slow.model, slow.step(), host_ns=slow.extra_ns))


def after_gaps(slow: Slow) -> Thread:
    """The last of several that follow long gaps."""
    for _ in range(slow.draws.integer(3, 6)):
        yield from slow.app.pause(slow.draws.integer(2_000, 5_000) * MS)
        call = yield from slow.app.predict(slow.model, slow.step(), host_ns=slow.extra_ns)
    return call


UNITS: tuple[Unit, ...] = ("neural engine", "gpu", "cpu")
PLANTS: dict[Plant, tuple[Cause, tuple[Unit, ...]]] = {
    own: (Cause.QUEUED_OWN, ("neural engine", "gpu")),
    other_model: (Cause.QUEUED_MODELS, ("neural engine", "gpu")),
    other_process: (Cause.QUEUED_PROCESSES, ("neural engine", "gpu")),
    clock: (Cause.HEAT, UNITS),
    more_work: (Cause.WORK, UNITS),
    other_unit: (Cause.UNIT, UNITS),
    copies: (Cause.COPIES, UNITS),
    pipelines: (Cause.PIPELINES, ("gpu",)),
    blocked: (Cause.BLOCKED, UNITS),
    preempted: (Cause.SHARED_CPU, UNITS),
    prepared: (Cause.SPECIALIZING, ("neural engine",)),
    first: (Cause.FIRST, UNITS),
    after_gaps: (Cause.PAUSE, UNITS),
}
"""What each plant makes, and on which units."""


@dataclass(frozen=True)
class Answer:
    """What was said of one slow prediction."""

    seed: int
    story: str
    wanted: Cause
    found: Cause | None
    """None: an error."""
    complaint: str = ""
    size_ns: float = 0
    """By how much the wanted cause makes it longer."""
    found_ns: int = 0
    """What the account gives that cause."""

    @property
    def right(self) -> bool:
        return self.found == self.wanted and not self.complaint

    @property
    def abstains(self) -> bool:
        return self.found == Cause.NOT_VISIBLE

    @property
    def sized(self) -> bool:
        """Whether the size is right."""
        return abs(self.found_ns - self.size_ns) <= max(0.15 * self.size_ns, 0.3 * MS)


def made(seed: int) -> tuple[Slow, Plant]:
    """The app of a seed, after its run."""
    draws = Draws(700_000 + seed)
    plant = list(PLANTS)[seed % len(PLANTS)]
    unit, work = draws.choice(PLANTS[plant][1]), draws.integer(4, 25) * MS
    calls = draws.integer(25, 80)
    simulation = Simulation(
        draws,
        handover_ns=draws.integer(0, 250) * 1_000,
        jitter=draws.choice((20, 60)),
        generic_labels=plant in (more_work, copies, blocked) and draws.chance(200),
    )
    extra = max(work * draws.integer(20, 400) // 100, 2 * MS)
    model, beside = draw_models(draws, 2)
    slow = Slow(draws, simulation, model, unit, work, calls, draws.integer(5, calls - 3), extra)
    simulation.start(_calls(slow, plant))
    if draws.chance(200):
        # Short work of others on the same unit.
        step = Step(unit, max(work // 8, MS))
        simulation.start(paced_app(simulation.app, Model("Keywords"), (step,), period_ns=5 * work, calls=60))
    free = [each for each in UNITS if each != unit and plant is not other_unit]
    if free and draws.chance(300):
        step = Step(draws.choice(free), draws.integer(2, 9) * MS)
        simulation.start(paced_app(simulation.app, beside, (step,), period_ns=33_333_000, calls=60))
    elif "gpu" in free and draws.chance(300):
        simulation.start(drawing(simulation.process("Notes", 77), work_ns=MS, until_ns=1_500 * MS))
    simulation.run()
    return slow, plant


def _calls(slow: Slow, plant: Plant) -> Thread:
    app, period = slow.app, slow.work_ns * slow.draws.integer(11, 25) // 10 if slow.draws.chance(600) else 0
    for model in (slow.model, *([Model("Background")] if plant is other_model else [])):
        yield from app.load(model, engine=slow.unit == "neural engine")
    for number in range(slow.calls):
        start = app.now_ns
        if number == slow.at:
            slow.slow = yield from plant(slow)
        else:
            yield from app.predict(slow.model, slow.step())
        yield from app.until(max(app.now_ns + slow.work_ns // 50, start + period))


CLEAR = 0.6
"""Share of the extra time from which on one cause is the cause."""
SLOW = 1.2
"""So many times the usual duration is slow."""


def truths(simulation: Simulation, name: str, starts: IntArray) -> dict[int, tuple[Cause, str]]:
    """The cause of each slow call of a model, among those that compare and have these starts, by its start: from what
    the simulation knows, where one cause makes most of it; with its parts in words."""
    calls = [call for call in simulation.calls if call.model.base == name and call.prediction is not None]
    calls = [call for call in calls if call.start_ns in starts]
    works = {unit: Works(simulation, unit) for unit in simulation.units}
    rows = [_known(works, call) for call in calls]
    usual_work = float(np.median([row[Cause.WORK] for row in rows]))
    usual = float(
        np.median(
            [call.duration_ns - sum(row.values()) + row[Cause.WORK] for call, row in zip(calls, rows, strict=True)]
        )
    )
    mains = [max(call.uses, key=lambda use: use.alone_ns).unit for call in calls]
    usual_unit = Counter(mains).most_common(1)[0][0]
    found = {}
    for call, row, unit in zip(calls, rows, mains, strict=True):
        extra, row[Cause.WORK] = call.duration_ns - usual, row[Cause.WORK] - usual_work
        cause = max(row, key=lambda each: row[each])
        if call.duration_ns >= SLOW * usual and row[cause] >= CLEAR * extra:
            story = ", ".join(f"{each} {ns / MS:.2f}" for each, ns in row.items() if ns)
            elsewhere = cause == Cause.WORK and unit != usual_unit
            found[call.start_ns] = Cause.UNIT if elsewhere else cause, story
    return found


def _known(works: dict[Unit, Works], call: Call) -> dict[Cause, float]:
    """Waits by whom for, sharing of the CPU, and work in ns. A wait ends with the last work that it was for."""
    known = dict.fromkeys((Cause.QUEUED_OWN, Cause.QUEUED_MODELS, Cause.QUEUED_PROCESSES), 0.0)
    known |= {Cause.SHARED_CPU: 0.0, Cause.WORK: 0.0}
    for use in call.uses:
        known[Cause.WORK] += use.alone_ns
        known[Cause.SHARED_CPU] += use.slowdown_ns
        line = [other for other in works[use.unit].uses if other.begin_ns < use.begin_ns and other is not use]
        begun = use.requested_ns
        for other in [other for other in line if other.end_ns > use.requested_ns] if use.unit != "cpu" else []:
            following = min((each.begin_ns for each in line if each.begin_ns >= other.end_ns), default=use.begin_ns)
            same = other.process == call.process
            own = same and other.model == call.model
            cause = Cause.QUEUED_OWN if own else Cause.QUEUED_MODELS if same else Cause.QUEUED_PROCESSES
            known[cause] += following - max(other.begin_ns, begun)
    return known


def answered_in_apps(seed: int) -> list[Answer]:
    """What the parts say of the slowest prediction of each model in a healthy random app, or a session."""
    app = random_apps.MAKERS[(random_apps.HEALTHY, random_apps.SESSION)[seed % 2]](seed)
    if app.simulation.scenario.all_processes or app.simulation.recorded.work.generic_labels:
        return []
    trace = trace_of(app.simulation.recorded.finish())
    found = ledger(trace)
    answers = []
    for name, of_model in found.items():
        starts, slow = of_model.calls.start_ns, {}
        for kind in range(len(of_model.usual)):
            slow |= truths(app.simulation, name, starts[of_model.kind == kind])
        if name in app.unclear or not slow:
            continue
        row = max(np.flatnonzero(np.isin(starts, list(slow))), key=lambda each: of_model.durations[each])
        cause, story = slow[int(starts[row])]
        largest, said = _said(of_model, row)
        answers.append(Answer(seed, f"{name}: {story}; said: {said}", cause, largest))
    return answers


def answered(seed: int) -> Answer:
    """What the parts say of the slow prediction of a seed."""
    plant = list(PLANTS)[seed % len(PLANTS)]
    wanted = PLANTS[plant][0]
    try:
        slow, plant = made(seed)
        story = f"{plant.__name__} on {slow.unit}, {slow.work_ns / MS:.0f} + {slow.extra_ns / MS:.0f} ms"
        assert slow.slow is not None
        if slow.sampled:
            add_samples(slow)
        trace = trace_of(slow.simulation.recorded.finish())
        found = ledger(trace)
        for name, of_model in found.items():
            if (sum(of_model.ns.values()) != of_model.durations - of_model.usual_ns).any():
                return Answer(seed, story, wanted, None, f"the parts of {name} do not add up")
            if any(usual.layers_ns.sum() != usual.ns for usual in of_model.usual):
                return Answer(seed, story, wanted, None, f"the usual parts of {name} do not add up")
        of_model = found[slow.model.base]
        row = int(np.flatnonzero(of_model.calls.start_ns == slow.slow.start_ns)[0])
        largest, said = _said(of_model, row)
        found_ns = int(of_model.ns[wanted][row]) if wanted in of_model.ns else 0
        return Answer(seed, f"{story}: {said}", wanted, largest, "", _planted_ns(slow, wanted), found_ns)
    except Exception:
        return Answer(seed, "", wanted, None, traceback.format_exc())


def _planted_ns(slow: Slow, cause: Cause) -> float:
    """By how much the planted cause makes the slow call longer, as the simulation knows."""
    call, works = slow.slow, {unit: Works(slow.simulation, unit) for unit in slow.simulation.units}
    assert call is not None
    known = _known(works, call)
    if cause in known and cause not in (Cause.WORK, Cause.SHARED_CPU):
        return known[cause]
    if cause == Cause.HEAT:
        return known[Cause.WORK] * (1 - 1_000 / slow.permille)
    others = [each for each in slow.simulation.calls if each.model == slow.model and each is not call]
    takes = {Cause.WORK: _work_ns, Cause.UNIT: lambda each: _work_ns(each) + _beside_ns(each)}.get(cause, _beside_ns)
    return takes(call) - float(np.median([takes(each) for each in others]))


def _work_ns(call: Call) -> int:
    return sum(use.alone_ns for use in call.uses)


def _beside_ns(call: Call) -> int:
    """What a call takes beside units and waits for them."""
    return call.duration_ns - sum(use.end_ns - use.requested_ns for use in call.uses)


def _said(of_model: Account, row: int) -> tuple[Cause, str]:
    """The largest cause of a prediction, and its parts in words."""
    parts = of_model.sums(np.array([row]))
    return next(iter(parts)), ", ".join(f"{cause} {ns / MS:.2f}" for cause, ns in parts.items())


def add_samples(slow: Slow) -> None:
    """Call stacks of the calls; the thread of the slow one stands still in the end."""
    code = Code(slow.simulation.scenario)
    for call in slow.simulation.calls:
        if call.model == slow.model:
            length = call.end_ns - call.start_ns - (slow.extra_ns if call is slow.slow else 0)
            code.predict(call.start_ns, length, [slow.step()])
    for number in range(slow.crowd):
        assert slow.slow is not None
        beside = Code(slow.simulation.scenario, caller=(app_function("encode"),), thread=20 + number)
        beside.runs(slow.slow.end_ns - slow.extra_ns, slow.extra_ns)


def table(answers: Iterable[Answer]) -> str:
    """Right, wrong and abstained, for each cause."""
    counts: dict[Cause, Counter[str]] = {}
    for answer in answers:
        kind = "right" if answer.right else "abstained" if answer.abstains else str(answer.found or "error")
        counts.setdefault(answer.wanted, Counter())[kind] += 1
    return "\n".join(f"{cause:18} {dict(count.most_common())}" for cause, count in counts.items())
