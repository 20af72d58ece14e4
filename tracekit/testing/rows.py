"""What a scenario says happened: one class for each instrument. Times are ns since the start of the recording."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.testing.machines import Process, Thread

ACTIVITY = "model-direct-event"
"""Value of the column `event-type` for loads and predictions."""
DATA = "model-data-event"
"""The same for checks and transformations of inputs and outputs."""
COMPUTE = "model-dispatch-event"
"""The same for requests to a compute unit."""

LOAD = "Load"
LOAD_CACHED = "Load (cached)"
LOAD_COLD = "Load (prepare and cache)"
COMPILE = "Compile"
PREDICTION = "Prediction"

ENGINE_PREDICTION = "Neural Engine Prediction"
"""Label of the Neural Engine that names no model."""
ENGINE_LOAD = "Neural Engine Load"
ENGINE_PREPARE = "Neural Engine Load: prepare and cache"

EVENT_LANES = (
    dict.fromkeys((LOAD, LOAD_CACHED, LOAD_COLD, COMPILE, PREDICTION), ACTIVITY)
    | dict.fromkeys(
        ("Input Validation", "Input Copy", "Data Cast", "Output Transformation", "Neural Engine - Data Copy"), DATA
    )
    | dict.fromkeys(("CPU", "Prepare GPU Request", "GPU Request", "Neural Engine Request"), COMPUTE)
)
"""Lane of each event of the Core ML instrument."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model as the recording names it."""

    base: str
    """Name of the compiled model without its ending. `Model("", None)` is one that the recording does not name."""
    instance: int | None = 1
    """Number after the name; None for a name without one."""
    parent: Model | None = None
    """The pipeline that this model is a stage of."""

    @property
    def recorded_name(self) -> str:
        """Text in the column `model-name`."""
        return self.base if self.instance is None else f"{self.base}-{self.instance}"

    @property
    def level(self) -> str:
        """Text in the column `model-level`."""
        return "top" if self.parent is None else "sub"

    @property
    def program(self) -> str:
        """Name of the compiled program in labels of the hardware."""
        return f"{self.base.replace('-', '_')}_main"

    def engine_label(self, operation: int = 0, verb: str = "Prediction") -> str:
        """Label of a Neural Engine row that names the model, if it has a name; `verb` is `Prediction` or `Compile`."""
        return ENGINE_PREDICTION if not self.base else f"{self.program}__Op{operation}_AneInference {verb}"


@dataclass(frozen=True, slots=True)
class Timed:
    """A row that lasts."""

    start_ns: int
    duration_ns: int

    @property
    def end_ns(self) -> int:
        """First ns after the row."""
        return self.start_ns + self.duration_ns


@dataclass(frozen=True, slots=True)
class CoreMLRow(Timed):
    """A row of the Core ML instrument."""

    label: str
    model: Model
    lane: str
    """`ACTIVITY`, `DATA` or `COMPUTE`."""
    prediction: int | None = None
    """Index in `Scenario.coreml` of the prediction that this row happened in."""


@dataclass(frozen=True, slots=True)
class NeuralEngineRow(Timed):
    """A row of the Neural Engine instrument, which knows neither process nor model but for the label."""

    label: str
    prediction: int | None = None
    """Index in `Scenario.coreml` of the prediction that caused it."""


@dataclass(frozen=True, slots=True)
class GpuRow(Timed):
    """A row of the GPU instrument; the table is machine-wide."""

    channel: str
    """`Compute`, `Vertex`, `Fragment` or `Blit`."""
    process: Process | None
    command_buffer: str
    """Label of the command buffer and of the encoder, joined by a colon; empty where the app set none."""
    command_buffer_id: int
    encoder_id: int
    submission_id: int
    latency_ns: int = 0
    frame: int | None = None
    prediction: int | None = None


@dataclass(frozen=True, slots=True)
class MpsRow(Timed):
    """A dispatch of a graph by Metal Performance Shaders."""

    graph: int
    """Address of the graph."""
    command_buffer_id: int


@dataclass(frozen=True, slots=True)
class GraphRow(Timed):
    """A thread of the target encodes a graph of Metal Performance Shaders."""

    graph: int
    """Address of the graph."""
    thread: Thread


@dataclass(frozen=True, slots=True)
class CommandBufferRow(Timed):
    """A thread of the target creates a command buffer, encodes it with one encoder, and commits it at the end."""

    label: str
    command_buffer_id: int
    encoder_id: int
    encoder_ns: int
    """How long before the end the encoder begins; it lasts until then."""
    completed_ns: int
    """When the process learns that the GPU is done."""
    thread: Thread


@dataclass(frozen=True, slots=True)
class ShaderRow(Timed):
    """A shader that was compiled for the GPU; the table is machine-wide."""

    kind: str = "Compute"
    """`Compute`, `Vertex` or `Fragment`."""
    process: Process | None = None
    """None: the target."""


@dataclass(frozen=True, slots=True)
class StateRow(Timed):
    """A state that held for a while: thermal state, GPU performance state, kind of a hang."""

    state: str


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """How much memory a process held when it was sampled."""

    start_ns: int
    bytes: int
    process: Process | None = None
    """None: the target."""


@dataclass(frozen=True, slots=True)
class GpuStateRow(Timed):
    """How many channels of the GPU were active."""

    channels: int


@dataclass(frozen=True, slots=True)
class SignpostRow(Timed):
    """A signpost interval of the app, or of Core ML."""

    name: str
    subsystem: str
    category: str
    message: str = ""
    thread: Thread | None = None
    """None: the main thread of the target."""


@dataclass(frozen=True, slots=True)
class LoggedRow(SignpostRow):
    """What a signpost leaves in `os-signpost`: a begin and an end, or one event."""

    end_message: str = ""
    form: str = "interval"
    """`interval`, `open` (a begin without an end), `event` (without duration)."""


@dataclass(frozen=True, slots=True)
class PointRow:
    """A point of interest of the app."""

    time_ns: int
    name: str
    subsystem: str
    message: str = ""
