"""The instruments that a trace is built from. One whose tables only become context is declared here, any other in a
module of its own beside the binder of its rows."""

from __future__ import annotations

from tracekit.trace import samples
from tracekit.trace.frames import Field, Form
from tracekit.trace.instruments import coreml, hardware, memory, signposts
from tracekit.trace.instruments.instrument import Context, Instrument, Strip
from tracekit.trace.requests.frame import CORE_AI, FOUNDATION_MODELS

_PROCESS = Field("process", Form.PROCESS)
_THREAD = Field("thread", Form.THREAD)
_INDUCED = Field("induced", Form.INTEGER, column="is-induced")
"""1 where a developer's condition forced a state."""

INSTRUMENTS: tuple[Instrument, ...] = (
    coreml.INSTRUMENT,
    hardware.NEURAL_ENGINE,
    hardware.GPU,
    hardware.MPS,
    Instrument(
        "GPU State",
        "activity and performance states of the GPU",
        context=(
            # `Active` and `Idle` alternate and tile time; the table names no process.
            Context(
                "gpu_states",
                ("metal-gpu-state-intervals",),
                (Field("state", required=True), Field("label"), Field("gpu")),
            ),
            Context(
                "gpu_performance",
                ("gpu-performance-state-intervals",),
                (
                    Field("state", column="gpu-performance-state", required=True),
                    Field("gpu", column="track-label"),
                    _INDUCED,
                ),
                Strip("GPU clock", {"minimum": "LOW", "medium": "MEDIUM", "maximum": "HIGH"}),
            ),
        ),
        in_template=True,
    ),
    Instrument(
        "Thermal State",
        "thermal states of the device",
        context=(
            # A state may also be `Unknown`.
            Context(
                "thermal",
                ("device-thermal-state-intervals",),
                (Field("state", column="thermal-state", required=True), Field("track", column="track-label"), _INDUCED),
                Strip(
                    "Thermal",
                    {"nominal": "GOOD", "fair": "FAIR", "serious": "SERIOUS", "critical": "CRITICAL"},
                    first=True,
                ),
            ),
        ),
        added_as="Thermal State",
    ),
    memory.ACTIVITY_MONITOR,
    memory.GPU_MEMORY,
    Instrument(
        "Hangs",
        "hangs of main threads, or calls that risk them",
        context=(
            Context(
                "hangs",
                ("potential-hangs",),
                (Field("hang_type", required=True), _PROCESS, _THREAD),
                Strip("Hangs", {"hang": "SERIOUS", "severe hang": "CRITICAL", "microhang": "FAIR"}, "hang_type"),
            ),
            Context(
                "hang_risks",
                ("hang-risks",),
                (Field("message", required=True), Field("severity"), Field("event_type"), _PROCESS, _THREAD),
            ),
        ),
        added_as="Hangs",
        plural=True,
        empty="the Hangs instrument recorded no hang above its threshold",
    ),
    signposts.INSTRUMENT,
    Instrument(
        "Points of Interest",
        "events and intervals logged as points of interest",
        context=(
            Context(
                "points_of_interest",
                ("PointsOfInterestEvents",),
                (Field("name", required=True), Field("subsystem"), Field("message"), _PROCESS, _THREAD),
            ),
        ),
        added_as="Points of Interest",
        plural=True,
    ),
    Instrument(
        "Foundation Models",
        "sessions of language models, their requests, inferences, tool calls and loads",
        FOUNDATION_MODELS,
        added_as="Foundation Models",
        plural=True,
    ),
    Instrument(
        "Core AI",
        "specializations, loads, setups and inferences of Core AI models",
        CORE_AI,
        added_as="Core AI",
    ),
    Instrument(
        "Call Stacks",
        "call stacks of running threads",
        samples.SCHEMAS,
        added_as="Time Profiler",
        on_demand=True,
        plural=True,
    ),
    Instrument(
        "App Life Cycle",
        "launch phases of apps",
        context=(
            Context(
                "life_cycle",
                ("life-cycle-period",),
                (Field("period", required=True), Field("group"), _PROCESS, Field("narrative")),
            ),
        ),
        in_template=True,
    ),
    Instrument(
        "Processes",
        "names and pids of running processes",
        context=(
            Context(
                "processes",
                ("process-info",),
                (_PROCESS, Field("process_name"), Field("unique_id", Form.INTEGER)),
                timeless=True,
            ),
        ),
        in_template=True,
        plural=True,
        empty="the list of processes is empty",
    ),
    Instrument(
        "Clock",
        "start and clock of the run",
        context=(
            # mach ticks = mabs_epoch + ns × denominator / numerator. `timebase` is a fraction as text, for example
            # `125/3`; `trace_start_time` is ns since 1970.
            Context(
                "clock",
                ("time-info",),
                (
                    Field("mabs_epoch", Form.INTEGER),
                    Field("mct_epoch", Form.INTEGER),
                    Field("timebase", column="timebase-info"),
                    Field("trace_start_time", Form.INTEGER),
                ),
                timeless=True,
            ),
        ),
        in_template=True,
        empty="the clock table is empty",
    ),
)
"""In the order in which a reader cares."""

CORE_ML, NEURAL_ENGINE, GPU, MPS = (
    each.name for each in (coreml.INSTRUMENT, hardware.NEURAL_ENGINE, hardware.GPU, hardware.MPS)
)
CALL_STACKS = "Call Stacks"

HARDWARE = {entry.name: entry.hardware for entry in INSTRUMENTS if entry.hardware is not None}
"""What becomes of the rows of hardware, by instrument."""

_LANE_TITLES = {name: name.title() for name in coreml.INSTRUMENT.frames} | {
    entry.lane: name for name, entry in HARDWARE.items()
}


def lane_title(lane: str) -> str:
    """What readers see of what rows call their lane; those of phases have one name."""
    return _LANE_TITLES.get(lane, lane)


CONTEXT = tuple(context for entry in INSTRUMENTS for context in entry.context)
"""What they put beside the lanes."""

TIMELESS = frozenset(context.name for context in CONTEXT if context.timeless)
"""Frames of them that hold for the whole run."""

SCHEMAS = frozenset(schema for entry in INSTRUMENTS for schema in entry.schemas)
"""Schemas of all of them: tables that any answer rests on. What the others hold is nothing to them."""

NEEDED_SCHEMAS = frozenset(schema for entry in INSTRUMENTS if not entry.on_demand for schema in entry.schemas)
"""Schemas that a trace is built from; a reader may skip the cells of all others."""
