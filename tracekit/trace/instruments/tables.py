"""Tables of instruments that become rows beside the lanes as they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tracekit.arrays import IntArray
from tracekit.columns import Codes, Numbers, Texts, column, constant
from tracekit.recording.contents import Run
from tracekit.recording.table import CellValue
from tracekit.trace.binding import as_texts
from tracekit.trace.context import (
    ROW,
    TABLE,
    ContextIntervals,
    ContextRows,
    pid_of,
    process_of,
    recorded,
    thread_of,
    tid_of,
)

_INDUCED = "1 where a developer's condition forced the state"


@dataclass(frozen=True, slots=True, eq=False)
class GpuStates(ContextIntervals):
    """`Active` and `Idle` alternate and tile time; the table names no process."""

    state: Texts = recorded("`Active` or `Idle`", required=True)
    label: Texts = recorded("label")
    channels: Numbers = recorded("how many channels of the GPU worked at once", "num-events")
    gpu: Texts = recorded("the GPU")
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class GpuPerformance(ContextIntervals):
    """Performance states of the GPU."""

    state: Texts = recorded("performance state", "gpu-performance-state", required=True)
    gpu: Texts = recorded("the GPU", "track-label")
    induced: Numbers = recorded(_INDUCED, "is-induced")
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


_SHADER = re.compile(r"Compile (\w+) shader")


def _shader_kind(cells: Codes[CellValue]) -> Texts:
    return as_texts(cells).recoded(lambda label: found[1] if (found := _SHADER.match(label)) else None)


@dataclass(frozen=True, slots=True, eq=False)
class ShaderCompilations(ContextIntervals):
    """Shaders that were compiled for the GPU, of every process; those of other processes may overlap."""

    kind: Texts = recorded("`Compute`, `Vertex` or `Fragment`", "program-type", make=_shader_kind)
    label: Texts = recorded("what was compiled, and for whom", "program-type", required=True)
    compiler: Texts = recorded("the compiler")
    process: Texts = process_of()
    pid: Numbers = pid_of()
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class Thermal(ContextIntervals):
    """Thermal states. A state may also be `Unknown`."""

    state: Texts = recorded("thermal state", "thermal-state", required=True)
    track: Texts = recorded("track", "track-label")
    induced: Numbers = recorded(_INDUCED, "is-induced")
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class Hangs(ContextIntervals):
    """Times at which a main thread did not react."""

    hang_type: Texts = recorded("how long it was, in words", required=True)
    process: Texts = process_of()
    pid: Numbers = pid_of()
    thread: Texts = thread_of()
    tid: Numbers = tid_of()
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class HangRisks(ContextRows):
    """Calls that risk a hang."""

    message: Texts = recorded("what was called", required=True)
    severity: Texts = recorded("severity")
    event_type: Texts = recorded("kind of event")
    process: Texts = process_of()
    pid: Numbers = pid_of()
    thread: Texts = thread_of()
    tid: Numbers = tid_of()
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class LifeCycle(ContextIntervals):
    """Launch phases of apps."""

    period: Texts = recorded("phase of the launch", required=True)
    group: Texts = recorded("group of phases")
    process: Texts = process_of()
    pid: Numbers = pid_of()
    narrative: Texts = recorded("what happened, in words")
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class Processes(ContextRows):
    """Processes that ran."""

    process: Texts = process_of()
    pid: Numbers = pid_of()
    process_name: Texts = recorded("name alone")
    unique_id: Numbers = recorded("id that no other process gets later")
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class Clock(ContextRows):
    """Start and clock of the run: mach ticks = mabs_epoch + ns × denominator / numerator."""

    mabs_epoch: Numbers = recorded("mach ticks at the start")
    mct_epoch: Numbers = recorded("the same, counted on in sleep")
    timebase: Texts = recorded("numerator and denominator as text, for example `125/3`", "timebase-info")
    trace_start_time: Numbers = recorded("ns since 1970")
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


_TOLD_APART = "what tells apart those in flight at a time"


@dataclass(frozen=True, slots=True, eq=False)
class Signposts(ContextIntervals):
    """Signpost intervals of the app and of frameworks."""

    name: Texts = recorded("name of the signpost", required=True)
    category: Texts = recorded("its category")
    subsystem: Texts = recorded("its subsystem")
    identifier: Texts = recorded(_TOLD_APART)
    process: Texts = process_of()
    pid: Numbers = pid_of()
    thread: Texts = thread_of("start-thread")
    tid: Numbers = tid_of("start-thread")
    start_message: Texts = recorded("message of the begin")
    end_message: Texts = recorded("message of the end")
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)

    @property
    def messages(self) -> dict[str, Texts]:
        """Columns that may hold what a user wrote."""
        return {"start_message": self.start_message, "end_message": self.end_message}


@dataclass(frozen=True, slots=True, eq=False)
class SignpostEvents(ContextRows):
    """Signpost events."""

    name: Texts = recorded("name of the signpost", required=True)
    category: Texts = recorded("its category")
    subsystem: Texts = recorded("its subsystem")
    identifier: Texts = recorded(_TOLD_APART)
    process: Texts = process_of()
    pid: Numbers = pid_of()
    thread: Texts = thread_of()
    tid: Numbers = tid_of()
    message: Texts = recorded("message")
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)

    @property
    def messages(self) -> dict[str, Texts]:
        """Columns that may hold what a user wrote."""
        return {"message": self.message}


@dataclass(frozen=True, slots=True, eq=False)
class PointsOfInterest(ContextRows):
    """Events logged as points of interest."""

    name: Texts = recorded("name of the event", required=True)
    subsystem: Texts = recorded("its subsystem")
    message: Texts = recorded("message")
    process: Texts = process_of()
    pid: Numbers = pid_of()
    thread: Texts = thread_of()
    tid: Numbers = tid_of()
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)

    @property
    def category(self) -> Texts:
        """The table has none."""
        return constant(None, len(self))

    @property
    def messages(self) -> dict[str, Texts]:
        """Columns that may hold what a user wrote."""
        return {"message": self.message}


Logged = Signposts | SignpostEvents | PointsOfInterest
"""What the app and the system log."""


@dataclass(frozen=True, slots=True, eq=False)
class MetalPipelines(ContextRows):
    """GPU functions that were compiled for the target."""

    function: Texts = column("Metal function")
    process: Texts = column("name of the process")
    pid: Numbers = column("id of the process")
    thread: Texts = column("the thread, as Instruments shows it")
    tid: Numbers = column("id of the thread")
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


_CODES: Final = frozenset({"0x06,0x1b", "0x2b,0x24"})
"""Classes and subclasses of the table that the instrument reads, and no other."""
_CODE: Final = re.compile(r"[^\s\"]+")


def engine_events(run: Run) -> int:
    """How many kernel events of the Neural Engine were recorded: what its instrument makes its rows of, listed whether
    or not it makes any. O(tables).

    Unverified: no public recording has such an event, in none of three with a model on the GPU. So they only tell that
    the engine may have worked where its own table is empty.
    """
    return sum(
        table.rows or 0
        for table in run.tables
        if table.schema == "kdebug" and _CODES.issuperset(_CODE.findall(table.attributes.get("codes", "-")))
    )
