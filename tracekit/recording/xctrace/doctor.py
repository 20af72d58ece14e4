"""Checks what this machine has to record and analyze with, and whether an app has the `get-task-allow` entitlement."""

from __future__ import annotations

import platform
import plistlib
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final
from xml.parsers.expat import ExpatError

from tracekit.errors import TracekitError, install_command
from tracekit.recording.xctrace import tool as xctrace
from tracekit.recording.xctrace.recorder import DYNAMIC, HIGH_FREQUENCY, WAITING, options_for
from tracekit.recording.xctrace.running import run_command
from tracekit.recording.xctrace.tool import ADDED, FRAMES, MEMORY, ON_DEVICE, ON_MAC, how_to_build
from tracekit.units import format_count, format_names

NEEDED: Final = ("numpy", "pandas", "lxml", "rich", "markdown-it-py", "textual", "shtab", "zlib-ng")
"""Dependencies of every installation, by the names of `pyproject.toml`. `_dependencies` gives those of this machine."""
OPTIONAL: Final = {
    "pyarrow": ("export to Parquet", "parquet"),
    "perfetto": ("export for the Perfetto UI", "perfetto"),
    "matplotlib": ("plots in notebooks", "plot"),
    "distributed": ("reading recordings on a Dask cluster", "dask"),
    "duckdb": ("`tracekit sql`", "sql"),
    "mcp": ("`tracekit mcp`", "mcp"),
}
"""Packages of the extras of `pyproject.toml`, but those of `dev`: what each is for, and its extra."""
HOW_TO_BUILD: Final = "install a C compiler (xcode-select --install; apt install gcc) and tracekit again"
TEMPLATE: Final = "Core ML"
_NOUNS: Final = frozenset({"device", "simulator"})
OLDEST_FAMILY: Final = 14
"""Oldest Xcode whose exports are read."""
_DEVICE_IDENTIFIER: Final = "application-identifier"
"""Every app for a device is signed with it; on macOS its name begins with `com.apple.`."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: str
    """`ok`, `missing`, `optional` for what is absent but not required, or `unchecked` where nothing can tell."""
    detail: str
    fix: str = ""


def examine(target: str | None, *, private: bool) -> list[Check]:
    """All checks, in order. private: show names and ids of devices."""
    checks = list(_packages())
    tool = xctrace.find_tool()
    if tool is not None:
        checks += [_xcode(), *_xctrace(tool, private)]
    elif sys.platform == "darwin":
        checks.append(Check("Xcode", "missing", "no developer tools found", xctrace.HOW_TO_INSTALL))
    else:
        checks.append(Check("recording", "optional", "needs a Mac; every other command works here"))
    if target is not None:
        checks += _tool_checks("target", _target(target), "unchecked" if Path(target).exists() else "missing")
    return checks


def _packages() -> Iterator[Check]:
    yield Check("Python", "ok", ".".join(map(str, sys.version_info[:3])))
    # coremltools has wheels for some platforms and Pythons only.
    system = platform.system()
    has_wheels = system == "Darwin" or (system == "Linux" and platform.machine() == "x86_64")
    needed = (*NEEDED, "coremltools") if has_wheels and sys.version_info < (3, 14) else NEEDED
    for name in (*needed, *OPTIONAL):
        purpose, extra = OPTIONAL.get(name, ("", ""))
        try:
            yield Check(name, "ok", metadata.version(name))
        except metadata.PackageNotFoundError:
            state, detail = ("optional", f"not installed; for {purpose}") if extra else ("missing", "not installed")
            yield Check(name, state, detail, install_command(f"coreml-tracekit[{extra}]" if extra else name))
    try:
        from tracekit.recording.export import _scan  # noqa: F401
    except ImportError:
        yield Check("scanner", "optional", "not built; exports are read by a slower reader", HOW_TO_BUILD)
    else:
        yield Check("scanner", "ok", "compiled; exports are read fast")


def _xcode() -> Check:
    """A full Xcode ends in `.app/Contents/Developer`; the Command Line Tools have no xctrace."""
    if shutil.which("xcode-select") is None:
        return Check("Xcode", "missing", "xcode-select not found", xctrace.HOW_TO_INSTALL)
    completed = run_command(["xcode-select", "-p"], xctrace.PATIENCE_S)
    path = completed.output.strip()
    if completed.status or not path.endswith(".app/Contents/Developer"):
        detail = "the Command Line Tools are selected" if path else xctrace.first_line(completed.errors)
        return Check("Xcode", "missing", detail, xctrace.HOW_TO_INSTALL)
    return Check("Xcode", "ok", f"{path.removesuffix('/Contents/Developer').rsplit('/', 1)[-1]} is selected")


def _xctrace(tool: xctrace.Tool, private: bool) -> Iterator[Check]:
    try:
        version = xctrace.read_version(tool)
    except TracekitError as error:
        yield Check("xctrace", "missing", str(error))
        return
    release = f"{version.text}, from Xcode {version.family}" if version.family else version.text
    if version.family is not None and version.family < OLDEST_FAMILY:
        yield Check("xctrace", "missing", release, f"install Xcode {OLDEST_FAMILY} or newer")
    else:
        yield Check("xctrace", "ok", release)
    yield from _tool_checks("templates", _templates(tool))
    yield from _tool_checks("instruments", _instruments(tool))
    yield _options(tool)
    yield from _tool_checks("devices", _devices(tool, private, version))


def _tool_checks(name: str, checks: Iterable[Check], failed: str = "missing") -> Iterator[Check]:
    """The checks; where the tool does not answer, why."""
    try:
        yield from checks
    except TracekitError as error:
        yield Check(name, failed, str(error))


def _templates(tool: xctrace.Tool) -> Iterator[Check]:
    names = xctrace.list_names(tool, "templates")
    if TEMPLATE in names:
        yield Check("templates", "ok", f"{len(names)}, including {TEMPLATE}")
    else:
        yield Check("templates", "missing", f"the {TEMPLATE} template is missing", "install a current version of Xcode")


def _options(tool: xctrace.Tool) -> Check:
    """What `tracekit record` switches on in the template's instruments."""
    found = options_for(tool, ("--template", TEMPLATE), (WAITING, DYNAMIC, HIGH_FREQUENCY))
    if WAITING in found.shown:
        return Check("options", "ok", f"{format_names(found.shown)} can be recorded")
    lost = "threads that wait cannot be recorded, which show where calls begin and end if Core ML records none"
    return Check("options", "optional", lost, "use Xcode 16 or newer")


