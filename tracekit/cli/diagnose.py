"""`tracekit diagnose PATH...`: the diagnostic tree of Core ML, answered as far as a recording can."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.cli.ending import ExitStatus
from tracekit.cli.output import emit, has_color, width
from tracekit.cli.reports import tell_unreadable
from tracekit.cli.requests import analyzed, request_from
from tracekit.report.diagnosis import diagnose
from tracekit.report.renderers.serialize import to_json
from tracekit.report.renderers.text_diagnosis import render_diagnosis
from tracekit.report.renderers.text_layout import FILE_WIDTH

if TYPE_CHECKING:
    from argparse import Namespace


def run(arguments: Namespace) -> ExitStatus:
    """Analyze, and walk the tree."""
    analysis = analyzed(arguments.path, request_from(arguments))
    diagnosis = diagnose(analysis.report)
    if arguments.format == "json":
        emit(to_json(diagnosis), utf8=True)
    else:
        emit(render_diagnosis(diagnosis, width=width(FILE_WIDTH), color=has_color()), styled=has_color())
    unread = tell_unreadable(analysis.report.recording.source, analysis.report.tables)
    return ExitStatus.UNUSABLE if unread else ExitStatus.DONE
