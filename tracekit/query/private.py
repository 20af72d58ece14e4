"""Which views a query reads, told from its tree as DuckDB writes it, and their rows without what is private."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tracekit.columns import Codes, Numbers, Texts, joined_codes, no_numbers
from tracekit.errors import UnreadableRecording, UsageError, unknown
from tracekit.grouping import grouped
from tracekit.query.columns import ViewRows
from tracekit.recording import XctraceOptions, open_recording
from tracekit.recording.open import Paths
from tracekit.recording.table import Cells as RecordedCells, CellValue, Process, Table, TableState, Thread, merge_codes
from tracekit.recording.writing.forms import column_names, is_unsigned
from tracekit.report.private_text import PRIVATE, alias_names
from tracekit.report.redact import PrivateFacts, private_facts, redact_label, redact_names, redact_texts
from tracekit.rows import joined_cells
from tracekit.trace.binding import as_coded, as_texts
from tracekit.trace.filter import model_names
from tracekit.trace.instruments.catalogue import INSTRUMENTS
from tracekit.trace.samples import SYSTEM
from tracekit.trace.trace import Trace

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


OF_REPORT: Final = (
    "models",
    "compute_units",
    "specializations",
    "operations",
    "findings",
    "checks",
    "evidence",
    "recording",
)
"""Views of a report, which is redacted itself."""
_OF_EVENTS = ("lane", "kind", "level", "compute_unit", "attribution", "origin", "source_table")
_OF_REQUESTS = ("form", "runtime", "phase", "first_token_from", "error")
_OF_OTHERS = ("state", "hang_type", "severity", "owner", "instrument", "view", "tables", "gpu", "track", "compiler")
_RECORDED = ("model_level", "event_type", "color", "aside", "says")
SAFE: Final = frozenset((*_OF_EVENTS, *_OF_REQUESTS, *_OF_OTHERS, *_RECORDED))
"""Columns of words that Apple or tracekit writes."""
_NAMED = ("label", "encoder", "event_label", "process", "image", "function", "fully_qualified_model", "model_name")
TEXTS: Final = frozenset((*_NAMED, "conclusion", "advice", "note"))
"""Columns in which names of processes, paths and ids are replaced."""
COUNTS: Final = frozenset(("total_tokens", "prompt_tokens", "response_tokens", "cached_tokens", "turn_index"))
"""Columns of numbers that are recorded as texts."""
MODELS: Final = frozenset(("model", "parent_model"))
SIGNPOSTS: Final = frozenset(("name", "category", "subsystem", "display"))
"""Columns of words that apps or users choose: each is told apart by an alias."""
_WORK = re.compile(r"\s+0x[0-9a-f]+$")
"""The piece of work at the end of a label: thousands differ in it alone."""
_MAIN, _PROCESS = "Main Thread", "process"
_SCHEMAS = frozenset(schema for instrument in INSTRUMENTS for schema in instrument.schemas)
"""Recorded tables of which it is known what their columns hold."""


def redacted(views: Mapping[str, ViewRows], trace: Trace) -> dict[str, ViewRows]:
    """The views with private texts replaced, names of processes as in a report. A text column that is known to be
    neither harmless nor of one of these kinds is private whole: apps and tables that are not known may write anything.
    O(rows + size of the distinct texts)."""
    texts = {
        (view, name): cells
        for view, rows in views.items()
        for name, cells in rows.items()
        if view not in OF_REPORT and isinstance(cells, Codes)
    }
    held = {key: list(cells.held()) for key, cells in texts.items()}
    clean = _public_texts(held, private_facts(trace), model_names(trace))
    changed = {key: texts[key].recoded(public.get) for key, public in clean.items()}
    return {
        view: {name: changed.get((view, name), cells) for name, cells in rows.items()} for view, rows in views.items()
    }


def public_tables(trace: Trace) -> Callable[[Sequence[Table]], list[Table]]:
    """What takes the same out of the cells of all tables of one schema. O(size of the distinct texts)."""
    facts, names = private_facts(trace), model_names(trace)

    def public(tables: Sequence[Table]) -> list[Table]:
        # A table that cannot be read has columns, and no cells.
        columns = [pair for table in tables for pair in zip(table.columns, table.cells, strict=False)]
        cells = [(column.mnemonic.replace("-", "_"), held) for column, held in columns]
        values = [(name, value) for name, held in cells if isinstance(held, Codes) for value in held.values]
        values += [(_PROCESS, cell.process) for _, cell in values if isinstance(cell, Thread) and cell.process]
        texts = grouped(((f"{RAW}.{tables[0].schema}", name), str(value)) for name, value in values)
        clean = {name: held for (_, name), held in _public_texts(texts, facts, names).items()}
        made = iter(
            [
                held
                if isinstance(held, Numbers) or name not in clean
                else merge_codes(held.codes, [_public_value(value, name, clean) for value in held.values])
                for name, held in cells
            ]
        )
        return [replace(table, cells=tuple(islice(made, len(table.cells)))) for table in tables]

    return public


def _public_value(value: CellValue, name: str, clean: Mapping[str, Mapping[str, str]]) -> CellValue:
    text = clean[name][str(value)]
    if isinstance(value, Thread):
        process = _public_value(value.process, _PROCESS, clean) if value.process else None
        return Thread(text, value.tid, process if isinstance(process, Process) else None)
    return Process(text.removesuffix(f" ({value.pid})"), value.pid) if isinstance(value, Process) else text


def _public_texts(
    held: Mapping[tuple[str, str], list[str]], facts: PrivateFacts, names: Collection[str]
) -> dict[tuple[str, str], dict[str, str]]:
    """What stands for each text of a view's column; columns that stay as they are have no entry."""
    unknown = {view for view, _ in held if view.startswith(f"{RAW}.") and view.removeprefix(f"{RAW}.") not in _SCHEMAS}
    held = {key: texts for key, texts in held.items() if key[0] in unknown or key[1] not in SAFE}
    bare = {text: _WORK.sub("", text) for (_, column), texts in held.items() if column in TEXTS for text in texts}
    distinct = list(dict.fromkeys(bare.values()))
    public = redact_texts([redact_label(text, facts) for text in distinct], facts, names)
    clean = dict(zip(distinct, public, strict=True))

    def replacement(column: str) -> Callable[[list[str]], list[str]]:
        if column in TEXTS:
            return lambda texts: [clean[bare[text]] + text[len(bare[text]) :] for text in texts]
        if column in MODELS:
            return lambda texts: redact_names(texts, facts)
        if column in SIGNPOSTS:
            return lambda texts: list(map(alias_names(texts, column).__getitem__, texts))
        if column == "file":
            return lambda texts: [PurePosixPath(text.replace("\\", "/")).name for text in texts]
        if column in COUNTS:
            return lambda texts: [text if text.isdecimal() else PRIVATE for text in texts]
        if column == "thread":
            return lambda texts: [_MAIN if text.startswith(_MAIN) else PRIVATE for text in texts]
        return lambda texts: [PRIVATE] * len(texts)

    return {
        (view, column): dict(
            zip(texts, [PRIVATE] * len(texts) if view in unknown else replacement(column)(texts), strict=True)
        )
        for (view, column), texts in held.items()
    }


def without_functions(rows: ViewRows) -> ViewRows:
    """The frames of stacks without names of the app's functions and source files, where `owner` is not the system.
    O(rows)."""
    owner = rows["owner"]
    return {
        name: cells.changed(~owner.is_any(SYSTEM) & cells.known, PRIVATE)
        if name in ("function", "file") and isinstance(cells, Codes) and isinstance(owner, Codes)
        else cells
        for name, cells in rows.items()
    }
