"""An app while it is being recorded: each call moves the time on and leaves the rows that a real one leaves.

app = start_recording(Draws(7))
model = Model("Segmenter")
app.load(model)
for _ in range(80):
    app.predict(model, neural_engine(8_000_000), inputs=2)
    app.pause(150_000)
scenario = app.finish()

The rows follow the public evidence of real recordings: checks and copies of some µs on every call, hardware that starts
about a millisecond after the call and ends shortly before its end, a device that takes one request after the other,
and other processes that draw the screen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tracekit.testing.draws import Draws, on_clock
from tracekit.testing.machines import BACKBOARD, IPHONE, MAC, NEW_IPHONE, NEW_MAC, WINDOW_SERVER, Machine, Process
from tracekit.testing.rows import (
    ENGINE_LOAD,
    ENGINE_PREDICTION,
    ENGINE_PREPARE,
    LOAD_CACHED,
    LOAD_COLD,
    CoreMLRow,
    GpuRow,
    HangRow,
    Model,
    NeuralEngineRow,
    StateRow,
)
from tracekit.testing.scenario import Prediction, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Timed = CoreMLRow | NeuralEngineRow | GpuRow | HangRow
Unit = Literal["neural engine", "gpu", "cpu"]


@dataclass(frozen=True, slots=True)
class Step:
    """Work of a prediction on one compute unit."""

    unit: Unit
    compute_ns: int
    """Median time of execution in ns, without waiting."""


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


def cpu(compute_ns: int) -> Step:
    """Work on the CPU."""
    return Step("cpu", compute_ns)


@dataclass(slots=True)
class App:
    """A recorded app. Rows are added at `now_ns`, which may also be set."""

    draws: Draws
    scenario: Scenario
    """Being filled; `finish` gives it its duration and what else the machine did."""
    jitter: int
    """Spread of durations in thousandths (see `Draws.around`); 0 makes them exact."""
    noise: bool
    """Whether `finish` adds the work of other processes and duplicated rows."""
    requests: bool
    """Whether this version of the system leaves `Neural Engine Request` rows."""
    generic_labels: bool = False
    """Whether rows of the Neural Engine name no model."""
    now_ns: int = 200_000_000
    predictions: list[Prediction] = field(default_factory=list)
    """Calls of the app, in the order in which they were made."""
    models: list[Model] = field(default_factory=list)
    """Models that were loaded or called, in order of appearance."""
    _free_at: dict[Unit, int] = field(default_factory=dict)
    _states: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: {"thermal": [], "gpu_performance": []})
    _finished: bool = False

    @property
    def model(self) -> Model:
        """The first model that was loaded or called."""
        return self.models[0]

    def pause(self, duration_ns: int) -> None:
        """The app does something else."""
        self.now_ns += self.draws.around(duration_ns, self.jitter)

    def load(self, model: Model, duration_ns: int = 90_000_000, label: str = LOAD_CACHED, engine: bool = False) -> None:
        """Load a model and wait for it; `engine` adds the row that the Neural Engine shows for it."""
        self._known(model)
        start, length = on_clock(self.now_ns), self.draws.around(duration_ns, self.jitter)
        self.now_ns = self.scenario.load(model, start, length, label) + 60_000
        if engine:
            cold = label == LOAD_COLD
            begin, busy = start + length // 4, length // 2 if cold else length // 100
            self.scenario.other_neural_engine(begin, busy, ENGINE_PREPARE if cold else ENGINE_LOAD)

    def compile(self, model: Model, duration_ns: int) -> None:
        """Compile a model on the device and wait for it."""
        self.now_ns = self.scenario.compile(model, on_clock(self.now_ns), self.draws.around(duration_ns, self.jitter))

    def predict(
        self,
        model: Model,
        *steps: Step | Stage,
        inputs: int = 1,
        copy_ns: int = 1_625,
        lead_ns: int = 950_000,
        host_ns: int = 0,
        wait: bool = True,
    ) -> Prediction:
        """Ask a model for a prediction. Without `wait` the time stands still, so that the next call overlaps.

        `inputs` rows of `copy_ns` each stand for the copies of inputs. `lead_ns` is the time from the call to the
        Neural Engine, at most a twelfth of the work. `host_ns` is spent in the end without any row to explain it.
        Steps wait for their compute unit to be free; the CPU always is.
        """
        self._known(model)
        plan = _Plan(on_clock(self.now_ns))
        self._handed_over(
            plan, inputs, copy_ns, casts=any(isinstance(step, Step) and step.unit == "neural engine" for step in steps)
        )
        self._computed(plan, steps, lead_ns)
        plan.at += host_ns
        self._handed_back(plan)
        prediction = self.scenario.predict(model, plan.start_ns, plan.at)
        plan.fill(prediction)
        self.predictions.append(prediction)
        if wait:
            self.now_ns = prediction.row.end_ns
        return prediction

    def room_at(self, depth: int) -> int:
        """When fewer than `depth` of the calls so far are in flight, in ns."""
        ends = sorted(prediction.row.end_ns for prediction in self.predictions)
        return ends[-depth] if len(ends) >= depth else 0

    def free_at(self, unit: Unit) -> int:
        """When a compute unit has done what was asked of it so far, in ns."""
        return self._free_at.get(unit, 0)

    def occupy(
        self,
        unit: Literal["neural engine", "gpu"],
        at_ns: int,
        duration_ns: int,
        *,
        label: str = ENGINE_PREDICTION,
        process: Process | None = WINDOW_SERVER,
        channel: str = "Fragment",
        blocks: bool = True,
    ) -> None:
        """Another process works on a compute unit, from `at_ns` or from when it is free.

        The Neural Engine knows no process but shows `label`. With `blocks`, requests that come later wait for it.
        """
        begin = max(on_clock(at_ns), self.free_at(unit) if blocks else 0)
        if unit == "neural engine":
            self.scenario.other_neural_engine(begin, duration_ns, label)
        else:
            self.scenario.gpu_work(begin, duration_ns, process, channel)
        if blocks:
            self._free_at[unit] = begin + duration_ns

    def thermal(self, state: str) -> None:
        """From now on: `Nominal`, `Fair`, `Serious` or `Critical`. What was before is `Nominal`."""
        self._states["thermal"].append((self.now_ns, state))

    def gpu_performance(self, state: str) -> None:
        """From now on: `Minimum`, `Medium` or `Maximum`. What was before is `Maximum`."""
        self._states["gpu_performance"].append((self.now_ns, state))

    def finish(self, tail_ns: int = 400_000_000) -> Scenario:
        """End the recording `tail_ns` after the last row and return it. Later calls return it as it is."""
        scenario = self.scenario
        if self._finished:
            return scenario
        self._finished = True
        tables: tuple[Sequence[_Timed], ...] = (scenario.coreml, scenario.neural_engine, scenario.gpu, scenario.hangs)
        last = max((row.start_ns + row.duration_ns for rows in tables for row in rows), default=0)
        scenario.duration_ns = on_clock(max(self.now_ns, last) + tail_ns)
        scenario.thermal += self._held("thermal", "Nominal")
        scenario.gpu_performance += self._held("gpu_performance", "Maximum")
        if self.noise:
            self._draw_screen()
            self._repeat_rows()
        return scenario

    def _known(self, model: Model) -> None:
        if model not in self.models:
            self.models.append(model)

    def _handed_over(self, plan: _Plan, inputs: int, copy_ns: int, casts: bool) -> None:
        """Checks and copies of inputs."""
        around = self.draws.around
        plan.event("Input Validation", around(7_500, 2 * self.jitter), before=3_000)
        for _ in range(inputs):
            plan.event("Input Copy", around(copy_ns, 2 * self.jitter), before=1_000)
        if casts:
            plan.event("Data Cast", around(2_000, 2 * self.jitter), before=1_000)

    def _handed_back(self, plan: _Plan) -> None:
        plan.event("Output Transformation", self.draws.around(2_500, 2 * self.jitter), before=5_000)
        plan.at = on_clock(plan.at + 2_500)

    def _computed(self, plan: _Plan, steps: Sequence[Step | Stage], lead_ns: int) -> None:
        """The steps one after the other, each on its unit."""
        for number, step in enumerate(steps):
            if isinstance(step, Stage):
                self._stage(plan, step, lead_ns)
            elif step.unit == "neural engine":
                self._engine_step(plan, step, min(lead_ns, step.compute_ns // 12), operation=2 * number)
            elif step.unit == "gpu":
                self._gpu_step(plan, step, operation=2 * number)
            else:
                plan.event("CPU", self.draws.around(step.compute_ns, self.jitter), before=2_000)

    def _stage(self, plan: _Plan, stage: Stage, lead_ns: int) -> None:
        """A prediction of a stage, with rows of its own."""
        plan.at = on_clock(plan.at + 3_000)
        inner = _Plan(plan.start_ns + plan.at)
        self._handed_over(inner, 1, 1_625, casts=False)
        self._computed(inner, stage.steps, lead_ns)
        self._handed_back(inner)
        at = plan.at
        plan.rows.append(lambda prediction: inner.fill(prediction.stage(stage.base, at, inner.at)))
        plan.at += inner.at

    def _engine_step(self, plan: _Plan, step: Step, lead_ns: int, operation: int) -> None:
        """A request to the Neural Engine, which starts when it is free."""
        asked = plan.at
        length = self._queued(plan, "neural engine", step, self.draws.around(lead_ns, self.jitter))
        at = plan.at - length
        label = ENGINE_PREDICTION if self.generic_labels else None
        plan.rows.append(lambda prediction: prediction.neural_engine(at, length, label, operation))
        if self.requests:
            plan.event_at("Neural Engine Request", asked, plan.at - asked)
        plan.at += self.draws.around(min(110_000, step.compute_ns // 100), self.jitter)

    def _gpu_step(self, plan: _Plan, step: Step, operation: int) -> None:
        """A request to the GPU: its preparation overlaps it, and both together may exceed the prediction."""
        plan.event("CPU", self.draws.around(28_000, self.jitter), before=2_000)
        asked = plan.at
        prepare = self.draws.around(step.compute_ns // 6, self.jitter)
        length = self._queued(plan, "gpu", step, prepare // 2)
        at, buffers = plan.at - length, self.draws.integer(1, 4)
        plan.rows.append(lambda prediction: prediction.gpu(at, length, operation, buffers))
        plan.event_at("Prepare GPU Request", asked, prepare)
        plan.event_at("GPU Request", asked + prepare // 3, plan.at - asked - prepare // 3)
        plan.at += self.draws.around(min(60_000, step.compute_ns // 100), self.jitter)

    def _queued(self, plan: _Plan, unit: Unit, step: Step, lead_ns: int) -> int:
        """Move the plan to the end of a step that waits for its unit; returns how long the unit works."""
        begin = max(plan.start_ns + plan.at + lead_ns, self.free_at(unit))
        length = self.draws.around(step.compute_ns, self.jitter)
        self._free_at[unit] = begin + length
        plan.at = begin + length - plan.start_ns
        return length

    def _held(self, name: str, before: str) -> list[StateRow]:
        """Rows of a state over the whole recording, or none where none was told."""
        changes = self._states[name]
        if not changes:
            return []
        times = [0, *(on_clock(time) for time, _ in changes), self.scenario.duration_ns]
        states = [before, *(state for _, state in changes)]
        spans = zip(times, times[1:], states, strict=False)
        return [StateRow(start, end - start, state) for start, end, state in spans if end > start]

    def _draw_screen(self) -> None:
        """The system draws the screen some 60 times, and few rows belong to no known process."""
        scenario, draws = self.scenario, self.draws
        process = WINDOW_SERVER if scenario.device.platform == "macOS" else BACKBOARD
        every = max(scenario.duration_ns // 60, 16_667_000)
        now, frame = 40_000_000, 1
        while now < scenario.duration_ns - 10_000_000:
            scenario.gpu_work(on_clock(now), draws.around(520_000, 150), process, frame=frame)
            now += draws.around(every, 120)
            frame += 1
        if draws.chance(300):
            scenario.gpu_work(35_000_000, 88_250, None, channel="Compute", label="")

    def _repeat_rows(self) -> None:
        """Identical rows of the Neural Engine do occur twice."""
        rows = self.scenario.neural_engine
        if self.draws.chance(400):
            rows.extend([row for row in rows if self.draws.chance(25)])


@dataclass(slots=True)
class _Plan:
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


PLACES: tuple[tuple[str, Machine, Machine | None], ...] = (
    ("16.4", IPHONE, MAC),
    ("16.4", MAC, None),
    ("26.3", IPHONE, MAC),
    ("26.5", MAC, None),
    ("27.0", NEW_MAC, None),
    ("27.2", NEW_IPHONE, NEW_MAC),
)
"""Version of Xcode, device, and the Mac that records where that is another machine."""

_APP_NAMES = ("Camera", "PhotoLab", "Narrator", "Field Notes", "ScanKit Demo", "StyleCam", "Whisperer", "Gallery+")
_OPEN_END_NS = 1 << 52


def start_recording(
    draws: Draws,
    *,
    jitter: int = 60,
    noise: bool = True,
    attached: bool | None = None,
    place: int | None = None,
    generic_labels: bool = False,
) -> App:
    """A recording that has just begun; app, device and version of Xcode are drawn.

    `place` chooses from `PLACES`; `attached` whether the app ran before (None: drawn; either way loads are seen).
    """
    version, device, host = draws.choice(PLACES) if place is None else PLACES[place]
    scenario = Scenario(
        Process(draws.choice(_APP_NAMES), draws.integer(400, 32_000)),
        duration_ns=_OPEN_END_NS,
        xcode_version=version,
        device=device,
        host=host,
        launched=not (draws.chance(500) if attached is None else attached),
        event_types=draws.chance(500),
        processes=[
            WINDOW_SERVER if device.platform == "macOS" else BACKBOARD,
            Process("aned", draws.integer(200, 399), "/usr/libexec/aned"),
        ],
    )
    scenario.end_reason = "Target app exited" if scenario.launched else "User pressed Stop"
    # Systems of 2026 leave no request row for the Neural Engine; what those before do differs.
    requests = not version.startswith("27") and draws.chance(500)
    app = App(draws, scenario, jitter=jitter, noise=noise, requests=requests, generic_labels=generic_labels)
    if noise and draws.chance(400):
        app.thermal("Nominal")
    if noise and draws.chance(500):
        app.gpu_performance(draws.choice(("Medium", "Maximum")))
    return app
