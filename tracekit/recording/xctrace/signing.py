"""Whether an app may be observed: its entitlement `com.apple.security.get-task-allow`."""

from __future__ import annotations

import plistlib
import shutil
from typing import TYPE_CHECKING, Final
from xml.parsers.expat import ExpatError

from tracekit.errors import TracekitError
from tracekit.recording.xctrace.running import run_command
from tracekit.recording.xctrace.tool import PATIENCE_S, failed

if TYPE_CHECKING:
    from pathlib import Path

GET_TASK_ALLOW: Final = "com.apple.security.get-task-allow"
HOW_TO_SIGN: Final = (
    f"Instruments may only look into an app that is signed with {GET_TASK_ALLOW}: take a Debug build, or sign a copy "
    f"anew with `plutil -create xml1 debug.plist && plutil -insert '{GET_TASK_ALLOW.replace('.', chr(92) + '.')}' "
    "-bool YES debug.plist && codesign --force --sign - --entitlements debug.plist PATH` (for a script: the python "
    "that runs it)"
)


def has_get_task_allow(path: Path) -> bool:
    """Whether a program or app is signed with the entitlement. Raises `TracekitError` where that cannot be told."""
    if not path.exists():
        raise TracekitError(f"there is no {path}; check the path")
    if shutil.which("codesign") is None:
        raise TracekitError("entitlements can only be read on a Mac (there is no codesign here)")
    completed = run_command(["codesign", "-d", "--entitlements", "-", "--xml", str(path)], PATIENCE_S)
    if "not signed" in completed.errors:
        return False
    if completed.timed_out or completed.status:
        raise failed("codesign", completed, PATIENCE_S)
    if not completed.output.strip():
        return False
    try:
        entitlements = plistlib.loads(completed.output.encode())
    except (plistlib.InvalidFileException, ExpatError, ValueError) as error:
        raise TracekitError(f"codesign printed entitlements of an unknown form for {path}") from error
    return isinstance(entitlements, dict) and entitlements.get(GET_TASK_ALLOW) is True
