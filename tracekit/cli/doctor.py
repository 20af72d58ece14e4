"""`tracekit doctor`: checks the setup of this machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tracekit.cli.command import Command, ExitStatus

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

MARKS = {"ok": "ok", "missing": "FAIL", "optional": "-"}
"""How the text shows a state."""


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--target", metavar="FILE", help="also check that this app or program can be recorded")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")
    parser.add_argument("--no-redact", action="store_true", help="show device names and IDs, for record --device")


def run(arguments: Namespace) -> ExitStatus:
    """Print every check. Status 2 where a requirement is missing."""
    from tracekit.cli.output import emit
    from tracekit.recording.xctrace.doctor import examine

    checks = examine(arguments.target, private=arguments.no_redact)
    usable = all(check.state != "missing" for check in checks)
    if arguments.format == "json":
        listed = [
            {"name": check.name, "state": check.state, "detail": check.detail, "fix": check.fix or None}
            for check in checks
        ]
        emit(json.dumps({"usable": usable, "checks": listed}, indent=2, ensure_ascii=False) + "\n", utf8=True)
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            emit(f"{MARKS[check.state]:4}  {check.name:{width}}  {check.detail}\n")
            if check.fix:
                emit(f"{'':4}  {'':{width}}  {check.fix}\n")
    return ExitStatus.DONE if usable else ExitStatus.UNUSABLE


COMMAND = Command(
    name="doctor",
    summary="check this machine's setup",
    description=(
        "Check the Python packages and, on a Mac, Xcode, xctrace, templates, instruments and devices, and whether an "
        "app can be recorded. Exits with status 2 if a requirement is missing. Recording needs a Mac, analysis does "
        "not."
    ),
    add_arguments=add_arguments,
    run=run,
)
