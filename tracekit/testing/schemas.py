"""Tables that scenarios can hold, apart from any file format: values of their cells, also those that somebody attached
to an issue, and their columns by family of Xcode.

A cell is `None` (no value), an `int`, a `str`, or a container. Its column gives it Apple's type.

Mnemonics, titles (with Apple's spelling) and engineering types are those of real recordings: exports of Xcode 16.4 and
27.0, and the table schemas stored inside bundles of Xcode 16.2 and 16.4.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tracekit.testing.machines import Process, Thread
from tracekit.testing.stacks import Stack


@dataclass(frozen=True, slots=True)
class Part:
    """A typed piece of a label, narrative or message."""

    type: str
    """Engineering type, for example `narrative-text`."""
    value: int | str | Process


@dataclass(frozen=True, slots=True)
class Label:
    """A text that is put together from typed parts: formatted labels, narratives and log messages."""

    parts: tuple[Part, ...] = ()


_ROWS = "core-ml-rows.json"
Cell = int | str | Process | Thread | Label | Stack | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a schema as the file describes it."""

    mnemonic: str
    name: str
    type: str
    """Engineering type."""


@dataclass(frozen=True, slots=True)
class TableContent:
    """One table of one run with its rows, ready for a writer."""

    schema: str
    attributes: tuple[tuple[str, str], ...]
    """As the table of contents prints them, in order."""
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """In ascending order of the first cell."""
    documentation: str = ""


@lru_cache(maxsize=1024)
def text_label(text: str) -> Label:
    """A label that holds one text. Rows share few of them."""
    return Label((Part("string", text),))


def read_rows(path: Path | str) -> list[TableContent]:
    """The tables that `tracekit analyze -o findings.zip --rows` wrote, from the archive or its file
    `core-ml-rows.json`, so that a recording of a stranger is a test. Raises ValueError for an archive without
    rows, and for another version of the format.

    scenario = Scenario(Process("App", 1), duration_ns=60_000_000_000, other_tables=read_rows("findings.zip"))
    write_export(scenario, folder)
    """
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if _ROWS not in archive.namelist():
                raise ValueError(f"{path} has no rows; write it with: tracekit analyze run.trace -o {path} --rows")
            text = archive.read(_ROWS).decode("utf-8")
    else:
        text = Path(path).read_text(encoding="utf-8")
    document = json.loads(text)
    if document["format"] != 1:
        raise ValueError(f"{path} has format {document['format']}; this reads format 1")
    tables: list[TableContent] = []
    for table in document["tables"]:
        columns = tuple(Column(column["mnemonic"], column["name"], column["type"]) for column in table["columns"])
        rows: list[tuple[Cell, ...]] = []
        for row in table["rows"]:
            cells = []
            for column, value in zip(columns, row, strict=True):
                is_label = column.type == "formatted-label" and isinstance(value, str)
                # A process or a thread has no name left that could be written.
                is_unnamed = column.type in ("process", "thread")
                cells.append(None if is_unnamed else text_label(value) if is_label else value)
            rows.append(tuple(cells))
        tables.append(TableContent(table["schema"], (), columns, tuple(rows)))
    return tables


def columns_of(schema: str, family: int) -> tuple[Column, ...]:
    """Columns in order. Raises KeyError for a schema that scenarios do not hold."""
    if schema == "os-signpost" and family >= 26:
        return (*_COLUMNS[schema], Column("emit-location", "Emit Location", "return-location"))
    return _COLUMNS[schema]


def columns_from(listing: str) -> tuple[Column, ...]:
    """Columns from `mnemonic: type | Title`, separated by `;`. A type or title that the mnemonic tells is left out."""
    columns = []
    for entry in " ".join(listing.split()).split(";"):
        named, _, title = entry.partition("|")
        mnemonic, _, kind = (part.strip() for part in named.partition(":"))
        columns.append(Column(mnemonic, title.strip() or mnemonic.replace("-", " ").title(), kind or mnemonic))
    return tuple(columns)


