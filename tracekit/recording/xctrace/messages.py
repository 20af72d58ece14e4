"""What `xctrace record` prints, and what it means.

Texts and exit codes as seen with Xcode 26.3 and 27.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tracekit.recording.xctrace.running import Completed
from tracekit.recording.xctrace.tool import first_line

RUNNING: Final = "Ctrl-C to stop the recording"
"""The line that says that the recording really runs."""
TARGET_EXITED: Final = "Target app exited"
SAVING: Final = ("Recording completed", "Recording failed")
_TOLD: Final = ("Starting recording with", RUNNING, "Reached specified time limit", TARGET_EXITED, *SAVING)
"""Lines that are repeated in our own words, or say nothing new."""
_SAVED: Final = "Output file saved as: "
ENDED_WITH_TARGET: Final = 54
"""Exit code of launched targets, although the recording is complete."""
NOT_FOUND: Final = 19
"""Exit code where no process has the name."""
_ISSUES: Final = "Run issues were detected"
_ISSUE: Final = re.compile(r"^(\t?)\* \[(Error|Warning)\] (.*)$")
_NOT_ALLOWED: Final = ("get-task-allow", "Permission to debug", "Failed to gain authorization", "Failed to attach")
ON_MAC: Final = "com.apple.security.get-task-allow"
ON_DEVICE: Final = "get-task-allow"
"""The name on iOS, iPadOS, tvOS, watchOS and visionOS. macOS ignores it."""
ADDED: Final = ("Hangs", "Thermal State")
"""Instruments that `main-thread-work` and `thermal-throttling` need, and that the Core ML template does not have."""
MEMORY: Final = ("Activity Monitor",)
"""What is recorded too where memory is asked for."""
FRAMES: Final = ("Hitches", "Display", "Run Loops")
"""What is recorded too where late frames are asked for."""


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


def reports_success(output: str) -> bool:
    """Whether the tool says that it recorded and saved without errors."""
    lines = output.splitlines()
    return any(line.startswith(_SAVED) for line in lines) and not any(line.startswith(SAVING[1]) for line in lines)


def is_news(line: str) -> bool:
    """Whether a line is passed on: neither repeated in our own words, nor a run issue, which are shown at the end."""
    patterns = (*_TOLD, _SAVED, _ISSUES)
    return bool(line.strip()) and not line.startswith(patterns) and _ISSUE.match(line) is None


def how_to_build(*, on_device: bool) -> str:
    """What to do about an app without the entitlement, whatever it is built for."""
    return (
        f"Instruments can only trace apps signed with {ON_DEVICE if on_device else ON_MAC}: build the app with Xcode's "
        "automatic development signing (Product > Profile does)"
    )


def advice_for(issues: Sequence[RunIssue], *, on_device: bool) -> str | None:
    """What to do where the target cannot be traced. on_device: whether the recording is not of this Mac."""
    texts = " ".join(f"{issue.text} {issue.suggestion}" for issue in issues)
    if not any(word in texts for word in _NOT_ALLOWED):
        return None
    return f"{how_to_build(on_device=on_device)}; check it with `tracekit doctor --target APP`"


def failure_reason(completed: Completed, issues: Sequence[RunIssue], *, on_device: bool, problem: str) -> str:
    """One clause: what went wrong, and what to do. problem: what is wrong with the bundle."""
    elsewhere = "" if on_device else "; for an app on an iPhone, add --device"
    known = {
        NOT_FOUND: f"start the app first, or pass its process ID{elsewhere}",
        21: f"the process may have ended; check its ID with `ps`{elsewhere}",
        56: "list them with `xcrun xctrace list instruments` (templates such as System Trace are not instruments); "
        "--only-template leaves out Hangs and Thermal State",
    }
    if completed.status in known:
        return f"{first_line(completed.errors or completed.output)}; {known[completed.status]}"
    if issues:
        first = issues[0]
        advice = advice_for(issues, on_device=on_device) or first.suggestion.rstrip(".")
        if any(f"`{name}`" in advice for name in ADDED):
            advice = "use --only-template"
        # As a part of a sentence of ours; a name at its beginning keeps its capital.
        starts_plainly = first.text.startswith(("Permission ", "Failed ", "Recording "))
        clause = f"{first.text[:1].lower() if starts_plainly else first.text[:1]}{first.text[1:]}".rstrip(".")
        return "; ".join(filter(None, [clause, advice]))
    if completed.crashed:
        return "xctrace crashed; try again with fewer instruments or a shorter time limit"
    if completed.errors.strip():
        return f"{first_line(completed.errors)} (xctrace exited with status {completed.status})"
    return f"{problem}, and xctrace exited with status {completed.status}" if completed.status else problem
