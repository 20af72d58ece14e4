"""The tables of a recording, the rows of a query, and the list of views."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from math import isfinite
from typing import Any

from tracekit.characters import visible
from tracekit.documents import columns
from tracekit.documents.columns import words
from tracekit.grouping import grouped
from tracekit.query.database import Answer, ViewCoverage, notes_of
from tracekit.query.lake import TABLES
from tracekit.query.views import VERSION
from tracekit.recording.contents import Contents
from tracekit.recording.writing.forms import harmless
from tracekit.render.blocks import Column, Document, Paragraph, Role, Table, items, present, table
from tracekit.report.formatting import STATE_WORDS, count, word_list
from tracekit.report.redact import public_attributes
from tracekit.units import format_count

MOST_SHOWN = 200
"""Rows of a table that people read; the other forms hold all of them."""
NULL = "NULL"


def answer_document(answer: Answer, form: str = "text") -> Document:
    """The rows as a table. What was not recorded stands above; beside a text, standard error says it."""
    first = tuple(answer.rows[:MOST_SHOWN])
    cells = tuple(map(partial(_column, answer), range(len(answer.columns))))
    grid = Table("Rows", cells, first, parts=len(cells) > 1)
    row_count = format_count(len(answer.rows), "row")
    cut = f"; the first {MOST_SHOWN} are shown, --format csv writes all" if len(answer.rows) > MOST_SHOWN else ""
    return Document(
        title="Rows",
        verdict="",
        tone=Role.PLAIN,
        closing=f"{row_count}{cut}",
        context=tuple(Paragraph(note, Role.OPEN) for note in notes_of(answer.coverage) if form != "text"),
        blocks=present(grid if first else None),
    )


def answer_csv(answer: Answer) -> str:
    """The rows as CSV, with a line of names; lines with `#` in front say what is missing."""
    stream = io.StringIO()
    stream.writelines(f"# {line}\n" for line in notes_of(answer.coverage))
    writer = csv.writer(stream, lineterminator="\n")
    rows = (answer.columns, *answer.rows)
    writer.writerows([harmless(value) if isinstance(value, str) else value for value in row] for row in rows)
    return stream.getvalue()


def answer_json(answer: Answer) -> str:
    """Columns, rows in their order, and what was recorded of each view that was read."""
    document = {
        "schema_version": VERSION,
        "query": answer.query,
        "columns": [{"name": name, "type": kind} for name, kind in zip(answer.columns, answer.types, strict=True)],
        "rows": answer.rows,
        "coverage": [coverage_json(entry) for entry in answer.coverage],
    }
    try:
        text = json.dumps(document, default=_plain, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        text = json.dumps(_in_json(document), default=_plain, ensure_ascii=False)
    return f"{text}\n"


def _in_json(value: Any) -> Any:
    """The same without what JSON has no form of: a number that is none is null, and names of a map are texts."""
    if isinstance(value, dict):
        return {str(name): _in_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_in_json(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def answer_parquet(rows: Any, coverage: Sequence[ViewCoverage]) -> bytes:
    """An Arrow table as Parquet, with what was recorded in its metadata, under `tracekit`."""
    # An extra; the command has checked that it is there.
    from pyarrow import parquet

    text = json.dumps({"schema_version": VERSION, "coverage": [coverage_json(entry) for entry in coverage]})
    stream = io.BytesIO()
    parquet.write_table(rows.replace_schema_metadata({"tracekit": text}), stream)
    return stream.getvalue()


def coverage_json(coverage: ViewCoverage) -> dict[str, Any]:
    """What was recorded of a view."""
    return {"view": coverage.view, "recorded": coverage.recorded, "note": coverage.note}


def views_document(counts: Sequence[tuple[ViewCoverage, int]], tables: Sequence[tuple[str, int | None]]) -> Document:
    """A line for each view, with its rows, then those of the recorded tables."""
    of_views: tuple[Column[tuple[ViewCoverage, int]], ...] = (
        columns.names("view", lambda row: row[0].view),
        columns.numbers("rows", lambda row: row[1] if row[0].recorded else None, count),
        columns.words("holds", lambda row: TABLES[row[0].view].holds),
    )
    of_tables: tuple[Column[tuple[str, int | None]], ...] = (
        columns.names("recorded table", lambda row: f'raw."{row[0]}"'),
        columns.numbers("rows", lambda row: row[1], count),
    )
    views = Table("Views", of_views, tuple(counts))
    return Document(
        title=format_count(len(counts), "view"),
        verdict="",
        tone=Role.PLAIN,
        blocks=present(
            views, columns.absent_note(views), Table("Recorded tables", of_tables, tuple(tables)) if tables else None
        ),
    )


def _column(answer: Answer, place: int) -> Column[tuple[Any, ...]]:
    def text(row: tuple[Any, ...]) -> str:
        cell = row[place]
        if isinstance(cell, float):
            # Digits as they are, so that they can be copied.
            return f"{cell:.6g}" if abs(cell) < 1e6 else f"{cell:.0f}"
        return NULL if cell is None else str(cell)

    def value(row: tuple[Any, ...]) -> float | None:
        return row[place] if isinstance(row[place], int | float) else None

    if answer.types[place] in ("VARCHAR", "BOOLEAN"):
        return columns.words(answer.columns[place], text)
    return Column(answer.columns[place], text, value)


def _plain(value: Any) -> Any:
    """A value that JSON has no form of."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, date) else str(value)


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