def _instruments(tool: xctrace.Tool) -> Iterator[Check]:
    """Those that `tracekit record` adds to the template, and with `--memory`."""
    names = xctrace.list_names(tool, "instruments")
    for check, wanted, can, without in (
        ("instruments", ADDED, f"{' and '.join(ADDED)} can be added", "record with --only-template"),
        ("memory", MEMORY, f"record --memory adds {' and '.join(MEMORY)}", "record without --memory"),
        ("frames", FRAMES, f"record --frames adds {format_names(FRAMES)}", "record without --frames"),
    ):
        lacking = " and ".join(name for name in wanted if name not in names)
        yield Check(check, "optional", f"{lacking} cannot be recorded", without) if lacking else Check(check, "ok", can)


def _devices(tool: xctrace.Tool, private: bool, version: xctrace.Version) -> Iterator[Check]:
    devices = xctrace.list_devices(tool)
    if private:
        names = [f"{device.name} ({device.identifier}; {device.kind})" for device in devices]
    else:
        counts = Counter(device.kind for device in devices)
        names = [
            format_count(count, kind) if kind in _NOUNS else kind if kind == "this Mac" else f"{count} {kind}"
            for kind, count in counts.items()
        ]
    offline = any(device.is_offline for device in devices)
    go_online = f"to record on one that is offline, {xctrace.GO_ONLINE}" if offline else ""
    yield Check("devices", "ok", ", ".join(names) or "none", go_online)
    if any(device.is_simulator for device in devices) and version.hangs_on_simulators:
        hangs = "cannot be recorded: xctrace of Xcode 26.4 to 27.0 hangs"
        yield Check("simulators", "optional", hangs, xctrace.USE_DEVICE)


def _target(target: str) -> Iterator[Check]:
    path = Path(target)
    name = path.name or path.resolve().name
    signature = read_signature(path)
    if signature.is_traceable:
        yield Check("target", "ok", f"{name} has get-task-allow")
    else:
        yield Check("target", "missing", f"{name} lacks get-task-allow", how_to_sign(on_device=signature.on_device))


@dataclass(frozen=True, slots=True)
class Signature:
    """What the signature of a program says about tracing it."""

    is_traceable: bool
    on_device: bool
    """Whether it is built for iOS or another system than macOS."""


def how_to_sign(*, on_device: bool) -> str:
    """The same for a program that is known. A build for a device is never signed by hand: without its provisioning
    profile it could not be installed."""
    if on_device:
        return f"{how_to_build(on_device=True)}; do not re-sign it by hand, or the device will refuse to install it"
    return (
        f"{how_to_build(on_device=False)}, or re-sign a copy, which drops its other entitlements: `plutil -create xml1 "
        f"debug.plist && plutil -insert '{ON_MAC.replace('.', chr(92) + '.')}' -bool YES debug.plist && codesign "
        "--force --sign - --entitlements debug.plist COPY` (for a Python script: a copy of its python)"
    )


def read_signature(path: Path) -> Signature:
    """The signature of an app or program. Raises `TracekitError` where it cannot be read."""
    if not path.exists():
        raise TracekitError(f"{path}: no such file or directory")
    if shutil.which("codesign") is None:
        raise TracekitError("entitlements can only be checked on a Mac (codesign not found)")
    entitlements = _entitlements(path)
    # On a device, apps are laid out flat; those for macOS have a folder `Contents`.
    flat = (path / "Info.plist").is_file() and not (path / "Contents").exists()
    on_device = _DEVICE_IDENTIFIER in entitlements or flat
    # A simulator runs what is built for a device, signed as a program of the Mac.
    names = (ON_DEVICE, ON_MAC) if on_device else (ON_MAC,)
    return Signature(any(entitlements.get(name) is True for name in names), on_device)


def _entitlements(path: Path) -> dict[str, Any]:
    """Entitlements of a program; none where it is not signed."""
    completed = run_command(["codesign", "-d", "--entitlements", "-", "--xml", str(path)], xctrace.PATIENCE_S)
    if "not signed" in completed.errors:
        return {}
    if completed.timed_out or completed.status:
        raise xctrace.failure("codesign", completed, xctrace.PATIENCE_S)
    if not completed.output.strip():
        return {}
    try:
        entitlements = plistlib.loads(completed.output.encode())
    except (plistlib.InvalidFileException, ExpatError, ValueError) as error:
        raise TracekitError(f"cannot read the entitlements that codesign printed for {path}") from error
    return entitlements if isinstance(entitlements, dict) else {}
