"""`tracekit export PATH...`: tables, listed or in another form, and the timeline for other viewers."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

from tracekit.cli.commands import TABLE_FORMATS
from tracekit.cli.forms import check_folder, check_output, print_document
from tracekit.cli.options import refuse
from tracekit.cli.output import emit, narrate
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import check_recordings, showing_progress, tell_unreadable, xctrace_options
from tracekit.documents.query import reasons_in, tables_document, tables_json
from tracekit.errors import UnreadableRecording, UsageError, unknown
from tracekit.recording import Progress, open_contents, open_recording
from tracekit.recording.contents import Recording
from tracekit.recording.writing.files import check_folder as check_unused, complete_file, make_folder
from tracekit.recording.writing.folder import WrittenFolder, is_readable, write_folder, writer_for
from tracekit.render.forms import ENDINGS, FORMS, form_for
from tracekit.report.redact import public_attributes
from tracekit.report.serialize import schema_text
from tracekit.units import format_count

VIEWERS = ("perfetto", "chrome")
"""Forms of timelines, as `tracekit.cli.viewers` writes them."""
HELP = """\
tracekit export run.trace                             list the tables
tracekit export run.trace --folder tables             all tables, as --format
tracekit export run.trace --schema NAME -o table.csv  one table, in that format
tracekit export run.trace -o run.pftrace --open       the timeline; also .json
tracekit export --json-schema report                  the schema of --json
Formats of tables: csv, jsonl, parquet, xml; of the timeline: perfetto, chrome
Schemas: report, model, performance, why, replay, ...
"""
_REDACTED = "private texts are replaced, also those that analysis needs; --no-redact writes cells as they were recorded"
_AS_RECORDED = "cells are not redacted (process names, paths, messages); check the files before sharing them"
_OF_TIMELINES = "open model process from to signpost config no-config no-functions"


def run(arguments: Namespace) -> ExitStatus:
    """Do what the arguments ask for. Status 2 where a table could not be read."""
    if arguments.json_schema:
        emit(schema_text(arguments.json_schema), utf8=True)
        return ExitStatus.DONE
    if not arguments.path:
        emit(HELP)
        return ExitStatus.DONE
    check_recordings(arguments.path)
    if len(arguments.output) > 1:
        raise UsageError(f"export writes one file at a time (got {len(arguments.output)}); --folder takes many tables")
    file = Path(arguments.output[0]) if arguments.output else None
    form = arguments.format if arguments.format in VIEWERS else ""
    if form and file is None:
        file = Path(f"{Path(arguments.path[0]).stem}{ENDINGS[form][0]}")
    elif file is not None and not form:
        if file.suffix.lower() in chain(*FORMS.values()):
            report = f"tracekit analyze {shlex.join(arguments.path)} -o {shlex.quote(arguments.output[0])}"
            raise UsageError(f"export writes tables and timelines; a report with the findings: `{report}`")
        form = form_for(file, (*TABLE_FORMATS, *VIEWERS))
    if arguments.output and arguments.folder is not None:
        raise UsageError("-o writes one file and --folder many; give one of them")
    if form in VIEWERS or (arguments.open and file is None and arguments.folder is None):
        # Tables need neither the checks nor what draws a timeline.
        from tracekit.cli.viewers import export_timeline

        tables = f"schema force folder {'' if arguments.format in VIEWERS else 'format'}"
        refuse(arguments, tables, "is for tables, and this writes the timeline")
        return export_timeline(arguments, file, form or "chrome")
    refuse(arguments, _OF_TIMELINES, "is for timelines, such as -o run.pftrace")
    if file is not None:
        refuse(arguments, "format force", "is for --folder; a file has the form of its ending")
        return _write_file(arguments, file, form)
    if arguments.folder is not None:
        return _write_folder(arguments, Path(arguments.folder), arguments.format or TABLE_FORMATS[0])
    if arguments.format in TABLE_FORMATS or arguments.schema:
        raise UsageError("missing --folder DIR for the tables, or -o FILE for one")
    refuse(arguments, "force", "is for --folder")
    with showing_progress(arguments.quiet) as progress:
        options = xctrace_options(arguments)
        contents = open_contents(arguments.path, progress=progress, reader=arguments.reader, xctrace=options)
    if arguments.format == "json":
        emit(tables_json(contents, arguments.run), utf8=True)
    else:
        print_document(tables_document(contents, arguments.run))
    return max((tell_unreadable(contents.source, run.tables) for run in contents.runs), default=ExitStatus.DONE)


def _write_folder(arguments: Namespace, folder: Path, form: str) -> ExitStatus:
    if form not in TABLE_FORMATS:
        raise UsageError(f"--folder takes tables as {', '.join(TABLE_FORMATS)}, not {form}")
    # What can be seen to be wrong at once is not first found out after a long read.
    writer_for(form)
    check_folder(folder, arguments.path)
    check_unused(folder, arguments.force)
    with showing_progress(arguments.quiet) as progress:
        recording = _recording(arguments, progress)
        make_folder(folder)
        written = _written(arguments, recording, folder, form)
    # Why xctrace failed says more than that a table is not there.
    reasons = dict(recording.contents.failures)
    written.left_out = [(schema, reasons.get(schema, reason)) for schema, reason in written.left_out]
    if not arguments.quiet or reasons:
        _tell(written, folder, arguments.redact)
    return _status(arguments, recording)


def _write_file(arguments: Namespace, file: Path, form: str) -> ExitStatus:
    if len(arguments.schema) != 1:
        raise UsageError("-o writes one table: name it with --schema; to write all tables, use --folder")
    # What can be seen to be wrong at once is not first found out after a long read.
    writer_for(form)
    check_output(file, arguments.path)
    with showing_progress(arguments.quiet) as progress, TemporaryDirectory(prefix="tracekit-") as folder:
        recording = _recording(arguments, progress)
        written = _written(arguments, recording, Path(folder), form)
        if len(written.files) > 1:
            raise UsageError(f"{len(written.files)} tables have the schema {arguments.schema[0]}; use --folder")
        make_folder(file.parent)
        for name in written.files:
            # A link stays one: what it leads to is written.
            with complete_file(file.resolve()) as stream, (Path(folder) / name).open("rb") as table:
                copyfileobj(table, stream)
    written.listing = None
    if not arguments.quiet:
        _tell(written, file, arguments.redact)
    return _status(arguments, recording)


def _written(arguments: Namespace, recording: Recording, folder: Path, form: str) -> WrittenFolder:
    """Write the tables as they were recorded, or as `tracekit sql` shows them."""
    if not arguments.redact:
        return write_folder(recording, folder, form, schemas=arguments.schema, public=None)
    # What is private follows from what the tables mean.
    from tracekit.query.private import public_tables
    from tracekit.trace.build import build_trace

    # Tables that were read stay, since they are written next.
    kept: Any = SimpleNamespace(
        **{name: getattr(recording, name) for name in ("contents", "run", "tables", "call_stacks")},
        forget=lambda _schemas: None,
    )
    cells = public_tables(build_trace(kept))
    return write_folder(recording, folder, form, schemas=arguments.schema, public=public_attributes, cells=cells)


def _recording(arguments: Namespace, progress: Callable[[Progress], None] | None) -> Recording:
    """The recording with the tables that are asked for. Raises an error for one that is not there or not readable."""
    recording = open_recording(
        arguments.path,
        run=arguments.run,
        schemas=arguments.schema or None,
        progress=progress,
        reader=arguments.reader,
        xctrace=xctrace_options(arguments),
    )
    tables = recording.run.tables
    for schema in arguments.schema if not recording.contents.failures else ():
        entries = [entry for entry in tables if entry.schema == schema]
        if not entries:
            raise unknown("table", schema, dict.fromkeys(entry.schema for entry in tables))
        if not any(is_readable(entry.state) for entry in entries):
            raise UnreadableRecording(f"table '{schema}' cannot be read: {entries[0].reason}")
    return recording


def _tell(written: WrittenFolder, where: Path, redacted: bool) -> None:
    """What was written, what was not, and what a reader of the files should know."""
    listing = f" and {written.listing}" if written.listing else ""
    tables = format_count(len(written.files), "table")
    narrate(f"tracekit: wrote {tables} with {format_count(written.rows, 'row')}{listing} to {where}")
    for reason, named in reasons_in(written.left_out).items():
        narrate(f"tracekit: skipped {named}: {reason}")
    if written.files:
        narrate(f"tracekit: {_REDACTED if redacted else _AS_RECORDED}")


def _status(arguments: Namespace, recording: Recording) -> ExitStatus:
    wanted = arguments.schema or {entry.schema for entry in recording.run.tables}
    unread = tell_unreadable(recording.contents.source, recording.run.tables, wanted)
    return ExitStatus.UNUSABLE if recording.contents.failures else unread
