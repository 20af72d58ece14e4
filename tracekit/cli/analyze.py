"""`tracekit analyze` and `tracekit diagnose`: read recordings, run the checks, report."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tracekit.cli.ending import ExitStatus
from tracekit.cli.forms import deliver, files_of, size_words
from tracekit.cli.output import narrate
from tracekit.cli.reading import showing_log
from tracekit.cli.reports import status_of
from tracekit.cli.requests import analyze_with_progress, request_from
from tracekit.cli.several import inputs_of, print_report, run_several
from tracekit.documents.report import report_document
from tracekit.render.forms import REPORT_FORMS
from tracekit.report.serialize import to_json

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from tracekit.api import Analysis
    from tracekit.cli.several import Input
    from tracekit.request import Request


def run(arguments: Namespace) -> ExitStatus:
    """Analyze and show."""
    arguments.format = "markdown" if arguments.format == "md" else arguments.format
    inputs = inputs_of(arguments.path)
    if len(inputs) > 1:
        return run_several(arguments, inputs, request_from(arguments))
    return _run_one(arguments, inputs[0])


def _run_one(arguments: Namespace, entry: Input) -> ExitStatus:
    def tell(path: Path, size: int) -> None:
        if not arguments.quiet:
            narrate(f"tracekit: wrote {path}{size_words(size)}")

    # What can be seen to be wrong at once is not first found out after a long read.
    files = files_of(arguments, REPORT_FORMS, entry.paths)
    request = request_from(arguments)
    analysis = _analysis(arguments, entry, request)
    forms = {arguments.format, *files.values()}
    report = analysis.measured_report() if "json" in forms else analysis.report
    timeline = analysis.timeline() if "html" in forms else None
    deliver(
        None,
        files,
        lambda form: report_document(report, timeline if form == "html" else None),
        {"json": lambda: to_json(report)},
        written=tell,
    )
    summary_only = bool(files) and arguments.format is None and not arguments.verbose
    print_report(report, arguments, timeline, summary_only=summary_only)
    status = status_of(report, arguments.fail_on or request.settings.fail_on, quiet=arguments.quiet)
    # The text says so in its last lines.
    if status is ExitStatus.INCONCLUSIVE and arguments.format not in (None, "text") and not arguments.quiet:
        narrate('tracekit: inconclusive: no check could be evaluated; see "Not evaluated" in the report')
    return status


def _analysis(arguments: Namespace, entry: Input, request: Request) -> Analysis:
    """What is asked for; says with `--verbose` how it was read, and how long it took."""
    started = time.monotonic()
    with showing_log(arguments.verbose):
        analysis = analyze_with_progress(entry.paths, request, quiet=arguments.quiet)
    if arguments.verbose:
        tables = analysis.report.tables
        rows = sum(table.rows or 0 for table in tables)
        narrate(
            f"tracekit: read {len(tables)} tables ({rows:,} rows) and ran the checks "
            f"in {time.monotonic() - started:.1f} s"
        )
    return analysis
