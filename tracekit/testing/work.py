"""What one prediction does: which rows it leaves, and what it asks of the compute units; and the units that many ask at
once: a queue with hand-over times, and cores that are shared.

`Clock` calls functions at their times; the units hear of requests when they arrive and call back when a request is
done. All times are ns since the start of the recording, on the clock of `draws`.

A plan is a generator: it yields a `Request` for each piece of work on a unit, and is sent the `Span` that it got. Who
answers decides how requests queue: an `App` takes one after the other in the order of the calls, the simulation
(`tracekit.testing.simulation`) lets many threads and processes compete.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from tracekit.testing.rng import CLOCK_STEP_NS, Draws, on_clock
from tracekit.testing.rows import ENGINE_PREDICTION
from tracekit.testing.scenario import Prediction

Unit = Literal["neural engine", "gpu", "cpu"]

LEAD_NS = 950_000
"""Usual time from the call to the Neural Engine, at most a twelfth of the work."""


class Request(NamedTuple):
    """Work that is asked of a unit."""

    unit: Unit
    at_ns: int
    """When it reaches the unit, since the start of the recording."""
    work_ns: int
    """How long it takes where nothing else runs."""
    threads: int = 1
    """How many cores it uses, on the CPU."""


class Span(NamedTuple):
    """When a unit worked on a request, in ns since the start of the recording."""

    begin_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Step:
    """Work of a prediction on one compute unit."""

    unit: Unit
    compute_ns: int
    """Median time of execution in ns, without waiting."""
    threads: int = 1
    """How many cores it uses, on the CPU; counts in a simulation only."""
    lead_ns: int | None = None
    """How long it takes to hand the work to the Neural Engine, during which nothing runs; None for what is usual."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A model inside a pipeline."""

    base: str
    steps: tuple[Step, ...]


def neural_engine(compute_ns: int) -> Step:
    """Work on the Neural Engine."""
    return Step("neural engine", compute_ns)


def gpu(compute_ns: int) -> Step:
    """Work on the GPU."""
    return Step("gpu", compute_ns)


def cpu(compute_ns: int, threads: int = 1) -> Step:
    """Work on the CPU."""
    return Step("cpu", compute_ns, threads)


@dataclass(slots=True)
class Plan:
    """A prediction whose length is not known yet."""

    start_ns: int
    at: int = 0
    """Time since the start in ns."""
    rows: list[Callable[[Prediction], None]] = field(default_factory=list)

    def event(self, label: str, duration_ns: int, before: int) -> None:
        """An event `before` ns from now; moves on to its end."""
        self.at = on_clock(self.at + before)
        self.event_at(label, self.at, duration_ns)
        self.at += duration_ns

    def event_at(self, label: str, at: int, duration_ns: int) -> None:
        """An event at a time of its own."""
        self.rows.append(lambda prediction: prediction.event(label, at, duration_ns))

    def fill(self, prediction: Prediction) -> None:
        """Add the rows to the prediction."""
        for add in self.rows:
            add(prediction)


Planning: TypeAlias = "Generator[Request, Span, None]"
"""Moves a plan on; yields what it asks of the units."""


