"""A device on which several models, threads and processes run at once and queue for the compute units.

simulation = Simulation(Draws(7))
app = simulation.app


def camera(app: Running) -> Thread:
    yield from app.load(SEGMENTER)
    for frame in range(90):
        yield from app.until(300_000_000 + frame * 33_333_000)
        yield from app.predict(SEGMENTER, neural_engine(8_000_000))


simulation.start(camera(app))
simulation.start(decoder(app))
recorded = simulation.run()

A thread is a generator that hands its steps to the simulation; `tracekit.testing.threads` has the usual ones. What the
simulation knows of each call (how long it waited, behind whom, how much others and heat slowed it) is in `calls`: the
ground truth for all that only happens when several run at once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tracekit.testing.machines import Process
from tracekit.testing.recorder import App, start_recording
from tracekit.testing.rng import Draws, on_clock
from tracekit.testing.rows import ENGINE_PREDICTION, LOAD_CACHED, LOAD_COLD, Model
from tracekit.testing.scenario import Prediction, Scenario
from tracekit.testing.work import Clock, Cores, Line, Plan, Request, Span, Stage, Step, Unit

Wake: TypeAlias = "Callable[[Any], None]"
Thread: TypeAlias = "Generator[Callable[[Wake], None], Any, Any]"
"""Yields what it waits for: a function that is given how to go on. Returns what it made."""


@dataclass(frozen=True, slots=True)
class Use:
    """One work on a unit."""

    unit: Unit
    process: Process
    model: Model | None
    """None for drawing and other work without a model."""
    requested_ns: int
    begin_ns: int
    end_ns: int
    alone_ns: int
    """How long it would have taken with the unit to itself, in the heat of its time."""
    threads: int = 1
    """How many cores it wants, on the CPU."""

    @property
    def slowdown_ns(self) -> int:
        """By how much sharing the unit made it longer."""
        return self.end_ns - self.begin_ns - self.alone_ns


@dataclass(frozen=True, slots=True)
class Call:
    """A prediction and what it got of the units."""

    process: Process
    model: Model
    start_ns: int
    end_ns: int
    uses: tuple[Use, ...]
    prediction: Prediction | None
    """None for a call of a process whose Core ML rows are not recorded."""

    @property
    def duration_ns(self) -> int:
        """From the call to its answer."""
        return self.end_ns - self.start_ns


@dataclass(slots=True)
class Task:
    """A thread that runs; another one may wait for it with `Running.join`."""

    done: bool = False
    result: Any = None
    waiting: list[Wake] = field(default_factory=list)


class Simulation:
    """A recording in which threads run until they are done. Keywords beyond the named ones go to `start_recording`."""

    def __init__(
        self,
        draws: Draws,
        *,
        cores: int = 6,
        handover_ns: int = 150_000,
        handover_permille: int = 400,
        **recording: Any,
    ) -> None:
        self.draws, self.cores = draws, cores
        self.recorded: App = start_recording(draws, **recording)
        self.clock = Clock(self.recorded.now_ns)
        lines = (Line(self.clock, draws, handover_ns, handover_permille) for _ in range(2))
        self.units: dict[Unit, Line | Cores] = {
            "neural engine": next(lines),
            "gpu": next(lines),
            "cpu": Cores(self.clock, cores),
        }
        self.app = Running(self, self.recorded.scenario.target, recorded=True)
        """The process that is recorded."""
        self.calls: list[Call] = []
        """In the order of their ends."""
        self.uses: list[Use] = []
        """Of all units, in the order of their ends."""

    @property
    def scenario(self) -> Scenario:
        """What is being recorded."""
        return self.recorded.scenario

    def process(self, name: str, pid: int) -> Running:
        """A further process. Its Core ML rows are recorded where `Scenario.all_processes` is set before."""
        process = Process(name, pid)
        self.scenario.processes.append(process)
        return Running(self, process, recorded=self.scenario.all_processes)

    def start(self, thread: Thread, at_ns: int | None = None) -> Task:
        """Let a thread run from a time on, or from now."""
        task = Task()

        def go_on(value: Any = None) -> None:
            try:
                wait = thread.send(value)
            except StopIteration as end:
                task.done, task.result = True, end.value
                for wake in task.waiting:
                    wake(task.result)
                return
            wait(go_on)

        self.clock.at(self.clock.now_ns if at_ns is None else on_clock(at_ns), go_on)
        return task

    def warm(self, at_ns: int, state: str, permille: int) -> None:
        """From a time on the device is in a thermal state, and all that begins takes so many thousandths."""

        def change() -> None:
            self.recorded.now_ns = self.clock.now_ns
            self.recorded.thermal(state)
            self.clock.permille = permille

        self.clock.at(on_clock(at_ns), change)

    def run(self) -> App:
        """Let all threads come to their ends, and return the recording, to `finish`."""
        self.clock.run()
        self.recorded.now_ns = self.clock.now_ns
        return self.recorded

    def ask(self, process: Process, model: Model | None, request: Request) -> Callable[[Callable[[Use], None]], None]:
        """What a thread yields to wait for work on a unit."""

        def wait(wake: Callable[[Use], None]) -> None:
            def record_use(span: Span, alone_ns: int) -> None:
                use = Use(request.unit, process, model, on_clock(request.at_ns), *span, alone_ns, request.threads)
                self.uses.append(use)
                wake(use)

            unit = self.units[request.unit]
            self.clock.at(on_clock(request.at_ns), lambda: unit.ask(request.work_ns, request.threads, record_use))

        return wait


@dataclass(frozen=True, slots=True)
class Running:
    """A process of a simulation: what its threads can do. Each method is used with `yield from`."""

    simulation: Simulation
    process: Process
    recorded: bool
    """Whether its Core ML rows are recorded."""

    @property
    def now_ns(self) -> int:
        """The present time."""
        return self.simulation.clock.now_ns

    def until(self, time_ns: int) -> Thread:
        """Wait until a time."""
        yield lambda wake: self.simulation.clock.at(on_clock(time_ns), lambda: wake(None))

    def pause(self, duration_ns: int, jitter: int | None = None) -> Thread:
        """Wait around so long; `jitter` in thousandths instead of that of the recording."""
        work = self.simulation.recorded.work
        yield from self.until(self.now_ns + work.draws.around(duration_ns, work.jitter if jitter is None else jitter))

    def start(self, thread: Thread) -> Task:
        """Let a further thread run from now on, for calls without waiting."""
        return self.simulation.start(thread)

    def join(self, task: Task) -> Thread:
        """Wait for a thread and return what it made."""

        def wait(wake: Wake) -> None:
            if task.done:
                self.simulation.clock.at(self.now_ns, lambda: wake(task.result))
            else:
                task.waiting.append(wake)

        return (yield wait)

    def load(
        self, model: Model, duration_ns: int = 90_000_000, label: str = LOAD_CACHED, engine: bool = False
    ) -> Thread:
        """Load a model and wait for it; see `App.load`."""
        app = self.simulation.recorded
        if self.recorded:
            app.now_ns = self.now_ns
            app.load(model, duration_ns, label, engine)
            yield from self.until(app.now_ns)
        else:
            yield from self.pause(duration_ns * (2 if label == LOAD_COLD else 1))

    def use(self, unit: Unit, work_ns: int, label: str = ENGINE_PREDICTION, frame: int | None = None) -> Thread:
        """Work on a unit outside any prediction: drawing, or Neural Engine work under `label`. Returns the `Use`."""
        work = self.simulation.recorded.work
        request = Request(unit, self.now_ns, work.draws.around(work_ns, work.jitter))
        use: Use = yield self.simulation.ask(self.process, None, request)
        length = use.end_ns - use.begin_ns
        if unit == "neural engine":
            self.simulation.scenario.other_neural_engine(use.begin_ns, length, label)
        elif unit == "gpu":
            self.simulation.scenario.gpu_work(use.begin_ns, length, self.process, frame=frame)
        return use

    def predict(
        self, model: Model, *steps: Step | Stage, inputs: int = 1, copy_ns: int = 1_625, host_ns: int = 0
    ) -> Thread:
        """Ask a model for a prediction and wait for it; see `App.predict`. Returns the `Call`."""
        app = self.simulation.recorded
        plan = Plan(on_clock(self.now_ns))
        planning = app.work.call(plan, steps, inputs=inputs, copy_ns=copy_ns, host_ns=host_ns)
        uses: list[Use] = []
        with suppress(StopIteration):
            request = next(planning)
            while True:
                use: Use = yield self.simulation.ask(self.process, model, request)
                uses.append(use)
                request = planning.send(Span(use.begin_ns, use.end_ns))
        prediction = app.scenario.predict(model, plan.start_ns, plan.at, self.process, recorded=self.recorded)
        plan.fill(prediction)
        if self.recorded:
            app.predictions.append(prediction)
            app.add_model(model)
        seen = prediction if self.recorded else None
        call = Call(self.process, model, plan.start_ns, plan.start_ns + plan.at, tuple(uses), seen)
        self.simulation.calls.append(call)
        yield from self.until(call.end_ns)
        return call
