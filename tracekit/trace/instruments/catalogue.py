"""The instruments that a trace is built from. One whose tables only become context is declared here, any other in a
module of its own beside the binder of its rows."""

from __future__ import annotations

from tracekit.trace import samples
from tracekit.trace.instruments import coreml, frames, hardware, memory, metal, signposts, tables
from tracekit.trace.instruments.instrument import Context, Instrument, Strip
from tracekit.trace.requests.frame import CORE_AI, FOUNDATION_MODELS

INSTRUMENTS: tuple[Instrument, ...] = (
    coreml.INSTRUMENT,
    hardware.NEURAL_ENGINE,
    hardware.GPU,
    hardware.MPS,
    metal.INSTRUMENT,
    Instrument(
        "Shader Compiler",
        "shaders that were compiled for the GPU, of every process",
        context=(Context("shader_compilations", ("graphics-compiler-activity-intervals",), tables.ShaderCompilations),),
        in_template=True,
        empty="no compilation of a shader was recorded",
    ),
    Instrument(
        "GPU State",
        "activity and performance states of the GPU",
        context=(
            Context("gpu_states", ("metal-gpu-state-intervals",), tables.GpuStates),
            Context(
                "gpu_performance",
                ("gpu-performance-state-intervals",),
                tables.GpuPerformance,
                Strip("GPU clock", {"minimum": "LOW", "medium": "MEDIUM", "maximum": "HIGH"}),
            ),
        ),
        in_template=True,
    ),
    Instrument(
        "Thermal State",
        "thermal states of the device",
        context=(
            Context(
                "thermal",
                ("device-thermal-state-intervals",),
                tables.Thermal,
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
                tables.Hangs,
                Strip("Hangs", {"hang": "SERIOUS", "severe hang": "CRITICAL", "microhang": "FAIR"}, "hang_type"),
            ),
            Context("hang_risks", ("hang-risks",), tables.HangRisks),
        ),
        added_as="Hangs",
        plural=True,
        empty="the Hangs instrument recorded no hang above its threshold",
    ),
    frames.HITCHES,
    frames.DISPLAY,
    frames.RUN_LOOPS,
    frames.THREAD_STATES,
    signposts.INSTRUMENT,
    Instrument(
        "Points of Interest",
        "events and intervals logged as points of interest",
        context=(Context("points_of_interest", ("PointsOfInterestEvents",), tables.PointsOfInterest),),
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
        "Core AI", "specializations, loads, setups and inferences of Core AI models", CORE_AI, added_as="Core AI"
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
        context=(Context("life_cycle", ("life-cycle-period",), tables.LifeCycle),),
        in_template=True,
    ),
    Instrument(
        "Processes",
        "names and pids of running processes",
        context=(Context("processes", ("process-info",), tables.Processes, timeless=True),),
        in_template=True,
        plural=True,
        empty="the list of processes is empty",
    ),
    Instrument(
        "Clock",
        "start and clock of the run",
        context=(Context("clock", ("time-info",), tables.Clock, timeless=True),),
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
"""Those of them that hold for the whole run."""

SCHEMAS = frozenset(schema for entry in INSTRUMENTS for schema in entry.schemas)
"""Schemas of all of them: tables that any answer rests on. What the others hold is nothing to them."""

NEEDED_SCHEMAS = frozenset(schema for entry in INSTRUMENTS if not entry.on_demand for schema in entry.schemas)
"""Schemas that a trace is built from; a reader may skip the cells of all others."""