@dataclass(slots=True)
class Work:
    """What calls consist of, and how long things take."""

    draws: Draws
    jitter: int
    """Spread of durations in thousandths (see `Draws.around`); 0 makes them exact."""
    requests: bool
    """Whether this version of the system leaves `Neural Engine Request` rows."""
    generic_labels: bool
    """Whether rows of the Neural Engine name no model."""

    def call(
        self, plan: Plan, steps: Sequence[Step | Stage], *, inputs: int, copy_ns: int, host_ns: int = 0
    ) -> Planning:
        """Plan a prediction; see `App.predict`."""
        around = partial(self.draws.around, spread_permille=2 * self.jitter)
        plan.event("Input Validation", around(7_500), before=3_000)
        for _ in range(inputs):
            plan.event("Input Copy", around(copy_ns), before=1_000)
        if any(isinstance(step, Step) and step.unit == "neural engine" for step in steps):
            plan.event("Data Cast", around(2_000), before=1_000)
        for number, step in enumerate(steps):
            if isinstance(step, Stage):
                yield from self._stage(plan, step)
            elif step.unit == "neural engine":
                usual = min(LEAD_NS, step.compute_ns // 12)
                lead = usual if step.lead_ns is None else step.lead_ns
                yield from self._engine_step(plan, step, lead, operation=2 * number)
            elif step.unit == "gpu":
                yield from self._gpu_step(plan, step, operation=2 * number)
            else:
                plan.at = on_clock(plan.at + 2_000)
                length = yield from self._use_unit(plan, step, 0)
                plan.event_at("CPU", plan.at - length, length)
        plan.at += host_ns
        plan.event("Output Transformation", around(2_500), before=5_000)
        plan.at = on_clock(plan.at + 2_500)

    def _stage(self, plan: Plan, stage: Stage) -> Planning:
        """A prediction of a stage, with rows of its own."""
        plan.at = on_clock(plan.at + 3_000)
        at = plan.at
        inner = Plan(plan.start_ns + at)
        yield from self.call(inner, stage.steps, inputs=1, copy_ns=1_625)
        plan.rows.append(lambda prediction: inner.fill(prediction.stage(stage.base, at, inner.at)))
        plan.at += inner.at

    def _engine_step(self, plan: Plan, step: Step, lead_ns: int, operation: int) -> Planning:
        """A request to the Neural Engine, which starts when it is free."""
        requested_at = plan.at
        length = yield from self._use_unit(plan, step, self.draws.around(lead_ns, self.jitter))
        at = plan.at - length
        label = ENGINE_PREDICTION if self.generic_labels else None
        plan.rows.append(lambda prediction: prediction.neural_engine(at, length, label, operation))
        if self.requests:
            plan.event_at("Neural Engine Request", requested_at, plan.at - requested_at)
        plan.at += self.draws.around(min(110_000, step.compute_ns // 100), self.jitter)

    def _gpu_step(self, plan: Plan, step: Step, operation: int) -> Planning:
        """A request to the GPU: its preparation overlaps it, and both together may exceed the prediction."""
        plan.event("CPU", self.draws.around(28_000, self.jitter), before=2_000)
        requested_at = plan.at
        prepare = self.draws.around(step.compute_ns // 6, self.jitter)
        length = yield from self._use_unit(plan, step, prepare // 2)
        at, buffers = plan.at - length, self.draws.integer(1, 4)
        plan.rows.append(lambda prediction: prediction.gpu(at, length, operation, buffers))
        plan.event_at("Prepare GPU Request", requested_at, prepare)
        plan.event_at("GPU Request", requested_at + prepare // 3, plan.at - requested_at - prepare // 3)
        plan.at += self.draws.around(min(60_000, step.compute_ns // 100), self.jitter)

    def _use_unit(self, plan: Plan, step: Step, lead_ns: int) -> Generator[Request, Span, int]:
        """Move the plan to the end of a step that waits for its unit; returns how long the unit works."""
        length = self.draws.around(step.compute_ns, self.jitter)
        span = yield Request(step.unit, plan.start_ns + plan.at + lead_ns, length, step.threads)
        plan.at = span.end_ns - plan.start_ns
        return span.end_ns - span.begin_ns


Done = Callable[[Span, int], None]
"""Gets the time in which the unit worked, and how long the work would have taken alone in the present heat, in ns."""

_FINE = 1 << 20
"""Parts of a ns in which the rest of a shared work is counted."""


@dataclass(slots=True)
class Clock:
    """Calls functions in the order of their times, and those of one time in the order in which they were given."""

    now_ns: int = 0
    permille: int = 1_000
    """How much longer everything takes in the present heat than on a cool device, in thousandths."""
    _queue: list[tuple[int, int, Callable[[], None]]] = field(default_factory=list)
    _given: int = 0

    def at(self, time_ns: int, call: Callable[[], None]) -> None:
        """Call a function at a time, or at once where it is over."""
        self._given += 1
        heapq.heappush(self._queue, (max(time_ns, self.now_ns), self._given, call))

    def heated(self, work_ns: int) -> int:
        """How long a work takes in the present heat, in ns."""
        return max(on_clock(work_ns * self.permille // 1_000), CLOCK_STEP_NS)

    def run(self) -> None:
        """Until nothing is left to do."""
        while self._queue:
            self.now_ns, _, call = heapq.heappop(self._queue)
            call()


@dataclass(slots=True)
class Line:
    """A unit that does one work at a time, in the order of arrival.

    Between a work and the next one that waits lies a hand-over time, drawn for each around `handover_ns` with the
    spread `handover_permille`: published recordings show 0.1 to 0.3 ms between works on the Neural Engine.
    """

    clock: Clock
    draws: Draws
    handover_ns: int
    handover_permille: int
    _waiting: deque[tuple[int, Done]] = field(default_factory=deque)
    _busy: bool = False

    def ask(self, work_ns: int, threads: int, done: Done) -> None:  # noqa: ARG002  cores ask how many
        """A request arrives now."""
        self._waiting.append((work_ns, done))
        if not self._busy:
            self._begin(0)

    def _begin(self, after_ns: int) -> None:
        """The next work that waits begins so much later."""
        if not self._waiting:
            self._busy = False
            return
        self._busy = True
        work_ns, done = self._waiting.popleft()
        begin = on_clock(self.clock.now_ns + after_ns)
        length = self.clock.heated(work_ns)
        span = Span(begin, begin + length)

        def finish() -> None:
            done(span, length)
            pause = self.draws.around(self.handover_ns, self.handover_permille) if self.handover_ns else 0
            self._begin(pause)

        self.clock.at(span.end_ns, finish)


@dataclass(slots=True)
class _Shared:
    """A work on the cores that is not done."""

    begin_ns: int
    threads: int
    left: int
    """Work that is left, in parts of a ns on a cool device with enough cores."""
    done: Done
    alone_ns: int


@dataclass(slots=True)
class Cores:
    """A processor whose works slow each other down by the same factor as soon as they want more cores than there are.

    Changes of the heat count for works that begin after them.
    """

    clock: Clock
    cores: int
    _works: list[_Shared] = field(default_factory=list)
    _since_ns: int = 0
    _version: int = 0

    def ask(self, work_ns: int, threads: int, done: Done) -> None:
        """A request arrives now."""
        self._progress()
        length = self.clock.heated(work_ns)
        self._works.append(_Shared(self.clock.now_ns, min(threads, self.cores), length * _FINE, done, length))
        self._plan()

    @property
    def _demand(self) -> int:
        """Cores that the works want together, at least as many as there are."""
        return max(self.cores, sum(work.threads for work in self._works))

    def _progress(self) -> None:
        """Count what was done since the last change."""
        passed = self.clock.now_ns - self._since_ns
        done = passed * _FINE * self.cores // self._demand
        for work in self._works:
            work.left -= done
        self._since_ns = self.clock.now_ns

    def _plan(self) -> None:
        """Wake up when the next work is done, unless something changes before."""
        self._version += 1
        if not self._works:
            return
        version = self._version
        left = min(work.left for work in self._works)
        needed = -(-left * self._demand // (self.cores * _FINE))
        self.clock.at(self.clock.now_ns + -(-needed // CLOCK_STEP_NS) * CLOCK_STEP_NS, lambda: self._wake(version))

    def _wake(self, version: int) -> None:
        if version != self._version:
            return
        self._progress()
        finished = [work for work in self._works if work.left <= 0]
        self._works = [work for work in self._works if work.left > 0]
        self._plan()
        for work in finished:
            work.done(Span(work.begin_ns, self.clock.now_ns), work.alone_ns)
