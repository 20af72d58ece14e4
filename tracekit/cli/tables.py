"""`tracekit tables PATH...`: what a recording holds, table by table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tracekit.cli.command import Command
from tracekit.cli.exits import ExitStatus

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Sequence

    from tracekit.recording.contents import Contents

HEADINGS = ("run", "position", "state", "rows", "columns", "schema", "source", "attributes", "reason")
"""Columns of the list, and keys of its JSON. `position` is the N of `table[N]` in the run."""
NUMBERS = frozenset({"run", "position", "rows", "columns"})
"""Columns that are aligned on the right."""
ATTRIBUTES_WIDTH = 40
"""Some tables have attributes of several hundred characters; JSON has them in full."""


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("path", metavar="PATH", nargs="+", help="an export: XML files, a folder or zip of them, or -")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")


def run(arguments: Namespace) -> ExitStatus:
    """Print the tables of every run."""
    from tracekit.cli.output import emit
    from tracekit.cli.progress import showing_progress
    from tracekit.recording import open_contents

    with showing_progress() as progress:
        contents = open_contents(arguments.path, progress=progress)
    rows = list(_rows(contents))
    if arguments.format == "json":
        objects = [dict(zip(HEADINGS, row, strict=True)) for row in rows]
        emit(json.dumps(objects, indent=2, ensure_ascii=False) + "\n", utf8=True)
    else:
        emit(_aligned([HEADINGS, *([_text(value) for value in row] for row in rows)]))
    return ExitStatus.DONE


def _rows(contents: Contents) -> Iterator[tuple[object, ...]]:
    """One row per table, in the order of `HEADINGS`."""
    from tracekit.report.redact import public_attributes

    for run_ in contents.runs:
        for entry in run_.tables:
            yield (
                run_.number,
                entry.position,
                str(entry.state),
                entry.rows,
                entry.columns,
                entry.schema,
                entry.source,
                public_attributes(entry.attributes),
                entry.reason,
            )


def _text(value: object) -> str:
    """A cell as text. What is not known is a dash, never a zero."""
    from tracekit.report.formatting import shorten, visible

    if value is None:
        return "-"
    if isinstance(value, dict):
        pairs = " ".join(f"{key}={value[key]}" for key in sorted(value))
        return shorten(visible(pairs), ATTRIBUTES_WIDTH)
    # What to do about a reason follows its first semicolon; it is long, and the same for most tables.
    return visible(str(value).partition("; ")[0])


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns two spaces apart; the last one is as long as it needs to be."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "".join(
        "  ".join(
            cell.rjust(width) if heading in NUMBERS else cell.ljust(width)
            for heading, cell, width in zip(HEADINGS, row, widths, strict=True)
        ).rstrip()
        + "\n"
        for row in rows
    )


COMMAND = Command(
    name="tables",
    summary="list the tables of a recording",
    description=(
        "List what a recording holds: every table of every run with its state (missing, empty, rows, unreadable), "
        "rows, columns and attributes."
    ),
    add_arguments=add_arguments,
    run=run,
)
