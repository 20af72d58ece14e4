"""`tracekit whatif PATH [CHECK...]`: the recording replayed without what the fixes of findings take away."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from tracekit.api import what_if_fixed
from tracekit.cli.forms import deliver, files_of
from tracekit.cli.inputs import check_recordings
from tracekit.cli.reading import RUNNING, showing_progress, tell_unreadable
from tracekit.cli.requests import request_from
from tracekit.detectors.pages import unknown_check
from tracekit.detectors.plugins import all_detectors
from tracekit.documents.whatif import whatif_document
from tracekit.report.serialize import to_json
from tracekit.request import read_trace
from tracekit.trace.coverage import tables_of

if TYPE_CHECKING:
    from tracekit.cli.ending import ExitStatus


def run(arguments: Namespace) -> ExitStatus:
    """Judge, replay and show."""
    paths = [arguments.path]
    files = files_of(arguments, paths)
    known = {detector.id: detector for detector in all_detectors()}
    for name in arguments.checks:
        if name not in known:
            raise unknown_check(name, known)
    request = request_from(arguments)
    check_recordings(paths)
    with showing_progress(arguments.quiet, then=RUNNING) as progress:
        trace = read_trace(paths, replace(request, progress=progress))
        said = what_if_fixed(trace, request, arguments.checks)
    deliver(arguments, files, lambda _: whatif_document(said), {"json": lambda: to_json(said)})
    return tell_unreadable(said.source, tables_of(trace))
