"""`tracekit schema`: the JSON Schema of the JSON report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.cli.command import Command
from tracekit.cli.exits import ExitStatus

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """It takes none."""
    del parser


def run(arguments: Namespace) -> ExitStatus:
    """Print the schema."""
    from tracekit.cli.output import emit
    from tracekit.report.renderers.serialize import schema_text

    del arguments
    emit(schema_text(), utf8=True)
    return ExitStatus.DONE


COMMAND = Command(
    name="schema",
    summary="print the JSON Schema of the JSON report",
    description="Print the JSON Schema of what `tracekit analyze --json` prints. docs/report.md explains every key.",
    add_arguments=add_arguments,
    run=run,
)
