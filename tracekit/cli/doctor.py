"""`tracekit doctor`: the setup of this machine."""

from __future__ import annotations

import json
from argparse import Namespace

from tracekit.cli.output import emit
from tracekit.cli.process import ExitStatus
from tracekit.recording.xctrace.doctor import examine

MARKS = {"ok": "ok", "missing": "FAIL", "optional": "-", "unchecked": "?"}
"""How the text shows a state."""


def run_doctor(arguments: Namespace) -> ExitStatus:
    """Print every check. Status 2 where a requirement is missing or cannot be checked."""
    checks = examine(arguments.target, private=not arguments.redact)
    usable = all(check.state not in ("missing", "unchecked") for check in checks)
    if arguments.format == "json":
        listed = [
            {"name": check.name, "state": check.state, "detail": check.detail, "fix": check.fix or None}
            for check in checks
        ]
        emit(json.dumps({"usable": usable, "checks": listed}, indent=2, ensure_ascii=False) + "\n", utf8=True)
        return ExitStatus.DONE if usable else ExitStatus.UNUSABLE
    width = max(len(check.name) for check in checks)
    for check in checks:
        # A line is never broken: a fix may be a command to copy.
        emit(f"{MARKS[check.state]:4}  {check.name:{width}}  {check.detail}\n")
        if check.fix:
            emit(f"{'':4}  {'':{width}}  {check.fix}\n")
    return ExitStatus.DONE if usable else ExitStatus.UNUSABLE
