"""Writes the tables of one run into a folder.

The table of contents has the form of `xctrace export --toc`. What identifies people and machines stays out of it unless
it is asked for: names and ids of devices, arguments, the environment. The list of processes, which our readers do not
keep, is written empty.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final

from tracekit.errors import TracekitError, refusals
from tracekit.recording.contents import Device, Recording, Run, TableEntry
from tracekit.recording.table import Table, TableState
from tracekit.recording.writing.files import FileNames, complete_file, staging_folder
from tracekit.recording.writing.forms import UnwritableTable, check_available, write_csv, write_jsonl, write_parquet
from tracekit.recording.writing.xml import escape, write_xml
from tracekit.signals import uninterrupted
from tracekit.units import format_names

PublicAttributes = Callable[[Mapping[str, str]], Mapping[str, str]]
PublicTables = Callable[[Sequence[Table]], Sequence[Table]]
FORMATS: Final = ("csv", "jsonl", "parquet", "xml")
"""Names of the forms of tables; each is also the suffix of its files."""
XML: Final = "xml"
INDEX: Final = "tables.json"
"""Which file holds which table, beside tables of a form that cannot say so itself."""
TOC: Final = "toc.xml"


@dataclass(slots=True)
class WrittenFolder:
    """What was written."""

    files: list[str] = field(default_factory=list)
    """Names of the files with tables."""
    rows: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """Schema and reason of each wanted table that was not written."""
    listing: str | None = None
    """Name of the list of tables that was written too."""


def writer_for(form: str) -> Callable[[Table, BinaryIO], None]:
    """The writer of a form. Raises `TracekitError` where a package that it needs is not installed."""
    if form == "parquet":
        check_available()
    return {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet, XML: write_xml}[form]


def write_folder(
    recording: Recording,
    folder: Path,
    form: str,
    *,
    schemas: Collection[str] = (),
    public: PublicAttributes | None,
    cells: PublicTables = lambda tables: tables,
) -> WrittenFolder:
    """Write the tables of the run that `recording` shows, one file each, and a list of all its tables.

    form: one of `FORMATS`. schemas: what to write; by default every table that can be read (XML) or that has rows
    (other forms). public: takes what is private out of attributes of tables; None keeps everything, in the table of
    contents the names of devices and the arguments too. cells: the same for the tables of one schema.

    The folder must exist. Files of the same names are replaced, when all are written; with tables that would stay
    beside the new ones, the folder is refused. Raises `TracekitError` for that, and where a file cannot be written.
    """
    write = writer_for(form)
    names = FileNames(reserved=(INDEX, TOC))
    result = WrittenFolder()
    listed: dict[int, dict[str, object]] = {}
    with _moved_up(folder) as stage:
        for number, entry, table in _tables(recording, schemas, form, cells):
            name, reason = None, entry.reason if table is None else table.reason
            if table is not None and is_readable(table.state):
                name = names.name(table.schema, f".{form}")
                try:
                    with complete_file(stage / name) as stream:
                        write(table, stream)
                    result.files.append(name)
                    result.rows += table.rows
                except UnwritableTable as error:
                    name, reason = None, f"it cannot be written as {form}: {error}"
            if name is None and reason and (not schemas or entry.schema in schemas):
                result.left_out.append((entry.schema, reason))
            described = entry if table is None else table
            listed[number] = {
                "file": name,
                "schema": entry.schema,
                "state": str(described.state),
                "rows": entry.rows,
                "columns": [[column.mnemonic, column.engineering_type] for column in table.columns] if table else None,
                "attributes": dict(entry.attributes if public is None else public(entry.attributes)),
                "reason": reason or None,
            }
        lines = [listed[number] for number in sorted(listed)]
        result.listing = _write_listing(recording, stage, form, lines, public)
    return result


@contextmanager
def _moved_up(folder: Path) -> Iterator[Path]:
    """A folder inside, whose files move up when all of them are there. A folder is read as one recording: raises
    `TracekitError` where tables of another would stay."""
    with refusals(f"write into {folder}"), staging_folder(folder) as stage:
        yield stage
        written, suffixes = sorted(path.name for path in stage.iterdir()), tuple(f".{form}" for form in FORMATS)
        others = sorted({path.name for path in folder.iterdir()}.difference(written))
        others = [name for name in others if name in (INDEX, TOC) or name.lower().endswith(suffixes)]
        if others:
            raise TracekitError(
                f"cannot write into {folder}: it contains {format_names(others, 1)}, which would be read as part of "
                "this recording; remove it, or name another folder"
            )
        with uninterrupted():
            for name in written:
                (stage / name).replace(folder / name)


def is_readable(state: TableState) -> bool:
    """Whether a table has cells, be it none."""
    return state in (TableState.ROWS, TableState.EMPTY)


def _tables(
    recording: Recording, schemas: Collection[str], form: str, cells: PublicTables
) -> Iterator[tuple[int, TableEntry, Table | None]]:
    """Number and line of every table of the run, with the table itself where it is to be written. Schema by schema,
    so that no more than the tables of one schema are in memory."""
    run = recording.run
    listed = recording.contents.has_table_of_contents
    # An xpath names a run by its position in the table of contents.
    run_number = [run.number for run in recording.contents.runs].index(run.number) + 1 if listed else run.number
    numbered = listed and all(entry.position is None for entry in run.tables)
    by_schema: dict[str, list[tuple[int, TableEntry]]] = {}
    for number, entry in enumerate(run.tables, 1):
        by_schema.setdefault(entry.schema, []).append((number, entry))
    for schema, entries in by_schema.items():
        states = {entry.state for _, entry in entries}
        wanted = schema in schemas if schemas else form == XML or TableState.ROWS in states
        if not wanted or not any(map(is_readable, states)):
            yield from ((number, entry, None) for number, entry in entries)
            continue
        for (number, entry), table in zip(entries, cells(recording.tables(schema)), strict=True):
            skipped = not schemas and form != XML and entry.state is not TableState.ROWS
            position = number if numbered else table.position
            yield number, entry, None if skipped else replace(table, run=run_number, position=position)


def _write_listing(
    recording: Recording, folder: Path, form: str, listed: list[dict[str, object]], public: PublicAttributes | None
) -> str | None:
    """The table of contents, or for other forms `tables.json`. None where it is not known what was recorded."""
    if form != XML:
        document = {"source": recording.contents.source, "run": recording.run.number, "tables": listed}
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    elif recording.contents.has_table_of_contents:
        lines = _block("trace-toc", (line for run in recording.contents.runs for line in _run(run, public)))
        text = "\n".join(['<?xml version="1.0"?>\n', *lines, ""])
    else:
        return None
    name = TOC if form == XML else INDEX
    with complete_file(folder / name) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))
    return name


def _run(run: Run, public: PublicAttributes | None) -> list[str]:
    tables = [
        _element("table", {"schema": entry.schema} | dict(public(entry.attributes) if public else entry.attributes))
        for entry in run.tables
    ]
    private = public is None
    hosts = [] if run.host is None else [_device("host-device", run.host, private)]
    target, process = [_device("device", run.device, private), *hosts], run.target.process
    if run.target.kind == "all-processes":
        target.append("<all-processes/>")
    elif process is not None or run.target.kind is not None:
        attributes = {
            "type": run.target.kind,
            "name": process.name if process else None,
            "pid": None if process is None or process.pid is None else str(process.pid),
            "termination-reason": run.target.termination_reason,
            "arguments": run.target.arguments if private else None,
        }
        target.append(_element("process", attributes))
    origin, (seconds, ns) = run.imported_from, divmod(run.duration_ns or 0, 1_000_000_000)
    # Six decimals as `xctrace` writes them, nine where the recording is finer.
    duration = f"{seconds}.{ns:09}" if ns % 1_000 else f"{seconds}.{ns // 1_000:06}"
    values = {
        "start-date": run.start_date,
        "end-date": run.end_date,
        "duration": None if run.duration_ns is None else duration,
        "end-reason": run.end_reason,
        "instruments-version": run.instruments_version,
        "template-name": run.template,
        "recording-mode": run.recording_mode,
        "time-limit": run.time_limit,
        "imported-from": origin if private or origin is None else origin.replace("\\", "/").rpartition("/")[2],
    }
    summary = [f"<{tag}>{escape(text)}</{tag}>" for tag, text in values.items() if text is not None]
    return _block(
        f'run number="{run.number}"',
        [
            *_block("info", [*_block("target", target), *_block("summary", summary)]),
            "<processes/>",
            *_block("data", tables),
            "<tracks/>",
        ],
    )


def _device(tag: str, device: Device, private: bool) -> str:
    return _element(
        tag,
        {
            "platform": device.platform,
            "model": device.model,
            "name": device.name if private else None,
            "os-version": device.os_version,
            "uuid": device.uuid if private else None,
        },
    )


def _element(tag: str, attributes: Mapping[str, str | None]) -> str:
    pairs = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items() if value is not None)
    return f"<{tag}{pairs}/>"


def _block(head: str, inner: Iterable[str]) -> list[str]:
    return [f"<{head}>", *("    " + line for line in inner), f"</{head.split(' ')[0]}>"]
