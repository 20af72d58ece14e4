"""What a recording tells, and what of it a damaged copy tells otherwise without a word."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracekit.columns import Numbers
from tracekit.recording import open_recording
from tracekit.recording.table import Process, TableState, Thread

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class ToldTable:
    """What a recording tells of one table."""

    schema: str
    said: str
    """Why it cannot be read, or not all of its columns; empty where nothing is wrong."""
    content: Mapping[str, Any]
    """Identity, and by mnemonic the form of a column, the column and its cells."""


@dataclass(frozen=True)
class Snapshot:
    """Everything that a recording tells."""

    facts: Mapping[str, Any]
    notes: tuple[str, ...]
    tables: Mapping[str, ToldTable]
    """By name of the store."""


def snapshot(path: Path) -> Snapshot:
    """Read all tables. Raises `UnreadableRecording`."""
    recording = open_recording(path)
    run = recording.run
    facts = {field.name: getattr(run, field.name) for field in dataclasses.fields(run) if field.name != "tables"}
    tables = {}
    for schema in dict.fromkeys(entry.schema for entry in run.tables):
        for table in recording.tables(schema):
            assert table.reason or table.state is not TableState.UNREADABLE
            assert all(len(cells) == table.rows for cells in table.cells)
            content: dict[str, Any] = {"": ("identity", dict(table.attributes), table.state, table.rows)}
            for column, cells in zip(table.columns, table.cells, strict=table.state is not TableState.UNREADABLE):
                form = "numbers" if isinstance(cells, Numbers) else "texts"
                content[column.mnemonic] = (form, column, [cells.item(row) for row in range(table.rows)])
            tables[table.source] = ToldTable(schema, table.reason, content)
    return Snapshot(facts, recording.contents.notes, tables)


def unsaid(sound: Snapshot, expected: Snapshot) -> set[str]:
    """What a damaged bundle tells otherwise than the sound one, without a word.

    Each is `fact NAME`, `STORE numbers COLUMN`, `STORE texts COLUMN` or `STORE identity`. What is not known any more
    is not wrong: a fact that is None, a name in whose place stands a number.
    """
    notes = " ".join(set(expected.notes) - set(sound.notes))
    if expected.facts["number"] != sound.facts["number"]:
        return set() if "which was ignored" in notes else {"fact number"}
    changed = set()
    if not any(source in notes for source in ("form.template", "time-info", "configuration")):
        changed = {
            f"fact {name}" for name, value in expected.facts.items() if not _says_no_more(value, sound.facts[name])
        }
    nameless = any(table.said and table.schema in {"process-info", "thread-info"} for table in expected.tables.values())
    for source in sound.tables.keys() | expected.tables.keys():
        if source not in expected.tables or source not in sound.tables:
            changed.add(f"{source} identity")
            continue
        old, new = sound.tables[source].content, expected.tables[source].content
        if new[""][2] is TableState.UNREADABLE:
            continue
        for name in new.keys() if expected.tables[source].said else old.keys() | new.keys():
            before, after = old.get(name), new.get(name)
            if before != after and not (nameless and _without_names(before) == _without_names(after)):
                forms = {each[0] for each in (before, after) if each}
                changed.add(f"{source} {forms.pop() if len(forms) == 1 else 'numbers'} {name}".strip())
    return changed


def _says_no_more(value: Any, before: Any) -> bool:
    """Whether a fact is as before, or not known any more, or known in part."""
    if value in (before, None, ()):
        return True
    if isinstance(value, Process) and isinstance(before, Process):
        return value == Process(f"pid {before.pid}", before.pid)
    if not dataclasses.is_dataclass(value) or type(value) is not type(before):
        return False
    return all(
        _says_no_more(getattr(value, field.name), getattr(before, field.name)) for field in dataclasses.fields(value)
    )


def _without_names(column: Any) -> Any:
    """A column with the numbers of processes and threads instead of their names."""
    if not column or column[0] != "texts":
        return column
    return column[1], [_number(cell) for cell in column[2]]


def _number(cell: Any) -> Any:
    if isinstance(cell, Thread):
        return cell.tid, _number(cell.process)
    if isinstance(cell, Process):
        return cell.pid
    return re.sub(r"[^(]* \((\d+)\)", r"(\1)", cell) if isinstance(cell, str) else cell
