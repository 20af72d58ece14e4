"""Columns of the tables that scenarios can hold, by family of Xcode.

Mnemonics, titles (with Apple's spelling) and engineering types are those of real recordings: exports of Xcode 16.4 and
27.0, and the table schemas stored inside bundles of Xcode 16.2 and 16.4.
"""

from __future__ import annotations

from tracekit.testing.cells import Column


def columns_of(schema: str, family: int) -> tuple[Column, ...]:
    """Columns in order. Raises KeyError for a schema that scenarios do not hold."""
    if schema == "os-signpost" and family >= 26:
        return (*_COLUMNS[schema], Column("emit-location", "Emit Location", "return-location"))
    return _COLUMNS[schema]


def columns_from(listing: str) -> tuple[Column, ...]:
    """Columns from lines of `mnemonic | title | type`."""
    lines = (line.split("|") for line in listing.strip().splitlines())
    return tuple(Column(mnemonic.strip(), name.strip(), kind.strip()) for mnemonic, name, kind in lines)


_HARDWARE = """
    start | Creation | start-time
    duration | Duration | duration
    channel-name | Channel Name | {channel}
    frame-number | Frame | gpu-frame-number
    start-latency | CPU to GPU Latency | duration
    event-depth | Depth | metal-nesting-level
    event-label | Label | formatted-label
    state | State | gpu-state
    connection-UUID | Connection UUID | connection-uuid64
    color | Color | render-buffer-depth
    process | Process | process
    gpu | Metal Device | metal-device-name
    channel-subtitle | Channel Subtitle | metal-object-label
"""

_NEURAL_ENGINE = columns_from("""
    start | Creation | start-time
    duration | Duration | duration
    channel-name | Channel Name | ane-event-name
    event-depth | Depth | metal-nesting-level
    event-label | Label | formatted-label
    state | State | gpu-state
    color | Color | render-buffer-depth
""")

_DISPLAY_NAME = "Model name to display in the model specific track disclosed view"

_COLUMNS: dict[str, tuple[Column, ...]] = {
    "coreml-os-signpost": columns_from(
        f"""
        start | Creation | start-time
        duration | Duration | duration
        full-layout-id | Full events view Layout ID | layout-id
        event-label | Event | coreml-model-event
        model-name | Model name | coreml-model-name
        model-specific-track-model-name | {_DISPLAY_NAME} | formatted-label
        fully-qualified-model | Model | formatted-label
        parent-model-name | Parent model name | coreml-model-name
        model-level | Model Level: top or sub | coreml-model-level
        event-type | Type of event | string
        color | Status Color | event-concept
        graph-event-label | Graph event label | formatted-label
    """
    ),
    "ane-hw-intervals": _NEURAL_ENGINE,
    "ane-hw-intervals-internal": _NEURAL_ENGINE,
    "mps-hw-intervals": columns_from(_HARDWARE.format(channel="mps-event-name")),
    "metal-gpu-intervals": columns_from(
        _HARDWARE.format(channel="gpu-channel-name")
        + """
        iosurface-accesses | IOSurface Accesses | formatted-label
        bytes | Bytes | size-in-bytes
        cmdbuffer-id | Commmand Buffer Id | metal-command-buffer-id
        encoder-id | Encoder Id | metal-command-buffer-id
        gpu-submission-id | GPU Submission Id | uint64
    """.lstrip()
    ),
    "metal-gpu-state-intervals": columns_from("""
        start | Creation | start-time
        duration | Duration | duration
        state | State | gpu-state
        label | Label | formatted-label
        color | Color | render-buffer-depth
        num-events | # Events | uint32
        gpu | Metal Device | metal-device-name
    """),
    "gpu-performance-state-intervals": columns_from("""
        start | Start | start-time
        duration | Duration | duration
        gpu-performance-state | GPU Performance State | gpu-performance-state
        track-label | Track | string
        is-induced | Is Induced | boolean
        narrative | Narrative | narrative
        event-type | Event Type | gpu-event-name
    """),
    "device-thermal-state-intervals": columns_from("""
        start | Start | start-time
        duration | Duration | duration
        end | End | start-time
        thermal-state | Thermal State | thermal-state
        track-label | Track | string
        is-induced | Is Induced | boolean
        narrative | Narrative | narrative
    """),
    "potential-hangs": columns_from("""
        start | Start | start-time
        duration | Duration | duration
        hang-type | Hang Type | hang-type
        thread | Thread | thread
        process | Process | process
    """),
    "hang-risks": columns_from("""
        time | Timestamp | event-time
        process | Process | process
        message | Message | narrative
        severity | Severity | short-string
        event-type | Event Type | event-type
        backtrace | Backtrace | text-backtrace
        thread | Thread | thread
    """),
    "os-signpost": columns_from("""
        time | Timestamp | event-time
        thread | Thread | thread
        process | Process | process
        event-type | Event Type | event-type
        scope | Scope | string
        identifier | Signpost identifier | os-signpost-identifier
        name | Name | signpost-name
        format-string | Format String | format-string
        backtrace | Backtrace | text-backtrace
        subsystem | Subsystem | subsystem
        category | Category | category
        message | Message | os-log-metadata
    """),
    "PointsOfInterestEvents": columns_from("""
        time | Time | event-time
        process | Process | process
        thread | Thread | thread
        subsystem | Subsystem | subsystem
        name | Name | signpost-name
        message | Message | os-log-metadata
        emit-location | Emit Location | return-location
        backtrace | Backtrace | text-backtrace
    """),
    # Mnemonics and types of these as public scripts read them; titles, and further columns, were not seen.
    "sysmon-process": columns_from("""
        time | Time | start-time
        process | Process | process
        pid | Process ID | pid
        memory-physical-footprint | Memory | size-in-bytes
        memory-resident-size | Resident Size | size-in-bytes
    """),
    "activity-monitor-process-live": columns_from("""
        start | Start | start-time
        process | Process | process
        responsible-process | Responsible Process | process
        duration | Duration | duration
        pid | Process ID | pid
        memory-physical-footprint | Memory | size-in-bytes
        memory-real | Real Memory | size-in-bytes
    """),
    # Fourth and fifth column as public scripts read them; the names of all and the first three were not seen.
    "metal-current-allocated-size": columns_from("""
        timestamp | Timestamp | event-time
        thread | Thread | thread
        device | Metal Device | metal-device-name
        process | Process | process
        allocated-size | Allocated Size | size-in-bytes
    """),
    "life-cycle-period": columns_from("""
        start | Start | start-time
        group | Group | string
        lane | Layout ID | layout-id
        duration | Duration | duration
        process | process | process
        period | Lifecycle Period | app-period
        narrative | Narrative | narrative
    """),
    "process-info": columns_from("""
        time | Timestamp | event-time
        pid | Process ID | pid
        unique-id | Unique Process ID | uint64
        process | Process | process
        process-name | Process Name | string
    """),
    "time-profile": columns_from("""
        time | Sample Time | sample-time
        thread | Thread | thread
        process | Process | process
        core | Core | core
        thread-state | State | thread-state
        weight | Weight | weight
        stack | Backtrace | backtrace
    """),
    "time-info": columns_from("""
        update-time | Update Time | sample-time
        mabs-epoch | Run Epoch | mach-absolute-time
        mct-epoch | Continuous Epoch | mach-continuous-time
        timebase-info | Timebase | mach-timebase-info
        trace-start-time | Trace Start Time | time-since-epoch
    """),
}

