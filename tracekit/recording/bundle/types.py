"""Engineering types of native columns: how each is stored, and what stands for "no value".

A type is named by an id, `XR` + name + `TypeID`. The list of a bundle's requirements gives the mnemonic of every type
that its columns use. Class and sentinel of the types: measured on bundles of Instruments 16.0 and macOS 26.1 where
they have rows, else from Apple's own type reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final


class Storage(Enum):
    """What the number in a field is."""

    STRING = auto()
    """Index into the strings of the run."""
    ARRAY = auto()
    """Reference to a shared array of integers."""
    TYPED = auto()
    """Reference to a shared array of typed parts."""
    INTEGER = auto()
    """The value itself."""
    PACKED = auto()
    """Two values in 64 bits, or one with an offset."""


@dataclass(frozen=True, slots=True)
class EngineeringType:
    """One type."""

    mnemonic: str
    """Name as in exports, for example `start-time`."""
    storage: Storage
    nulls: tuple[int, ...]
    """Values that stand for "no value"; -1 stands for all bits set, whatever the width of the field."""
    is_time: bool = False
    """Whether it is a time or duration in ns."""


_STRINGS = """
PrototypeString string; PrototypeShortString short-string; PrototypeMediumLengthString medium-length-string;
RawString raw-string; FilePath file-path; OSLogSubsystem subsystem; OSLogCategory category; OSLogEvent event-type;
OSLogFormatString format-string; SignpostName signpost-name; ThreadState thread-state; ThermalState thermal-state;
ApplicationPeriod app-period; EventConcept event-concept; CoreMLModelEvent coreml-model-event;
CoreMLModelName coreml-model-name; CoreMLModelLevel coreml-model-level; ANEEventName ane-event-name;
MPSEventName mps-event-name; GPUChannelName gpu-channel-name; GPUState gpu-state;
GPUPerformanceState gpu-performance-state; GPUEventName gpu-event-name; GPUDriverName gpu-driver-name;
GPUCounterName gpu-counter-name; MetalDeviceName metal-device-name; MetalObjectLabel metal-object-label;
MetalEventName metal-event-name; MetalEvent metal-event; ShaderCompilerName shader-compiler-name;
ConnectionRoute connection-route; HangType hang-type; KDebugSignpostVariant kdebug-signpost-variant;
RegionOfInterestClass roi-class; RegionOfInterestKind roi-kind; RegionOfInterestScope roi-scope;
PrototypeEvent event; NarrativeText narrative-text
"""
_ARRAYS = """
Process process; Thread thread; Backtrace backtrace; CoreProfileCallstack kperf-bt; TextSymbol text-symbol;
VisualUUIDChain visual-uuid-chain; UUID uuid; PrototypeUInt64Array uint64-array; TextBacktrace text-backtrace; Data data
"""
_TYPED = """
FormattedLabel formatted-label; NarrativeEntry narrative; OSLogMetadata os-log-metadata; Any any
"""
_TIMES = "StartTime start-time; RecordedEventTimestamp event-time; SampleTimestamp sample-time; TimeSampleWeight weight"
_SPARSE_INTEGERS = """
Boolean boolean; CPUCore core; ProcessID pid; GPUFrameNumber gpu-frame-number; RenderingBufferDepth render-buffer-depth;
ContainmentLayoutID containment-level; TimeSample time-sample-kind; SizeInBytes size-in-bytes; ThreadID tid;
Percentage percent
"""
_FULL_INTEGERS = """
GenericUInt32 uint32; MetalEncodingNestingLevel metal-nesting-level; MetalEncodingParellismLevel metal-encoding-para;
MetalWorkloadPriority metal-workload-priority; LayoutID layout-id; KDebugClass kdebug-class;
KDebugSubclass kdebug-subclass; KDebugCode kdebug-code; KDebugFunction kdebug-func; PrototypeValue uint64;
KDebugArgument kdebug-arg; KDebugStringID kdebug-string; MetalCommandBufferID metal-command-buffer-id;
VisualConnectionUUID64 connection-uuid64; VisualConnectionFilter connection-filter;
VisualConnectionMetadata connection-meta; DisplayedSurfaceSwapID displayed-surface-swap;
GPUDriverIOSurfaceID gpu-driver-surface; VirtualMemoryAddress address; MachAbsoluteTime mach-absolute-time;
MachContinuousTime mach-continuous-time; ModelerClock clock; UnsignedIntegerHexLowercase uint64-hex-lowercase;
MetalEncoderID metal-encoder-id
"""
_PACKED = """
ThreadName thread-name; ReturnLocation return-location; MachTimebaseInfo mach-timebase-info;
TimeSinceEpoch time-since-epoch; PrototypeFixedDecimalValue fixed-decimal
"""

_REPORTED_STRINGS = """
arg-signature capability commitment connection-name console-text core-state cpu-arch-name diskio-operation
dispatch-work-state energy-impact errno gpu-driver-event-name gpu-memory-event-name gpu-power-state key
network-interface network-protocol sched-event state string-value swift-actor-class swift-task-name swift-task-state
syscall vm-op word-string
"""
_ASSUMED_STRINGS = "display-name vsync-event"
"""Texts in exports. No bundle with their rows was seen."""
_REPORTED_SPARSE_INTEGERS = """
disk-size-in-bytes fd network-size-in-bytes network-size-in-bytes-per-second sched-priority size-in-bytes-per-second
size-in-pages syscall-return work-task-identifier
"""
_REPORTED_FULL_INTEGERS = """
bit-rate errno-value metal-compiler-request metal-device-id swift-actor-id swift-task-id syscall-arg vnode
"""
_ASSUMED_FULL_INTEGERS = "event-count"
"""A count, of which neither rows nor a description were seen. How bundles store the decimals of Activity Monitor and
Power Profiler (`system-cpu-percent`, `percent-per-hour`, `subsystem-power-impact`) is not known, so their columns are
left out."""

_ALL_ONES: Final = (-1,)


KNOWN: Final = {
    f"XR{name}TypeID": EngineeringType(mnemonic, storage, nulls, is_time)
    for text, storage, nulls, is_time in (
        (_STRINGS, Storage.STRING, _ALL_ONES, False),
        (_ARRAYS, Storage.ARRAY, _ALL_ONES, False),
        (_TYPED, Storage.TYPED, _ALL_ONES, False),
        (_TIMES, Storage.INTEGER, _ALL_ONES, True),
        # A duration of 0 is exported as "no value", and no export has a duration of 0.
        ("Duration duration", Storage.INTEGER, (0, -1), True),
        ("OSSignpostIdentifier os-signpost-identifier", Storage.INTEGER, (0,), False),
        (_SPARSE_INTEGERS, Storage.INTEGER, _ALL_ONES, False),
        (_FULL_INTEGERS, Storage.INTEGER, (), False),
        (_PACKED, Storage.PACKED, _ALL_ONES, False),
    )
    for name, mnemonic in map(str.split, text.split(";"))
}
"""Types by id."""

REPORTED: Final = {
    mnemonic: EngineeringType(mnemonic, storage, nulls, is_time)
    for text, storage, nulls, is_time in (
        (_REPORTED_STRINGS + _ASSUMED_STRINGS, Storage.STRING, _ALL_ONES, False),
        (_REPORTED_SPARSE_INTEGERS, Storage.INTEGER, _ALL_ONES, False),
        (_REPORTED_FULL_INTEGERS + _ASSUMED_FULL_INTEGERS, Storage.INTEGER, (), False),
        ("duration-on-core duration-waiting", Storage.INTEGER, (0, -1), True),
    )
    for mnemonic in text.split()
}
"""Further types of Apple's type reference, which names them by mnemonic alone: those of File Activity, System Trace,
Swift Concurrency and Network. No bundle with their rows was seen. Of structures and fractions it does not say how they
are stored, so these are not here."""
