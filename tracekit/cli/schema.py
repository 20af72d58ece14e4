"""`tracekit schema`: the JSON Schemas of what `--json` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.cli.command import Command, ExitStatus

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


KINDS = ("report", "model", "performance")


def add_arguments(parser: ArgumentParser) -> None:
    """Which document is meant."""
    parser.add_argument(
        "kind",
        nargs="?",
        choices=KINDS,
        default=KINDS[0],
        help="of `tracekit analyze` (report, the default), or of `tracekit inspect` on a model file or a performance "
        "report",
    )


def run(arguments: Namespace) -> ExitStatus:
    """Print the schema."""
    from tracekit.cli.output import emit
    from tracekit.report.renderers.serialize import schema_text

    emit(schema_text(arguments.kind), utf8=True)
    return ExitStatus.DONE


COMMAND = Command(
    name="schema",
    summary="print the JSON Schema of JSON reports",
    description="Print the JSON Schema of what --json prints: a report on a recording, on a model file, or a "
    "performance report. docs/report.md, docs/inspect.md and docs/performance-reports.md explain the keys.",
    add_arguments=add_arguments,
    run=run,
)
