"""`tracekit inspect PATH`: what a model file says and what in it may cost time, or what a performance report says."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from tracekit.cli.forms import deliver, files_of
from tracekit.cli.options import UNITS, refuse
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import check_model, config_of
from tracekit.config import load_config
from tracekit.detectors.model_runner import judged_placements, run_model_detectors
from tracekit.documents.brief import brief_model_file
from tracekit.documents.model_file import model_file_document, summary
from tracekit.model_files.engine_limits import parse_chip
from tracekit.model_files.facts import ModelFile
from tracekit.model_files.fixing.remedies import fix_command
from tracekit.model_files.performance.facts import ComputeUnit
from tracekit.model_files.read import read_piped, read_subject
from tracekit.model_files.versions import parse_target
from tracekit.report.model_report import model_report
from tracekit.report.performance import inspected_performance
from tracekit.report.redact import without_private
from tracekit.report.serialize import to_json


def run(arguments: Namespace) -> ExitStatus:
    """Read, check and show."""
    check_model(arguments.path)
    files = files_of(arguments, [arguments.path])
    subject = read_piped(sys.stdin.buffer) if arguments.path == "-" else read_subject(arguments.path)
    if isinstance(subject, ModelFile):
        return _show_model(subject, arguments, files)
    # A model file is inspected without what reads recordings.
    from tracekit.documents.performance import performance_report_document, result

    refuse(arguments, "system chip only skip set", "is for model files; this is a performance report")
    inspected = inspected_performance(subject, redact=arguments.redact)
    unit = ComputeUnit(UNITS[arguments.unit]) if arguments.unit else None
    data = {"json": lambda: to_json(inspected)}
    deliver(arguments, files, lambda _: performance_report_document(inspected, unit), data, brief=result(inspected))
    return ExitStatus.DONE


def _show_model(model: ModelFile, arguments: Namespace, files: dict[Path, str]) -> ExitStatus:
    refuse(arguments, "unit", "is for performance reports and compute plans; this is a model")
    target = parse_target(arguments.system) if arguments.system else None
    chip = parse_chip(arguments.chip) if arguments.chip else None
    project = load_config(config_of(arguments)).model_checks
    settings = project.settings_of(model.name) | dict(arguments.settings)
    judgments = run_model_detectors(
        model,
        target,
        chip=chip,
        only=arguments.only or project.only,
        skip=(*(name for name in project.skipped_checks(model.name) if name not in arguments.only), *arguments.skip),
        settings=settings,
    )
    placements = judged_placements(model, target, chip, settings)
    report = model_report(model, judgments, target, placements=placements, redact=arguments.redact)
    # Where a folder's name is private, the command is for the folder that the model lies in.
    is_public = not arguments.redact or without_private(arguments.path) == arguments.path
    path = arguments.path if is_public else model.source
    commands = {judgment.detector.id: fix_command(judgment.detector.id, model, path) for judgment in judgments}
    data = {
        "json": lambda: to_json(report),
        "brief": lambda: brief_model_file(report, model_file_document(report, commands), commands),
    }
    deliver(arguments, files, lambda _: model_file_document(report, commands), data, brief=summary(report))
    return ExitStatus.UNUSABLE if report.summary.errors else ExitStatus.DONE
