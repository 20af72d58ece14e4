"""Random apps on simulated devices: two or three models at once that queue for the compute units.

Healthy apps hold no problem but what their queues made; problem apps hold one more, planted in one model. What must and
what may be found comes from the simulation: from how long each call waited and behind whom.

`PYTHONPATH=tests python -m suite.random_apps [COUNT [FIRST]]` judges that many of each kind and prints which failed.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from suite.frame import FINDING, Key, detector_ids, named, read_back
from suite.planted import PLANTED
from suite.processes import on_all_processors
from suite.queued import MARGIN, queued_keys
from tracekit.detectors.runner import run_detectors
from tracekit.testing import Draws, Model
from tracekit.testing.apps import draw_models
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.threads import MS, decoder, drawing, paced, steady
from tracekit.testing.work import Step, Unit, cpu, neural_engine

HEALTHY, PROBLEM = "healthy", "problem"
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


@dataclass(frozen=True)
class Verdict:
    """What is wrong with what the detectors said of a random app."""

    kind: str
    seed: int
    missed: tuple[tuple[Key, str | None], ...]
    """What had to be found, with what was said instead."""
    false: tuple[Key, ...]
    """Findings that nothing in the simulation bears out."""
    errors: tuple[str, ...]
    story: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether all came as it must."""
        return not (self.missed or self.false or self.errors)

    @property
    def complaint(self) -> str:
        """All of it in a line."""
        complaints = [
            *(f"{key} is {outcome}, must be found" for key, outcome in self.missed),
            *(f"false alarm of {key}" for key in self.false),
            *self.errors,
        ]
        return f"{self.kind} {self.seed}: {'; '.join(complaints)} [{'; '.join(self.story)}]"


def healthy(seed: int) -> RandomApp:
    """Two or three models at once, each used as it should be."""
    draws = Draws(10_000 + seed)
    made = RandomApp(Simulation(draws, generic_labels=draws.chance(100), handover_ns=draws.integer(0, 300) * 1_000))
    for model in draw_models(draws, draws.integer(2, 3)):
        _add_healthy(made, draws, model, draws.choice(UNITS))
    if draws.chance(250):
        _add_foreign(made, draws)
    return _finished(made)


def problem(seed: int) -> RandomApp:
    """One model with a problem, and one or two healthy ones on other units beside it."""
    draws = Draws(50_000 + seed)
    planted = PLANTED[seed % len(PLANTED)]
    made = RandomApp(Simulation(draws, handover_ns=draws.integer(0, 300) * 1_000))
    own, *others = draw_models(draws, draws.integer(2, 3))
    unit = draws.choice(planted.units)
    made.story.append(f"{own.base}: {planted.recipe.__name__} on {unit}")
    if planted.settings:
        made.settings[own.base] = planted.settings
    made.simulation.start(planted.recipe(made.simulation, draws, own, unit))
    for model in others:
        _add_healthy(made, draws, model, draws.choice([each for each in UNITS if each != unit]))
    _finished(made)
    # A recipe may use further models, named after the first. Heat slows down all of the device.
    names = {call.model.base for call in made.simulation.calls}
    if planted.detector != "thermal-throttling":
        names = {name for name in names if name.startswith(own.base)}
    made.allowed |= {planted.key(own)}
    for also in (planted.detector, *planted.also):
        made.allowed |= {(also, name) for name in names} if isinstance(also, str) else {(also[0], own.base + also[1])}
    if planted.shows is None or planted.shows(made.simulation, own):
        made.planted.add(planted.key(own))
    return made


MAKERS: dict[str, Callable[[int], RandomApp]] = {HEALTHY: healthy, PROBLEM: problem}


def _finished(made: RandomApp) -> RandomApp:
    """The app after its run, with what its queues made of it."""
    made.simulation.run()
    must, may = queued_keys(made.simulation)
    made.planted |= must
    made.allowed |= may
    for name, period_ns in made.cameras.items():
        calls = [call for call in made.simulation.calls if call.model.base == name]
        if MARGIN * sum(call.duration_ns > period_ns for call in calls) >= LATE_SHARE * len(calls):
            made.allowed.add(("missed-deadline", name))
    return made


