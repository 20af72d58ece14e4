"""Reads the rows that `tracekit analyze -o findings.zip --rows` wrote, so that a recording of a stranger is a test.

scenario = Scenario(Process("App", 1), duration_ns=60_000_000_000, other_tables=read_rows("findings.zip"))
write_export(scenario, folder)
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from tracekit.testing.cells import Cell, Column, TableContent, text_label

NAME = "core-ml-rows.json"


def read_rows(path: Path | str) -> list[TableContent]:
    """The tables in an archive, or in its file `core-ml-rows.json`. Raises ValueError for another version of the format
    and KeyError for an archive without rows."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            text = archive.read(NAME).decode("utf-8")
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
