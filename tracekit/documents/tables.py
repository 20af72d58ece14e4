"""What a recording holds, table by table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from tracekit.characters import shorten, visible
from tracekit.render.blocks import Column, Document, Role, items, present, table
from tracekit.report.formatting import listed
from tracekit.report.redact import public_attributes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.recording.contents import Contents

ATTRIBUTES = 40
"""Characters of attributes; some tables have several hundred, and JSON has them in full."""
MAX_NAMED = 3
"""Tables that are named beside a reason; more of them are counted."""


class _Row(NamedTuple):
    """One table. The names are the keys of the JSON."""

    run: int
    position: int | None
    """The N of `table[N]` in the run."""
    state: str
    rows: int | None
    columns: int | None
    schema: str
    source: str | None
    attributes: dict[str, str]
    reason: str


def _rows(contents: Contents, number: int | None) -> list[_Row]:
    return [
        _Row(
            run.number,
            entry.position,
            str(entry.state),
            entry.rows,
            entry.columns,
            entry.schema,
            entry.source,
            dict(public_attributes(entry.attributes)),
            entry.reason,
        )
        for run in contents.runs
        if number in (None, run.number)
        for entry in run.tables
    ]


def tables_json(contents: Contents, number: int | None = None) -> str:
    """The tables of one run, or of all. What is not known is null."""
    rows = [row._asdict() for row in _rows(contents, number)]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def tables_document(contents: Contents, number: int | None = None) -> Document:
    """The tables of one run, or of all, and why some cannot be read."""
    columns: tuple[Column[_Row], ...] = (
        Column("run", lambda row: str(row.run), drop=2),
        Column("position", lambda row: _count(row.position), drop=3),
        Column("state", lambda row: "no rows" if row.state == "empty" else row.state, words=True),
        Column("rows", lambda row: _count(row.rows)),
        Column("columns", lambda row: _count(row.columns), drop=1),
        Column("schema", lambda row: row.schema, words=True),
        Column("source", lambda row: row.source or "-", words=True, drop=4),
        Column("attributes", lambda row: _attributes(row.attributes), words=True, drop=5),
    )
    rows = _rows(contents, number)
    notes = [
        f"{state}: {named} ({reason})"
        for state, label in (("Unreadable", "unreadable"), ("Incomplete", ""))
        for reason, named in reasons_in(
            (row.schema, row.reason) for row in rows if row.reason and (row.state == "unreadable") == bool(label)
        ).items()
    ]
    blocks = present((table("Tables", columns, rows), items(notes)))
    empty = "" if rows else "No tables are listed."
    return Document(contents.source, empty, Role.PLAIN, blocks=blocks)


def _count(number: int | None) -> str:
    return "-" if number is None else str(number)


def _attributes(attributes: dict[str, Any]) -> str:
    pairs = " ".join(f"{key}={attributes[key]}" for key in sorted(attributes))
    return shorten(visible(pairs), ATTRIBUTES)


def reasons_in(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Schemas by the reason that they have in common, as words: a few are named, more are counted. What to do about a
    reason follows its first semicolon, and differs from table to table."""
    schemas: dict[str, list[str]] = {}
    for schema, reason in pairs:
        schemas.setdefault(visible(reason.partition("; ")[0]), []).append(visible(schema))
    return {
        reason: listed(dict.fromkeys(names)) if len(names) <= MAX_NAMED else f"{len(names)} tables"
        for reason, names in schemas.items()
    }
