"""What a recording left: a usable bundle or not. The bundle decides, not the exit status of `xctrace`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tracekit.errors import TracekitError, UnreadableRecording
from tracekit.recording.direct import open_directly
from tracekit.recording.xctrace.exporter import Exporter
from tracekit.recording.xctrace.messages import ENDED_WITH_TARGET, advice_for, ended_well, run_issues, why_failed

if TYPE_CHECKING:
    from tracekit.recording.xctrace.running import Completed
    from tracekit.recording.xctrace.tool import Tool

_TOC_S: Final = 60.0
"""For the table of contents, which takes `xctrace` 15 s to begin. Nobody can interrupt it."""
_FULL_BYTES: Final = 50_000_000
"""A disk with less space is called full (heuristic): the smallest recordings need a few megabytes."""


def judge(
    tool: Tool, bundle: Path, completed: Completed, ended_because: str | None, *, on_device: bool
) -> tuple[str, ...]:
    """Warnings of a recording that succeeded: its bundle opens and holds what was recorded.

    ended_because: why tracekit ended `xctrace`, as a clause; None where it ended by itself. on_device: whether the
    recording is not of this Mac. Raises `TracekitError` with what went wrong where the bundle is not usable.
    """
    issues = run_issues(completed.errors)
    says_so = ended_because is None and completed.status in (0, ENDED_WITH_TARGET) and ended_well(completed.output)
    problem = _problem(tool, bundle, says_so)
    if problem is not None:
        full = _disk_words(bundle, completed.errors)
        why = ended_because or why_failed(completed, issues, on_device=on_device, problem=problem)
        remains = f"; an incomplete recording remains at {bundle}" if bundle.exists() else ""
        raise TracekitError(f"recording failed: {full or why}{remains}")
    warnings = [f"{issue.level.lower()} while recording: {issue.text.rstrip('.')}" for issue in issues]
    if ended_because is not None:
        warnings.append(f"{ended_because}, but the recording is complete")
    elif completed.status not in (0, ENDED_WITH_TARGET) and not issues:
        warnings.append(f"the recording is complete, although xctrace exited with status {completed.status}")
    advice = advice_for(issues, on_device=on_device)
    return (*warnings, advice) if advice else tuple(warnings)


def _problem(tool: Tool, bundle: Path, says_so: bool) -> str | None:
    """What makes a bundle unusable, as a clause; None for a usable one. says_so: whether `xctrace` says that it is
    usable, which is good enough for one that cannot be read natively."""
    if not bundle.exists():
        return "xctrace wrote nothing"
    if not (bundle / "form.template").is_file():
        return "the bundle was not finished (it has no form.template)"
    try:
        run = open_directly([bundle]).run
    except UnreadableRecording:
        if says_so:
            return None
        try:
            with tempfile.TemporaryDirectory(prefix="tracekit-") as between:
                run = Exporter(tool, bundle, _TOC_S).contents(Path(between)).runs[-1]
        except TracekitError as error:
            return f"the bundle cannot be opened: {error}"
    has_rows = any(entry.rows for entry in run.tables)
    return None if run.duration_ns or has_rows else "nothing was recorded"


def _disk_words(bundle: Path, errors: str) -> str | None:
    """What to say where the disk is full; None where it is not."""
    free = shutil.disk_usage(bundle.absolute().parent).free
    if "No space left on device" not in errors and (free >= _FULL_BYTES or not bundle.exists()):
        return None
    left = f" ({free / 1e6:,.0f} MB left)" if free < _FULL_BYTES else ""
    return f"the disk is full{left}; free some space and record again"
