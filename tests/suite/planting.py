"""What a planted problem is, and the list of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from suite.frame import Key
from tracekit.testing import Draws, Model
from tracekit.testing.simulation import Simulation, Thread
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
