"""`tracekit matrix PATH...`: models × recordings and performance reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.cli.command import Command
from tracekit.cli.forms import add_form_arguments, deliver, files_of, form_of
from tracekit.cli.inputs import add_model_argument, add_reader_arguments, add_worker_arguments
from tracekit.cli.measuring import measure_all, notes_on, readable, recordings_in, status_of_all
from tracekit.cli.project import add_config_arguments, config_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from tracekit.cli.command import ExitStatus

FORMS = ("text", "markdown", "html", "json", "csv")


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("path", metavar="PATH", nargs="+", help="recordings, performance reports, or folders of either")
    parser.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="TEXT",
        help="title of the column: one for each PATH, or one for all with {device}, {system}, {units} or {name}; "
        "recordings with the same label share a column (repeatable)",
    )
    add_model_argument(parser)
    add_reader_arguments(parser)
    add_worker_arguments(parser)
    add_config_arguments(parser)
    add_form_arguments(parser, FORMS)


def run(arguments: Namespace) -> ExitStatus:
    """Measure all recordings and print their figures side by side."""
    from tracekit.compare.matrix import expanded_labels, labels_of, matrix, source_of_report, sources_of
    from tracekit.compare.renderers.matrix_csv import render_csv
    from tracekit.documents.matrix import matrix_document
    from tracekit.report.renderers.serialize import to_json

    recordings = [recordings_in(path) for path in arguments.path]
    paths = [path for several in recordings for path in several]
    form, files = form_of(arguments), files_of(arguments, FORMS, paths)
    requested_labels = expanded_labels(arguments.label, list(map(len, recordings)))
    measured = measure_all(paths, arguments, config_of(arguments), performance=True)
    recorded = iter(sources_of(readable(measured)))
    sources = [
        next(recorded) if entry.performance is None else source_of_report(entry.performance)
        for entry in measured
        if not entry.failed
    ]
    labels = [label for label, entry in zip(requested_labels, measured, strict=True) if not entry.failed]
    table = matrix(sources, labels_of(sources, labels), notes_on(measured))
    data = {"json": lambda: to_json(table), "csv": lambda: render_csv(table)}
    deliver(form, files, lambda _: matrix_document(table), data)
    return status_of_all(measured)


COMMAND = Command(
    name="matrix",
    summary="compare models across many recordings",
    description=(
        "Show median and p95 of the latency, loads, the frame rate that it is fast enough for and the Neural Engine's "
        "share of compute, of each model in many recordings and performance reports, the best of each row marked."
    ),
    add_arguments=add_arguments,
    run=run,
)
