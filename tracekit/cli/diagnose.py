"""`tracekit diagnose PATH...`: the diagnostic tree of Core ML, answered as far as a recording can."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from tracekit.cli.forms import deliver, files_of
from tracekit.cli.reading import showing_log, tell_unreadable
from tracekit.cli.requests import analyze_with_progress, request_from
from tracekit.documents.diagnosis import diagnosis_document
from tracekit.report.diagnosis import diagnose
from tracekit.report.serialize import to_json

if TYPE_CHECKING:
    from tracekit.cli.ending import ExitStatus
    from tracekit.render.blocks import Document


def run(arguments: Namespace) -> ExitStatus:
    """Analyze, and walk the tree."""
    files = files_of(arguments, arguments.path)
    with showing_log(arguments.verbose):
        analysis = analyze_with_progress(arguments.path, request_from(arguments), quiet=arguments.quiet)
    diagnosis = diagnose(analysis.report)

    def document(form: str) -> Document:
        return diagnosis_document(diagnosis, everything=arguments.verbose or form != "text")

    deliver(arguments, files, document, {"json": lambda: to_json(diagnosis)})
    return tell_unreadable(analysis.report.recording.source, analysis.report.tables)
