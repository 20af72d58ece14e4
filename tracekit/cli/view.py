"""`tracekit view PATH [OTHER]`: browse a recording in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tracekit.cli.command import Command, ExitStatus
from tracekit.cli.inputs import (
    add_model_argument,
    add_model_file_arguments,
    add_process_argument,
    add_reader_arguments,
    add_run_argument,
)
from tracekit.cli.project import add_config_arguments, config_of
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path

    from tracekit.config import Config


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "path", metavar="PATH", help="a .trace bundle or 'xctrace export' XML, or a folder or zip of either"
    )
    parser.add_argument("other", metavar="OTHER", nargs="?", help="a second recording to compare with")
    parser.add_argument("--theme", choices=("dark", "light"), help="colors; kept for the next time, as T keeps them")
    chosen = parser.add_argument_group("input")
    add_run_argument(chosen)
    add_model_argument(chosen)
    add_process_argument(chosen)
    add_reader_arguments(chosen)
    add_model_file_arguments(chosen)
    add_config_arguments(parser)


def run(arguments: Namespace) -> ExitStatus:
    """Open the terminal UI."""
    from tracekit.cli.output import narrate, standard_output

    output = standard_output()
    if not (sys.stdin is not None and sys.stdin.isatty() and output is not None and output.isatty()):
        raise UsageError("view needs a terminal; without one, use `tracekit analyze`")
    from tracekit.recording import XctraceOptions
    from tracekit.trace.joined import check_given
    from tracekit.tui.app import run as run_app
    from tracekit.tui.opening import Request

    paths = tuple(path for path in (arguments.path, arguments.other) if path is not None)
    if "-" in paths:
        raise UsageError("view cannot read a recording from standard input; pass a file")
    # The screen belongs to the UI: nothing else is printed while it runs.
    xctrace = XctraceOptions(arguments.timeout)
    config = config_of(arguments)
    project = _project(config)
    check_given(arguments.model_file, arguments.perf_report)
    request = Request(
        paths,
        arguments.run,
        arguments.model,
        arguments.process,
        arguments.reader,
        xctrace,
        config,
        (arguments.model_file, project.model_files),
        (arguments.perf_report, project.perf_reports),
        arguments.theme,
    )
    problems = run_app(request)
    for problem in problems:
        narrate(f"tracekit: {problem}")
    return ExitStatus.UNUSABLE if problems else ExitStatus.DONE


def _project(path: Path | None) -> Config:
    """What the project sets. Raises `UsageError` for a mistake in it, before the screen is taken."""
    from tracekit.config import Config, load_config

    if path is None:
        return Config()
    from tracekit.detectors.plugins import all_detectors

    return load_config(path, all_detectors())


COMMAND = Command(
    name="view",
    summary="browse a recording in the terminal",
    description=(
        "Browse a recording in the terminal: zoom the lanes, step through evidence, compare two runs. Press ? for all "
        "keys."
    ),
    add_arguments=add_arguments,
    run=run,
)
