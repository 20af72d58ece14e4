"""What `xctrace record` prints, and what it means.

Texts and exit codes as seen with Xcode 26.3 and 27.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tracekit.recording.xctrace.signing import how_to_sign
from tracekit.recording.xctrace.tool import first_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.recording.xctrace.running import Completed

RUNNING: Final = "Ctrl-C to stop the recording"
"""The line that says that the recording really runs."""
SAVING: Final = ("Recording completed", "Recording failed")
FAILED: Final = "Recording failed with errors"
ENDED_WITH_TARGET: Final = 54
"""Exit code of launched targets, although the recording is complete."""
_SAVED: Final = "Output file saved as: "
_ISSUE: Final = re.compile(r"^(\t?)\* \[(Error|Warning)\] (.*)$")
_NOT_ALLOWED: Final = ("get-task-allow", "Permission to debug", "Failed to gain authorization", "Failed to attach")
_TRAP: Final = 133


@dataclass(frozen=True, slots=True)
class RunIssue:
    """One thing that went wrong while recording."""

    level: str
    """`Error` or `Warning`."""
    text: str
    suggestion: str = ""


def run_issues(errors: str) -> tuple[RunIssue, ...]:
    """The run issues on standard error; a suggestion is indented below its issue."""
    issues: list[RunIssue] = []
    for line in errors.splitlines():
        match = _ISSUE.match(line)
        if match is None:
            continue
        text = match[3].strip()
        if match[1] and issues:
            suggestion = text.removeprefix("Recovery Suggestion: ")
            issues[-1] = RunIssue(issues[-1].level, issues[-1].text, suggestion)
        else:
            issues.append(RunIssue(match[2], text))
    return tuple(issues)


def was_saved(output: str) -> bool:
    """Whether the tool says that it wrote the recording."""
    return any(line.startswith(_SAVED) for line in output.splitlines())


def _clause(text: str) -> str:
    """A sentence of xctrace as a part of one of ours; a name at its beginning keeps its capital."""
    starts_plainly = text.startswith(("Permission ", "Failed ", "Recording "))
    return f"{text[:1].lower() if starts_plainly else text[:1]}{text[1:]}".rstrip(".")


def advice_for(issues: Sequence[RunIssue], *, on_device: bool) -> str | None:
    """What to do where the target cannot be traced. on_device: whether the recording is not of this Mac."""
    texts = " ".join(f"{issue.text} {issue.suggestion}" for issue in issues)
    return how_to_sign(on_device=on_device) if any(word in texts for word in _NOT_ALLOWED) else None


def why_failed(completed: Completed, issues: Sequence[RunIssue], *, on_device: bool) -> str:
    """One clause: what went wrong, and what to do."""
    said = first_line(completed.errors or completed.output)
    known = {
        19: "start the app first, or pass its process ID (an app that is still starting is not found by name)",
        21: "the process may have ended; check its ID with `ps`",
        56: "list them with `xcrun xctrace list instruments` (templates such as System Trace are not instruments)",
    }
    if completed.status in known:
        return f"{said}; {known[completed.status]}"
    if issues:
        first = issues[0]
        return "; ".join(
            filter(None, [_clause(first.text), advice_for(issues, on_device=on_device) or first.suggestion.rstrip(".")])
        )
    if completed.status == _TRAP:
        return "xctrace crashed; try again with fewer instruments or a shorter time limit"
    return f"xctrace exited with status {completed.status}: {said}"
