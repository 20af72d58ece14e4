"""`tracekit export PATH... -o DIR`: the tables of a recording in another form, or its timeline for another viewer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.command import Command, ExitStatus
from tracekit.cli.inputs import add_reader_arguments, add_run_argument, xctrace_options
from tracekit.errors import UsageError, unknown

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from tracekit.recording.contents import Recording
    from tracekit.recording.writing import WrittenFolder

FORMATS = ("csv", "jsonl", "parquet", "xml")
"""Of tables, as `tracekit.recording.writing.FORMATS` has them."""
VIEWERS = ("perfetto", "chrome")
"""Of timelines, as `tracekit.report.viewers.registry.VIEWERS` has them."""
MAX_NAMED = 3
"""Tables that are named beside the reason for which they were left out; more of them are counted."""


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="+",
        help="a .trace bundle or 'xctrace export' XML, or a folder or zip of either; - for stdin",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR|FILE",
        required=True,
        help=f"output folder, must be new or empty; with --format {' or '.join(VIEWERS)}, the output file",
    )
    parser.add_argument(
        "--format",
        choices=(*FORMATS, *VIEWERS),
        default="csv",
        help="output format (default: csv); perfetto and chrome write the timeline for other viewers; parquet needs "
        "pyarrow, perfetto the package perfetto",
    )
    parser.add_argument(
        "--open", action="store_true", help="then open the file in the Perfetto UI, in a browser on this machine"
    )
    parser.add_argument(
        "--schema",
        action="append",
        default=[],
        metavar="NAME",
        help="export only tables with this schema (repeatable; default: all with rows, for xml also those without)",
    )
    add_run_argument(parser)
    add_reader_arguments(parser)
    parser.add_argument(
        "--force",
        action="store_true",
        help="overwrite existing files; DIR must not contain other tables",
    )
    parser.add_argument(
        "--no-redact",
        action="store_true",
        help="keep device names, arguments and other private data in the list of tables or in the timeline",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="suppress progress and notes")


def run(arguments: Namespace) -> ExitStatus:
    """Write the tables or the timeline. Status 2 where a table could not be read."""
    if arguments.format in VIEWERS:
        from tracekit.cli.viewers import export_timeline

        return export_timeline(arguments)
    if arguments.open:
        raise UsageError(f"--open needs a format that the Perfetto UI reads: --format {' or '.join(VIEWERS)}")
    from tracekit.cli.progress import showing_progress
    from tracekit.cli.reports import tell_unreadable
    from tracekit.recording.open import open_reading
    from tracekit.recording.writing.files import check_folder, make_folder
    from tracekit.recording.writing.forms import writer_for

    # What can be seen to be wrong at once is not first found out after a long read.
    writer_for(arguments.format)
    folder = Path(arguments.output)
    _check_destination(folder, arguments.path)
    check_folder(folder, arguments.force)
    with showing_progress(arguments.quiet) as progress:
        reading = open_reading(
            arguments.path,
            run=arguments.run,
            schemas=arguments.schema or None,
            progress=progress,
            reader=arguments.reader,
            xctrace=xctrace_options(arguments, quiet=arguments.quiet),
        )
        if not reading.failures:
            _check_schemas(reading.recording, arguments.schema)
        make_folder(folder)
        written = _written(reading.recording, folder, arguments)
    # Why xctrace failed says more than that a table is not there.
    reasons = dict(reading.failures)
    written.left_out = [(schema, reasons.get(schema, reason)) for schema, reason in written.left_out]
    if not arguments.quiet or reasons:
        _tell(written, folder)
    run_ = reading.recording.run
    wanted = arguments.schema or {entry.schema for entry in run_.tables}
    unread = tell_unreadable(reading.recording.contents.source, run_.tables, wanted)
    return ExitStatus.UNUSABLE if reasons or unread else ExitStatus.DONE


def _written(recording: Recording, folder: Path, arguments: Namespace) -> WrittenFolder:
    from tracekit.recording.writing import write_folder
    from tracekit.report.redact import public_attributes

    return write_folder(
        recording,
        folder,
        arguments.format,
        schemas=arguments.schema,
        public=None if arguments.no_redact else public_attributes,
    )


def _check_destination(folder: Path, paths: list[str]) -> None:
    """Raise `UsageError` for a folder inside a trace bundle, or one that holds the input or is it."""
    from tracekit.cli.reports import holds
    from tracekit.recording.places import check_usable, would_be_replaced

    check_usable(folder)
    if holds(would_be_replaced, folder, paths):
        raise UsageError(f"cannot write into {folder}: it is or contains the recording; choose another folder")


def _check_schemas(recording: Recording, schemas: list[str]) -> None:
    """Raise an error for a schema that the recording does not have, or whose tables cannot be read."""
    from tracekit.errors import UnreadableRecording
    from tracekit.recording.writing.folder import is_readable

    tables = recording.run.tables
    for schema in schemas:
        entries = [entry for entry in tables if entry.schema == schema]
        if not entries:
            raise unknown("table", schema, dict.fromkeys(entry.schema for entry in tables))
        if not any(is_readable(entry.state) for entry in entries):
            raise UnreadableRecording(f"table '{schema}' cannot be read: {entries[0].reason}")


def _tell(written: WrittenFolder, folder: Path) -> None:
    """What was written, what was not, and what a reader of the files should know."""
    from tracekit.cli.output import narrate
    from tracekit.units import format_count

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
    from tracekit.report.formatting import visible

    schemas: dict[str, list[str]] = {}
    for schema, reason in written.left_out:
        schemas.setdefault(visible(reason.partition("; ")[0]), []).append(visible(schema))
    return schemas


COMMAND = Command(
    name="export",
    summary="export tables (CSV, JSON Lines, Parquet, XML) or the timeline (Perfetto, Chrome)",
    description=(
        "Export the tables of one run to a folder, one file per table. csv, jsonl and parquet come with a tables.json "
        "that describes each file; xml has the format of 'xctrace export', with a toc.xml, and tracekit can read it "
        "again. The list of tables is redacted unless --no-redact is given; cells are always written as recorded. In "
        "csv, cells that a spreadsheet would treat as formulas are prefixed with an apostrophe. "
        "perfetto and chrome write one file instead: timeline and findings for other trace viewers, redacted like a "
        "report."
    ),
    add_arguments=add_arguments,
    run=run,
)
