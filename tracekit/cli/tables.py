"""`tracekit tables PATH...`: what a recording holds, table by table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tracekit.cli.ending import ExitStatus
from tracekit.cli.output import emit, width
from tracekit.cli.reading import showing_progress, xctrace_options
from tracekit.cli.reports import tell_unreadable
from tracekit.recording import open_contents
from tracekit.report.formatting import listed, shorten, visible
from tracekit.report.redact import public_attributes

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator, Sequence

    from tracekit.recording.contents import Contents

HEADINGS = ("run", "position", "state", "rows", "columns", "schema", "source", "attributes", "reason")
"""Keys of the JSON, and, but for the reason, columns of the list. `position` is the N of `table[N]` in the run."""
NUMBERS = frozenset({"run", "position", "rows", "columns"})
"""Columns that are aligned on the right."""
DROPPED_FIRST = ("attributes", "source", "position", "run", "columns")
"""Columns that a narrow terminal does without, the first one first."""
MAX_NAMED = 3
"""Tables that are named beside the reason for which they cannot be read; more of them are counted."""
ANY_WIDTH = 10_000
"""Where there is no terminal, every column is shown."""
ATTRIBUTES_WIDTH = 40
"""Some tables have attributes of several hundred characters; JSON has them in full."""


def run(arguments: Namespace) -> ExitStatus:
    """Print the tables of every run."""
    with showing_progress() as progress:
        contents = open_contents(
            arguments.path, progress=progress, reader=arguments.reader, xctrace=xctrace_options(arguments)
        )
    rows = list(_rows(contents))
    if arguments.format == "json":
        objects = [dict(zip(HEADINGS, row, strict=True)) for row in rows]
        emit(json.dumps(objects, indent=2, ensure_ascii=False) + "\n", utf8=True)
    else:
        emit(_columns_of_text(rows, width(ANY_WIDTH)) + _reasons(rows))
    unread = [tell_unreadable(contents.source, each.tables) for each in contents.runs]
    return ExitStatus.UNUSABLE if any(unread) else ExitStatus.DONE


def _rows(contents: Contents) -> Iterator[tuple[object, ...]]:
    """One row per table, in the order of `HEADINGS`."""
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


def _text(value: object, heading: str) -> str:
    """A cell as text. What is not known is a dash, never a zero."""
    if value is None:
        return "-"
    if heading == "state" and value == "empty":
        return "no rows"
    if isinstance(value, dict):
        pairs = " ".join(f"{key}={value[key]}" for key in sorted(value))
        return shorten(visible(pairs), ATTRIBUTES_WIDTH)
    return visible(str(value))


def _columns_of_text(rows: Sequence[Sequence[object]], room: int) -> str:
    """Columns two spaces apart, as many as there is room for."""
    columns = {
        heading: [heading, *(_text(row[index], heading) for row in rows)]
        for index, heading in enumerate(HEADINGS)
        if heading != "reason"
    }
    widths = {heading: max(map(len, cells)) for heading, cells in columns.items()}
    for heading in DROPPED_FIRST:
        if sum(widths.values()) + 2 * (len(widths) - 1) > room:
            del widths[heading], columns[heading]
    lines = zip(
        *(
            [cell.rjust(widths[heading]) if heading in NUMBERS else cell.ljust(widths[heading]) for cell in cells]
            for heading, cells in columns.items()
        ),
        strict=True,
    )
    return "".join("  ".join(line).rstrip() + "\n" for line in lines)


def _reasons(rows: Iterable[Sequence[object]]) -> str:
    """Why tables cannot be read or lack a column, each reason once, below an empty line."""
    schemas: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        table = dict(zip(HEADINGS, row, strict=True))
        # What to do about a reason follows its first semicolon; it is long, and differs from table to table.
        if reason := str(table["reason"]).partition("; ")[0]:
            heading = "Unreadable" if table["state"] == "unreadable" else "Incomplete"
            schemas.setdefault((heading, reason), []).append(str(table["schema"]))
    lines = [
        visible(f"{heading}: {listed(names) if len(names) <= MAX_NAMED else f'{len(names)} tables'} ({reason})") + "\n"
        for (heading, reason), names in schemas.items()
    ]
    return "".join(["\n", *lines]) if lines else ""
