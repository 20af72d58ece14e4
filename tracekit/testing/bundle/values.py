"""Values that rows share: strings, processes, threads and labels. Rows hold references to them.

How engineering types are stored (type id, kind, width) was measured on bundles of Instruments 16.0 and macOS 26.1.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import Enum, auto
from itertools import chain

from tracekit.testing.machines import Process, Thread
from tracekit.testing.schemas import Cell, Label, Part
from tracekit.testing.stacks import Placed, Stack, addresses


class Kind(Enum):
    """What the number in a field means."""

    STRING = auto()
    """Index into the strings."""
    ARRAY = auto()
    """Reference to an array of numbers."""
    LABEL = auto()
    """Reference to an array of typed parts."""
    NUMBER = auto()
    """Itself."""
    PACKED = auto()
    """Two numbers, or one with an offset, in 64 bits."""


@dataclass(frozen=True, slots=True)
class NativeType:
    """A type in a bundle."""

    id: str
    kind: Kind
    bytes: int
    """Width of a field outside the topology."""
    nothing: int | None
    """What stands for "no value"; None where every number is a value."""


_ONES_4, _ONES_8 = 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF

_Width = tuple[Kind, int, int | None]
"""What the types of a group have in common: kind, bytes, and what stands for "no value"."""

_GROUPS: dict[_Width, str] = {
    (Kind.STRING, 4, _ONES_4): """
        PrototypeString string; PrototypeShortString short-string; OSLogSubsystem subsystem; OSLogCategory category;
        OSLogEvent event-type; OSLogFormatString format-string; SignpostName signpost-name; ThermalState thermal-state;
        ApplicationPeriod app-period; EventConcept event-concept; CoreMLModelEvent coreml-model-event;
        CoreMLModelName coreml-model-name; CoreMLModelLevel coreml-model-level; ANEEventName ane-event-name;
        MPSEventName mps-event-name; GPUChannelName gpu-channel-name; GPUState gpu-state;
        GPUPerformanceState gpu-performance-state; GPUEventName gpu-event-name; MetalDeviceName metal-device-name;
        MetalObjectLabel metal-object-label; HangType hang-type; NarrativeText narrative-text;
        ShaderCompilerName shader-compiler-name; MetalEventName metal-event-name; MetalEvent metal-event
    """,
    (Kind.ARRAY, 4, _ONES_4): "Process process; Thread thread; TextBacktrace text-backtrace",
    (Kind.LABEL, 4, _ONES_4): """
        FormattedLabel formatted-label; NarrativeEntry narrative; OSLogMetadata os-log-metadata
    """,
    (Kind.NUMBER, 4, _ONES_4): """
        Boolean boolean; ProcessID pid; GPUFrameNumber gpu-frame-number; RenderingBufferDepth render-buffer-depth
    """,
    (Kind.NUMBER, 4, None): """
        GenericUInt32 uint32; MetalEncodingNestingLevel metal-nesting-level; LayoutID layout-id;
        MetalEncodingParellismLevel metal-encoding-para; MetalWorkloadPriority metal-workload-priority
    """,
    (Kind.NUMBER, 8, _ONES_8): """
        StartTime start-time; RecordedEventTimestamp event-time; SampleTimestamp sample-time; SizeInBytes size-in-bytes;
        ThreadID tid
    """,
    (Kind.NUMBER, 8, 0): "Duration duration; OSSignpostIdentifier os-signpost-identifier",
    (Kind.NUMBER, 8, None): """
        PrototypeValue uint64; MetalCommandBufferID metal-command-buffer-id; VisualConnectionUUID64 connection-uuid64;
        MachAbsoluteTime mach-absolute-time; MachContinuousTime mach-continuous-time; MetalEncoderID metal-encoder-id;
        UnsignedIntegerHexLowercase uint64-hex-lowercase
    """,
    (Kind.PACKED, 8, _ONES_8): """
        ThreadName thread-name; ReturnLocation return-location; MachTimebaseInfo mach-timebase-info;
        TimeSinceEpoch time-since-epoch
    """,
}

_STACK_GROUPS: dict[_Width, str] = {
    (Kind.STRING, 4, _ONES_4): "ThreadState thread-state; RawString raw-string; DisplayName display-name",
    (Kind.ARRAY, 4, _ONES_4): "Backtrace backtrace; CoreProfileCallstack kperf-bt",
    (Kind.NUMBER, 4, _ONES_4): "CPUCore core; ContainmentLayoutID containment-level",
    (Kind.NUMBER, 4, None): """
        KDebugClass kdebug-class; KDebugSubclass kdebug-subclass; KDebugCode kdebug-code; KDebugFunction kdebug-func
    """,
    (Kind.NUMBER, 8, _ONES_8): "TimeSampleWeight weight",
    (Kind.NUMBER, 8, None): """
        KDebugArgument kdebug-arg; KDebugStringID kdebug-string; DisplayedSurfaceSwapID displayed-surface-swap
    """,
}


def _types(groups: dict[_Width, str]) -> dict[str, NativeType]:
    return {
        mnemonic: NativeType(f"XR{name}TypeID", *width)
        for width, listing in groups.items()
        for name, mnemonic in (pair.split() for pair in listing.split(";"))
    }


STACK_TYPES = _types(_STACK_GROUPS)
"""Of the tables of call stacks and of frames; no label holds them. By mnemonic."""
TYPES: dict[str, NativeType] = _types(_GROUPS) | STACK_TYPES
"""By mnemonic."""

TYPE_NUMBERS: dict[str, int] = {
    mnemonic: number for number, mnemonic in enumerate(sorted(TYPES.keys() - STACK_TYPES.keys()), start=1)
}
"""Numbers of types inside labels. They differ from system to system: a reader must look them up in the bundle."""

TYPE_LIST: tuple[str, ...] = ("XRInvalidEngineeringTypeID", *(TYPES[mnemonic].id for mnemonic in TYPE_NUMBERS))
"""Type ids by number."""


BLOCK_BYTES = 0x0010_0000
"""Arrays lie in blocks of this size, and none crosses the end of its block."""
_EPOCH = (1 << 63) - 1
"""Stored date of 1970."""
_HEAD = (0x0123_4567, 0x000A_337E, 1, 0, 1, 0)
_SESSION = "TODO"
"""What real bundles hold as the session of the device."""


class Arrays:
    """Distinct arrays of 64-bit numbers; the reference counts from 0."""

    def __init__(self) -> None:
        self._references: dict[tuple[int, ...], int] = {}

    def reference(self, numbers: tuple[int, ...]) -> int:
        """Reference of an array, which is added where it is new."""
        return self._references.setdefault(numbers, len(self._references))

    def files(self) -> tuple[bytes, bytes]:
        """Contents of `integeruniquer.index` and `integeruniquer.data`."""
        # Entry 0 is not used.
        index = [struct.pack("<8I", *_HEAD, 0x0040_0000, BLOCK_BYTES), bytes(8)]
        data = bytearray(struct.pack("<8I", *_HEAD, 0, 0))
        for numbers in self._references:
            packed = struct.pack(f"<I{len(numbers)}Q", len(numbers), *numbers)
            if len(data) % BLOCK_BYTES + len(packed) > BLOCK_BYTES:
                data.extend(bytes(-len(data) % BLOCK_BYTES))
            index.append(struct.pack("<2I", len(data) % BLOCK_BYTES, len(data) // BLOCK_BYTES))
            data.extend(packed)
        data.extend(bytes(-len(data) % BLOCK_BYTES))
        return b"".join(index), bytes(data)


class Values:
    """All shared values of a run. The stacks of `target` need `images`, by the `image` of their frames."""

    def __init__(self, target: Process | None = None, images: dict[str, Placed] | None = None) -> None:
        self._target = target
        self._images = images or {}
        self.strings: dict[str, int] = {"": 0}
        """References by text."""
        self.arrays = Arrays()
        self.labels = Arrays()
        self.processes: dict[Process, int] = {}
        """References of the processes that rows mention, in order of appearance."""
        self.threads: dict[Thread, int] = {}
        """The same for threads."""

    def number(self, native: NativeType, cell: Cell) -> int:
        """What a field holds for a cell. Raises TypeError for a cell that its column cannot hold."""
        if cell is None:
            if native.nothing is None:
                raise TypeError(f"{native.id} has no way to say that there is no value")
            return native.nothing
        match native.kind, cell:
            case Kind.STRING, str():
                return self.string(cell)
            case Kind.ARRAY, Process():
                return self.process(cell)
            case Kind.ARRAY, Thread():
                return self.thread(cell)
            case Kind.ARRAY, Stack():
                # Reference of a stack of the target: the instruction that ran by itself, then where calls return to.
                if self._target is None:
                    raise TypeError("stacks belong to a target")
                leaf, *callers = addresses(cell, self._images)
                if native is TYPES["kperf-bt"]:
                    returns = self.arrays.reference(tuple(callers) or (0,))
                    return self.arrays.reference((returns, leaf - 1, self.process(self._target)))
                chunks = [(leaf,), *([tuple(callers)] if callers else [])]
                owner = self.process(self._target)
                return self.arrays.reference(tuple(owner << 32 | self.arrays.reference(chunk) for chunk in chunks))
            case Kind.LABEL, Label():
                # Real bundles hold no array without numbers: an empty label is one empty text.
                parts = cell.parts or (Part("string", ""),)
                numbers = ((TYPE_NUMBERS[part.type], self.number(TYPES[part.type], part.value)) for part in parts)
                return self.labels.reference(tuple(chain.from_iterable(numbers)))
            case Kind.NUMBER, int():
                return cell
            case Kind.PACKED, str():
                numerator, denominator = map(int, cell.split("/"))
                return numerator << 32 | denominator
            case Kind.PACKED, int():
                return cell + _EPOCH
        raise TypeError(f"{native.id} cannot hold {cell!r}")

    def string(self, text: str) -> int:
        """Index of a string."""
        return self.strings.setdefault(text, len(self.strings))

    def process(self, process: Process) -> int:
        """Reference of a process."""
        reference = self.arrays.reference((process.pid, self.string(_SESSION)))
        return self.processes.setdefault(process, reference)

    def thread(self, thread: Thread) -> int:
        """Reference of a thread."""
        reference = self.arrays.reference((thread.tid, self.process(thread.process)))
        return self.threads.setdefault(thread, reference)
