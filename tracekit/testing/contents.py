"""Which tables a recording lists, with the attributes that distinguish tables of one schema; and its table of contents,
in the layout of `xctrace export --toc`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from xml.sax import saxutils

from tracekit.testing.machines import Machine, Process
from tracekit.testing.scenario import Scenario
from tracekit.testing.schemas import DOCUMENTATION, LANGUAGE_MODELS

Attributes = tuple[tuple[str, str], ...]

_KDEBUG = (
    ("0x2b,0x87", True),
    ("0x34,0x11 0x34,0x0f", False),
    ("0x2b,0x2b", False),
    ("0x2b,0xd8", True),
    ("0x85,0xc2", False),
    ("0x1f,0x7", True),
    ("0x06,0x1b 0x2b,0x24", False),
    ("0x2d,*", True),
    ("0x2b,0xdc", True),
    ("0x31,0xca", True),
    ("0x85,0x80", False),
    ("0x1,0x25", True),
)
"""Codes of kernel traces, and whether they are limited to the target."""

_SIGNPOSTS = (
    ("com.apple.coreanimation", "CAMetalLayer"),
    ("com.apple.coreanimation", "CAMetalLayer.Stalls"),
    ("com.apple.ConditionInducer.LowSeverity", "InduceCondition"),
    ("com.apple.Metal.AGXSignposts", "ShaderTimeline"),
    ("com.apple.coreml", "DynamicTracing"),
    ("com.apple.coreml", "coreml"),
)

_OF_TARGET = {"target-pid": "SINGLE"}

_TEMPLATE: tuple[tuple[str | None, dict[str, str]], ...] = (
    ("metal-application-encoders-list", _OF_TARGET),
    ("metal-object-label", {}),
    ("time-sample", {"callstack": "user", "target": "SINGLE", "sample-rate-micro-seconds": "1000"}),
    (None, {}),
    ("metal-gpu-info", {}),
    ("dyld-library-load", _OF_TARGET),
    ("process-info", {}),
    ("time-info", {}),
    ("coreml-os-signpost", _OF_TARGET),
    ("metal-application-command-buffer-submissions", _OF_TARGET),
    ("metal-command-buffer-completed", {}),
    ("gpu-performance-state-intervals", {"requested-consistent-state": "0"}),
    ("thread-info", {}),
    ("tick", {"frequency": "10"}),
    ("tick", {"frequency": "1"}),
    ("life-cycle-period", _OF_TARGET),
    ("time-profile", {**_OF_TARGET, "context-switch-sampling": "0", "high-frequency-sampling": "0"}),
    ("device-gpu-info", {}),
    ("mps-hw-intervals", _OF_TARGET),
    ("metal-gpu-state-intervals", {}),
    ("metal-gpu-submission-to-command-buffer-id", {}),
    ("metal-gpu-intervals", _OF_TARGET),
    ("metal-known-compositor-process", {}),
)
"""Part of the Core ML template; None stands for the Neural Engine, whose schema depends on the version. Thermal state,
hangs and points of interest are not in the template."""

_FURTHER: dict[str, dict[str, str]] = {
    "device-thermal-state-intervals": {},
    "potential-hangs": {**_OF_TARGET, "hangs-threshold": "250"},
    "hang-risks": {**_OF_TARGET, "detect-priority-inversions": "0"},
    "sysmon-process": {**_OF_TARGET},
    "activity-monitor-process-live": {**_OF_TARGET},
    "metal-current-allocated-size": {**_OF_TARGET},
    "os-signpost": {"category": "PointsOfInterest", **_OF_TARGET},
    "os-signpost-interval": {"layout-scope": "name", **_OF_TARGET},
    "OSSignpostIntervals": {"swift-table": "OSSignpostIntervals()"},
    "PointsOfInterestEvents": {
        "swift-table": "PointsOfInterestEvents(excludeOSLogs: false, mustTargetAllProcesses: false)"
    },
    **{schema: {"swift-table": f"{schema}()"} for schema in LANGUAGE_MODELS},
}
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
_OLD_MACHINE = ("uuid", "model", "name", "os-version", "platform")
"""Attributes of a device in order, before Xcode 27."""

_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def table_list(scenario: Scenario) -> list[tuple[str, Attributes]]:
    """Schema and attributes of every table that the recording lists, in its order."""
    listed: list[tuple[str, dict[str, str]]] = [
        ("kdebug", {"codes": codes, **({"target": "SINGLE"} if single_target else {})})
        for codes, single_target in _KDEBUG
    ]
    listed += [(schema or scenario.xcode.neural_engine_schema, pairs) for schema, pairs in _TEMPLATE]
    listed += [("os-signpost", {"subsystem": subsystem, "category": name}) for subsystem, name in _SIGNPOSTS]
    logs = dict.fromkeys((row.subsystem, row.category) for row in scenario.logged)
    listed += [("os-signpost", {"subsystem": name, "category": category}) for name, category in logs]
    listed += [(schema, _FURTHER[schema]) for schema in sorted(_extra_schemas(scenario))]
    # A table that is given whole takes the place of what the scenario knows of it.
    given = {table.schema for table in scenario.other_tables}
    listed = [entry for entry in listed if entry[0] not in given]
    listed += [(table.schema, dict(table.attributes)) for table in scenario.other_tables]
    kept = [(schema, attributes) for schema, attributes in listed if schema not in scenario.missing]
    return [
        (schema, tuple((key, _attribute_text(key, _of_all(scenario, text))) for key, text in pairs.items()))
        for schema, pairs in kept
        for _ in range(scenario.parts)
    ]


def _of_all(scenario: Scenario, text: str) -> str:
    """The value of an attribute in this recording."""
    return "ALL" if text == "SINGLE" and scenario.all_processes else text


def _extra_schemas(scenario: Scenario) -> set[str]:
    """Schemas beyond the template: those asked for, and those that have rows. KeyError for an unknown one."""
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
    return scenario.recorded | {schema for schema, listed in rows.items() if listed}


def _attribute_text(key: str, text: str) -> str:
    """Attribute value as the table of contents prints it: items with other characters stand in double quotes."""
    items = [text] if key == "swift-table" else text.split(" ")
    return " ".join(item if set(item) <= _BARE else f'"{item}"' for item in items)


def toc_document(runs: Sequence[Scenario]) -> str:
    """Table of contents of a recording with these runs; as in real files, no newline at the end."""
    lines = [line for number, run in enumerate(runs, start=1) for line in _run(number, run)]
    body = "\n".join(["<trace-toc>", *(_INDENT + line for line in lines), "</trace-toc>"])
    return f'<?xml version="1.0"?>\n\n{body}'


def _run(number: int, run: Scenario) -> list[str]:
    return _block(
        f'run number="{number}"',
        [
            *_block("info", [*_block("target", _target(run)), *_environment(run), *_block("summary", _summary(run))]),
            *_block("processes", [_process(process) for process in [run.target, *run.processes]]),
            *_block("data", [_table(run, schema, dict(attributes)) for schema, attributes in table_list(run)]),
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


def _environment(run: Scenario) -> list[str]:
    """Variables of the target."""
    items = [_empty("item", {"key": key, "value": value}) for key, value in run.environment.items()]
    return _block("environment", items) if items else []


def _summary(run: Scenario) -> list[str]:
    """When, how long, why it ended, and what recorded it."""
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
    return [f"<{tag}>{saxutils.escape(text)}</{tag}>" for tag, text in values.items() if text is not None]


def _table(run: Scenario, schema: str, attributes: dict[str, str]) -> str:
    documentation = DOCUMENTATION.get(schema) if run.xcode.documented else None
    first = _BEFORE_OWN_SCHEMA.get(schema, _BEFORE_SCHEMA)
    before = {name: text for name, text in attributes.items() if name in first}
    # A key keeps the place where it stands first.
    ordered = {**before, "schema": schema, **attributes}
    return _empty("table", ordered | ({"documentation": documentation} if documentation else {}))


def _machine(tag: str, machine: Machine, run: Scenario) -> str:
    attributes = {
        "platform": machine.platform,
        "model": machine.model,
        "name": machine.name,
        "os-version": machine.os_version,
        "uuid": machine.uuid,
    }
    order = attributes if run.xcode.family >= 27 else _OLD_MACHINE
    return _empty(tag, {name: attributes[name] for name in order})


def _process(process: Process) -> str:
    return _empty("process", {"name": process.name, "pid": str(process.pid), "path": process.path})


def escape(text: str) -> str:
    """Text with the characters replaced that XML keeps for itself."""
    return saxutils.escape(text, {'"': "&quot;"})


def _empty(tag: str, attributes: dict[str, str]) -> str:
    pairs = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    return f"<{tag}{pairs}/>"


def _block(head: str, inner: list[str]) -> list[str]:
    """Lines of an element with indented content."""
    return [f"<{head}>", *(_INDENT + line for line in inner), f"</{head.split(' ')[0]}>"]
