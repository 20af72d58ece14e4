"""Looks at what this machine has for recording and reading."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tracekit.errors import TracekitError
from tracekit.recording.xctrace.running import run_command
from tracekit.recording.xctrace.signing import HOW_TO_SIGN, has_get_task_allow
from tracekit.recording.xctrace.tool import (
    HOW_TO_INSTALL,
    PATIENCE_S,
    find_tool,
    first_line,
    list_devices,
    list_templates,
    read_version,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tracekit.recording.xctrace.tool import Tool

NEEDED: Final = ("numpy", "pandas", "lxml", "rich", "textual", "shtab", "zlib-ng")
"""Dependencies of every installation, by the names of `pyproject.toml`."""
OPTIONAL: Final = {"pyarrow": "export to Parquet: pip install 'coreml-tracekit[parquet]'"}
HOW_TO_BUILD: Final = "install a C compiler (xcode-select --install; apt install gcc) and tracekit again"
TEMPLATE: Final = "Core ML"
OLDEST_FAMILY: Final = 14
"""Oldest Xcode whose exports are read."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: str
    """`ok`, `missing`, or `optional` for what is absent and not needed."""
    detail: str
    fix: str = ""


def examine(target: str | None, *, private: bool = False) -> list[Check]:
    """All checks, in order. private: show names and ids of devices."""
    checks = list(_packages())
    tool = find_tool()
    if tool is not None:
        checks += [_xcode(), *_xctrace(tool, private)]
    elif sys.platform == "darwin":
        checks.append(Check("Xcode", "missing", "there are no developer tools", HOW_TO_INSTALL))
    else:
        checks.append(
            Check(
                "recording",
                "optional",
                "needs a Mac; this machine reads recordings: analyze, tables and export work here",
            )
        )
    if target is not None:
        checks.append(_target(target))
    return checks


def _packages() -> Iterator[Check]:
    yield Check("Python", "ok", ".".join(map(str, sys.version_info[:3])))
    for name in (*NEEDED, *OPTIONAL):
        try:
            yield Check(name, "ok", metadata.version(name))
        except metadata.PackageNotFoundError:
            if name in OPTIONAL:
                yield Check(name, "optional", "not installed", OPTIONAL[name])
            else:
                yield Check(name, "missing", "not installed", f"pip install {name}")
    yield _scanner()


def _scanner() -> Check:
    try:
        from tracekit.recording.export import _scan  # noqa: F401
    except ImportError:
        return Check("scanner", "optional", "not built; exports are read by a slower reader", HOW_TO_BUILD)
    return Check("scanner", "ok", "compiled; exports are read fast")


def _xcode() -> Check:
    """A full Xcode ends in `.app/Contents/Developer`; the Command Line Tools have no xctrace."""
    if shutil.which("xcode-select") is None:
        return Check("Xcode", "missing", "there is no xcode-select", HOW_TO_INSTALL)
    completed = run_command(["xcode-select", "-p"], PATIENCE_S)
    path = completed.output.strip()
    if completed.status or not path.endswith(".app/Contents/Developer"):
        detail = "the Command Line Tools are selected" if path else first_line(completed.errors)
        return Check("Xcode", "missing", detail, HOW_TO_INSTALL)
    return Check("Xcode", "ok", f"{path.removesuffix('/Contents/Developer').rsplit('/', 1)[-1]} is selected")


def _xctrace(tool: Tool, private: bool) -> Iterator[Check]:
    try:
        version = read_version(tool)
    except TracekitError as error:
        yield Check("xctrace", "missing", str(error))
        return
    release = f"{version.text}, of Xcode {version.family}" if version.family else version.text
    if version.family is not None and version.family < OLDEST_FAMILY:
        yield Check("xctrace", "missing", release, f"install Xcode {OLDEST_FAMILY} or newer")
    else:
        yield Check("xctrace", "ok", release)
    yield _templates(tool)
    yield _devices(tool, private)


def _templates(tool: Tool) -> Check:
    try:
        names = list_templates(tool)
    except TracekitError as error:
        return Check("templates", "missing", str(error))
    if TEMPLATE not in names:
        return Check("templates", "missing", f"there is no template {TEMPLATE}", "install a current Xcode")
    return Check("templates", "ok", f"{len(names)}, with {TEMPLATE}")


def _devices(tool: Tool, private: bool) -> Check:
    try:
        devices = list_devices(tool)
    except TracekitError as error:
        return Check("devices", "missing", str(error))
    if private:
        shown = [f"{each.name} ({each.identifier}; {each.section})" for each in devices]
    else:
        sections = dict.fromkeys(each.section for each in devices)
        shown = [f"{sum(each.section == name for each in devices)} {name}" for name in sections]
    return Check("devices", "ok", ", ".join(shown) or "none")


def _target(target: str) -> Check:
    name = Path(target).name
    try:
        allowed = has_get_task_allow(Path(target))
    except TracekitError as error:
        return Check("target", "missing", str(error))
    if allowed:
        return Check("target", "ok", f"{name} is signed with get-task-allow")
    return Check("target", "missing", f"{name} is not signed with get-task-allow", HOW_TO_SIGN)
