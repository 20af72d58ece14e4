"""`tracekit matrix PATH...`: models × recordings and performance reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.cli.command import Command
from tracekit.cli.inputs import (
    add_format_arguments,
    add_model_argument,
    add_output_argument,
    add_reader_arguments,
    add_worker_arguments,
    by_ending,
    outputs_of,
)
from tracekit.cli.measuring import measure_all, notes_on, readable, recordings_in, status_of_all
from tracekit.cli.project import add_config_arguments, config_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from tracekit.cli.exits import ExitStatus
    from tracekit.compare.matrix import Matrix

FORMATS = ("text", "markdown", "csv", "json", "html")
ENDINGS = {".txt": "text", ".md": "markdown", ".csv": "csv", ".json": "json", ".html": "html"}


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
    add_format_arguments(parser, FORMATS, default="text")
    add_output_argument(parser, by_ending(ENDINGS))


def run(arguments: Namespace) -> ExitStatus:
    """Measure all recordings and print their figures side by side."""
    from tracekit.cli.output import emit, has_color
    from tracekit.cli.reports import write_report
    from tracekit.compare.matrix import expanded_labels, labels_of, matrix, sources_of
    from tracekit.compare.performance import source_of_report

    recordings = [recordings_in(path) for path in arguments.path]
    paths = [path for several in recordings for path in several]
    outputs = outputs_of(arguments.output, ENDINGS, paths)
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
    for path, form in outputs.items():
        write_report(path, _rendered(table, form))
    form = "markdown" if arguments.format == "md" else arguments.format
    styled = form == "text" and has_color()
    emit(_rendered(table, form, color=styled), styled=styled, utf8=form in ("json", "html"))
    return status_of_all(measured)


def _rendered(table: Matrix, form: str, *, color: bool = False) -> str:
    """The matrix as a document."""
    from tracekit.cli.output import width
    from tracekit.compare.renderers.html import render_matrix
    from tracekit.compare.renderers.matrix import render_csv, render_markdown, render_text
    from tracekit.report.renderers.serialize import to_json
    from tracekit.report.renderers.text_layout import FILE_WIDTH

    match form:
        case "markdown":
            return render_markdown(table)
        case "csv":
            return render_csv(table)
        case "json":
            return to_json(table)
        case "html":
            return render_matrix(table)
        case _:
            return render_text(table, width=width(FILE_WIDTH), color=color)


COMMAND = Command(
    name="matrix",
    summary="compare models across many recordings",
    description=(
        "Show the median and the 95th percentile of the latency, loads, frames per second and the share of the Neural "
        "Engine of each model in many recordings and performance reports side by side, the best of each row marked."
    ),
    add_arguments=add_arguments,
    run=run,
)
