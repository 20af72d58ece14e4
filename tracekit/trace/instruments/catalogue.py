"""The instruments that a trace is built from: their tables, and what rows, emptiness and absence of them mean."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Instrument:
    """An instrument, its tables, and what their rows and their emptiness mean."""

    name: str
    schemas: tuple[str, ...]
    rows_mean: str
    """Sentence for a table with rows."""
    empty_means: str
    """Sentence for a table that was recorded without rows."""
    record_with: str
    """What to add to a recording that lacks it."""


_OWN_INSTRUMENT = "add the {} instrument"
_CORE_ML_TEMPLATE = "record with the Core ML template"

INSTRUMENTS: tuple[Instrument, ...] = (
    Instrument(
        CORE_ML,
        coreml.SCHEMAS,
        "loads, predictions, data and compute events of the target's models were recorded",
        "the Core ML instrument was recorded and captured no event, which does not show that Core ML was not used",
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        NEURAL_ENGINE,
        neural_engine.SCHEMAS,
        "activity of the Neural Engine was recorded for the whole machine, without naming processes",
        "the Neural Engine instrument was recorded, and no Neural Engine activity was captured",
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        GPU,
        gpu.SCHEMAS,
        "work of the GPU was recorded for the whole machine",
        "the GPU instrument was recorded, and no GPU work was captured",
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        MPS,
        mps.SCHEMAS,
        "MPS graphs sent to the GPU were recorded; they count graphs and do not time them, since a row ends with the "
        "first command buffer of its graph",
        "the table of MPS graphs was recorded, and no MPS graph was captured",
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        "GPU State",
        (*gpu.STATE_SCHEMAS, *gpu.PERFORMANCE_SCHEMAS),
        "activity and performance states of the GPU were recorded",
        "GPU states were recorded, and none was captured",
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        "Thermal State",
        thermal.SCHEMAS,
        "thermal states of the device were recorded",
        "the Thermal State instrument was recorded, and no state was captured",
        _OWN_INSTRUMENT.format("Thermal State"),
    ),
    Instrument(
        "Hangs",
        (*hangs.SCHEMAS, *hangs.RISK_SCHEMAS),
        "hangs of main threads, or calls that risk them, were recorded",
        "the Hangs instrument was recorded, and it noted no hang above its threshold",
        _OWN_INSTRUMENT.format("Hangs"),
    ),
    Instrument(
        "Signposts",
        (*signposts.EVENT_SCHEMAS, *signposts.INTERVAL_SCHEMAS),
        "signposts were recorded",
        "signpost tables were recorded, and no signpost was captured",
        _OWN_INSTRUMENT.format("os_signpost"),
    ),
    Instrument(
        "Points of Interest",
        signposts.POINT_SCHEMAS,
        "points of interest were recorded",
        "the Points of Interest instrument was recorded, and no point was captured",
        _OWN_INSTRUMENT.format("Points of Interest"),
    ),
    Instrument(
        "App Life Cycle",
        life_cycle.SCHEMAS,
        "launch phases of apps were recorded",
        "launch phases were recorded, and none was captured",
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        "Processes",
        processes.SCHEMAS,
        "the processes of the machine were recorded",
        "the list of processes was recorded, and it is empty",
        _CORE_ML_TEMPLATE,
    ),
    Instrument(
        "Clock",
        clock.SCHEMAS,
        "the clock of the run was recorded",
        "the clock of the run was recorded, and its table is empty",
        _CORE_ML_TEMPLATE,
    ),
)
"""In the order in which a reader cares."""

NEEDED_SCHEMAS: frozenset[str] = frozenset(schema for entry in INSTRUMENTS for schema in entry.schemas)
"""Schemas that a trace is built from; a reader may skip the cells of all others."""
