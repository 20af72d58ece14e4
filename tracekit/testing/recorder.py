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

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from tracekit.testing import stacks
from tracekit.testing.code import Code
from tracekit.testing.machines import BACKBOARD, IPHONE, MAC, NEW_IPHONE, NEW_MAC, WINDOW_SERVER, Machine, Process
from tracekit.testing.rng import Draws, on_clock
from tracekit.testing.rows import (
    ENGINE_LOAD,
    ENGINE_PREDICTION,
    ENGINE_PREPARE,
    LOAD_CACHED,
    LOAD_COLD,
    MemoryRow,
    Model,
    StateRow,
    Timed,
)
from tracekit.testing.scenario import Prediction, Scenario
from tracekit.testing.stacks import Frame
from tracekit.testing.work import Plan, Span, Stage, Step, Unit, Work, cpu, gpu, neural_engine

__all__ = ["MACHINES", "App", "Stage", "Step", "Unit", "cpu", "gpu", "neural_engine", "start_recording"]


@dataclass(slots=True)
class App:
    """A recorded app. Rows are added at `now_ns`, which may also be set."""

    draws: Draws
    scenario: Scenario
    """Being filled; `finish` gives it its duration and what else the machine did."""
    work: Work
    """What calls consist of, and how long things take."""
    noise: bool
    """Whether `finish` adds the work of other processes and duplicated rows."""
    code: Code | None = None
    """What its threads are in; None where no call stacks are recorded."""
    now_ns: int = 200_000_000
    busy_until: dict[Unit, int] = field(default_factory=dict)
    """When each compute unit has done what was asked of it so far, in ns."""
    predictions: list[Prediction] = field(default_factory=list)
    """Calls of the app, in the order in which they were made."""
    models: list[Model] = field(default_factory=list)
    """Models that were loaded or called, in order of appearance."""
    memory: bool = False
    """Whether memory is recorded: what the app holds by `hold` and `hold_on_gpu`."""
    held: list[tuple[int, int]] = field(default_factory=list)
    """When its footprint changed, and by how many bytes."""
    held_on_gpu: list[tuple[int, int]] = field(default_factory=list)
    """The same of what it allocates of Metal."""
    _states: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: {"thermal": [], "gpu_performance": []})
    _finished: bool = False

    @property
    def model(self) -> Model:
        """The first model that was loaded or called."""
        return self.models[0]

    def pause(self, duration_ns: int) -> None:
        """The app does something else."""
        self.now_ns += self.draws.around(duration_ns, self.work.jitter)

    def load(self, model: Model, duration_ns: int = 90_000_000, label: str = LOAD_CACHED, engine: bool = False) -> None:
        """Load a model and wait for it; `engine` adds the row that the Neural Engine shows for it."""
        self.add_model(model)
        start, length = on_clock(self.now_ns), self.draws.around(duration_ns, self.work.jitter)
        self.now_ns = self.scenario.load(model, start, length, label) + 60_000
        if self.code is not None:
            self.code.load(start, length, label)
        if engine:
            cold = label == LOAD_COLD
            begin, busy = start + length // 4, length // 2 if cold else length // 100
            self.scenario.other_neural_engine(begin, busy, ENGINE_PREPARE if cold else ENGINE_LOAD)

    def compile(self, model: Model, duration_ns: int) -> None:
        """Compile a model on the device and wait for it."""
        start, length = on_clock(self.now_ns), self.draws.around(duration_ns, self.work.jitter)
        self.now_ns = self.scenario.compile(model, start, length)
        if self.code is not None:
            self.code.runs(start, length, stacks.COMPILE)

    def busy(self, duration_ns: int, *frames: Frame) -> None:
        """The thread that calls models works in these functions."""
        if self.code is not None:
            self.code.runs(on_clock(self.now_ns), duration_ns, *frames)
        self.now_ns += duration_ns

    def predict(
        self,
        model: Model,
        *steps: Step | Stage,
        inputs: int = 1,
        copy_ns: int = 1_625,
        host_ns: int = 0,
        wait: bool = True,
    ) -> Prediction:
        """Ask a model for a prediction. Without `wait` the time stands still, so that the next call overlaps.

        `inputs` rows of `copy_ns` each stand for the copies of inputs. `host_ns` is spent in the end without any row to
        explain it. Steps wait for their compute unit to be free; the CPU always is.
        """
        self.add_model(model)
        plan = Plan(on_clock(self.now_ns))
        planning = self.work.call(plan, steps, inputs=inputs, copy_ns=copy_ns, host_ns=host_ns)
        with suppress(StopIteration):
            request = next(planning)
            while True:
                # When a unit works: on one request after the other as it hears of them. The CPU is always free.
                begin = request.at_ns
                if request.unit != "cpu":
                    begin = max(begin, self.free_at(request.unit))
                    self.busy_until[request.unit] = begin + request.work_ns
                request = planning.send(Span(begin, begin + request.work_ns))
        prediction = self.scenario.predict(model, plan.start_ns, plan.at)
        plan.fill(prediction)
        self.predictions.append(prediction)
        if self.code is not None:
            self.code.predict(plan.start_ns, plan.at, steps)
        if wait:
            self.now_ns = prediction.row.end_ns
        return prediction

    def room_at(self, depth: int) -> int:
        """When fewer than `depth` of the calls so far are in flight, in ns."""
        ends = sorted(prediction.row.end_ns for prediction in self.predictions)
        return ends[-depth] if len(ends) >= depth else 0

    def free_at(self, unit: Unit) -> int:
        """When a compute unit has done what was asked of it so far, in ns."""
        return self.busy_until.get(unit, 0)

    def occupy(
        self,
        unit: Literal["neural engine", "gpu"],
        at_ns: int,
        duration_ns: int,
        *,
        label: str = ENGINE_PREDICTION,
        process: Process | None = WINDOW_SERVER,
        blocks: bool = True,
    ) -> None:
        """Another process works on a compute unit, from `at_ns` or from when it is free.

        The Neural Engine knows no process but shows `label`. With `blocks`, requests that come later wait for it.
        """
        begin = max(on_clock(at_ns), self.free_at(unit) if blocks else 0)
        if unit == "neural engine":
            self.scenario.other_neural_engine(begin, duration_ns, label)
        else:
            self.scenario.gpu_work(begin, duration_ns, process, "Fragment")
        if blocks:
            self.busy_until[unit] = begin + duration_ns

    def thermal(self, state: str) -> None:
        """From now on: `Nominal`, `Fair`, `Serious` or `Critical`. What was before is `Nominal`."""
        self._states["thermal"].append((self.now_ns, state))

    def gpu_performance(self, state: str) -> None:
        """From now on: `Minimum`, `Medium` or `Maximum`. What was before is `Maximum`."""
        self._states["gpu_performance"].append((self.now_ns, state))

    def hold(self, size: int) -> None:
        """From now on the footprint of the app is so many bytes larger, or smaller where `size` is negative."""
        self.held.append((self.now_ns, size))

    def hold_on_gpu(self, size: int) -> None:
        """The same for what it has allocated of Metal."""
        self.held_on_gpu.append((self.now_ns, size))

    def finish(self, tail_ns: int = 400_000_000) -> Scenario:
        """End the recording `tail_ns` after the last row and return it. Later calls return it as it is."""
        scenario = self.scenario
        if self._finished:
            return scenario
        self._finished = True
        tables: tuple[Sequence[Timed], ...] = (scenario.coreml, scenario.neural_engine, scenario.gpu, scenario.hangs)
        last = max((row.end_ns for rows in tables for row in rows), default=0)
        scenario.duration_ns = on_clock(max(self.now_ns, last) + tail_ns)
        scenario.thermal += self._state_rows("thermal", "Nominal")
        scenario.gpu_performance += self._state_rows("gpu_performance", "Maximum")
        if self.memory:
            self._sample_memory()
        if self.noise:
            self._draw_screen()
            # Identical rows of the Neural Engine do occur twice.
            if self.draws.chance(400):
                scenario.neural_engine += [row for row in scenario.neural_engine if self.draws.chance(25)]
        return scenario

    def add_model(self, model: Model) -> None:
        """Take note of a model that is loaded or called."""
        if model not in self.models:
            self.models.append(model)

    def _state_rows(self, name: str, before: str) -> list[StateRow]:
        """Rows of a state over the whole recording, or none where none was given."""
        changes = self._states[name]
        if not changes:
            return []
        times = [0, *(on_clock(time) for time, _ in changes), self.scenario.duration_ns]
        states = [before, *(state for _, state in changes)]
        spans = zip(times, times[1:], states, strict=False)
        return [StateRow(start, end - start, state) for start, end, state in spans if end > start]

    def _sample_memory(self) -> None:
        """Samples from start to end; with noise, the app's own needs come and go by a few MB, page by page."""
        scenario, draws = self.scenario, self.draws
        process = WINDOW_SERVER if scenario.device.platform == "macOS" else BACKBOARD
        first = on_clock(draws.integer(0, scenario.memory_ns // 2))
        for time in range(first, scenario.duration_ns, scenario.memory_ns):
            size = FOOTPRINT + sum(change for at, change in self.held if at <= time)
            wobble = draws.integer(-60, 60) * PAGE if self.noise else 0
            scenario.memory.append(MemoryRow(time, max(size + wobble, PAGE)))
            if self.noise:
                scenario.memory.append(MemoryRow(time, 3 * FOOTPRINT // 2 + draws.integer(0, 400) * PAGE, process))
        so_far = 0
        for time, change in sorted(self.held_on_gpu):
            so_far += change
            scenario.gpu_memory.append(MemoryRow(on_clock(time), so_far))

    def _draw_screen(self) -> None:
        """The system draws the screen some 36 times, and few rows belong to no known process."""
        scenario, draws = self.scenario, self.draws
        process = WINDOW_SERVER if scenario.device.platform == "macOS" else BACKBOARD
        every = max(scenario.duration_ns // 36, 16_667_000)
        now, frame = 40_000_000, 1
        while now < scenario.duration_ns - 10_000_000:
            scenario.gpu_work(on_clock(now), draws.around(520_000, 150), process, frame=frame)
            now += draws.around(every, 120)
            frame += 1
        if draws.chance(300):
            scenario.gpu_work(35_000_000, 88_250, None, channel="Compute", label="")


MACHINES: tuple[tuple[str, Machine, Machine | None], ...] = (
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
FOOTPRINT = 60_000_000
"""Footprint of an app that holds nothing, in bytes."""
PAGE = 16_384
"""Bytes of a page of memory."""


def start_recording(
    draws: Draws,
    *,
    jitter: int = 60,
    noise: bool = True,
    attached: bool | None = None,
    machine: int | None = None,
    generic_labels: bool = False,
    code: bool = False,
    memory: bool = False,
) -> App:
    """A recording that has just begun; app, device and version of Xcode are drawn.

    `machine` chooses from `MACHINES`; `attached` whether the app ran before (None: drawn; either way loads are seen).
    With `code`, call stacks are recorded; with `memory`, footprints.
    """
    version, device, host = draws.choice(MACHINES) if machine is None else MACHINES[machine]
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
    work = Work(draws, jitter, requests, generic_labels)
    app = App(draws, scenario, work, noise, Code(scenario) if code else None, memory=memory)
    if noise and draws.chance(400):
        app.thermal("Nominal")
    if noise and draws.chance(500):
        app.gpu_performance(draws.choice(("Medium", "Maximum")))
    return app