_HARDWARE = """
    start: start-time | Creation; duration; channel-name: {channel}; frame-number: gpu-frame-number | Frame;
    start-latency: duration | CPU to GPU Latency; event-depth: metal-nesting-level | Depth;
    event-label: formatted-label | Label; state: gpu-state; connection-UUID: connection-uuid64 | Connection UUID;
    color: render-buffer-depth; process; gpu: metal-device-name | Metal Device; channel-subtitle: metal-object-label
"""

_NEURAL_ENGINE = """
    start: start-time | Creation; duration; channel-name: ane-event-name; event-depth: metal-nesting-level | Depth;
    event-label: formatted-label | Label; state: gpu-state; color: render-buffer-depth
"""
_SIGNPOST_INTERVALS = """
    start: start-time; duration; layout-qualifier: layout-id | Layout ID; name: {name}; category; subsystem;
    identifier: os-signpost-identifier; process | Start Process; end-process: process; start-thread: thread;
    end-thread: thread; start-message: os-log-metadata; end-message: os-log-metadata; start-backtrace: text-backtrace;
    end-backtrace: text-backtrace; start-emit-location: return-location; end-emit-location: return-location;
    signature: os-log-metadata
"""

_LISTINGS = {
    "coreml-os-signpost": """
        start: start-time | Creation; duration; full-layout-id: layout-id | Full events view Layout ID;
        event-label: coreml-model-event | Event; model-name: coreml-model-name | Model name;
        model-specific-track-model-name: formatted-label | Model name to display in the model specific track
        disclosed view;
        fully-qualified-model: formatted-label | Model; parent-model-name: coreml-model-name | Parent model name;
        model-level: coreml-model-level | Model Level: top or sub; event-type: string | Type of event;
        color: event-concept | Status Color; graph-event-label: formatted-label | Graph event label
    """,
    "ane-hw-intervals": _NEURAL_ENGINE,
    "ane-hw-intervals-internal": _NEURAL_ENGINE,
    "mps-hw-intervals": _HARDWARE.format(channel="mps-event-name"),
    "metal-gpu-intervals": _HARDWARE.format(channel="gpu-channel-name")
    + """;
        iosurface-accesses: formatted-label | IOSurface Accesses; bytes: size-in-bytes;
        cmdbuffer-id: metal-command-buffer-id | Commmand Buffer Id; encoder-id: metal-command-buffer-id;
        gpu-submission-id: uint64 | GPU Submission Id
    """,
    "metal-application-intervals": """
        start: start-time | Creation; duration; process | Owner; gpu: metal-device-name | Metal Device;
        event-depth: metal-nesting-level | Depth; event-label: formatted-label | Event;
        event-priority: metal-workload-priority | Priority; connection-UUID: connection-uuid64 | Connection UUID;
        color: render-buffer-depth; thread; event-type: metal-event-name;
        cmdbuffer-id: metal-command-buffer-id | Commmand Buffer Id; encoder-id: metal-command-buffer-id
    """,
    "metal-application-encoders-list": """
        start: start-time | Creation; duration; thread; process; gpu: metal-device-name | Metal Device;
        frame-number: gpu-frame-number | Frame; cmdbuffer-label: metal-object-label | Command Buffer;
        cmdbuffer-label-indexed: metal-object-label | Command Buffer (Indexed);
        encoder-label: metal-object-label | Encoder; encoder-label-indexed: metal-object-label | Encoder (Indexed);
        event-type: metal-event-name; cmdbuffer-id: metal-command-buffer-id | Commmand Buffer Id;
        encoder-id: metal-command-buffer-id
    """,
    "metal-application-command-buffer-submissions": """
        start: start-time | Creation; duration; event-type: metal-event-name; gpu: metal-device-name | Metal Device;
        track-label: metal-object-label; num-encoders: uint32 | # Encoders; encoder-time: duration; process; thread;
        event-icon: metal-event; event-label: narrative | Note; encoder-time-label: narrative;
        frame-number: uint32 | Frame #; color: render-buffer-depth;
        cmdbuffer-id: metal-command-buffer-id | Commmand Buffer Id
    """,
    "metal-command-buffer-completed": """
        timestamp: start-time; cmdbuffer-id: metal-command-buffer-id | Commmand Buffer Id
    """,
    "graphics-compiler-activity-intervals": """
        start: start-time | Start Time; duration; event-plane: metal-encoding-para | Plane;
        compiler: shader-compiler-name | Shader Compiler; program-type: formatted-label | Source; process;
        event-priority: metal-workload-priority | Priority; color: render-buffer-depth
    """,
    "metal-gpu-state-intervals": """
        start: start-time | Creation; duration; state: gpu-state; label: formatted-label; color: render-buffer-depth;
        num-events: uint32 | # Events; gpu: metal-device-name | Metal Device
    """,
    "gpu-performance-state-intervals": """
        start: start-time; duration; gpu-performance-state | GPU Performance State; track-label: string | Track;
        is-induced: boolean; narrative; event-type: gpu-event-name
    """,
    "device-thermal-state-intervals": """
        start: start-time; duration; end: start-time; thermal-state; track-label: string | Track; is-induced: boolean;
        narrative
    """,
    "potential-hangs": "start: start-time; duration; hang-type; thread; process",
    "hang-risks": """
        time: event-time | Timestamp; process; message: narrative; severity: short-string; event-type;
        backtrace: text-backtrace; thread
    """,
    "os-signpost": """
        time: event-time | Timestamp; thread; process; event-type; scope: string;
        identifier: os-signpost-identifier | Signpost identifier; name: signpost-name; format-string;
        backtrace: text-backtrace; subsystem; category; message: os-log-metadata
    """,
    "PointsOfInterestEvents": """
        time: event-time; process; thread; subsystem; name: signpost-name; message: os-log-metadata;
        emit-location: return-location; backtrace: text-backtrace
    """,
    # Mnemonics and types of these as public scripts read them; titles, and further columns, were not seen.
    "sysmon-process": """
        time: start-time; process; pid | Process ID; memory-physical-footprint: size-in-bytes | Memory;
        memory-resident-size: size-in-bytes | Resident Size
    """,
    "activity-monitor-process-live": """
        start: start-time; process; responsible-process: process; duration; pid | Process ID;
        memory-physical-footprint: size-in-bytes | Memory; memory-real: size-in-bytes | Real Memory
    """,
    # Fourth and fifth column as public scripts read them; the names of all and the first three were not seen.
    "metal-current-allocated-size": """
        timestamp: event-time; thread; device: metal-device-name | Metal Device; process; allocated-size: size-in-bytes
    """,
    "life-cycle-period": """
        start: start-time; group: string; lane: layout-id | Layout ID; duration; process | process;
        period: app-period | Lifecycle Period; narrative
    """,
    "process-info": """
        time: event-time | Timestamp; pid | Process ID; unique-id: uint64 | Unique Process ID; process;
        process-name: string
    """,
    "time-profile": """
        time: sample-time | Sample Time; thread; process; core; thread-state | State; weight;
        stack: backtrace | Backtrace
    """,
    "os-signpost-interval": _SIGNPOST_INTERVALS.format(name="string"),
    "OSSignpostIntervals": _SIGNPOST_INTERVALS.format(name="signpost-name"),
    "time-info": """
        update-time: sample-time; mabs-epoch: mach-absolute-time | Run Epoch;
        mct-epoch: mach-continuous-time | Continuous Epoch; timebase-info: mach-timebase-info | Timebase;
        trace-start-time: time-since-epoch
    """,
}

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
_COLUMNS = {schema: columns_from(listing) for schema, listing in _LISTINGS.items()}
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
