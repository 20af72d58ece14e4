"""How the engineering types of scenarios' columns are stored in bundles: type id, kind and width.

Measured on bundles of Instruments 16.0 and macOS 26.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


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

_GROUPS: tuple[tuple[Kind, int, int | None, str], ...] = (
    (
        Kind.STRING,
        4,
        _ONES_4,
        """
        PrototypeString string; PrototypeShortString short-string; OSLogSubsystem subsystem; OSLogCategory category;
        OSLogEvent event-type; OSLogFormatString format-string; SignpostName signpost-name; ThermalState thermal-state;
        ApplicationPeriod app-period; EventConcept event-concept; CoreMLModelEvent coreml-model-event;
        CoreMLModelName coreml-model-name; CoreMLModelLevel coreml-model-level; ANEEventName ane-event-name;
        MPSEventName mps-event-name; GPUChannelName gpu-channel-name; GPUState gpu-state;
        GPUPerformanceState gpu-performance-state; GPUEventName gpu-event-name; MetalDeviceName metal-device-name;
        MetalObjectLabel metal-object-label; HangType hang-type; NarrativeText narrative-text
        """,
    ),
    (Kind.ARRAY, 4, _ONES_4, "Process process; Thread thread; TextBacktrace text-backtrace"),
    (
        Kind.LABEL,
        4,
        _ONES_4,
        "FormattedLabel formatted-label; NarrativeEntry narrative; OSLogMetadata os-log-metadata",
    ),
    (
        Kind.NUMBER,
        4,
        _ONES_4,
        """
        Boolean boolean; ProcessID pid; GPUFrameNumber gpu-frame-number; RenderingBufferDepth render-buffer-depth
        """,
    ),
    (Kind.NUMBER, 4, None, "GenericUInt32 uint32; MetalEncodingNestingLevel metal-nesting-level; LayoutID layout-id"),
    (
        Kind.NUMBER,
        8,
        _ONES_8,
        """
        StartTime start-time; RecordedEventTimestamp event-time; SampleTimestamp sample-time; SizeInBytes size-in-bytes;
        ThreadID tid
        """,
    ),
    (Kind.NUMBER, 8, 0, "Duration duration; OSSignpostIdentifier os-signpost-identifier"),
    (
        Kind.NUMBER,
        8,
        None,
        """
        PrototypeValue uint64; MetalCommandBufferID metal-command-buffer-id; VisualConnectionUUID64 connection-uuid64;
        MachAbsoluteTime mach-absolute-time; MachContinuousTime mach-continuous-time; MetalEncoderID metal-encoder-id;
        UnsignedIntegerHexLowercase uint64-hex-lowercase
        """,
    ),
    (
        Kind.PACKED,
        8,
        _ONES_8,
        """
        ThreadName thread-name; ReturnLocation return-location; MachTimebaseInfo mach-timebase-info;
        TimeSinceEpoch time-since-epoch
        """,
    ),
)

_STACK_GROUPS: tuple[tuple[Kind, int, int | None, str], ...] = (
    (Kind.STRING, 4, _ONES_4, "ThreadState thread-state; RawString raw-string"),
    (Kind.ARRAY, 4, _ONES_4, "Backtrace backtrace"),
    (Kind.NUMBER, 4, _ONES_4, "CPUCore core"),
    (
        Kind.NUMBER,
        4,
        None,
        """
        KDebugClass kdebug-class; KDebugSubclass kdebug-subclass; KDebugCode kdebug-code; KDebugFunction kdebug-func
        """,
    ),
    (Kind.NUMBER, 8, _ONES_8, "TimeSampleWeight weight"),
    (Kind.NUMBER, 8, None, "KDebugArgument kdebug-arg; KDebugStringID kdebug-string"),
)


def _types(groups: tuple[tuple[Kind, int, int | None, str], ...]) -> dict[str, NativeType]:
    return {
        mnemonic: NativeType(f"XR{name}TypeID", kind, width, nothing)
        for kind, width, nothing, listing in groups
        for name, mnemonic in (pair.split() for pair in listing.split(";"))
    }


STACK_TYPES = _types(_STACK_GROUPS)
"""Of the tables that call stacks need; no label holds them. By mnemonic."""
TYPES: dict[str, NativeType] = _types(_GROUPS) | STACK_TYPES
"""By mnemonic."""

TYPE_NUMBERS: dict[str, int] = {
    mnemonic: number for number, mnemonic in enumerate(sorted(TYPES.keys() - STACK_TYPES.keys()), start=1)
}
"""Numbers of types inside labels. They differ from system to system: a reader must look them up in the bundle."""

TYPE_LIST: tuple[str, ...] = ("XRInvalidEngineeringTypeID", *(TYPES[mnemonic].id for mnemonic in TYPE_NUMBERS))
"""Type ids by number."""
