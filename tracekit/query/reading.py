"""What a query reads: its views, told from its tree as DuckDB writes it, and recorded tables as frames."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from tracekit.errors import UnreadableRecording, UsageError, unknown
from tracekit.recording import XctraceOptions, open_recording
from tracekit.recording.open import Paths
from tracekit.recording.table import Cells, Column, IntegerCells, Table, TableState
from tracekit.recording.writing.forms import column_names, is_unsigned
from tracekit.trace.binding import recode

if TYPE_CHECKING:
    import duckdb

Part = TypeVar("Part", dict[str, Any], str)

RAW = "raw"
"""Schema of the recorded tables."""


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
    nodes = list(_parts(tree, dict))
    own = {entry["key"].lower() for node in nodes for entry in (node.get("cte_map") or {}).get("map", ())}
    read = dict.fromkeys(name for node in nodes for name in _named(node, views))
    for name in read:
        if not (name in views or name.startswith(f"{RAW}.") or name in own):
            raise unknown("view", name, dict.fromkeys(views))
    return tuple(name for name in read if name in views or name not in own)


def _named(node: dict[str, Any], views: Collection[str]) -> Iterator[str]:
    """What one node of a tree reads."""
    match node.get("type"):
        case "BASE_TABLE":
            schema, name = node["schema_name"], node["table_name"]
            yield f"{RAW}.{name}" if schema.lower() == RAW else name.lower()
        case "SHOW_REF" if node["table_name"]:
            # The views that are made so far would look like all there are.
            raise UsageError("only views are read, not lists of tables; --list has the views")
        case "TABLE_FUNCTION":
            # Macros take names of views as texts or as they are.
            function, called = node["function"], node["function"]["function_name"].lower()
            # What they tell is of the database itself, or of views that no coverage comes with.
            if called == "query" or called.startswith(("duckdb_", "pragma_")):
                raise UsageError(f"only views are read, not {called}(); --list has the views")
            yield from (text.lower() for text in _parts(function, str) if text.lower() in views)
            if called == "with_prediction":
                yield "predictions"


def _parts(tree: Any, kind: type[Part]) -> Iterator[Part]:
    """All that is of a kind in a tree of JSON, from the outside in."""
    if isinstance(tree, kind):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _parts(part, kind)


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
    names = [name.replace("-", "_") for name in column_names(table.columns)]
    cells = zip(table.columns, table.cells, strict=True)
    return pd.DataFrame(dict(zip(names, (_column(*each) for each in cells), strict=True)), copy=False)


def _column(column: Column, cells: Cells) -> pd.Categorical | pd.arrays.IntegerArray:
    if isinstance(cells, IntegerCells):
        values = cells.values.astype(np.uint64) if is_unsigned(column.engineering_type) else cells.values
        return pd.arrays.IntegerArray(values, ~cells.valid)
    return recode(cells.codes, [str(value) for value in cells.values])
