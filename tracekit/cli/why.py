"""`tracekit why`: why predictions were slow; with `--without`, what the fixes of findings would bring."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tracekit.analysis.ledger.choice import Choice
from tracekit.api import Analysis, explain, judge, replay_without
from tracekit.cli.forms import deliver, files_of, may_name
from tracekit.cli.options import refuse
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import RUNNING, check_recordings, showing_log, showing_progress, tell_unreadable
from tracekit.cli.requests import request_from
from tracekit.detectors.pages import unknown_check
from tracekit.detectors.plugins import all_detectors
from tracekit.documents.advice import without_document
from tracekit.documents.brief import brief_why, capped
from tracekit.documents.why import brief_document, why_document
from tracekit.render.blocks import Document
from tracekit.report.serialize import to_dict, to_json
from tracekit.request import Request, read_trace, shown_of_request
from tracekit.trace.coverage import tables_of


def run(arguments: Namespace) -> ExitStatus:
    """Explain the predictions that are asked for."""
    files = files_of(arguments, arguments.path)
    check_recordings(arguments.path)
    request = request_from(arguments)
    if arguments.without is not None:
        return _run_without(arguments, files, request)
    refuse(arguments, "process", "is for --without; predictions are those of the target")
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


def _run_without(arguments: Namespace, files: Mapping[Path, str], request: Request) -> ExitStatus:
    """Judge, replay without what the fixes take away, and show."""
    refuse(arguments, "slowest at frame percentile over", "chooses a prediction; --without replays the whole recording")
    detectors = {detector.id: detector for detector in all_detectors()}
    for name in arguments.without:
        if name not in detectors:
            raise unknown_check(name, detectors)
    with showing_progress(arguments.quiet, then=RUNNING) as progress:
        trace = read_trace(arguments.path, replace(request, progress=progress))
        said = replay_without(trace, request, arguments.without)
    forms = {"json": lambda: to_json(said), "brief": lambda: capped(to_dict(said))}
    deliver(arguments, files, lambda _: without_document(said), forms)
    unusable = tell_unreadable(said.source, tables_of(trace))
    return unusable or (ExitStatus.INCONCLUSIVE if said.nothing else ExitStatus.DONE)
