"""Which views a query reads, before they are made: from its tree, as DuckDB writes it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from tracekit.errors import UsageError, unknown

if TYPE_CHECKING:
    import duckdb

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
    own = {entry["key"] for node in _nodes(tree) for entry in (node.get("cte_map") or {}).get("map", ())}
    read = dict.fromkeys(name for node in _nodes(tree) for name in _named(node, views))
    for name in read:
        if not (name in views or name.startswith(f"{RAW}.") or name in own):
            raise unknown("view", name, dict.fromkeys(views))
    return tuple(name for name in read if name in views or name not in own)


def _named(node: dict[str, Any], views: Collection[str]) -> Iterator[str]:
    """What one node of a tree reads."""
    match node.get("type"):
        case "BASE_TABLE":
            schema, name = node["schema_name"], node["table_name"]
            yield f"{RAW}.{name}" if schema == RAW else name
        case "TABLE_FUNCTION":
            # Macros take names of views as texts or as they are.
            function = node["function"]
            yield from (text for text in _texts(function) if text in views)
            if function["function_name"] == "with_prediction":
                yield "predictions"


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(part)


def _texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _texts(part)