_SIGNPOST_INTERVALS = """
    start | Start | start-time
    duration | Duration | duration
    layout-qualifier | Layout ID | layout-id
    name | Name | {name}
    category | Category | category
    subsystem | Subsystem | subsystem
    identifier | Identifier | os-signpost-identifier
    process | Start Process | process
    end-process | End Process | process
    start-thread | Start Thread | thread
    end-thread | End Thread | thread
    start-message | Start Message | os-log-metadata
    end-message | End Message | os-log-metadata
    start-backtrace | Start Backtrace | text-backtrace
    end-backtrace | End Backtrace | text-backtrace
    start-emit-location | Start Emit Location | return-location
    end-emit-location | End Emit Location | return-location
    signature | Signature | os-log-metadata
"""
_COLUMNS["os-signpost-interval"] = columns_from(_SIGNPOST_INTERVALS.format(name="string"))
_COLUMNS["OSSignpostIntervals"] = columns_from(_SIGNPOST_INTERVALS.format(name="signpost-name"))

_INFERENCE = "agent-name prompt response instruction instructions tokens model-information content total-tokens"
LANGUAGE_MODELS: dict[str, str] = {
    "SessionTable": "start duration first-prompt session-id name session-index:uint64 plot-label requests:uint64 "
    "model-inferences:uint64 instructions:uint64 events:uint64 error-count:uint64",
    "RequestTable": "start duration first-prompt turn-id session name session-index:uint64 plot-label "
    "instructions:uint64 model-inferences:uint64 events:uint64 tokens:uint64 error-count:uint64",
    "InstructionsTable": "start duration instruction session-start:start-time session-index:uint64 plot-label "
    "synthesized-id sub-synthesized-ids",
    "ModelInferenceTable": "start duration model-request-id turn-index session-index:uint64 plot-label "
    f"{_INFERENCE} prompt-tokens response-tokens cached-tokens resolve error-count error-message color:event-concept",
    "ToolTable": "start duration tool-id tool-name argument-json result-json error-message session-index:uint64 "
    "plot-label resolve-key",
    "ModelLoadingTable": "start duration request-id asset-id from-state to-state transition "
    "transition-color:event-concept",
    "FMEventTable": "timestamp:sample-time message",
    "CoreAIProfile": "start duration model-name base-function-name function-name phase category color:event-concept "
    "level activity",
}
"""Tables of Foundation Models, with the types of exports of Xcode 27.0 (texts where none is given), and of Core AI, of
which names of columns are reported and order and types are not."""
_COLUMN_TYPES = {"start": "start-time", "duration": "duration"}
for _schema, _names in LANGUAGE_MODELS.items():
    _parts = (name.partition(":") for name in _names.split())
    _COLUMNS[_schema] = tuple(
        Column(name, name.replace("-", " ").title(), kind or _COLUMN_TYPES.get(name, "string"))
        for name, _, kind in _parts
    )

DOCUMENTATION: dict[str, str] = {
    "coreml-os-signpost": "Denotes CoreML Model Activity Intervals",
    "ane-hw-intervals": "Denotes an interesting period of activity in the ANE",
    "metal-gpu-intervals": "Denotes an interesting period of activity in the GPU.",
    "mps-hw-intervals": "Denotes an interesting period of activity caused by Metal Applications.",
    "os-signpost": "Holds a signpost event from the OS's Unified Logging and Tracing component.",
    "life-cycle-period": "Identifies where an application is in its lifecycle.",
    "process-info": "Associates processes with their process names.",
    "time-info": "Raw data needed transform a mach-absolute-time to a trace relative timestamp",
    "kdebug": "Tracing the kernel and some system frameworks.",
}
"""Texts of the `documentation` attribute, as Instruments 27.2 writes them."""
