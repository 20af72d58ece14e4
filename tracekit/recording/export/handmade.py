"""Binds the cells of tables whose schema lists no columns.

`xctrace` always lists them; files written by hand, such as the fixtures of other projects, do not, and leave cells
out. A cell is then known by its tag alone, which is accepted only where that leaves no doubt. Files that list their
columns are read by their own list and never by this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tracekit.recording.engineering_types import SENTINEL
from tracekit.recording.export.cells import CellError, Values, as_tag
from tracekit.recording.export.columns import ColumnBuilder
from tracekit.recording.table import Column

HandmadeRow = tuple[tuple[str, ...], list[int]]
"""The tag of each cell, and its payload (0 for a cell without value)."""


_ANE = (
    "start:start-time duration channel-name:ane-event-name event-depth:metal-nesting-level "
    "event-label:formatted-label state:gpu-state color:render-buffer-depth"
)
_GPU = (
    "start:start-time duration channel-name:{channel} frame-number:gpu-frame-number start-latency:duration "
    "event-depth:metal-nesting-level event-label:formatted-label state:gpu-state connection-UUID:connection-uuid64 "
    "color:render-buffer-depth process gpu:metal-device-name channel-subtitle:metal-object-label"
)
_GPU_EXTRA = (
    " iosurface-accesses:formatted-label bytes:size-in-bytes cmdbuffer-id:metal-command-buffer-id "
    "encoder-id:metal-command-buffer-id gpu-submission-id:uint64"
)
_OS_SIGNPOST = (
    "time:event-time thread process event-type scope:string identifier:os-signpost-identifier name:signpost-name "
    "format-string backtrace:text-backtrace subsystem category message:os-log-metadata"
)
_SIGNPOST_INTERVAL = (
    "start:start-time duration layout-qualifier:layout-id name:{name} category subsystem "
    "identifier:os-signpost-identifier process end-process:process start-thread:thread end-thread:thread "
    "start-message:os-log-metadata end-message:os-log-metadata start-backtrace:text-backtrace "
    "end-backtrace:text-backtrace start-emit-location:return-location end-emit-location:return-location "
    "signature:os-log-metadata"
)
# As in exports and bundles of Xcode 16.4 to 27.2: `mnemonic:type`; the type is left out where both are the same.
_LISTS = {
    "coreml-os-signpost": (
        "start:start-time duration full-layout-id:layout-id event-label:coreml-model-event "
        "model-name:coreml-model-name model-specific-track-model-name:formatted-label "
        "fully-qualified-model:formatted-label parent-model-name:coreml-model-name model-level:coreml-model-level "
        "event-type:string color:event-concept graph-event-label:formatted-label",
    ),
    "ane-hw-intervals-internal": (_ANE,),
    "ane-hw-intervals": (_ANE,),
    "metal-gpu-intervals": (_GPU.format(channel="gpu-channel-name") + _GPU_EXTRA,),
    "mps-hw-intervals": (_GPU.format(channel="mps-event-name"),),
    "metal-gpu-state-intervals": (
        "start:start-time duration state:gpu-state label:formatted-label color:render-buffer-depth "
        "num-events:uint32 gpu:metal-device-name",
    ),
    "os-signpost": (_OS_SIGNPOST + " emit-location:return-location", _OS_SIGNPOST),
    "os-signpost-interval": (_SIGNPOST_INTERVAL.format(name="string"),),
    "OSSignpostIntervals": (_SIGNPOST_INTERVAL.format(name="signpost-name"),),
    "PointsOfInterestEvents": (
        "time:event-time process thread subsystem name:signpost-name message:os-log-metadata "
        "emit-location:return-location backtrace:text-backtrace",
    ),
    "device-thermal-state-intervals": (
        "start:start-time duration end:start-time thermal-state track-label:string is-induced:boolean narrative",
    ),
    "gpu-performance-state-intervals": (
        "start:start-time duration gpu-performance-state track-label:string is-induced:boolean narrative "
        "event-type:gpu-event-name",
    ),
    "potential-hangs": ("start:start-time duration hang-type thread process",),
    "hang-risks": (
        "time:event-time process message:narrative severity:short-string event-type backtrace:text-backtrace thread",
    ),
    "time-info": (
        "update-time:sample-time mabs-epoch:mach-absolute-time mct-epoch:mach-continuous-time "
        "timebase-info:mach-timebase-info trace-start-time:time-since-epoch",
    ),
    "process-info": ("time:event-time pid unique-id:uint64 process process-name:string",),
    "life-cycle-period": (
        "start:start-time group:string lane:layout-id duration process period:app-period narrative",
        "start:start-time duration group:string lane:layout-id process period:app-period narrative",
    ),
}


def _columns(text: str) -> tuple[Column, ...]:
    pairs = (item.partition(":") for item in text.split())
    return tuple(Column(mnemonic, engineering_type or mnemonic) for mnemonic, _, engineering_type in pairs)


KNOWN_SCHEMAS: Final = {schema: tuple(_columns(text) for text in texts) for schema, texts in _LISTS.items()}
"""Column lists of each schema, one for each known version of it."""


def bind_rows(schema: str, rows: Sequence[HandmadeRow], values: Values) -> ColumnBuilder:
    """Rows as columns: by position where every row is complete, else by tag. Raises `CellError` in case of doubt."""
    for columns in KNOWN_SCHEMAS.get(schema, ()):
        if all(
            len(tags) == len(columns)
            and all(tag in (SENTINEL, column.engineering_type) for tag, column in zip(tags, columns, strict=True))
            for tags, _ in rows
        ):
            return _build(columns, rows, values)
    names: dict[str, Column] = {}
    for number, (tags, _) in enumerate(rows, 1):
        for tag in tags:
            if tag == SENTINEL or tags.count(tag) > 1:
                raise CellError(f"row {number}: the schema lists no columns, so it is unclear what {as_tag(tag)} means")
            if tag not in names:
                variants = KNOWN_SCHEMAS.get(schema, ())
                candidates = [column for columns in variants for column in columns if column.engineering_type == tag]
                if len({column.mnemonic for column in candidates}) > 1:
                    meanings = " or ".join(
                        f"'{name}'" for name in dict.fromkeys(column.mnemonic for column in candidates)
                    )
                    raise CellError(f"row {number}: the schema lists no columns, so {as_tag(tag)} may be {meanings}")
                names[tag] = candidates[0] if candidates else Column(tag, tag)
    by_tag = [dict(zip(tags, payloads, strict=True)) for tags, payloads in rows]
    complete = [
        (tuple(tag if tag in row else SENTINEL for tag in names), [row.get(tag, 0) for tag in names]) for row in by_tag
    ]
    return _build(tuple(names.values()), complete, values)


def _build(columns: tuple[Column, ...], rows: Sequence[HandmadeRow], values: Values) -> ColumnBuilder:
    builder = ColumnBuilder(columns, values)
    for tags, payloads in rows:
        builder.add(builder.signature(tags), payloads)
    return builder
