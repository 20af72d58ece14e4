"""Values of table cells, apart from any file format, and those that somebody attached to an issue.

A cell is `None` (no value), an `int`, a `str`, or one of the containers below. Its column gives it Apple's type.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tracekit.testing.machines import Process, Thread
from tracekit.testing.stacks import Stack


@dataclass(frozen=True, slots=True)
class Part:
    """A typed piece of a label, narrative or message."""

    type: str
    """Engineering type, for example `narrative-text`."""
    value: int | str | Process


@dataclass(frozen=True, slots=True)
class Label:
    """A text that is put together from typed parts: formatted labels, narratives and log messages."""

    parts: tuple[Part, ...] = ()


_ROWS = "core-ml-rows.json"
Cell = int | str | Process | Thread | Label | Stack | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a schema as the file describes it."""

    mnemonic: str
    name: str
    type: str
    """Engineering type."""


@dataclass(frozen=True, slots=True)
class TableContent:
    """One table of one run with its rows, ready for a writer."""

    schema: str
    attributes: tuple[tuple[str, str], ...]
    """As the table of contents prints them, in order."""
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """In ascending order of the first cell."""
    documentation: str = ""


@lru_cache(maxsize=1024)
def text_label(text: str) -> Label:
    """A label that holds one text. Rows share few of them."""
    return Label((Part("string", text),))


def read_rows(path: Path | str) -> list[TableContent]:
    """The tables that `tracekit analyze -o findings.zip --rows` wrote, from the archive or its file
    `core-ml-rows.json`, so that a recording of a stranger is a test. Raises ValueError for an archive without
    rows, and for another version of the format.

    scenario = Scenario(Process("App", 1), duration_ns=60_000_000_000, other_tables=read_rows("findings.zip"))
    write_export(scenario, folder)
    """
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if _ROWS not in archive.namelist():
                raise ValueError(f"{path} has no rows; write it with: tracekit analyze run.trace -o {path} --rows")
            text = archive.read(_ROWS).decode("utf-8")
    else:
        text = Path(path).read_text(encoding="utf-8")
    document = json.loads(text)
    if document["format"] != 1:
        raise ValueError(f"{path} has format {document['format']}; this reads format 1")
    return [_table(table) for table in document["tables"]]


def _table(table: dict[str, Any]) -> TableContent:
    columns = tuple(Column(each["mnemonic"], each["name"], each["type"]) for each in table["columns"])
    rows = tuple(
        tuple(_cell(column.type, value) for column, value in zip(columns, row, strict=True)) for row in table["rows"]
    )
    return TableContent(table["schema"], (), columns, rows)


def _cell(kind: str, value: int | str | None) -> Cell:
    """A cell; a process or a thread has no name left that could be written."""
    if kind in ("process", "thread"):
        return None
    return text_label(value) if kind == "formatted-label" and isinstance(value, str) else value
