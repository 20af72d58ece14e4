"""`tracekit inspect PATH`: what a model file says and what in it may cost time, or what a performance report says."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.cli.command import Command, ExitStatus
from tracekit.cli.forms import add_form_arguments, deliver, files_of, form_of
from tracekit.cli.project import add_check_arguments, add_config_arguments, config_of, ids, settings
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from tracekit.detectors.model_checks import ModelChecks
    from tracekit.model_files import ModelFile
    from tracekit.model_files.performance import PerformanceReport
    from tracekit.render.blocks import Document

FORMS = ("text", "markdown", "html", "json")
UNIT_CHOICES = {"cpu": "CPU", "gpu": "GPU", "neural-engine": "Neural Engine"}


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
    add_form_arguments(output, FORMS)
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
    document: Callable[[], Document]
    json: Callable[[], str]
    failed: bool = False
    """Whether a check failed."""


def run(arguments: Namespace) -> ExitStatus:
    """Read, check and show."""
    from tracekit.cli.output import emit, narrate
    from tracekit.model_files import ModelFile, read_piped, read_subject

    files = files_of(arguments, FORMS, [arguments.path])
    subject = read_piped(sys.stdin.buffer) if arguments.path == "-" else read_subject(arguments.path)
    inspected = _model(subject, arguments) if isinstance(subject, ModelFile) else _performance(subject, arguments)
    brief = arguments.format is None and (arguments.quiet or (files and not arguments.verbose))
    form = None if brief else form_of(arguments)
    deliver(form, files, lambda _: inspected.document(), {"json": inspected.json}, verbose=arguments.verbose)
    for path in () if arguments.quiet else files:
        narrate(f"tracekit: wrote {path}")
    if brief:
        emit(f"{inspected.summary}\n")
    return ExitStatus.UNUSABLE if inspected.failed else ExitStatus.DONE


def _model(model: ModelFile, arguments: Namespace) -> _Inspected:
    """A model with the answers of its checks."""
    from tracekit.detectors.model_runner import run_model_detectors
    from tracekit.documents.model_file import model_file_document
    from tracekit.model_files import parse_target
    from tracekit.report.model_report import model_report
    from tracekit.report.model_words import summary
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
        lambda: model_file_document(report),
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
    from tracekit.documents.performance import performance_report_document
    from tracekit.model_files.performance import ComputeUnit
    from tracekit.report.performance import inspected_performance
    from tracekit.report.performance_words import result
    from tracekit.report.renderers.serialize import to_json

    options = {"--target": arguments.target, "--only": arguments.only, "--skip": arguments.skip, "--set": arguments.set}
    for option, value in options.items():
        if value:
            raise UsageError(f"{option} is for model files; this is a performance report")
    inspected = inspected_performance(report, redact=not arguments.no_redact)
    unit = ComputeUnit(UNIT_CHOICES[arguments.unit]) if arguments.unit else None
    return _Inspected(
        result(inspected), lambda: performance_report_document(inspected, unit), lambda: to_json(inspected)
    )


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
