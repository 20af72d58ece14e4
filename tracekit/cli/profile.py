"""`tracekit profile MODEL`: time a model with Core ML for each choice of compute units, on a Mac."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.command import Command, ExitStatus
from tracekit.errors import TracekitError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

CHOICES = ("all", "cpuOnly", "cpuAndGPU", "cpuAndNeuralEngine")
MOST = 100_000
"""Predictions: a day of those that take a second."""


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("path", metavar="MODEL", help="a .mlpackage, .mlmodel or .mlmodelc")
    parser.add_argument(
        "--units",
        action="append",
        choices=CHOICES,
        default=[],
        help="compute units to load the model for (repeatable; default: each choice in turn)",
    )
    parser.add_argument(
        "--predictions", type=_count, default=50, metavar="N", help="predictions for each choice (default: 50)"
    )
    parser.add_argument(
        "-o",
        "--output",
        default=".",
        metavar="FOLDER",
        help="folder for the reports, one for each choice (default: the current one)",
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= MOST):
        raise ArgumentTypeError(f"expected a number from 1 to {MOST:,}, found {text!r}")
    return int(text)


def run(arguments: Namespace) -> ExitStatus:
    """Run the model, write a report for each choice, and show them side by side."""
    from tracekit.cli.forms import deliver
    from tracekit.cli.output import narrate
    from tracekit.cli.reports import check_output, write_report
    from tracekit.compare.matrix import matrix, source_of_report
    from tracekit.documents.matrix import matrix_document
    from tracekit.model_files.profiling import core_ml, profile
    from tracekit.report.choice import plain
    from tracekit.report.performance import inspected_performance
    from tracekit.report.renderers.serialize import to_json

    runtime = core_ml.runtime()
    path, folder = Path(arguments.path), Path(arguments.output)
    if not folder.is_dir():
        raise UsageError(f"cannot write to {folder}: no such folder")
    choices = tuple(dict.fromkeys(arguments.units)) or CHOICES
    files = {choice: folder / f"{path.stem}-{choice}.json" for choice in choices}
    for file in files.values():
        check_output(file, [arguments.path])
    profiled = profile(
        path,
        runtime,
        choices=choices,
        predictions=arguments.predictions,
        on_choice=lambda choice: narrate(f"tracekit: running {path.name} with {choice}"),
    )
    for choice, report in profiled.reports:
        write_report(files[choice], to_json(inspected_performance(report)))
        narrate(f"tracekit: wrote {files[choice]}")
    if not profiled.reports:
        raise TracekitError("; ".join(failure.error for failure in profiled.failures))
    sources = [source_of_report(report) for _, report in profiled.reports]
    notes = [plain(failure.error) for failure in profiled.failures]
    table = matrix(sources, [choice for choice, _ in profiled.reports], notes)
    deliver("text", {}, lambda _: matrix_document(table), {})
    return ExitStatus.UNUSABLE if profiled.failures else ExitStatus.DONE


COMMAND = Command(
    name="profile",
    summary="time a model for each choice of compute units, on a Mac",
    description=(
        "Compile, load and call a model with inputs that are made up, for each choice of compute units, and write "
        "times and compute plan as JSON that 'tracekit inspect' and 'tracekit matrix' read on any machine. Needs a Mac."
    ),
    add_arguments=add_arguments,
    run=run,
)
