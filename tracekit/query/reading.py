"""What a query reads: its views, told from its tree as DuckDB writes it, and the rows of recorded tables."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tracekit.columns import Numbers, Texts, joined_codes, no_numbers
from tracekit.errors import UnreadableRecording, UsageError, unknown
from tracekit.query.columns import ViewRows
from tracekit.recording import XctraceOptions, open_recording
from tracekit.recording.open import Paths
from tracekit.recording.table import Cells as RecordedCells, TableState
from tracekit.recording.writing.forms import column_names, is_unsigned
from tracekit.rows import joined_cells
from tracekit.trace.binding import as_coded, as_texts

if TYPE_CHECKING:
    import duckdb

RAW = "raw"
"""Schema of the recorded tables."""
_OF_VIEWS = ("query_table", "by_model", "with_prediction")
"""Functions that read the view whose name they are given, as a text or as it is."""
_TABLES = (*_OF_VIEWS, "range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree")
"""The functions that may stand for a table. Others read files, the database itself, or SQL that is a text."""
_OF_DATABASE = ("current_setting", "json_serialize_plan", "pg_get_viewdef", "write_log")
_SYSTEM = ("duckdb_", "pg_", "pragma_", "sqlite_")
"""How names of views of the database itself begin."""
_NOT_READ = "only views are read, not {}; --list has the views"


def views_read(connection: duckdb.DuckDBPyConnection, query: str, views: Collection[str]) -> tuple[str, ...]:
    """Names of the views that a query reads, recorded tables as `raw.schema`. Raises `UsageError` for one that is not
    one of `views`, and for anything but one query that only reads."""
    if any("\ud800" <= sign <= "\udfff" for sign in query):
        raise UsageError("the query is not UTF-8")
    count = len(connection.extract_statements(query))
    if count != 1:
        raise UsageError(f"one query at a time (got {count})" if count else "no query given")
    [(text,)] = connection.execute("select json_serialize_sql(?)", [query]).fetchall()
    tree = json.loads(text)
    if tree["error"]:
        # Only a statement that reads is written as a tree.
        reads = tree["error_type"] != "not implemented"
        raise UsageError(
            tree["error_message"] if reads else "only queries that read are answered: select, from, describe"
        )
    nodes = list(_nodes(tree))
    own = {entry["key"].lower() for node in nodes for entry in (node.get("cte_map") or {}).get("map", ())}
    for name in own:
        # Where the part is not known, it would name a file, a view that nobody judges, or one of the database.
        if not name.isidentifier() or name.startswith(_SYSTEM):
            raise UsageError(f"no part of a query is named '{name}'; use a plain word: with part as (…)")
    read = dict.fromkeys(name for node in nodes for name in _named(node))
    for name in read:
        if not (name in views or name.startswith(f"{RAW}.") or name in own):
            raise unknown("view", name, dict.fromkeys(views))
    return tuple(name for name in read if name in views or name not in own)


def _named(node: dict[str, Any]) -> Iterator[str]:
    """What one node of a tree reads."""
    match node.get("type"):
        case "BASE_TABLE":
            schema, name = node["schema_name"].lower(), node["table_name"]
            if schema not in ("", "main", "recurring", RAW) or node["catalog_name"]:
                raise UsageError(_NOT_READ.format(f"{schema}.{name}"))
            yield f"{RAW}.{name}" if schema == RAW else name.lower()
        case "SHOW_REF" if node["table_name"]:
            # The views that are made so far would look like all there are.
            raise UsageError("only views are read, not lists of tables; --list has the views")
        case "TABLE_FUNCTION":
            called = node["function"]["function_name"].lower()
            if called not in _TABLES:
                raise UsageError(_NOT_READ.format(f"{called}()"))
            if called in _OF_VIEWS:
                yield from _views_given(called, node["function"]["arguments"])
            if called == "with_prediction":
                yield "predictions"
        case "FUNCTION" if (called := node["function_name"].lower()) in _OF_DATABASE:
            raise UsageError(_NOT_READ.format(f"{called}()"))


def _views_given(called: str, arguments: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The views that a function is given by name. Raises `UsageError` for a name that is worked out."""
    for value in (argument["expression"] for argument in arguments):
        if value.get("function_name") == "list_value":
            yield from _views_given(called, value["arguments"])
        elif value["class"] == "CONSTANT":
            # Besides names, whether to match columns by theirs.
            yield from [value["literal"]["text"].lower()] if value["literal"]["kind"] == "STRING" else []
        elif value["class"] == "COLUMN_REF" and len(value["column_names"]) == 1:
            yield value["column_names"][0].lower()
        else:
            raise UsageError(f"{called}() takes the name of a view, as in: from {called}('predictions')")


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """All objects in a tree of JSON, from the outside in."""
    if isinstance(tree, dict):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(part)


def recorded_rows(
    schema: str, path: Paths, *, run: int | None = None, reader: str = "auto", xctrace: XctraceOptions | None = None
) -> ViewRows:
    """The rows of all tables of a schema in a recording, which is read for them, in their order: a column for each of
    theirs, with underscores for hyphens. `run`, `reader` and `xctrace` are those of `open_recording`.

    Numbers are signed or unsigned, in the unit of the recording (ns for times); other cells are the texts that
    Instruments shows. Raises `UsageError` for a schema that the recording does not have, and `UnreadableRecording` for
    one that cannot be read.
    """
    recording = open_recording(path, run=run, schemas=[schema], reader=reader, xctrace=xctrace)
    tables = recording.tables(schema)
    readable = [table for table in tables if table.state in (TableState.ROWS, TableState.EMPTY)]
    if not readable:
        entries = recording.run.tables
        reason = next((entry.reason for entry in entries if entry.schema == schema), None)
        if reason is None:
            raise unknown("table", schema, dict.fromkeys(entry.schema for entry in entries))
        raise UnreadableRecording(f"table '{schema}' cannot be read: {reason or 'it is not in the recording'}")
    named = [{name.replace("-", "_"): at for at, name in enumerate(column_names(table.columns))} for table in readable]
    rows: ViewRows = {}
    for name in dict.fromkeys(name for names in named for name in names):
        held = [(table, names.get(name)) for table, names in zip(readable, named, strict=True)]
        cells = _joined([no_numbers(table.rows) if at is None else table.cells[at] for table, at in held])
        unsigned = any(at is not None and is_unsigned(table.columns[at].engineering_type) for table, at in held)
        if isinstance(cells, Numbers) and unsigned:
            cells = replace(cells, values=cells.values.astype(np.uint64))
        rows[name] = cells
    return rows


def _joined(parts: Sequence[RecordedCells]) -> Numbers | Texts:
    """A column of several tables: of texts where it is not numbers in all."""
    if not all(isinstance(cells, Numbers) for cells in parts):
        return joined_codes([as_texts(as_coded(cells)) for cells in parts])
    numbers: Numbers = joined_cells(parts)
    return numbers
