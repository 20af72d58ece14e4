"""Which tables a recording lists, with the attributes that distinguish tables of one schema; and its table of contents,
in the layout of `xctrace export --toc`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from xml.sax import saxutils

from tracekit.testing.machines import Machine
from tracekit.testing.scenario import Scenario
from tracekit.testing.schemas import DOCUMENTATION, LANGUAGE_MODELS

Attributes = tuple[tuple[str, str], ...]

_TEMPLATE = """
    kdebug | codes=0x2b,0x87 | target=SINGLE; kdebug | codes=0x34,0x11 0x34,0x0f; kdebug | codes=0x2b,0x2b;
    kdebug | codes=0x2b,0xd8 | target=SINGLE; kdebug | codes=0x85,0xc2; kdebug | codes=0x1f,0x7 | target=SINGLE;
    kdebug | codes=0x06,0x1b 0x2b,0x24; kdebug | codes=0x2d,* | target=SINGLE;
    kdebug | codes=0x2b,0xdc | target=SINGLE; kdebug | codes=0x31,0xca | target=SINGLE; kdebug | codes=0x85,0x80;
    kdebug | codes=0x1,0x25 | target=SINGLE;
    metal-application-encoders-list | target-pid=SINGLE; metal-object-label;
    time-sample | callstack=user | target=SINGLE | sample-rate-micro-seconds=1000; {neural_engine}; metal-gpu-info;
    dyld-library-load | target-pid=SINGLE; process-info; time-info; coreml-os-signpost | target-pid=SINGLE;
    metal-application-command-buffer-submissions | target-pid=SINGLE; metal-command-buffer-completed;
    gpu-performance-state-intervals | requested-consistent-state=0; thread-info; tick | frequency=10;
    tick | frequency=1; life-cycle-period | target-pid=SINGLE;
    time-profile | target-pid=SINGLE | context-switch-sampling=0 | high-frequency-sampling=0; device-gpu-info;
    mps-hw-intervals | target-pid=SINGLE; metal-gpu-state-intervals; metal-gpu-submission-to-command-buffer-id;
    metal-gpu-intervals | target-pid=SINGLE; metal-known-compositor-process;
    os-signpost | subsystem=com.apple.coreanimation | category=CAMetalLayer;
    os-signpost | subsystem=com.apple.coreanimation | category=CAMetalLayer.Stalls;
    os-signpost | subsystem=com.apple.ConditionInducer.LowSeverity | category=InduceCondition;
    os-signpost | subsystem=com.apple.Metal.AGXSignposts | category=ShaderTimeline;
    os-signpost | subsystem=com.apple.coreml | category=DynamicTracing;
    os-signpost | subsystem=com.apple.coreml | category=coreml;
    graphics-compiler-activity-intervals | target-pid=SINGLE; metal-application-intervals | target-pid=SINGLE
