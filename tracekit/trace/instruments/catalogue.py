"""The instruments that a trace is built from: their tables, and what rows, emptiness and absence of them mean."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.trace import samples
from tracekit.trace.instruments import (
    clock,
    coreml,
    gpu,
    hangs,
    life_cycle,
    mps,
    neural_engine,
    processes,
    signposts,
    thermal,
)

CORE_ML = "Core ML"
NEURAL_ENGINE = "Neural Engine"
GPU = "GPU"
MPS = "MPS"
CALL_STACKS = "Call Stacks"


@dataclass(frozen=True, slots=True)
class Instrument:
    """An instrument, its tables, and what their rows and their emptiness mean."""

    name: str
    schemas: tuple[str, ...]
    rows_mean: str
    """What its rows are."""
    empty_means: str
    """Sentence for a table that was recorded without rows."""
    record_with: str
    """What to add to a recording that lacks it."""
    on_demand: bool = False
    """Whether its tables are read only when something asks for them, and not to build a trace."""


_OWN_INSTRUMENT = "record with --instrument {}"
_CORE_ML_TEMPLATE = "record with the Core ML template"
_NO_EVENTS = "the {} instrument recorded no events"

INSTRUMENTS: tuple[Instrument, ...] = (
    Instrument(
        CORE_ML,
        coreml.SCHEMAS,
        "loads, predictions, data and compute events of the target's models",
        f"{_NO_EVENTS.format(CORE_ML)}, so Core ML may still have been used",
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        NEURAL_ENGINE,
        neural_engine.SCHEMAS,
        "Neural Engine activity of the whole device, without process names",
        _NO_EVENTS.format(NEURAL_ENGINE),
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        GPU,
        gpu.SCHEMAS,
        "GPU work of the whole device",
        _NO_EVENTS.format(GPU),
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        MPS,
        mps.SCHEMAS,
        "MPS graphs sent to the GPU; the rows count graphs but do not time them, because a row ends with the first "
        "command buffer of its graph",
        _NO_EVENTS.format(MPS),
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        "GPU State",
        (*gpu.STATE_SCHEMAS, *gpu.PERFORMANCE_SCHEMAS),
        "activity and performance states of the GPU",
        _NO_EVENTS.format("GPU State"),
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        "Thermal State",
        thermal.SCHEMAS,
        "thermal states of the device",
        _NO_EVENTS.format("Thermal State"),
        _OWN_INSTRUMENT.format("'Thermal State'"),
    ),
    Instrument(
        "Hangs",
        (*hangs.SCHEMAS, *hangs.RISK_SCHEMAS),
        "hangs of main threads, or calls that risk them",
        "the Hangs instrument recorded no hang above its threshold",
        _OWN_INSTRUMENT.format("Hangs"),
    ),
    Instrument(
        "Signposts",
        (*signposts.EVENT_SCHEMAS, *signposts.INTERVAL_SCHEMAS),
        "events and intervals that the app and the system log",
        _NO_EVENTS.format("os_signpost"),
        _OWN_INSTRUMENT.format("os_signpost"),
    ),
    Instrument(
        "Points of Interest",
        signposts.POINT_SCHEMAS,
        "events and intervals logged as points of interest",
        _NO_EVENTS.format("Points of Interest"),
        _OWN_INSTRUMENT.format("'Points of Interest'"),
    ),
    Instrument(
        CALL_STACKS,
        samples.SCHEMAS,
        "call stacks of running threads",
        _NO_EVENTS.format("Time Profiler"),
        _OWN_INSTRUMENT.format("'Time Profiler'"),
        on_demand=True,
    ),
    Instrument(
        "App Life Cycle",
        life_cycle.SCHEMAS,
        "launch phases of apps",
        _NO_EVENTS.format("App Life Cycle"),
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        "Processes",
        processes.SCHEMAS,
        "names and pids of running processes",
        "the list of processes is empty",
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        "Clock",
        clock.SCHEMAS,
        "start and clock of the run",
        "the clock table is empty",
        _CORE_ML_TEMPLATE,
    ),
)
"""In the order in which a reader cares."""

SCHEMAS: frozenset[str] = frozenset(schema for entry in INSTRUMENTS for schema in entry.schemas)
"""Schemas of all of them; no check says anything about others."""

NEEDED_SCHEMAS: frozenset[str] = frozenset(
    schema for entry in INSTRUMENTS if not entry.on_demand for schema in entry.schemas
)
"""Schemas that a trace is built from; a reader may skip the cells of all others."""
