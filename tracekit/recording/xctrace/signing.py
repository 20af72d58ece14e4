"""Whether Instruments can trace an app: its `get-task-allow` entitlement."""

from __future__ import annotations

import plistlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from xml.parsers.expat import ExpatError

from tracekit.errors import TracekitError
from tracekit.recording.xctrace.running import run_command
from tracekit.recording.xctrace.tool import PATIENCE_S, failure

ON_MAC: Final = "com.apple.security.get-task-allow"
ON_DEVICE: Final = "get-task-allow"
"""The name on iOS, iPadOS, tvOS, watchOS and visionOS. macOS ignores it."""
_DEVICE_IDENTIFIER: Final = "application-identifier"
"""Every app for a device is signed with it; on macOS its name begins with `com.apple.`."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What the signature of a program says about tracing it."""

    is_traceable: bool
    on_device: bool
    """Whether it is built for iOS or another system than macOS."""


def how_to_build(*, on_device: bool) -> str:
    """What to do about an app without the entitlement, whatever it is built for."""
    return (
        f"Instruments can only trace apps signed with {ON_DEVICE if on_device else ON_MAC}: build the app with Xcode's "
        "automatic development signing (Product > Profile does)"
    )


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
    completed = run_command(["codesign", "-d", "--entitlements", "-", "--xml", str(path)], PATIENCE_S)
    if "not signed" in completed.errors:
        return {}
    if completed.timed_out or completed.status:
        raise failure("codesign", completed, PATIENCE_S)
    if not completed.output.strip():
        return {}
    try:
        entitlements = plistlib.loads(completed.output.encode())
    except (plistlib.InvalidFileException, ExpatError, ValueError) as error:
        raise TracekitError(f"cannot read the entitlements that codesign printed for {path}") from error
    return entitlements if isinstance(entitlements, dict) else {}
