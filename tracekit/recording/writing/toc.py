"""The table of contents in the form of `xctrace export --toc`.

What identifies people and machines stays out unless it is asked for: names and ids of devices, arguments, the
environment. The list of processes, which our readers do not keep, is written empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tracekit.recording.contents import Contents, Device, Run, Target
from tracekit.recording.writing.xml import escape

PublicAttributes = Callable[[Mapping[str, str]], Mapping[str, str]]

_INDENT = "    "


def toc_document(contents: Contents, public: PublicAttributes | None) -> str:
    """All runs of a recording. `public` takes what is private out of attributes of tables; None keeps everything."""
    lines = [line for run in contents.runs for line in _run(run, public)]
    body = "\n".join(["<trace-toc>", *(_INDENT + line for line in lines), "</trace-toc>"])
    return f'<?xml version="1.0"?>\n\n{body}\n'


def _run(run: Run, public: PublicAttributes | None) -> list[str]:
    tables = [
        _element("table", {"schema": entry.schema} | dict(public(entry.attributes) if public else entry.attributes))
        for entry in run.tables
    ]
    return _block(
        f'run number="{run.number}"',
        [
            *_block("info", [*_block("target", _target(run, public is None)), *_block("summary", _summary(run))]),
            "<processes/>",
            *_block("data", tables),
            "<tracks/>",
        ],
    )


def _target(run: Run, private: bool) -> list[str]:
    hosts = [] if run.host is None else [_device("host-device", run.host, private)]
    return [_device("device", run.device, private), *hosts, *_process(run.target, private)]


def _process(target: Target, private: bool) -> Iterable[str]:
    if target.kind == "all-processes":
        yield "<all-processes/>"
    elif target.process is not None or target.kind is not None:
        process = target.process
        yield _element(
            "process",
            {
                "type": target.kind,
                "name": process.name if process else None,
                "pid": None if process is None or process.pid is None else str(process.pid),
                "termination-reason": target.termination_reason,
                "arguments": target.arguments if private else None,
            },
        )


def _device(tag: str, device: Device, private: bool) -> str:
    return _element(
        tag,
        {
            "platform": device.platform,
            "model": device.model,
            "name": device.name if private else None,
            "os-version": device.os_version,
            "uuid": device.uuid if private else None,
        },
    )


def _summary(run: Run) -> list[str]:
    values = {
        "start-date": run.start_date,
        "end-date": run.end_date,
        "duration": None if run.duration_ns is None else _seconds(run.duration_ns),
        "end-reason": run.end_reason,
        "instruments-version": run.instruments_version,
        "template-name": run.template,
        "recording-mode": run.recording_mode,
        "time-limit": run.time_limit,
        "imported-from": run.imported_from,
    }
    return [f"<{tag}>{escape(text)}</{tag}>" for tag, text in values.items() if text is not None]


def _seconds(ns: int) -> str:
    """Six decimals as `xctrace` writes them, nine where the recording is finer."""
    seconds, rest = divmod(ns, 1_000_000_000)
    return f"{seconds}.{rest:09}" if rest % 1_000 else f"{seconds}.{rest // 1_000:06}"


def _element(tag: str, attributes: Mapping[str, str | None]) -> str:
    pairs = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items() if value is not None)
    return f"<{tag}{pairs}/>"


def _block(head: str, inner: Iterable[str]) -> list[str]:
    return [f"<{head}>", *(_INDENT + line for line in inner), f"</{head.split(' ')[0]}>"]
