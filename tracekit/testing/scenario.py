"""Describe a recording row by row; writers turn the description into files, `ground_truth` into what must be found.

app = Process("Camera", 412)
scenario = Scenario(app, duration_ns=2_000_000_000)
model = Model("Segmenter")
scenario.load(model, 100_000_000, 25_000_000)
prediction = scenario.predict(model, 200_000_000, 8_000_000)
prediction.event("Input Copy", 10_000, 300_000)
prediction.neural_engine(900_000, 6_500_000)
write_export(scenario, folder)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise

from tracekit.testing import rows
from tracekit.testing.machines import IPHONE, MAC, XCODES, Machine, Process, Xcode
from tracekit.testing.schemas import TableContent
from tracekit.testing.stacks import SampleRow

CORE_ML = "coreml-os-signpost"
"""Schema of the Core ML instrument."""


@dataclass(slots=True)
class Scenario:
    """One run of a recording. Add rows in any order; times are ns since the start of the run."""

    target: Process
    """The process that was recorded; all rows of the Core ML instrument are its, unless `all_processes` is set."""
    duration_ns: int
    xcode_version: str = "16.4"
    """A key of `XCODES`."""
    device: Machine = IPHONE
    host: Machine | None = MAC
    """The Mac that recorded; None where that is the device itself."""
    template: str | None = "Core ML"
    launched: bool = True
    """False for a recording that was attached to a running process."""
    arguments: str = ""
    """Command line of a launched target."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables that a launched target was given."""
    thread: str = "Main Thread"
    """Name of the thread of the target that hangs and logs."""
    end_reason: str = "Target app exited"
    time_limit: str = "30 seconds"
    imported_from: str | None = None
    """What `xctrace import` made the recording from. Only tables of contents hold it, in a form that was not seen."""
    recording_mode: str = "Deferred"
    """Only exports are written with another one."""
    start_date: str = "2025-06-03T10:15:00.000+02:00"
    """ISO 8601 with milliseconds and offset."""
    all_processes: bool = False
    """Whether the recording has no target. The Core ML table names no process, so rows of several cannot be kept
    apart. Only exports are written so: what bundles hold instead of a target was never seen."""
    parts: int = 1
    """In how many tables of one schema the rows of each table are recorded, in turn."""
    event_types: bool = True
    """Whether the Core ML table names the lane of each row."""
    processes: list[Process] = field(default_factory=list)
    """Further processes of the device."""
    issues: list[str] = field(default_factory=list)
    """What Instruments warned of while recording. Only bundles hold it."""
    coreml: list[rows.CoreMLRow] = field(default_factory=list)
    neural_engine: list[rows.NeuralEngineRow] = field(default_factory=list)
    gpu: list[rows.GpuRow] = field(default_factory=list)
    mps: list[rows.MpsRow] = field(default_factory=list)
    graphs: list[rows.GraphRow] = field(default_factory=list)
    command_buffers: list[rows.CommandBufferRow] = field(default_factory=list)
    """Of the target. Where none are given, `tracekit.testing.metal` makes these, and the graphs of its work on the
    GPU."""
    shaders: list[rows.ShaderRow] = field(default_factory=list)
    gpu_states: list[rows.GpuStateRow] = field(default_factory=list)
    gpu_performance: list[rows.StateRow] = field(default_factory=list)
    thermal: list[rows.StateRow] = field(default_factory=list)
    hangs: list[rows.StateRow] = field(default_factory=list)
    signposts: list[rows.SignpostRow] = field(default_factory=list)
    core_ml_signposts: list[rows.SignpostRow] = field(default_factory=list)
    """Intervals that Core ML logs of itself, with subsystem `com.apple.coreml` and category `coreml`, as beginnings and
    ends. In a recording with the Core ML instrument they are consumed by it."""
    logged: list[rows.LoggedRow] = field(default_factory=list)
    """Signposts of the target as `os-signpost` holds them, with a table for each subsystem and category."""
    memory: list[rows.MemoryRow] = field(default_factory=list)
    """Footprints of the target and of other processes, as Activity Monitor samples them."""
    memory_ns: int = 1_000_000_000
    """Time between two samples of them."""
    live_memory: bool = False
    """Whether the table that Instruments shows live holds them, and not the one that it samples into."""
    gpu_memory: list[rows.MemoryRow] = field(default_factory=list)
    """What processes have allocated of Metal."""
    points: list[rows.PointRow] = field(default_factory=list)
    language_models: dict[str, list[tuple[int | str | None, ...]]] = field(default_factory=dict)
    """Rows of the tables of Foundation Models and Core AI, by schema (`tracekit.testing.language_models`)."""
    samples: list[SampleRow] = field(default_factory=list)
    """What threads of the target were in while they ran. With any, the tables of call stacks are recorded."""
    driver: list[SampleRow] = field(default_factory=list)
    """What threads of the target were in when they asked the driver of the GPU for something. Only bundles hold it."""
    sample_ns: int = 1_000_000
    """What each sample stands for: the time from one to the next."""
    other_tables: list[TableContent] = field(default_factory=list)
    """Tables of instruments that a scenario knows nothing of, whole."""
    recorded: set[str] = field(default_factory=set)
    """Schemas that were recorded beyond those of the template and those that have rows."""
    missing: set[str] = field(default_factory=set)
    """Schemas that were not recorded, whatever happened."""
    emptied: set[str] = field(default_factory=set)
    """Schemas that were recorded but caught no row, whatever happened."""
    symbols: bool = True
    """Whether bundles hold the functions and lines of call stacks."""
    _next_id: int = 0x1A40

    @property
    def xcode(self) -> Xcode:
        """What this version of Xcode writes."""
        return XCODES[self.xcode_version]

    @property
    def footprint_schema(self) -> str:
        """Schema of the table of footprints."""
        return "activity-monitor-process-live" if self.live_memory else "sysmon-process"

    @property
    def start_ns(self) -> int:
        """Start of the run in ns since 1970, in whole ms."""
        since = datetime.fromisoformat(self.start_date) - datetime.fromisoformat("1970-01-01T00:00:00+00:00")
        return since // timedelta(milliseconds=1) * 1_000_000

    def load(self, model: rows.Model, start_ns: int, duration_ns: int, label: str = rows.LOAD_CACHED) -> int:
        """The app loads a model. Returns the end of the load in ns."""
        self._add(rows.CoreMLRow(start_ns, duration_ns, label, model, rows.EVENT_LANES[label]))
        return start_ns + duration_ns

    def compile(self, model: rows.Model, start_ns: int, duration_ns: int) -> int:
        """The app compiles a model on the device. Returns the end in ns."""
        return self.load(model, start_ns, duration_ns, rows.COMPILE)

    def predict(
        self,
        model: rows.Model,
        start_ns: int,
        duration_ns: int,
        process: Process | None = None,
        *,
        recorded: bool = True,
    ) -> Prediction:
        """The app, or another process, asks a model for a prediction; one that is not `recorded` leaves only rows of
        the hardware."""
        row = rows.CoreMLRow(start_ns, duration_ns, rows.PREDICTION, model, rows.EVENT_LANES[rows.PREDICTION])
        if not recorded:
            return Prediction(self, 0, process, [row])
        return Prediction(self, self._add(row), process)

    def other_neural_engine(self, start_ns: int, duration_ns: int, label: str = rows.ENGINE_PREDICTION) -> None:
        """The Neural Engine works outside any prediction of the target, or for an unknown one: loads, compilations
        (`Model.engine_label`), other processes."""
        self._check(start_ns, duration_ns)
        self.neural_engine.append(rows.NeuralEngineRow(start_ns, duration_ns, label))

    def gpu_work(
        self,
        start_ns: int,
        duration_ns: int,
        process: Process | None,
        channel: str = "Fragment",
        label: str = "Command Buffer 0:Render Command 0",
        frame: int | None = None,
        prediction: int | None = None,
    ) -> rows.GpuRow:
        """The GPU works for a process (None: the recording does not name it). Returns the row with its new ids."""
        self._check(start_ns, duration_ns)
        self._next_id += 3
        row = rows.GpuRow(
            start_ns=start_ns,
            duration_ns=duration_ns,
            channel=channel,
            process=process,
            command_buffer=label,
            command_buffer_id=0 if process is None else self._next_id,
            encoder_id=self._next_id + 1,
            submission_id=self._next_id * 0x101,
            latency_ns=0 if process is None else 180_000 + self._next_id % 97 * 1_250,
            frame=frame,
            prediction=prediction,
        )
        self.gpu.append(row)
        return row

    def compile_shader(
        self, start_ns: int, duration_ns: int, kind: str = "Compute", process: Process | None = None
    ) -> None:
        """A shader is compiled for the GPU, for a process (None: the target)."""
        self._check(start_ns, duration_ns)
        self.shaders.append(rows.ShaderRow(start_ns, duration_ns, kind, process))

    def hang(self, start_ns: int, duration_ns: int) -> None:
        """The main thread of the target does not answer."""
        self._check(start_ns, duration_ns)
        kind = "Potential Interaction Delay" if duration_ns < 100_000_000 else "Brief Unresponsiveness"
        if duration_ns >= 250_000_000:
            kind = "Hang"
        self.hangs.append(rows.StateRow(start_ns, duration_ns, kind))

    def _add(self, row: rows.CoreMLRow) -> int:
        """Keep a row and return its index."""
        self._check(row.start_ns, row.duration_ns)
        self.coreml.append(row)
        return len(self.coreml) - 1

    def _check(self, start_ns: int, duration_ns: int) -> None:
        """Raise ValueError for a row outside the run."""
        if start_ns < 0 or duration_ns < 0 or start_ns + duration_ns > self.duration_ns:
            raise ValueError(f"{start_ns} ns + {duration_ns} ns does not fit a run of {self.duration_ns} ns")


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction of a scenario, to add what happened in it. `at_ns` counts from its start."""

    scenario: Scenario
    index: int
    """Index in `Scenario.coreml`, or in `unrecorded`."""
    process: Process | None = None
    """Whose call it is; None for the target."""
    unrecorded: list[rows.CoreMLRow] | None = None
    """Where its rows are kept if Core ML does not record the process: only the hardware shows the call, and no row of
    it names the prediction."""

    @property
    def row(self) -> rows.CoreMLRow:
        """The prediction itself."""
        return self._rows[self.index]

    @property
    def _rows(self) -> list[rows.CoreMLRow]:
        return self.scenario.coreml if self.unrecorded is None else self.unrecorded

    @property
    def _reference(self) -> int | None:
        """By what rows of the hardware refer to it."""
        return self.index if self.unrecorded is None else None

    def event(self, label: str, at_ns: int, duration_ns: int, lane: str | None = None) -> None:
        """A step of Core ML inside the prediction. `lane` is needed for an event that Instruments does not know.

        Raises ValueError for an event that does not lie inside the prediction, KeyError for an unknown one without
        a lane.
        """
        self._add(label, self.row.model, at_ns, duration_ns, lane)

    def stage(self, base: str, at_ns: int, duration_ns: int) -> Prediction:
        """A prediction of one stage of a pipeline, inside the prediction of the pipeline."""
        self._add(rows.PREDICTION, rows.Model(base, parent=self.row.model), at_ns, duration_ns)
        return replace(self, index=len(self._rows) - 1)

    def neural_engine(self, at_ns: int, duration_ns: int, label: str | None = None, operation: int = 0) -> None:
        """The Neural Engine works for the prediction; by default its label names model and operation."""
        start = self.row.start_ns + at_ns
        text = label or self.row.model.engine_label(operation)
        self.scenario.neural_engine.append(rows.NeuralEngineRow(start, duration_ns, text, self._reference))

    def gpu(self, at_ns: int, duration_ns: int, operation: int = 0, buffers: int = 1) -> None:
        """The GPU works for the prediction, in `buffers` command buffers one after the other; in one, where Core ML
        does not record it.

        As in real recordings, one row of Metal Performance Shaders stands for the first of them only.
        """
        process = self.process or self.scenario.target
        buffers = buffers if self.unrecorded is None else 1
        first = self.row.start_ns + at_ns
        edges = [first + duration_ns * k // buffers for k in range(buffers + 1)]
        for k, (start, end) in enumerate(pairwise(edges)):
            label = f"{self.row.model.program}__Op{operation}_MpsGraphInference{'+' * k}:Compute Command 0"
            row = self.scenario.gpu_work(start, end - start, process, "Compute", label, prediction=self._reference)
            if k == 0 and self.unrecorded is None:
                graph = 0x10F504470 + 0x40 * operation
                self.scenario.mps.append(rows.MpsRow(start, end - start, graph, row.command_buffer_id))

    def shaders(self, at_ns: int, duration_ns: int, count: int) -> None:
        """Shaders are compiled for the prediction one after the other, as in real first predictions on the GPU."""
        first = self.row.start_ns + at_ns
        edges = [first + duration_ns * k // count for k in range(count + 1)]
        for start, end in pairwise(edges):
            self.scenario.compile_shader(start, end - start, process=self.process)

    def _add(self, label: str, model: rows.Model, at_ns: int, duration_ns: int, lane: str | None = None) -> None:
        """Keep a row. Raises ValueError for a time that does not lie inside the prediction."""
        if at_ns < 0 or duration_ns < 0 or at_ns + duration_ns > self.row.duration_ns:
            raise ValueError(f"{at_ns} ns + {duration_ns} ns does not lie in a prediction of {self.row.duration_ns} ns")
        start, lane = self.row.start_ns + at_ns, lane or rows.EVENT_LANES[label]
        self._rows.append(rows.CoreMLRow(start, duration_ns, label, model, lane, self.index))