def _add_healthy(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> None:
    """A model of any use."""
    name, thread = draws.choice(USES)(made, draws, model, unit)
    made.story.append(f"{model.base}: {name} on {unit}")
    made.simulation.start(thread, made.simulation.clock.now_ns + draws.integer(0, 1_500) * MS)


def _add_foreign(made: RandomApp, draws: Draws) -> None:
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
        thread = paced(other, Model("Listener"), (_step(unit, length, draws),), period_ns=period)
    made.simulation.start(thread)
    made.allowed.add(("foreign-neural-engine-work", None))


def _camera(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> tuple[str, Thread]:
    period = draws.choice((16_667_000, 33_333_000))
    steps = (_step(unit, period * draws.integer(20, 55) // 100, draws),)
    made.cameras[model.base] = period
    return "camera", paced(made.simulation.app, model, steps, period_ns=period, calls=draws.integer(80, 200))


def _timer(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> tuple[str, Thread]:
    period = draws.integer(50, 300) * MS
    steps = (_step(unit, period * draws.integer(5, 40) // 100, draws),)
    return "timer", paced(made.simulation.app, model, steps, period_ns=period, calls=draws.integer(30, 60), drops=False)


def _batch(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> tuple[str, Thread]:
    length = draws.integer(4, 30) * MS
    return "batch", steady(
        made.simulation.app, model, (_step(unit, length, draws),), calls=draws.integer(60, 250), gap_ns=length // 100
    )


def _runs(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> tuple[str, Thread]:
    app, length, runs = made.simulation.app, draws.integer(4, 25) * MS, draws.integer(2, 4)
    steps = (_step(unit, length, draws),)

    def thread() -> Thread:
        for run in range(runs):
            load = 90 * MS if run == 0 else 0
            yield from steady(app, model, steps, calls=draws.integer(25, 50), gap_ns=length // 100, load_ns=load)
            yield from app.pause(draws.integer(1_200, 2_500) * MS)

    return "runs", thread()


def _events(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> tuple[str, Thread]:
    app, steps = made.simulation.app, (_step(unit, draws.integer(4, 40) * MS, draws),)

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
        (_step(unit, draws.integer(8, 16) * MS, draws),),
        turns=draws.integer(2, 4),
        tokens=draws.integer(25, 45),
        prefill_work=(_step(unit, draws.integer(25, 60) * MS, draws),),
    )


def _two_units(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> tuple[str, Thread]:
    length = draws.integer(4, 14) * MS
    steps = (neural_engine(length), _step("gpu" if unit == "neural engine" else unit, length // 2, draws))
    return "two units in turn", steady(
        made.simulation.app, model, steps, calls=draws.integer(60, 140), gap_ns=length // 100
    )


USES = (_camera, _camera, _timer, _batch, _runs, _events, _decoder, _two_units)
"""Makers of threads with their names."""


def _step(unit: Unit, work_ns: int, draws: Draws) -> Step:
    """Work on a unit; on the CPU with some of its cores."""
    return cpu(work_ns, draws.integer(1, 4)) if unit == "cpu" else Step(unit, work_ns)


def judged(number: tuple[str, int]) -> Verdict:
    """The random app of a kind and a seed, judged."""
    kind, seed = number
    try:
        made = MAKERS[kind](seed)
        outcomes, errors = named(
            run_detectors(read_back(made.simulation.recorded, bundle=False), model_settings=made.settings)
        )
    except Exception:
        return Verdict(kind, seed, (), (), (traceback.format_exc(),), ())
    wanted = [key for key in made.planted if key[0] in detector_ids()]
    missed = tuple((key, outcomes.get(key)) for key in wanted if outcomes.get(key) != FINDING)
    false = tuple(
        key
        for key, outcome in outcomes.items()
        if outcome == FINDING and key not in made.planted and key not in made.allowed
    )
    return Verdict(kind, seed, missed, false, errors, tuple(made.story))


def judged_all(keys: Iterable[tuple[str, int]]) -> list[Verdict]:
    """Random apps judged on all processors."""
    return on_all_processors(judged, keys)


def table(verdicts: Iterable[Verdict]) -> str:
    """Which detector failed in which seeds, one line each."""
    failed: dict[tuple[str, str, str], list[int]] = {}
    for verdict in verdicts:
        for (detector, _), _ in verdict.missed:
            failed.setdefault((verdict.kind, detector, "missed"), []).append(verdict.seed)
        for detector, _ in verdict.false:
            failed.setdefault((verdict.kind, detector, "false alarm"), []).append(verdict.seed)
        if verdict.errors:
            failed.setdefault((verdict.kind, "-", "error"), []).append(verdict.seed)
    return "\n".join(
        f"{kind:8} {detector:28} {what:12} {len(seeds):4}  {' '.join(map(str, seeds[:30]))}"
        for (kind, detector, what), seeds in sorted(failed.items())
    )


def main(count: int = 1_000, first: int = 0) -> int:
    """Judge, print, and return the exit status."""
    verdicts = judged_all((kind, seed) for kind in MAKERS for seed in range(first, first + count))
    wrong = [verdict for verdict in verdicts if not verdict.right]
    for verdict in wrong:
        sys.stdout.write(f"{verdict.complaint}\n")
    sys.stdout.write(f"{table(wrong)}\n{len(verdicts) - len(wrong)} of {len(verdicts)} random apps are judged right\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
