"""What a query reads: its views, told from its tree as DuckDB writes it, and recorded tables as frames."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from tracekit.columns import Numbers
from tracekit.errors import UnreadableRecording, UsageError, unknown
from tracekit.recording import XctraceOptions, open_recording
from tracekit.recording.open import Paths
from tracekit.recording.table import Table, TableState
from tracekit.recording.writing.forms import column_names, is_unsigned
from tracekit.trace.binding import recode

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


def raw_frame(
    schema: str, path: Paths, *, run: int | None = None, reader: str = "auto", xctrace: XctraceOptions | None = None
) -> pd.DataFrame:
    """The rows of all tables of a schema in a recording, which is read for them, in their order: a column for each of
    theirs, with underscores for hyphens. `run`, `reader` and `xctrace` are those of `open_recording`.

    Numbers are `Int64` or `UInt64`, in the unit of the recording (ns for times); other cells are categories of the text
    that Instruments shows. Raises `UsageError` for a schema that the recording does not have, and `UnreadableRecording`
    for one that cannot be read.
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
    rows = pd.concat([_frame(table) for table in readable], ignore_index=True)
    # Categories of several tables become plain texts.
    return rows.astype({name: "category" for name, dtype in rows.dtypes.items() if not is_numeric_dtype(dtype)})


def _frame(table: Table) -> pd.DataFrame:
    columns: dict[str, object] = {}
    for name, column, cells in zip(column_names(table.columns), table.columns, table.cells, strict=True):
        if isinstance(cells, Numbers):
            values = cells.values.astype(np.uint64) if is_unsigned(column.engineering_type) else cells.values
            columns[name.replace("-", "_")] = pd.arrays.IntegerArray(values, ~cells.known)
        else:
            columns[name.replace("-", "_")] = recode(cells.codes, [str(value) for value in cells.values])
    return pd.DataFrame(columns, copy=False)
