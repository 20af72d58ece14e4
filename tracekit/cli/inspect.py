"""`tracekit inspect PATH...`: whether a model will run on the Neural Engine and what in it may cost time, models
side by side, or what a performance report says."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from tracekit.cli.forms import deliver, files_of, form_of
from tracekit.cli.models import models_at, report_on
from tracekit.cli.options import UNITS, refuse
from tracekit.cli.output import narrate
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import check_model
from tracekit.documents.brief import brief_model_file
from tracekit.documents.model_file import model_file_document, models_document, summary
from tracekit.errors import TracekitError, UsageError
from tracekit.model_files.facts import ModelFile
from tracekit.model_files.fixing.remedies import fix_command
from tracekit.model_files.performance.facts import ComputeUnit, PerformanceReport
from tracekit.model_files.read import read_piped, read_subject
from tracekit.report.model_report import InspectedModels, with_plan
from tracekit.report.performance import inspected_performance
from tracekit.report.redact import without_private
from tracekit.report.serialize import to_json


def run(arguments: Namespace) -> ExitStatus:
    """Read, check and show."""
    paths = list(dict.fromkeys(path for given in arguments.path for path in models_at(given)))
    for path in paths:
        check_model(path)
    files = files_of(arguments, paths)
    if arguments.measure:
        if len(paths) > 1:
            raise UsageError("--measure takes one model")
        # On a Mac alone.
        from tracekit.cli.measure import measure

        return measure(arguments, paths[0], files)
    refuse(arguments, "units predictions folder", "is for --measure; add that")
    if "csv" in (form_of(arguments), *files.values()):
        raise UsageError("csv is for the times of --measure; add that")
    if len(paths) == 1:
        return _show_one(arguments, paths[0], files)
    read, failures = [], []
    for path in paths:
        try:
            read.append((path, read_subject(path)))
        except TracekitError as error:
            failures.append(str(error))
    models = [(path, subject) for path, subject in read if isinstance(subject, ModelFile)]
    plans = [subject for _, subject in read if isinstance(subject, PerformanceReport)]
    refuse(arguments, "unit", "is for one performance report or compute plan")
    if len(models) == 1 and len(plans) == 1 and not failures:
        return _show_model(*models[0], arguments, files, plans[0])
    if plans:
        raise UsageError("give one model with its performance report; `tracekit compare` compares several reports")
    if not models:
        raise TracekitError("; ".join(failures) or "no model is given")
    for failure in failures:
        narrate(f"tracekit: {failure}")
    reports = [report_on(subject, arguments) for _, subject in models]
    data = {"json": lambda: to_json(InspectedModels(tuple(reports)))}
    deliver(arguments, files, lambda _: models_document(reports, failures), data)
    return ExitStatus.UNUSABLE if failures or any(each.summary.errors for each in reports) else ExitStatus.DONE


def _show_one(arguments: Namespace, path: str, files: dict[Path, str]) -> ExitStatus:
    subject = read_piped(sys.stdin.buffer) if path == "-" else read_subject(path)
    if isinstance(subject, ModelFile):
        refuse(arguments, "unit", "is for performance reports and compute plans; this is a model")
        return _show_model(path, subject, arguments, files)
    # A model file is inspected without what reads recordings.
    from tracekit.documents.performance import performance_report_document, result

    refuse(arguments, "system chip only skip set", "is for model files; this is a performance report")
    inspected = inspected_performance(subject, redact=arguments.redact)
    if any((pattern, share) != ("*", None) for pattern, _, share in arguments.unit):
        raise UsageError("--unit takes neural-engine, gpu or cpu here")
    unit = ComputeUnit(UNITS[arguments.unit[-1][1]]) if arguments.unit else None
    data = {"json": lambda: to_json(inspected)}
    deliver(arguments, files, lambda _: performance_report_document(inspected, unit), data, brief=result(inspected))
    return ExitStatus.DONE


def _show_model(
    path: str, model: ModelFile, arguments: Namespace, files: dict[Path, str], plan: PerformanceReport | None = None
) -> ExitStatus:
    report = report_on(model, arguments)
    report = with_plan(report, plan) if plan else report
    # Where a folder's name is private, the command is for the folder that the model lies in.
    is_public = not arguments.redact or without_private(path) == path
    path = path if is_public else model.source
    commands = {check.id: fix_command(check.id, model, path) for check in report.results}
    data = {
        "json": lambda: to_json(report),
        "brief": lambda: brief_model_file(report, commands),
    }
    deliver(arguments, files, lambda _: model_file_document(report, commands), data, brief=summary(report))
    return ExitStatus.UNUSABLE if report.summary.errors else ExitStatus.DONE
