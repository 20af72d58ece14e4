"""`tracekit why PATH...`: why predictions were slow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tracekit.analysis.why.choice import Choice
from tracekit.api import explain
from tracekit.cli.ending import ExitStatus
from tracekit.cli.forms import deliver, files_of
from tracekit.cli.inputs import check_recordings
from tracekit.cli.reading import RUNNING, showing_log, showing_progress, tell_unreadable
from tracekit.cli.requests import request_from
from tracekit.documents.brief import brief_why
from tracekit.documents.why import brief_document, why_document
from tracekit.report.serialize import to_json
from tracekit.request import read_trace
from tracekit.trace.coverage import tables_of

if TYPE_CHECKING:
    from argparse import Namespace


def run(arguments: Namespace) -> ExitStatus:
    """Explain the predictions that are asked for."""
    files = files_of(arguments, arguments.path)
    check_recordings(arguments.path)
    request = request_from(arguments)
    choice = Choice(arguments.slowest, arguments.at, arguments.percentile, arguments.over)
    with showing_log(arguments.verbose), showing_progress(arguments.quiet, then=RUNNING) as progress:
        trace = read_trace(arguments.path, replace(request, progress=progress))
        report = explain(trace, request, choice)
    forms = {"json": lambda: to_json(report), "brief": lambda: brief_why(report, why_document(report))}
    path = arguments.path[0] if len(arguments.path) == 1 and not files else ""
    deliver(arguments, files, lambda _: why_document(report, path), forms, brief=brief_document(report))
    if tell_unreadable(report.source, tables_of(trace)):
        return ExitStatus.UNUSABLE
    return ExitStatus.DONE if any(model.predictions for model in report.models) else ExitStatus.INCONCLUSIVE
