"""Memory of processes (Activity Monitor) and of Metal (Metal Resource Events), together.

Mnemonics and types: public scripts that read such exports. Of `metal-current-allocated-size` these say where the
columns stand and not what they are called, so its columns are told by their types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from tracekit.arrays import IndexArray, IntArray
from tracekit.columns import Numbers, Texts, column, constant
from tracekit.recording.table import Process
from tracekit.rows import joined
from tracekit.sorting import distinct_numbers
from tracekit.trace.context import ROW, TABLE, ContextRows, pid_of, process_of, recorded, sorted_by_start
from tracekit.trace.instruments.instrument import Instrument

MEMORY: Final = "memory"
"""Name of the rows in the context."""


class Memory(StrEnum):
    """What a row says the size of."""

    FOOTPRINT = "footprint"
    GPU = "gpu"


ENGINE_MEMORY: Final[Mapping[bool | None, str]] = {
    False: "Memory of the Neural Engine lies in other processes and is not in it.",
    True: "On devices with Apple Intelligence, it includes memory of the Neural Engine.",
    None: "Before OS 27, memory of the Neural Engine is not in it; the version of this system is unknown.",
}
"""What a footprint includes, by `counts_engine`."""
_COUNTED_FROM: Final = 27
"""Release notes of iOS 27 and macOS 27, 174796039."""


def counts_engine(system: str | None) -> bool | None:
    """Whether footprints of a system (`iOS 27.2 (24B5089g)`, or its version alone) can include memory of the Neural
    Engine: from OS 27 on, on devices that support Apple Intelligence. None where its version is unknown."""
    version = re.search(r"\d+", system or "")
    return int(version[0]) >= _COUNTED_FROM if version else None


@dataclass(frozen=True, slots=True, eq=False)
class MemoryRows(ContextRows):
    """MemoryRows of processes over time. Coverage says what the absence of rows means."""

    kind: Texts = column("`footprint` of the process, or `gpu` for what it has allocated of Metal", Memory)
    process: Texts = column("name of the process")
    pid: Numbers = column("id of the process")
    bytes: IntArray = column("how much")
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class Footprints(ContextRows):
    """A table of Activity Monitor."""

    process: Texts = process_of()
    pid: Numbers = pid_of()
    bytes: Numbers = recorded("how much", "memory-physical-footprint", required=True)
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class Allocated(Footprints):
    """A table of Metal Resource Events."""

    process: Texts = process_of(kind="process")
    pid: Numbers = pid_of(kind="process")
    bytes: Numbers = recorded("how much", kind="size-in-bytes", required=True)


SOURCES: Final[Mapping[str, tuple[Memory, type[Footprints]]]] = {
    "sysmon-process": (Memory.FOOTPRINT, Footprints),
    "activity-monitor-process-live": (Memory.FOOTPRINT, Footprints),
    "metal-current-allocated-size": (Memory.GPU, Allocated),
}
"""By schema. Both tables of Activity Monitor show the same processes: the first one with rows counts."""

ACTIVITY_MONITOR = Instrument(
    "Activity Monitor",
    "memory footprints of processes over time",
    tuple(schema for schema, (kind, _) in SOURCES.items() if kind is Memory.FOOTPRINT),
    added_as="Activity Monitor",
)
GPU_MEMORY = Instrument(
    "GPU Memory",
    "memory that processes have allocated of Metal",
    tuple(schema for schema, (kind, _) in SOURCES.items() if kind is Memory.GPU),
    added_as="Metal Resource Events",
)


def memory_rows(bound: Mapping[str, Footprints | None]) -> MemoryRows | None:
    """What the tables hold, by schema, in rows with a size; None where there is no table. O(n log n)."""
    known = {schema: rows for schema, rows in bound.items() if rows is not None}
    taken: dict[Memory, str] = {}
    for schema, rows in known.items():
        if len(rows):
            taken.setdefault(SOURCES[schema][0], schema)
    parts: list[MemoryRows] = []
    for kind, schema in taken.items():
        sized = known[schema].where(known[schema].bytes.known)
        kinds = constant(str(kind), len(sized), map(str, Memory))
        parts.append(
            MemoryRows(sized.start_ns, kinds, sized.process, sized.pid, sized.bytes.values, sized.table, sized.row)
        )
    return sorted_by_start(joined(parts)) if parts else MemoryRows.none() if known else None


def of_process(memory: MemoryRows, kind: Memory, target: Process | None) -> IndexArray:
    """Positions of the rows of one kind of the target; without a target, of the only process that has any, else none.
    O(n)."""
    at: IndexArray = np.flatnonzero(memory.kind.is_any(kind))
    pids = memory.pid.filled()[at]
    if target is None or target.pid is None:
        return at if len(distinct_numbers(pids)) == 1 else at[:0]
    own: IndexArray = at[pids == target.pid]
    return own
