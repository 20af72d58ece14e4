"""`tracekit why`, `whatif` and `diagnose`: why predictions were slow, what the fixes of findings would bring, and the
diagnostic tree of Core ML, answered as far as a recording can."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from tracekit.analysis.ledger.choice import Choice
from tracekit.api import Analysis, explain, judge, what_if_fixed
from tracekit.cli.forms import deliver, files_of, may_name
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import RUNNING, check_recordings, showing_log, showing_progress, tell_unreadable
from tracekit.cli.requests import analyze_with_progress, request_from
from tracekit.detectors.pages import unknown_check
from tracekit.detectors.plugins import all_detectors
from tracekit.documents.advice import diagnosis_document, whatif_document
from tracekit.documents.brief import brief_why
from tracekit.documents.diagnosis import diagnose
from tracekit.documents.why import brief_document, why_document
from tracekit.render.blocks import Document
from tracekit.report.serialize import to_json
from tracekit.request import read_trace, shown_of_request
from tracekit.trace.coverage import tables_of


def run(arguments: Namespace) -> ExitStatus:
    """Explain the predictions that are asked for."""
    files = files_of(arguments, arguments.path)
    check_recordings(arguments.path)
    request = request_from(arguments)
    choice = Choice(arguments.slowest, arguments.at, arguments.percentile, arguments.over, arguments.frame)
    with showing_log(arguments.verbose), showing_progress(arguments.quiet, then=RUNNING) as progress:
        trace = read_trace(arguments.path, replace(request, progress=progress))
        report = explain(trace, request, choice)
    forms = {"json": lambda: to_json(report), "brief": lambda: brief_why(report, why_document(report))}
    path = arguments.path[0] if len(arguments.path) == 1 and not files and may_name(arguments.path) else ""

    def document(form: str) -> Document:
        if form != "html" or not any(model.predictions for model in report.models):
            return why_document(report, path)
        from tracekit.documents.why_pictures import why_page

        shown = shown_of_request(trace, request)
        analysis = Analysis(trace, shown, judge(trace, request, shown), request.functions)
        labels = [why.prediction for model in report.models for why in model.predictions]
        return why_page(report, path, analysis.report, analysis.timeline(labels))

    deliver(arguments, files, document, forms, brief=brief_document(report))
    if tell_unreadable(report.source, tables_of(trace)):
        return ExitStatus.UNUSABLE
    return (
        ExitStatus.DONE
        if report.frame or any(model.predictions for model in report.models)
        else ExitStatus.INCONCLUSIVE
    )


def run_whatif(arguments: Namespace) -> ExitStatus:
    """Judge, replay and show."""
    paths = [arguments.path]
    files = files_of(arguments, paths)
    detectors = {detector.id: detector for detector in all_detectors()}
    for name in arguments.checks:
        if name not in detectors:
            raise unknown_check(name, detectors)
    request = request_from(arguments)
    check_recordings(paths)
    with showing_progress(arguments.quiet, then=RUNNING) as progress:
        trace = read_trace(paths, replace(request, progress=progress))
        said = what_if_fixed(trace, request, arguments.checks)
    deliver(arguments, files, lambda _: whatif_document(said), {"json": lambda: to_json(said)})
    unusable = tell_unreadable(said.source, tables_of(trace))
    return unusable or (ExitStatus.INCONCLUSIVE if said.nothing else ExitStatus.DONE)


def run_diagnose(arguments: Namespace) -> ExitStatus:
    """Analyze, and walk the tree."""
    files = files_of(arguments, arguments.path)
    with showing_log(arguments.verbose):
        analysis = analyze_with_progress(arguments.path, request_from(arguments), quiet=arguments.quiet)
    diagnosis = diagnose(analysis.report)

    def document(form: str) -> Document:
        return diagnosis_document(diagnosis, everything=arguments.verbose or form != "text")

    deliver(arguments, files, document, {"json": lambda: to_json(diagnosis)})
    unusable = tell_unreadable(analysis.report.recording.source, analysis.report.tables)
    return unusable or (ExitStatus.DONE if analysis.report.summary.evaluated else ExitStatus.INCONCLUSIVE)
