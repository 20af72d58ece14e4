"""Engineering types: what a cell of each is, in exports and in bundles.

Types as `xctrace export` of Xcode 12.5 to 27.2 writes them.
"""

from __future__ import annotations

from enum import Enum, auto

SENTINEL = "sentinel"
"""Tag of a cell that holds no value."""
ANY = "any"
"""Engineering type of columns whose cells bring their own type."""
STACK_SEPARATOR = " ← "
"""Between the frames of a call stack, leaf first, as Instruments writes it."""


class Kind(Enum):
    """How the element of an engineering type is read."""

    INTEGER = auto()
    """64-bit whole number, signed or unsigned."""
    TIME = auto()
    """Nanoseconds, never negative."""
    NUMBER = auto()
    """A number as bundles store it, of which no exported cell was seen. The rule of all numbers that were, decimal
    content, is assumed for it: the column is whole numbers if all of its cells are, else text."""
    TEXT = auto()
    """Text of the element; where there is none its display text, else the text of its children."""
    LABEL = auto()
    """Container of parts: its display text, else the parts joined."""
    PROCESS = auto()
    THREAD = auto()
    STACK = auto()
    """Call stack, any of its shapes."""
    FRAME = auto()
    """One frame of a stack, or the binary it belongs to: its name, else its address."""
    ADDRESSES = auto()
    """Blank-separated decimal addresses, leaf first."""


_TYPES = {
    Kind.TIME: "start-time event-time sample-time duration weight",
    Kind.INTEGER: (
        "uint32 uint64 int32 int64 uint64-hex-lowercase boolean core pid tid address size-in-bytes layout-id "
        "gpu-frame-number render-buffer-depth metal-nesting-level metal-command-buffer-id metal-encoder-id "
        "connection-uuid64 os-signpost-identifier mach-absolute-time mach-continuous-time pmc-event "
        "cycle-weight"
    ),
    Kind.NUMBER: (
        "bit-rate clock connection-filter connection-meta containment-level disk-size-in-bytes displayed-surface-swap "
        "duration-on-core duration-waiting errno-value event-count fd gpu-driver-surface "
        "kdebug-arg kdebug-class kdebug-code kdebug-func kdebug-string kdebug-subclass metal-encoding-para "
        "metal-compiler-request metal-device-id metal-workload-priority network-size-in-bytes "
        "network-size-in-bytes-per-second percent percent-per-hour sched-priority size-in-bytes-per-second "
        "size-in-pages subsystem-power-impact swift-actor-id swift-task-id syscall-arg syscall-return "
        "system-cpu-percent time-sample-kind time-since-epoch vnode work-task-identifier"
    ),
    Kind.LABEL: "formatted-label narrative os-log-metadata return-location",
    Kind.PROCESS: "process",
    Kind.THREAD: "thread",
    Kind.STACK: "backtrace tagged-backtrace text-backtrace kperf-bt",
    Kind.FRAME: "frame binary",
    Kind.ADDRESSES: "text-addresses",
}
KINDS = {name: kind for kind, names in _TYPES.items() for name in names.split()}
"""Kind of each engineering type; types that are not listed are text."""

DURATIONS = frozenset({"duration", "weight"})
"""Engineering types whose cells are added up."""
NUMERIC = frozenset({Kind.INTEGER, Kind.TIME})
"""Kinds whose payload is the number itself."""
PLAIN = frozenset({Kind.TEXT, Kind.NUMBER})
"""Kinds whose value is the content of the element as it stands."""


def kind_of(engineering_type: str) -> Kind:
    """Kind of an engineering type."""
    return KINDS.get(engineering_type, Kind.TEXT)
