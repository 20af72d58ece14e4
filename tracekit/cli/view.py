"""`tracekit view PATH [OTHER]`: browse a recording in the terminal."""

from __future__ import annotations

import sys
from argparse import Namespace

from tracekit.cli.output import is_terminal, narrate, terminal_problem
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import check_recordings
from tracekit.cli.requests import request_from
from tracekit.errors import UsageError
from tracekit.recording import XctraceOptions
from tracekit.tui.ahead import Ahead


def run(arguments: Namespace) -> ExitStatus:
    """Open the terminal UI."""
    if not (sys.stdin is not None and sys.stdin.isatty() and is_terminal()):
        raise UsageError("view needs a terminal; without one, use `tracekit analyze`")
    if problem := terminal_problem():
        raise UsageError(f"view needs a terminal for whole screens: {problem}; `tracekit analyze` needs none")
    paths = tuple(path for path in (arguments.path, arguments.other) if path is not None)
    if "-" in paths:
        raise UsageError("view cannot read a recording from standard input; pass a file")
    check_recordings(paths)
    # The screen belongs to the UI: nothing else is printed while it runs. A mistake in the settings is told before.
    request = request_from(arguments, xctrace=XctraceOptions(arguments.timeout))
    ahead = Ahead(paths, request)
    try:
        from tracekit.tui.app import run as run_app
        from tracekit.tui.opening import Viewed

        problems = run_app(Viewed(paths, request, arguments.theme, ahead.trace_of))
    finally:
        ahead.stop()
    for problem in problems:
        narrate(f"tracekit: {problem}")
    return ExitStatus.UNUSABLE if problems else ExitStatus.DONE
