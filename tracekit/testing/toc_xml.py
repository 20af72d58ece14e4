"""Write the table of contents of scenarios, in the layout of `xctrace export --toc`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from xml.sax.saxutils import escape

from tracekit.testing.contents import table_list
from tracekit.testing.machines import Machine, Process
from tracekit.testing.scenario import Scenario
from tracekit.testing.schemas import DOCUMENTATION

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
    return [f"<{tag}>{escape(text)}</{tag}>" for tag, text in values.items() if text is not None]


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


def _empty(tag: str, attributes: dict[str, str]) -> str:
    pairs = "".join(f' {key}="{escape(value, {chr(34): "&quot;"})}"' for key, value in attributes.items())
    return f"<{tag}{pairs}/>"


def _block(head: str, inner: list[str]) -> list[str]:
    """Lines of an element with indented content."""
    return [f"<{head}>", *(_INDENT + line for line in inner), f"</{head.split(' ')[0]}>"]
