"""What a recording holds, table by table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tracekit.characters import visible
from tracekit.documents.columns import words
from tracekit.grouping import grouped
from tracekit.recording.contents import Contents
from tracekit.render.blocks import Column, Document, Role, items, present, table
from tracekit.report.formatting import STATE_WORDS, word_list
from tracekit.report.redact import public_attributes

FIELDS = ("position", "state", "rows", "columns", "schema", "source", "attributes", "reason")
"""Of a table in the JSON, behind the number of its run."""
MAX_NAMED = 3
"""Tables that are named beside a reason; more of them are counted."""


def _rows(contents: Contents, number: int | None) -> list[dict[str, Any]]:
    """One object for each table, as the JSON has it. `position` is the N of `table[N]` in the run."""
    return [
        {"run": run.number, **{name: getattr(entry, name) for name in FIELDS}}
        | {"attributes": public_attributes(entry.attributes)}
        for run in contents.runs
        if number in (None, run.number)
        for entry in run.tables
    ]


def tables_json(contents: Contents, number: int | None = None) -> str:
    """The tables of one run, or of all. What is not known is null."""
    return json.dumps(_rows(contents, number), indent=2, ensure_ascii=False) + "\n"


def tables_document(contents: Contents, number: int | None = None) -> Document:
    """The tables of one run, or of all, and why some cannot be read. Sources and attributes are in the JSON alone."""

    def column(name: str, drop: int = 0, to_left: bool = False) -> Column[dict[str, Any]]:
        # What is not known is a dash, never a zero; a column of which nothing is known is empty, and goes.
        absent = "" if all(row[name] is None for row in rows) else "-"
        return Column(name, lambda row: absent if row[name] is None else str(row[name]), words=to_left, drop=drop)

    rows = [row | {"state": STATE_WORDS[row["state"]]} for row in _rows(contents, number)]
    # The last one is never shortened: `--schema` takes its names.
    columns = (
        column("run", 2),
        column("position", 3),
        column("state", to_left=True),
        column("rows"),
        column("columns", 1),
        words("schema", _schema),
    )
    reasons: dict[str, list[tuple[str, str]]] = {"Unreadable": [], "Incomplete": []}
    for row in rows:
        if row["reason"]:
            heading = "Unreadable" if row["state"] == STATE_WORDS["unreadable"] else "Incomplete"
            reasons[heading].append((row["schema"], row["reason"]))
    notes = [
        f"{heading}: {named} ({reason})"
        for heading, pairs in reasons.items()
        for reason, named in reasons_in(pairs).items()
    ]
    blocks = present(table("Tables", columns, rows), items(notes))
    return Document(contents.source, "" if rows else "No tables are listed.", Role.PLAIN, blocks=blocks)


def _schema(row: dict[str, Any]) -> str:
    """A schema, and whose signposts they are."""
    parts = (row["attributes"].get(name, "").strip('"') for name in ("subsystem", "category"))
    signposts = "/".join(filter(None, parts))
    return f"{row['schema']} ({signposts})" if signposts else row["schema"]


def reasons_in(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Schemas by the reason that they have in common, as words: a few are named, more are counted. What to do about a
    reason follows its first semicolon, and differs from table to table."""
    schemas = grouped((visible(reason.partition("; ")[0]), visible(schema)) for schema, reason in pairs)
    return {
        reason: word_list(dict.fromkeys(names)) if len(names) <= MAX_NAMED else f"{len(names)} tables"
        for reason, names in schemas.items()
    }
