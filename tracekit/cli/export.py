"""`tracekit export PATH... -o DIR`: the tables of a recording in another form, or its timeline for another viewer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.ending import ExitStatus
from tracekit.cli.forms import holds
from tracekit.cli.output import narrate
from tracekit.cli.reading import showing_progress, xctrace_options
from tracekit.cli.recording_commands import VIEWERS
from tracekit.cli.reports import tell_unreadable
from tracekit.errors import UnreadableRecording, UsageError, unknown
from tracekit.recording import open_recording
from tracekit.recording.places import check_usable, would_be_replaced
from tracekit.recording.writing import write_folder
from tracekit.recording.writing.files import check_folder, make_folder
from tracekit.recording.writing.folder import is_readable, writer_for
from tracekit.report.formatting import visible
from tracekit.report.redact import public_attributes
from tracekit.units import format_count

if TYPE_CHECKING:
    from argparse import Namespace

    from tracekit.recording.contents import Recording
    from tracekit.recording.writing import WrittenFolder

MAX_NAMED = 3
"""Tables that are named beside the reason for which they were left out; more of them are counted."""


def run(arguments: Namespace) -> ExitStatus:
    """Write the tables or the timeline. Status 2 where a table could not be read."""
    if arguments.format in VIEWERS:
        # Tables need neither the checks nor what draws a timeline.
        from tracekit.cli.viewers import export_timeline

        return export_timeline(arguments)
    if arguments.open:
        raise UsageError(f"--open needs a format that the Perfetto UI reads: --format {' or '.join(VIEWERS)}")
    # What can be seen to be wrong at once is not first found out after a long read.
    writer_for(arguments.format)
    folder = Path(arguments.output)
    _check_destination(folder, arguments.path)
    check_folder(folder, arguments.force)
    with showing_progress(arguments.quiet) as progress:
        recording = open_recording(
            arguments.path,
            run=arguments.run,
            schemas=arguments.schema or None,
            progress=progress,
            reader=arguments.reader,
            xctrace=xctrace_options(arguments, quiet=arguments.quiet),
        )
        if not recording.contents.failures:
            _check_schemas(recording, arguments.schema)
        make_folder(folder)
        written = _written(recording, folder, arguments)
    # Why xctrace failed says more than that a table is not there.
    reasons = dict(recording.contents.failures)
    written.left_out = [(schema, reasons.get(schema, reason)) for schema, reason in written.left_out]
    if not arguments.quiet or reasons:
        _tell(written, folder)
    run_ = recording.run
    wanted = arguments.schema or {entry.schema for entry in run_.tables}
    unread = tell_unreadable(recording.contents.source, run_.tables, wanted)
    return ExitStatus.UNUSABLE if reasons or unread else ExitStatus.DONE


def _written(recording: Recording, folder: Path, arguments: Namespace) -> WrittenFolder:
    return write_folder(
        recording,
        folder,
        arguments.format,
        schemas=arguments.schema,
        public=public_attributes if arguments.redact else None,
    )


def _check_destination(folder: Path, paths: list[str]) -> None:
    """Raise `UsageError` for a folder inside a trace bundle, or one that holds the input or is it."""
    check_usable(folder)
    if holds(would_be_replaced, folder, paths):
        raise UsageError(f"cannot write into {folder}: it is or contains the recording; choose another folder")


def _check_schemas(recording: Recording, schemas: list[str]) -> None:
    """Raise an error for a schema that the recording does not have, or whose tables cannot be read."""
    tables = recording.run.tables
    for schema in schemas:
        entries = [entry for entry in tables if entry.schema == schema]
        if not entries:
            raise unknown("table", schema, dict.fromkeys(entry.schema for entry in tables))
        if not any(is_readable(entry.state) for entry in entries):
            raise UnreadableRecording(f"table '{schema}' cannot be read: {entries[0].reason}")


def _tell(written: WrittenFolder, folder: Path) -> None:
    """What was written, what was not, and what a reader of the files should know."""
    listing = f" and {written.listing}" if written.listing else ""
    tables = format_count(len(written.files), "table")
    narrate(f"tracekit: wrote {tables} with {format_count(written.rows, 'row')}{listing} to {folder}")
    for reason, schemas in _reasons(written).items():
        named = ", ".join(dict.fromkeys(schemas)) if len(schemas) <= MAX_NAMED else f"{len(schemas)} tables"
        narrate(f"tracekit: left out {named}: {reason}")
    if written.files:
        narrate(
            "tracekit: cells are not redacted (process names, paths, messages); check the files before sharing them"
        )


def _reasons(written: WrittenFolder) -> dict[str, list[str]]:
    """Schemas by reason; what to do about it follows the first semicolon, and differs from table to table."""
    schemas: dict[str, list[str]] = {}
    for schema, reason in written.left_out:
        schemas.setdefault(visible(reason.partition("; ")[0]), []).append(visible(schema))
    return schemas
