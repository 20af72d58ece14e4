"""Hitches, Display and Run Loops instruments: frames, those that came late, and when the main thread was busy.

Of iOS 18 devices the tables have other names (reported).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Numbers, Texts, column
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
from tracekit.trace.instruments.instrument import Context, Instrument

FRAMES: Final = "frames"
"""Name of the rows in the context."""
QUANTUM_NS: Final = 4_166_667
"""Gaps between refreshes of a display with a variable rate are whole multiples of this."""


@dataclass(frozen=True, slots=True, eq=False)
class Hitches(ContextIntervals):
    """Late frames as their table lists them: from the refresh at which each was due to the one at which it came."""

    system: Numbers = recorded("1 where no app made it", "is-system")
    swap: Numbers = recorded("the frame", "swap-id")
    display: Texts = recorded("the display")
    says: Texts = recorded("cause in Apple's words", "narrative-description")
    process: Texts = process_of()
    pid: Numbers = pid_of()
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class Stages(ContextIntervals):
    """One stage of frames."""

    swap: Numbers = recorded("the frame", "swap-id")
    surface: Numbers = recorded("the surface it is drawn into", "surface-id")
    display: Texts = recorded("the display")
    late_ns: Numbers = recorded("lateness; only lifetimes of iOS 18 have it", "hitch-duration")
    process: Texts = process_of()
    pid: Numbers = pid_of()
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class Refreshes(ContextRows):
    """Refreshes of displays. One display may have two names, with each refresh under both."""

    display: Texts = recorded("the display", "display-name")
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class Swaps(ContextRows):
    """New pictures on displays."""

    swap: Numbers = recorded("the frame", "swap-id")
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class RunLoop(ContextIntervals):
    """When the run loop of the target's main thread was busy; all else that it does is to wait."""

    state: Texts = recorded("`Busy`", "interval-type", required=True)
    main: Numbers = recorded("1 for the main thread", "is-main")
    process: Texts = process_of()
    pid: Numbers = pid_of()
    thread: Texts = thread_of()
    tid: Numbers = tid_of()
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)

    @property
    def work(self) -> Self:
        """The rows of the main thread that are work, without the runs and the iterations around it."""
        # Yes is 1 or 3.
        return self.where((self.main.filled(0) > 0) & self.state.is_any(BUSY))


@dataclass(frozen=True, slots=True, eq=False)
class ThreadStates(ContextIntervals):
    """When threads of all processes ran, or were ready to and had no core."""

    state: Texts = recorded("`Running`, `Runnable` or `Preempted`", required=True)
    process: Texts = process_of()
    pid: Numbers = pid_of()
    thread: Texts = thread_of()
    tid: Numbers = tid_of()
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)

    @property
    def work(self) -> Self:
        """The rows of threads that want a core."""
        return self.where(self.state.is_any(RUNNING, *READY))


BUSY: Final = "Busy"
RUNNING: Final = "Running"
READY: Final = ("Runnable", "Preempted")


class Stage(StrEnum):
    """What happens to a frame, in order."""

    UPDATE = "update"
    RENDER = "render"
    GPU = "gpu"


class Aside(StrEnum):
    """Why a late frame is not counted."""

    SYSTEM = "of the system"
    OTHER = "of another process"
    EDGE = "in the first or last second of the recording"
    LOCKED = "at a steady lower rate"


LATE: Final = ("hitches", "hitches-summary")
"""Tables of late frames, of systems from 26 on and of iOS 18."""
LIFETIMES: Final = ("hitches-frame-lifetimes", "hitches-lifetime-interval")
STAGES: Final[Mapping[Stage, tuple[str, ...]]] = {
    Stage.UPDATE: ("hitches-updates", "hitches-ca-commit-interval", "hitches-commit-interval"),
    Stage.RENDER: ("hitches-renders", "hitches-render-interval"),
    Stage.GPU: ("hitches-gpu", "hitches-gpu-interval"),
}
_REFRESHES, _SWAPS = ("display-vsyncs-interval",), ("display-surface-swap",)
SOURCES: Final[Mapping[str, tuple[tuple[str, ...], type[ContextRows]]]] = {
    "late": (LATE, Hitches),
    **{stage: (schemas, Stages) for stage, schemas in STAGES.items()},
    "lifetimes": (LIFETIMES, Stages),
    "refreshes": (_REFRESHES, Refreshes),
    "swaps": (_SWAPS, Swaps),
}
"""Tables that frames are made of, and what is read of each."""

HITCHES = Instrument(
    "Hitches",
    "frames and those that came late",
    (*LATE, *(schema for schemas in STAGES.values() for schema in schemas), *LIFETIMES),
    added_as="Hitches",
    flag="--frames",
    plural=True,
    empty="the Hitches instrument recorded no late frame",
)
DISPLAY = Instrument(
    "Display", "refreshes of displays, and new pictures on them", (*_REFRESHES, *_SWAPS), added_as="Display"
)
RUN_LOOPS = Instrument(
    "Run Loops",
    "when main threads were busy",
    context=(Context("run_loop", ("runloop-intervals",), RunLoop, of_target=True),),
    added_as="Run Loops",
    plural=True,
)
THREAD_STATES = Instrument(
    "Thread States",
    "when threads ran and when they waited for a core",
    context=(Context("thread_states", ("thread-state",), ThreadStates),),
    added_as="Thread State Trace",
    plural=True,
)


@dataclass(frozen=True, slots=True, eq=False)
class Frames(ContextIntervals):
    """Frames by the refresh at which they were due; `duration_ns` is by how much they came late, 0 for those in time.
    Without a table of late frames there are none."""

    intervals: Numbers = column("how many refresh intervals it came late; null where these are not known")
    interval_ns: Numbers = column("refresh interval in force; null where it is not known")
    aside: Texts = column("why it is not counted as late; null where it is, or came in time", Aside)
    says: Texts = column("cause of the lateness in Apple's words")
    swap: Numbers = column("id of the frame in the tables of stages")
    surface: Numbers = column("surface that it is drawn into")
    display: Texts = column("the display")
    process: Texts = column("process that made it; null where the table names none")
    pid: Numbers = column("id of the process")
    update_ns: Numbers = column("when the app began to make it")
    update_end_ns: Numbers = column("when the app had committed it")
    render_ns: Numbers = column("when the system began to draw it")
    render_end_ns: Numbers = column("when it had submitted it to the GPU")
    gpu_ns: Numbers = column("when the GPU began with it")
    gpu_end_ns: Numbers = column("when the GPU was done")
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)

    @property
    def late(self) -> BoolArray:
        """Shape (rows,): came late and counts."""
        return (self.duration_ns > 0) & ~self.aside.known

    def stage(self, stage: Stage) -> tuple[Numbers, Numbers]:
        """Begin and end of a stage."""
        begin, end = getattr(self, f"{stage}_ns"), getattr(self, f"{stage}_end_ns")
        return begin, end
