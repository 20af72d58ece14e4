"""What a planted problem is, the app that it is planted in, and the list of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from suite.frame import Key
from tracekit.testing import Draws, Model
from tracekit.testing.rows import LOAD_CACHED
from tracekit.testing.simulation import Running, Simulation, Thread
from tracekit.testing.threads import MS
from tracekit.testing.work import Step, Unit, cpu

ALL: tuple[Unit, ...] = ("neural engine", "gpu", "cpu")
Amount = int | Callable[[int], int]
"""A time in ns, or a function from the number of the call to one."""


@dataclass
class Part:
    """A model of a simulated app, and the unit that it works on."""

    simulation: Simulation
    draws: Draws
    model: Model
    unit: Unit

    @property
    def app(self) -> Running:
        """The process that is recorded."""
        return self.simulation.app

    @property
    def on_engine(self) -> bool:
        """Whether the Neural Engine shows the load."""
        return self.unit == "neural engine"

    def ms(self, least: int, most: int) -> int:
        """A time in ns, drawn in ms."""
        return self.draws.integer(least, most) * MS

    def further(self, name: str) -> Model:
        """Another model, named after this one."""
        return Model(f"{self.model.base}{name}")

    def step(self, work_ns: int) -> Step:
        """Work on the unit; on the CPU with two threads."""
        return cpu(work_ns, 2) if self.unit == "cpu" else Step(self.unit, work_ns)

    def load(self, load_ns: int = 90 * MS, label: str = LOAD_CACHED, *, engine: bool = False) -> Thread:
        """A load of the model."""
        yield from self.app.load(self.model, load_ns, label, engine)

    def calls(self, count: int, work_ns: Amount, pause_ns: Amount = 150_000, **options: Any) -> Thread:
        """So many calls, with a pause after each. Options of `predict` may be functions of the number too."""
        for index in range(count):
            step = self.step(work_ns(index) if callable(work_ns) else work_ns)
            given = {name: value(index) if callable(value) else value for name, value in options.items()}
            yield from self.app.predict(self.model, step, **given)
            yield from self.app.pause(pause_ns(index) if callable(pause_ns) else pause_ns)


Recipe = Callable[[Part], Thread]


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
"""All problems, in the order in which random apps draw from them; `suite.planted` fills it."""


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
