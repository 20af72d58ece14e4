"""Call stacks by hand, as a reader gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracekit.columns import Codes, Numbers
from tracekit.errors import UnreadableRecording
from tracekit.recording.call_stacks import FRAME, CallStacks, Caught, Function, Image, owners
from tracekit.recording.table import CellValue, Process, Thread
from tracekit.trace.samples import SampleSource

APP = Process("App", 7)
MAIN = Thread("Main Thread (0x9) (App, pid: 7)", 9, APP)
WORKER = Thread("0xa (App, pid: 7)", 10, APP)
MS = 1_000_000


@dataclass(frozen=True)
class Call:
    """A frame; `symbol` is the name as it was recorded."""

    image: str
    function: str | None = None
    offset: int = 0x10
    place: tuple[str, int] | None = None
    is_system: bool | None = True
    symbol: str = ""
    inlined: bool = False


START = Call("dyld", "start")
WQ = Call("libsystem_pthread.dylib", "start_wqthread")


def app(function: str, line: int, offset: int | None = None, symbol: str = "") -> Call:
    """A frame of the app."""
    return Call("App", function, line if offset is None else offset, ("main.swift", line), False, symbol or function)


def core_ml(function: str) -> Call:
    """A frame of Core ML."""
    return Call("CoreML", function)


Sample = tuple[int, Thread, Sequence[Call]]
"""Time, thread, frames innermost first; none where no stack was caught."""


def call_stacks(
    samples: Sequence[Sample],
    notes: tuple[str, ...] = (),
    *,
    unit_ns: int = MS,
    weight_ns: int = MS,
    events: Sequence[Sample] = (),
    states: Sequence[str] = (),
) -> CallStacks:
    """A table of these samples, `weight_ns` each, at times in `unit_ns`, all running where no `states` are given; and
    kernel events beside them."""
    # Samples share stacks, and to hash one takes most of the time.
    caught = {id(frames): tuple(frames) for _, _, frames in (*samples, *events)}
    stacks = list(dict.fromkeys(frames for frames in caught.values() if frames))
    frames = list(dict.fromkeys(frame for stack in stacks for frame in stack))
    images = list(dict.fromkeys(Image(frame.image, frame.is_system) for frame in frames))
    index_of = {image: number for number, image in enumerate(images)}
    of = {frame: index_of[Image(frame.image, frame.is_system)] for frame in frames}
    functions = list(dict.fromkeys(Function(f.function, f.symbol, of[f]) for f in frames if f.function))
    files = list(dict.fromkeys(frame.place[0] for frame in frames if frame.place))
    threads = list(dict.fromkeys(thread for _, thread, _ in (*samples, *events)))
    place_of = {each: index for index, each in enumerate(threads)}
    frame_at = {each: index for index, each in enumerate(frames)}

    def threads_of(rows: Sequence[Sample]) -> Codes[CellValue]:
        return Codes(np.array([place_of[each] for _, each, _ in rows], np.int32), tuple(threads))

    thread = threads_of(samples)
    described = np.zeros(len(frames), FRAME)
    described["image"] = [of[frame] for frame in frames]
    described["function"] = [
        functions.index(Function(f.function, f.symbol, of[f])) if f.function else -1 for f in frames
    ]
    described["offset"] = [frame.offset for frame in frames]
    described["file"] = [files.index(frame.place[0]) if frame.place else -1 for frame in frames]
    described["line"] = [frame.place[1] if frame.place else 0 for frame in frames]
    described["inlined"] = [frame.inlined for frame in frames]
    described["certain"] = True
    number = {stack: index for index, stack in enumerate(stacks)} | {(): -1}
    place = {at: number[frames] for at, frames in caught.items()}
    known = tuple(dict.fromkeys(states)) or ("Running",)
    state = [known.index(each) for each in states] or [0] * len(samples)
    return CallStacks(
        time_ns=np.array([time * unit_ns for time, _, _ in samples], np.int64),
        thread=thread,
        process=owners(thread),
        state=Codes(np.array(state, np.int32), known),
        weight_ns=Numbers(np.full(len(samples), weight_ns), np.ones(len(samples), bool)),
        weight_count=Numbers(np.zeros(len(samples), np.int64), np.zeros(len(samples), bool)),
        stack=np.array([place[id(each)] for _, _, each in samples], np.int64),
        starts=np.cumsum([0, *(len(stack) for stack in stacks)]),
        order=np.array([frame_at[frame] for stack in stacks for frame in stack], np.int32),
        frames=described,
        images=tuple(images),
        functions=tuple(functions),
        files=tuple(files),
        notes=notes,
        events=Caught(
            np.array([time * unit_ns for time, _, _ in events], np.int64),
            threads_of(events),
            np.array([place[id(each)] for _, _, each in events], np.int64),
        ),
    )


@dataclass(frozen=True)
class Held:
    """A recording that holds call stacks alone."""

    tables_by_schema: dict[str, list[CallStacks]]
    unreadable: str = ""

    def call_stacks(self, schema: str, **_: str) -> list[CallStacks]:
        if schema == self.unreadable:
            raise UnreadableRecording("its rows are cut off")
        return self.tables_by_schema.get(schema, [])


def source(*samples: Sample, unit_ns: int = MS, weight_ns: int = MS) -> SampleSource:
    """Where a trace reads these samples from."""
    return SampleSource(Held({"time-profile": [call_stacks(samples, unit_ns=unit_ns, weight_ns=weight_ns)]}))  # type: ignore[arg-type]


def frames_at(table: CallStacks, sample: int) -> list[tuple[str | None, str | None, int, str]]:
    """Image, function, offset and place of each frame of a sample."""
    stack = int(table.stack[sample])
    if stack < 0:
        return []
    frames = table.frames[table.order[table.starts[stack] : table.starts[stack + 1]]]
    return [
        (
            table.images[image].name if image >= 0 else None,
            table.functions[function].name if function >= 0 else None,
            offset,
            f"{table.files[file]}:{line}" if line else "",
        )
        for image, function, offset, file, line, *_ in frames.tolist()
    ]
