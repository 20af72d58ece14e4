"""`tracekit inspect MODEL`: what a model file says, and what in it may cost time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.checks import add_check_arguments, ids, settings
from tracekit.cli.command import Command
from tracekit.cli.exits import ExitStatus
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from tracekit.report.model_report import ModelReport

FORMATS = ("text", "markdown", "json")
_ENDINGS = {".txt": "text", ".md": "markdown", ".markdown": "markdown", ".json": "json"}


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "path",
        metavar="PATH",
        help="a .mlpackage, .mlmodel or .mlmodelc, or JSON from 'xcrun coremlcompiler metadata'; - for standard input",
    )
    parser.add_argument(
        "--target",
        metavar="SYSTEM",
        help="oldest system that the app supports, such as iOS16: does the model load there",
    )
    add_check_arguments(parser.add_argument_group("checks"))
    output = parser.add_argument_group("output")
    form = output.add_mutually_exclusive_group()
    form.add_argument("--format", choices=(*FORMATS, "md"), help="output format (default: text)")
    form.add_argument("--json", action="store_const", const="json", dest="format", help="same as --format json")
    output.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help="write the report to FILE (.md, .txt or .json) and print the summary (repeatable)",
    )
    output.add_argument(
        "--no-redact", action="store_true", help="keep paths, mail addresses and ids in the model's metadata"
    )
    loudness = output.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="print only the summary line")
    loudness.add_argument("-v", "--verbose", action="store_true", help="everything, with the code of the fixes")


def run(arguments: Namespace) -> ExitStatus:
    """Read, check and show."""
    from tracekit.cli.output import emit, narrate
    from tracekit.cli.reports import check_output, write_report
    from tracekit.detectors.model_runner import run_model_detectors
    from tracekit.model_files import parse_target, read_model, read_piped
    from tracekit.report.model_report import model_report
    from tracekit.report.model_words import summary

    outputs = [(path, _format_of(path)) for path in map(Path, arguments.output)]
    for path, _ in outputs:
        check_output(path, [arguments.path])
    target = parse_target(arguments.target) if arguments.target else None
    model = read_piped(sys.stdin.buffer) if arguments.path == "-" else read_model(arguments.path)
    judgments = run_model_detectors(
        model,
        target,
        only=ids(arguments.only),
        skip=ids(arguments.skip),
        settings=settings(arguments.set),
    )
    report = model_report(model, judgments, target, redact=not arguments.no_redact)
    for path, form in outputs:
        write_report(path, _document(report, form))
        if not arguments.quiet:
            narrate(f"tracekit: wrote {path}")
    form = "markdown" if arguments.format == "md" else arguments.format
    if form is None and (arguments.quiet or (outputs and not arguments.verbose)):
        emit(f"{summary(report)}\n")
    elif form in (None, "text"):
        _print_text(report, verbose=arguments.verbose)
    else:
        emit(_document(report, form), utf8=form == "json")
    return ExitStatus.UNUSABLE if report.summary.errors else ExitStatus.DONE


def _print_text(report: ModelReport, *, verbose: bool) -> None:
    from tracekit.cli.output import emit, has_color, width
    from tracekit.report.renderers.model_text import render_model
    from tracekit.report.renderers.text_layout import FILE_WIDTH

    emit(render_model(report, width=width(FILE_WIDTH), color=has_color(), verbose=verbose), styled=has_color())


def _document(report: ModelReport, form: str) -> str:
    """The whole report in a format for files."""
    if form == "json":
        from tracekit.report.renderers.serialize import to_json

        return to_json(report)
    if form == "markdown":
        from tracekit.report.renderers.model_markdown import render_model_markdown

        return render_model_markdown(report)
    from tracekit.report.renderers.model_text import render_model
    from tracekit.report.renderers.text_layout import FILE_WIDTH

    return render_model(report, width=FILE_WIDTH, color=False, verbose=True)


def _format_of(path: Path) -> str:
    """Format of a file by its ending. Raises `UsageError`."""
    form = _ENDINGS.get(path.suffix.lower())
    if form is None:
        problem = "unknown extension" if path.suffix else "no extension"
        raise UsageError(f"{path}: {problem} (supported: .txt .md .json)")
    return form


COMMAND = Command(
    name="inspect",
    summary="show what a Core ML model file says, and what may slow it down",
    description=(
        "Show the facts of a Core ML model file (interface, precision, operations, weights, the systems it loads on) "
        "and check it for what may keep it from loading or slow it down. Works on any machine: on a Mac, the output of "
        "'xcrun coremlcompiler metadata' can be given instead of the model."
    ),
    add_arguments=add_arguments,
    run=run,
)
