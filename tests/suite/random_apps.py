"""Random apps on simulated devices: two or three models at once that queue for the compute units.

Healthy apps and sessions hold no problem but what their queues made; problem apps and ill sessions hold one more,
planted in one model. What must and what may be found comes from the simulation: from how long each call waited and
behind whom. No report of them may contradict itself.

`PYTHONPATH=tests python -m suite.random_apps [COUNT [FIRST]]` judges that many of each kind and prints which failed.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from suite.consistency import contradictions
from suite.frame import FINDING, Key, detector_ids, named, read_back
from suite.planted import PLANTED
from suite.planting import Part
from suite.processes import on_all_processors
from suite.random_ill_sessions import ill_session
from suite.random_sessions import session
from suite.random_uses import UNITS, RandomApp, add_foreign, add_healthy, finished
from suite.reported import Reported, reported
from tracekit.report.report import SEVERITIES
from tracekit.testing import Draws
from tracekit.testing.apps import draw_models
from tracekit.testing.simulation import Simulation

HEALTHY, PROBLEM, SESSION, ILL_SESSION = "healthy", "problem", "session", "ill session"


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
        add_healthy(made, draws, model, draws.choice(UNITS))
    if draws.chance(250):
        add_foreign(made, draws)
    return finished(made)


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
    made.simulation.start(planted.recipe(Part(made.simulation, draws, own, unit)))
    for model in others:
        add_healthy(made, draws, model, draws.choice([each for each in UNITS if each != unit]))
    finished(made)
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


MAKERS: dict[str, Callable[[int], RandomApp]] = {
    HEALTHY: healthy,
    PROBLEM: problem,
    SESSION: session,
    ILL_SESSION: ill_session,
}


def judged(number: tuple[str, int]) -> Verdict:
    """The random app of a kind and a seed, judged."""
    kind, seed = number
    try:
        made = MAKERS[kind](seed)
        report = reported(read_back(made.simulation.recorded, bundle=False), model_settings=made.settings)
        outcomes, errors = named(report.answers)
        wrong = (*errors, *contradictions(report), *_misjudged(made, report))
    except Exception:
        return Verdict(kind, seed, (), (), (traceback.format_exc(),), ())
    wanted = [{key} for key in made.planted if key[0] in detector_ids()] + made.one_of
    found = {key for key, outcome in outcomes.items() if outcome == FINDING}
    missed = tuple((key, outcomes.get(key)) for keys in wanted if not keys & found for key in sorted(keys, key=str)[:1])
    false = tuple(sorted(found - made.planted.union(made.allowed, *made.one_of), key=str))
    return Verdict(kind, seed, missed, false, wrong, tuple(made.story))


def _misjudged(made: RandomApp, report: Reported) -> Iterator[str]:
    """Findings that are there, but rank too low or blame others."""
    for check in report.report.results:
        key = (check.id, check.model)
        if check.outcome != FINDING:
            continue
        if key in made.least and SEVERITIES.index(check.severity or "low") > SEVERITIES.index(made.least[key]):
            yield f"{key} is {check.severity}, must be {made.least[key]} at least"
        named_there = {entry.model for entry in check.evidence}
        if key in made.blamed and not named_there <= made.blamed[key]:
            yield f"{key} blames {sorted(map(str, named_there))}, not {sorted(made.blamed[key])}"


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
        for error in verdict.errors:
            failed.setdefault((verdict.kind, error.partition(":")[0][:28], "error"), []).append(verdict.seed)
    return "\n".join(
        f"{kind:8} {detector:28} {what:12} {len(seeds):4}  {' '.join(map(str, seeds[:30]))}"
        for (kind, detector, what), seeds in sorted(failed.items())
    )


def main(count: int = 1_000) -> int:
    """Judge, print, and return the exit status."""
    verdicts = judged_all((kind, seed) for kind in MAKERS for seed in range(count))
    wrong = [verdict for verdict in verdicts if not verdict.right]
    for verdict in wrong:
        sys.stdout.write(f"{verdict.complaint}\n")
    sys.stdout.write(f"{table(wrong)}\n{len(verdicts) - len(wrong)} of {len(verdicts)} random apps are judged right\n")
    return 1 if wrong else 0
