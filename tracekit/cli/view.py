"""`tracekit view PATH [OTHER]`: browse a recording in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tracekit.cli.ending import ExitStatus
from tracekit.cli.output import narrate, standard_output
from tracekit.cli.reading import config_of
from tracekit.config import load_config
from tracekit.errors import UsageError
from tracekit.recording import XctraceOptions
from tracekit.request import Request
from tracekit.trace.file_matching import check_given
from tracekit.tui.app import run as run_app
from tracekit.tui.opening import Viewed

if TYPE_CHECKING:
    from argparse import Namespace


def run(arguments: Namespace) -> ExitStatus:
    """Open the terminal UI."""
    output = standard_output()
    if not (sys.stdin is not None and sys.stdin.isatty() and output is not None and output.isatty()):
        raise UsageError("view needs a terminal; without one, use `tracekit analyze`")
    paths = tuple(path for path in (arguments.path, arguments.other) if path is not None)
    if "-" in paths:
        raise UsageError("view cannot read a recording from standard input; pass a file")
    request = Request(
        run=arguments.run,
        reader=arguments.reader,
        # The screen belongs to the UI: nothing else is printed while it runs.
        xctrace=XctraceOptions(arguments.timeout),
        model_files=tuple(arguments.model_files),
        perf_reports=tuple(arguments.perf_reports),
        # A mistake in the settings is told before the screen is taken.
        settings=load_config(config_of(arguments)),
        models=tuple(arguments.models),
        process=arguments.process,
    )
    check_given(request.model_files, request.perf_reports)
    problems = run_app(Viewed(paths, request, arguments.theme))
    for problem in problems:
        narrate(f"tracekit: {problem}")
    return ExitStatus.UNUSABLE if problems else ExitStatus.DONE
