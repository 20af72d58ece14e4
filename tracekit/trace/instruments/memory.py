"""Memory of processes (Activity Monitor) and of Metal (Metal Resource Events): one frame, `Trace.memory`.

| column     | dtype    | holds                                                                                 |
|------------|----------|---------------------------------------------------------------------------------------|
| start_ns   | int64    | when it was sampled                                                                   |
| kind       | category | `footprint` of a process, or `gpu`: what it has allocated of Metal                    |
| process    | category | the process; and `pid` (Int64)                                                        |
| bytes      | int64    | how much                                                                              |
| table, row |          | as in other frames of the context                                                     |

Mnemonics and types: public scripts that read such exports. Of `metal-current-allocated-size` these say where the
columns stand and not what they are called, so its columns are told by their types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import numpy as np
import pandas as pd

from tracekit.recording.table import Process
from tracekit.trace.binding import constant
from tracekit.trace.frames import (
    Field,
    Form,
    concat_frames,
    is_any,
    made_once,
    or_minus_one,
    or_null,
    rows_where,
    sorted_by_start,
)
from tracekit.trace.instruments.instrument import Instrument

MEMORY: Final = "memory"
"""Name of the frame in the context."""


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


_FOOTPRINT = (
    Field("process", Form.PROCESS),
    Field("bytes", Form.INTEGER, column="memory-physical-footprint", required=True),
)
SOURCES: Final[Mapping[str, tuple[Memory, tuple[Field, ...]]]] = {
    "sysmon-process": (Memory.FOOTPRINT, _FOOTPRINT),
    "activity-monitor-process-live": (Memory.FOOTPRINT, _FOOTPRINT),
    "metal-current-allocated-size": (
        Memory.GPU,
        (
            Field("process", Form.PROCESS, type="process"),
            Field("bytes", Form.INTEGER, type="size-in-bytes", required=True),
        ),
    ),
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


def memory_frame(bound: Mapping[str, pd.DataFrame | None]) -> pd.DataFrame | None:
    """The frame of what the tables hold, by schema, in rows with a size; None where there is no table. O(n log n)."""
    frames = {schema: frame for schema, frame in bound.items() if frame is not None}
    if not frames:
        return None
    taken: dict[Memory, str] = {}
    for schema, frame in frames.items():
        if len(frame):
            taken.setdefault(SOURCES[schema][0], schema)
    if not taken:
        return no_memory()
    sized = ((kind, frames[schema].dropna(subset=["bytes"])) for kind, schema in taken.items())
    parts = [part.assign(kind=constant(kind, len(part), Memory)) for kind, part in sized]
    return sorted_by_start(concat_frames(parts, map(str, no_memory())).astype({"bytes": np.int64}))


@made_once
def no_memory() -> pd.DataFrame:
    """A frame without rows, as most recordings have it."""
    number, text = np.zeros(0, np.int64), constant(None, 0)
    kind, pid = constant(None, 0, Memory), or_null(number)
    columns = {"start_ns": number, "kind": kind, "process": text, "pid": pid, "bytes": number}
    return pd.DataFrame({**columns, "table": text, "row": number}, copy=False)


def of_process(memory: pd.DataFrame, kind: Memory, target: Process | None) -> pd.DataFrame:
    """The rows of one kind of the target; without a target, those of the only process that has any, else none. O(n)."""
    rows = rows_where(memory, is_any(memory["kind"], kind))
    pids = or_minus_one(rows["pid"])
    if target is None or target.pid is None:
        return rows if len(np.unique(pids)) == 1 else rows.iloc[:0]
    return rows_where(rows, pids == target.pid)
