"""`tracekit diagnose PATH...`: the diagnostic tree of Core ML, answered as far as a recording can."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.cli.command import Command, ExitStatus
from tracekit.cli.inputs import (
    add_model_argument,
    add_model_file_arguments,
    add_paths_argument,
    add_reader_arguments,
    xctrace_options,
)
from tracekit.cli.project import add_config_arguments, config_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    add_paths_argument(parser)
    add_model_argument(parser)
    add_model_file_arguments(parser)
    add_reader_arguments(parser)
    add_config_arguments(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")
    parser.add_argument("--no-redact", action="store_true", help="include private data")


def run(arguments: Namespace) -> ExitStatus:
    """Analyze, and walk the tree."""
    from tracekit.api import analysis_of
    from tracekit.cli.output import emit, has_color, width
    from tracekit.cli.progress import RUNNING, showing_progress
    from tracekit.cli.reports import tell_unreadable
    from tracekit.report.diagnosis import diagnose
    from tracekit.report.renderers.serialize import to_json
    from tracekit.report.renderers.text_diagnosis import render_diagnosis
    from tracekit.report.renderers.text_layout import FILE_WIDTH

    with showing_progress(then=RUNNING) as progress:
        analysis = analysis_of(
            arguments.path,
            models=arguments.model,
            model_files=arguments.model_file,
            perf_reports=arguments.perf_report,
            config=config_of(arguments),
            redact=not arguments.no_redact,
            reader=arguments.reader,
            xctrace=xctrace_options(arguments),
            progress=progress,
        )
    diagnosis = diagnose(analysis.report)
    if arguments.format == "json":
        emit(to_json(diagnosis), utf8=True)
    else:
        emit(render_diagnosis(diagnosis, width=width(FILE_WIDTH), color=has_color()), styled=has_color())
    unread = tell_unreadable(analysis.report.recording.source, analysis.report.tables)
    return ExitStatus.UNUSABLE if unread else ExitStatus.DONE


COMMAND = Command(
    name="diagnose",
    summary="go through the symptoms of a slow or failing model",
    description=(
        "Go through the symptoms of a Core ML problem one by one (loading, performance, memory, accuracy, conversion): "
        "what this recording shows of each, and what to check elsewhere."
    ),
    add_arguments=add_arguments,
    run=run,
)
