"""`tracekit inspect PATH`: what a model file says and what in it may cost time, or what a performance report says."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.checks import add_check_arguments, ids, settings
from tracekit.cli.command import Command
from tracekit.cli.exits import ExitStatus
from tracekit.cli.inputs import add_format_arguments, add_output_argument
from tracekit.cli.project import add_config_arguments, config_of
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from tracekit.detectors.model_checks import ModelChecks
    from tracekit.model_files import ModelFile
    from tracekit.model_files.performance import PerformanceReport

FORMATS = ("text", "markdown", "json")
UNIT_CHOICES = {"cpu": "CPU", "gpu": "GPU", "neural-engine": "Neural Engine"}
_ENDINGS = {".txt": "text", ".md": "markdown", ".markdown": "markdown", ".json": "json"}


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "path",
        metavar="PATH",
        help="a .mlpackage, .mlmodel or .mlmodelc, JSON from 'xcrun coremlcompiler metadata' or 'xcrun coreai-build "
        "inspect', or JSON of a performance report or compute plan; - for standard input",
    )
    parser.add_argument(
        "--target",
        metavar="SYSTEM",
        help="oldest system that the app supports, such as iOS16: does the model load there",
    )
    parser.add_argument("--unit", choices=UNIT_CHOICES, help="of a report: list the operations on this compute unit")
    group = parser.add_argument_group("checks")
    add_check_arguments(group)
    add_config_arguments(group)
    output = parser.add_argument_group("output")
    add_format_arguments(output, FORMATS)
    add_output_argument(output, "write the report to FILE (.md, .txt or .json) and print the summary (repeatable)")
    output.add_argument(
        "--no-redact", action="store_true", help="keep paths, mail addresses and ids in the model's metadata"
    )
    loudness = output.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="print only the summary line")
    loudness.add_argument("-v", "--verbose", action="store_true", help="everything, with the code of the fixes")


@dataclass(frozen=True, slots=True)
class _Inspected:
    """What is to be shown, whatever was read."""

    summary: str
    """One line."""
    text: Callable[[int, bool, bool], str]
    """Text for a width, with color or without, with everything or without."""
    markdown: Callable[[], str]
    json: Callable[[], str]
    failed: bool = False
    """Whether a check failed."""


def run(arguments: Namespace) -> ExitStatus:
    """Read, check and show."""
    from tracekit.cli.output import emit, has_color, narrate, width
    from tracekit.cli.reports import check_output, write_report
    from tracekit.model_files import ModelFile, read_piped, read_subject
    from tracekit.report.renderers.text_layout import FILE_WIDTH

    outputs = [(path, _format_of(path)) for path in map(Path, arguments.output)]
    for path, _ in outputs:
        check_output(path, [arguments.path])
    subject = read_piped(sys.stdin.buffer) if arguments.path == "-" else read_subject(arguments.path)
    inspected = _model(subject, arguments) if isinstance(subject, ModelFile) else _performance(subject, arguments)
    written = {"json": inspected.json, "markdown": inspected.markdown}
    for path, form in outputs:
        write_report(path, written[form]() if form in written else inspected.text(FILE_WIDTH, False, True))
        if not arguments.quiet:
            narrate(f"tracekit: wrote {path}")
    form = "markdown" if arguments.format == "md" else arguments.format
    if form is None and (arguments.quiet or (outputs and not arguments.verbose)):
        emit(f"{inspected.summary}\n")
    elif form in (None, "text"):
        emit(inspected.text(width(FILE_WIDTH), has_color(), arguments.verbose), styled=has_color())
    else:
        emit(written[form](), utf8=form == "json")
    return ExitStatus.UNUSABLE if inspected.failed else ExitStatus.DONE


def _model(model: ModelFile, arguments: Namespace) -> _Inspected:
    """A model with the answers of its checks."""
    from tracekit.detectors.model_runner import run_model_detectors
    from tracekit.model_files import parse_target
    from tracekit.report.model_report import model_report
    from tracekit.report.model_words import summary
    from tracekit.report.renderers.model_markdown import render_model_markdown
    from tracekit.report.renderers.model_text import render_model
    from tracekit.report.renderers.serialize import to_json

    if arguments.unit:
        raise UsageError("--unit is for performance reports and compute plans; this is a model")
    target = parse_target(arguments.target) if arguments.target else None
    project = _project(arguments)
    only = ids(arguments.only) or project.only
    judgments = run_model_detectors(
        model,
        target,
        only=only,
        skip=(*(name for name in project.skipped(model.name) if name not in ids(arguments.only)), *ids(arguments.skip)),
        settings=project.settings_of(model.name) | settings(arguments.set),
    )
    report = model_report(model, judgments, target, redact=not arguments.no_redact)
    return _Inspected(
        summary(report),
        lambda width, color, verbose: render_model(report, width=width, color=color, verbose=verbose),
        lambda: render_model_markdown(report),
        lambda: to_json(report),
        failed=bool(report.summary.errors),
    )


def _project(arguments: Namespace) -> ModelChecks:
    """What the config file sets for the checks of model files."""
    from tracekit.detectors.model_checks import ModelChecks

    path = config_of(arguments)
    if path is None:
        return ModelChecks()
    # It knows the detectors of recordings too, which take a second to load.
    from tracekit.config import load_config
    from tracekit.detectors.plugins import all_detectors

    return load_config(path, all_detectors()).model_checks


def _performance(report: PerformanceReport, arguments: Namespace) -> _Inspected:
    """A performance report or compute plan."""
    from tracekit.model_files.performance import ComputeUnit
    from tracekit.report.performance import performance_document
    from tracekit.report.performance_words import result
    from tracekit.report.renderers.performance_markdown import render_performance_markdown
    from tracekit.report.renderers.performance_text import render_performance
    from tracekit.report.renderers.serialize import to_json

    options = {"--target": arguments.target, "--only": arguments.only, "--skip": arguments.skip, "--set": arguments.set}
    for option, value in options.items():
        if value:
            raise UsageError(f"{option} is for model files; this is a performance report")
    document = performance_document(report, redact=not arguments.no_redact)
    unit = ComputeUnit(UNIT_CHOICES[arguments.unit]) if arguments.unit else None
    return _Inspected(
        result(document),
        lambda width, color, verbose: render_performance(
            document, width=width, color=color, verbose=verbose, unit=unit
        ),
        lambda: render_performance_markdown(document, unit=unit),
        lambda: to_json(document),
    )


def _format_of(path: Path) -> str:
    """Format of a file by its ending. Raises `UsageError`."""
    form = _ENDINGS.get(path.suffix.lower())
    if form is None:
        problem = "unknown extension" if path.suffix else "no extension"
        raise UsageError(f"{path}: {problem} (supported: .txt .md .json)")
    return form


COMMAND = Command(
    name="inspect",
    summary="show what a model file or performance report says",
    description=(
        "Show the facts of a Core ML model file (interface, precision, operations, weights, the systems it loads on) "
        "and check it for what may keep it from loading or slow it down. Works on any machine: on a Mac, the output of "
        "'xcrun coremlcompiler metadata' can be given instead of the model. Of a performance report "
        "that Xcode exported, or a compute plan, show times and where operations run."
    ),
    add_arguments=add_arguments,
    run=run,
)
