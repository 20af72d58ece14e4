"""What random apps consist of: models that are used as they should be, one thread each, and other processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from suite.frame import Key
from suite.queued import MARGIN, queued_keys
from tracekit.testing import Draws, Model
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.threads import MS, decoder, drawing, paced_app, steady
from tracekit.testing.work import Step, Unit, cpu, neural_engine

UNITS: tuple[Unit, ...] = ("neural engine", "gpu", "cpu")
LATE_SHARE = 0.05
"""From which share of calls that cost a frame on the page calls it a problem."""


@dataclass
class RandomApp:
    """A simulated app, and what a report of it must and may say."""

    simulation: Simulation
    story: list[str] = field(default_factory=list)
    """What it does, for messages."""
    planted: set[Key] = field(default_factory=set)
    """What must be found, by detector and model."""
    allowed: set[Key] = field(default_factory=set)
    """Further findings that are right."""
    settings: dict[str, Mapping[str, int]] = field(default_factory=dict)
    """Options of detectors for single models."""
    cameras: dict[str, int] = field(default_factory=dict)
    """Time from frame to frame in ns of each model that drops frames when it is late."""
    one_of: list[set[Key]] = field(default_factory=list)
    """Of each of these at least one must be found, and all may be."""
    least: dict[Key, str] = field(default_factory=dict)
    """The least severity of findings that must be there."""
    blamed: dict[Key, set[str]] = field(default_factory=dict)
    """The models that the evidence of a finding may name."""
    unclear: set[str] = field(default_factory=set)
    """Models of which no row tells whose work is done, so that nobody can tell for whom they wait."""


def finished(made: RandomApp) -> RandomApp:
    """The app after its run, with what its queues made of it."""
    made.simulation.run()
    must, may = queued_keys(made.simulation)
    if not made.simulation.scenario.missing:
        made.planted |= {key for key in must if key[1] not in made.unclear}
    made.allowed |= may
    for name, period_ns in made.cameras.items():
        calls = [call for call in made.simulation.calls if call.model.base == name]
        if MARGIN * sum(call.duration_ns > period_ns for call in calls) >= LATE_SHARE * len(calls):
            made.allowed.add(("missed-deadline", name))
    return made


def add_healthy(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> None:
    """A model of any use."""
    name, thread = draws.choice(USES)(made, draws, model, unit)
    made.story.append(f"{model.base}: {name} on {unit}")
    made.simulation.start(thread, made.simulation.clock.now_ns + draws.integer(0, 1_500) * MS)


def add_foreign(made: RandomApp, draws: Draws) -> None:
    """Another process at work, whose Core ML rows are recorded too where the recording has no target."""
    made.simulation.scenario.all_processes = draws.chance(300)
    other = made.simulation.process("Assistant", 931)
    unit, length = draws.choice(UNITS), draws.integer(2, 12) * MS
    made.story.append(f"another process on {unit}")
    if unit == "gpu" and draws.chance(500):
        thread = drawing(other, work_ns=draws.integer(1, 4) * MS, until_ns=draws.integer(2_000, 6_000) * MS)
    else:
        period = length * draws.integer(2, 12)
        made.cameras["Listener"] = period
        thread = paced_app(other, Model("Listener"), (step_on(unit, length, draws),), period_ns=period)
    made.simulation.start(thread)
    made.allowed.add(("foreign-neural-engine-work", None))


def _camera(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> tuple[str, Thread]:
    period = draws.choice((16_667_000, 33_333_000))
    steps = (step_on(unit, period * draws.integer(20, 55) // 100, draws),)
    made.cameras[model.base] = period
    return "camera", paced_app(made.simulation.app, model, steps, period_ns=period, calls=draws.integer(80, 200))


def _timer(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> tuple[str, Thread]:
    period = draws.integer(50, 300) * MS
    steps = (step_on(unit, period * draws.integer(5, 40) // 100, draws),)
    return "timer", paced_app(
        made.simulation.app, model, steps, period_ns=period, calls=draws.integer(30, 60), drops=False
    )


def _batch(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> tuple[str, Thread]:
    length = draws.integer(4, 30) * MS
    return "batch", steady(
        made.simulation.app, model, (step_on(unit, length, draws),), calls=draws.integer(60, 250), gap_ns=length // 100
    )


def _runs(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> tuple[str, Thread]:
    app, length, runs = made.simulation.app, draws.integer(4, 25) * MS, draws.integer(2, 4)
    steps = (step_on(unit, length, draws),)

    def thread() -> Thread:
        for run in range(runs):
            load = 90 * MS if run == 0 else 0
            yield from steady(app, model, steps, calls=draws.integer(25, 50), gap_ns=length // 100, load_ns=load)
            yield from app.pause(draws.integer(1_200, 2_500) * MS)

    return "runs", thread()


def _events(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> tuple[str, Thread]:
    app, steps = made.simulation.app, (step_on(unit, draws.integer(4, 40) * MS, draws),)

    def thread() -> Thread:
        yield from app.load(model, engine=unit == "neural engine")
        for _ in range(draws.integer(40, 70)):
            yield from app.predict(model, *steps)
            yield from app.pause(draws.integer(2, 300) * MS)

    return "events", thread()


def _decoder(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> tuple[str, Thread]:
    prefill, decode = Model(f"{model.base}_prefill"), Model(f"{model.base}_decode")
    return "decoder", decoder(
        made.simulation.app,
        prefill,
        decode,
        (step_on(unit, draws.integer(8, 16) * MS, draws),),
        turns=draws.integer(2, 4),
        tokens=draws.integer(25, 45),
        prefill_work=(step_on(unit, draws.integer(25, 60) * MS, draws),),
    )


def _two_units(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> tuple[str, Thread]:
    length = draws.integer(4, 14) * MS
    made.allowed.add(("idle-compute-units", model.base))
    steps = (neural_engine(length), step_on("gpu" if unit == "neural engine" else unit, length // 2, draws))
    return "two units in turn", steady(
        made.simulation.app, model, steps, calls=draws.integer(60, 140), gap_ns=length // 100
    )


USES = (_camera, _camera, _timer, _batch, _runs, _events, _decoder, _two_units)
"""Makers of threads with their names."""


def step_on(unit: Unit, work_ns: int, draws: Draws) -> Step:
    """Work on a unit; on the CPU with some of its cores."""
    return cpu(work_ns, draws.integer(1, 4)) if unit == "cpu" else Step(unit, work_ns)