"""
"""Part of the Core ML template, with kernel traces and signposts. The schema of the Neural Engine depends on the
version. Thermal state, hangs and points of interest are not in the template."""


def _tables(listing: str) -> list[tuple[str, dict[str, str]]]:
    """Tables from `schema | attribute=value | ...`, separated by `;`."""
    entries = ([part.strip() for part in entry.split("|")] for entry in " ".join(listing.split()).split(";"))
    return [(schema, dict(pair.split("=") for pair in pairs)) for schema, *pairs in entries]


_FURTHER = dict(
    _tables("""
        device-thermal-state-intervals; potential-hangs | target-pid=SINGLE | hangs-threshold=250;
        hang-risks | target-pid=SINGLE | detect-priority-inversions=0; sysmon-process | target-pid=SINGLE;
        activity-monitor-process-live | target-pid=SINGLE; metal-current-allocated-size | target-pid=SINGLE;
        os-signpost | category=PointsOfInterest | target-pid=SINGLE;
        os-signpost-interval | layout-scope=name | target-pid=SINGLE;
        OSSignpostIntervals | swift-table=OSSignpostIntervals();
        PointsOfInterestEvents | swift-table=PointsOfInterestEvents(excludeOSLogs: false, mustTargetAllProcesses: false)
    """)
) | {schema: {"swift-table": f"{schema}()"} for schema in LANGUAGE_MODELS}
"""Tables of instruments that are added by hand."""

_INDENT = "    "
_BEFORE_SCHEMA = frozenset(
    {"codes", "content", "hangs-threshold", "layout-scope", "requested-consistent-state", "subsystem", "swift-table"}
)
"""Attributes that stand before the schema of a table. Read off the tables of contents of Xcode 16.4 and 26."""
_BEFORE_OWN_SCHEMA = {
    "time-sample": frozenset({"callstack", "target"}),
    "time-profile": frozenset({"target-pid", "context-switch-sampling", "high-frequency-sampling"}),
    "hang-risks": frozenset({"target-pid"}),
}
"""The same of tables where it is otherwise."""
_MACHINE = ("platform", "model", "name", "os-version", "uuid")
"""Attributes of a device in order."""
_OLD_MACHINE = ("uuid", "model", "name", "os-version", "platform")
"""The same before Xcode 27."""

_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def table_list(scenario: Scenario) -> list[tuple[str, Attributes]]:
    """Schema and attributes of every table that the recording lists, in its order."""
    listed = _tables(_TEMPLATE.format(neural_engine=scenario.xcode.neural_engine_schema))
    logs = dict.fromkeys((row.subsystem, row.category) for row in scenario.logged)
    listed += [("os-signpost", {"subsystem": name, "category": category}) for name, category in logs]
    # Beyond the template: those asked for, and those that have rows. KeyError for an unknown one.
    points = "PointsOfInterestEvents" if scenario.xcode.family >= 27 else "os-signpost"
    rows = {
        "device-thermal-state-intervals": scenario.thermal,
        "potential-hangs": scenario.hangs,
        scenario.footprint_schema: scenario.memory,
        "metal-current-allocated-size": scenario.gpu_memory,
        scenario.xcode.signpost_interval_schema: scenario.signposts,
        points: scenario.points,
        **scenario.language_models,
    }
    further = scenario.recorded | {schema for schema, rows_there in rows.items() if rows_there}
    listed += [(schema, _FURTHER[schema]) for schema in sorted(further)]
    # A table that is given whole takes the place of what the scenario knows of it.
    given = {table.schema for table in scenario.other_tables}
    listed = [entry for entry in listed if entry[0] not in given]
    listed += [(table.schema, dict(table.attributes)) for table in scenario.other_tables]
    kept = [(schema, attributes) for schema, attributes in listed if schema not in scenario.missing]
    return [
        (schema, tuple((key, _attribute_text(scenario, key, text)) for key, text in pairs.items()))
        for schema, pairs in kept
        for _ in range(scenario.parts)
    ]


def _attribute_text(scenario: Scenario, key: str, text: str) -> str:
    """Attribute value as the table of contents prints it: items with other characters stand in double quotes."""
    if text == "SINGLE" and scenario.all_processes:
        return "ALL"
    items = [text] if key == "swift-table" else text.split(" ")
    return " ".join(item if set(item) <= _BARE else f'"{item}"' for item in items)


def toc_document(runs: Sequence[Scenario]) -> str:
    """Table of contents of a recording with these runs; as in real files, no newline at the end."""
    lines = [line for number, run in enumerate(runs, start=1) for line in _run(number, run)]
    body = "\n".join(["<trace-toc>", *(_INDENT + line for line in lines), "</trace-toc>"])
    return f'<?xml version="1.0"?>\n\n{body}'


def _run(number: int, run: Scenario) -> list[str]:
    variables = [_empty("item", {"key": key, "value": value}) for key, value in run.environment.items()]
    environment = _block("environment", variables) if variables else []
    processes = [
        _empty("process", {"name": process.name, "pid": str(process.pid), "path": process.path})
        for process in [run.target, *run.processes]
    ]
    start = datetime.fromisoformat(run.start_date)
    end = start + timedelta(microseconds=run.duration_ns // 1_000)
    values = {
        "start-date": start.isoformat(timespec="milliseconds"),
        "end-date": end.isoformat(timespec="milliseconds"),
        "duration": f"{run.duration_ns // 1_000_000_000}.{run.duration_ns // 1_000 % 1_000_000:06}",
        "end-reason": run.end_reason,
        "instruments-version": run.xcode.instruments_version,
        "template-name": run.template,
        "recording-mode": run.recording_mode,
        "time-limit": run.time_limit,
        "imported-from": run.imported_from,
    }
    summary = [f"<{tag}>{saxutils.escape(text)}</{tag}>" for tag, text in values.items() if text is not None]
    tables: list[str] = []
    for schema, pairs in table_list(run):
        attributes = dict(pairs)
        documentation = DOCUMENTATION.get(schema) if run.xcode.documented else None
        first = _BEFORE_OWN_SCHEMA.get(schema, _BEFORE_SCHEMA)
        before = {name: text for name, text in attributes.items() if name in first}
        # A key keeps the place where it stands first.
        ordered = {**before, "schema": schema, **attributes}
        tables.append(_empty("table", ordered | ({"documentation": documentation} if documentation else {})))
    return _block(
        f'run number="{number}"',
        [
            *_block("info", [*_block("target", _target(run)), *environment, *_block("summary", summary)]),
            *_block("processes", processes),
            *_block("data", tables),
            "<tracks/>",
        ],
    )


def _target(run: Scenario) -> list[str]:
    """Device, host and target process."""
    lines = [_machine("device", run.device, run)]
    if run.host is not None:
        lines.append(_machine("host-device", run.host, run))
    if run.all_processes:
        return [*lines, _empty("all-processes", {})]
    process = {
        **({"arguments": run.arguments} if run.arguments else {}),
        "type": "launched" if run.launched else "attached",
        **({"return-exit-status": "0"} if run.launched else {}),
        "name": run.target.name,
        "pid": str(run.target.pid),
        **({"termination-reason": "exit(0)"} if run.launched else {}),
    }
    return [*lines, _empty("process", process)]


def _machine(tag: str, machine: Machine, run: Scenario) -> str:
    order = _MACHINE if run.xcode.family >= 27 else _OLD_MACHINE
    return _empty(tag, {name: getattr(machine, name.replace("-", "_")) for name in order})


def escape(text: str) -> str:
    """Text with the characters replaced that XML keeps for itself."""
    return saxutils.escape(text, {'"': "&quot;"})


def _empty(tag: str, attributes: dict[str, str]) -> str:
    pairs = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    return f"<{tag}{pairs}/>"


def _block(head: str, inner: list[str]) -> list[str]:
    """Lines of an element with indented content."""
    return [f"<{head}>", *(_INDENT + line for line in inner), f"</{head.split(' ')[0]}>"]
