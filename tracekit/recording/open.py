"""Opens a recording, whatever it lies in: a trace bundle natively, or with Apple's `xctrace`, or with both in turn.

Another reader than the native one is never taken without a word: the notes of the recording name what `xctrace` read,
and the caller is informed before it takes its time.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tracekit.errors import TracekitError, UnreadableRecording, UsageError, naming_keywords, unknown
from tracekit.recording.contents import Contents, Recording, Run, TableEntry
from tracekit.recording.direct import open_directly
from tracekit.recording.progress import Progress
from tracekit.recording.sources import BUNDLE_SUFFIX, STANDARD_INPUT
from tracekit.recording.table import Table
from tracekit.recording.xctrace.tool import TIMEOUT_S, Tool, find_tool

if TYPE_CHECKING:
    from tracekit.recording.call_stacks import CallStacks

Paths = str | Path | Sequence[str | Path]
"""One path or several that make up one recording. `-` is standard input."""
READERS: Final = ("auto", "native", "xctrace")


def _ignore(*_: object) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class XctraceOptions:
    """How `xctrace` is asked, where it is."""

    timeout_s: float = TIMEOUT_S
    """For each table."""
    on_message: Callable[[str], None] = _ignore
    """Called with what `xctrace` reads in place of the native reader, as one clause."""
    on_progress: Callable[[int, int, str], None] = _ignore
    """Called with number, count and schema before each table."""


@naming_keywords
def open_recording(
    path: Paths,
    *,
    run: int | None = None,
    schemas: str | Collection[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    reader: str = "auto",
    xctrace: XctraceOptions | None = None,
) -> Recording:
    """Open a recording.

    path: a `.trace` bundle or a zip archive of one; or one XML file that `xctrace export` wrote, several of them, a
    folder or zip archive of them, with or without the table of contents, or `-` for standard input. Names do not
    matter. run: number of the run, by default the latest. schemas: tables that are needed now; the others of an export
    are counted, and read when `Recording.tables` asks for them. By default everything is read now. Tables of a bundle
    are always read when they are asked for. progress: called about ten times a second during long reads.

    reader: `native`; `xctrace`, which reads the needed tables of a bundle through Apple's tool; or `auto`, which reads
    natively and, where that tool is, through it what cannot be read so. Exports have one reader, and `auto` and
    `native` are the same for them. xctrace: time limit of the tool, and who hears of its steps. The notes say what it
    read.

    Raises `UnreadableRecording` for input that cannot be read, `UsageError` for a run or reader that does not exist,
    `TracekitError` for the reader `xctrace` where there is none.
    """
    paths = [path] if isinstance(path, str | Path) else list(path)
    schemas = [schemas] if isinstance(schemas, str) else schemas
    tool = usable_tool(paths, reader)
    if tool is None:
        return open_directly(paths, run, schemas, progress)
    trace, needed, options = Path(paths[0]), schemas or (), xctrace or XctraceOptions()
    if reader == "xctrace":
        return _read_through(tool, trace, run, needed, options)
    return _read_with_help(tool, trace, run, needed, progress, options)


def open_contents(
    path: Paths,
    *,
    progress: Callable[[Progress], None] | None = None,
    reader: str = "auto",
    xctrace: XctraceOptions | None = None,
) -> Contents:
    """What a recording holds: all runs, and their tables with state and row counts. Cells are not decoded.

    reader and xctrace: as for `open_recording`. Raises `UnreadableRecording` for input that cannot be read.
    """
    paths = [path] if isinstance(path, str | Path) else list(path)
    recording = open_recording(paths, schemas=(), progress=progress, reader=reader, xctrace=xctrace)
    if usable_tool(paths, reader) is None:
        return recording.contents
    # The tool answers for one run at a time.
    runs = [
        recording.run
        if run.number == recording.run.number
        else open_recording(paths, run=run.number, schemas=(), reader=reader, xctrace=xctrace).run
        for run in recording.contents.runs
    ]
    return replace(recording.contents, runs=tuple(runs))


def usable_tool(paths: Sequence[str | Path], reader: str) -> Tool | None:
    """The tool that may be asked for tables of these paths; None where it is not.

    Raises `UsageError` for a reader that does not exist, and for `xctrace` where the paths are not one bundle;
    `TracekitError` for `xctrace` on a machine without it.
    """
    if reader not in READERS:
        raise unknown("reader", reader, READERS)
    if reader == "native":
        return None
    missing = len(paths) == 1 and not os.path.exists(paths[0])  # noqa: PTH110 - also for what is no path
    if missing and str(paths[0]) != STANDARD_INPUT:
        # What is wrong with a path is reported where it is opened.
        return None
    is_bundle = len(paths) == 1 and Path(paths[0]).suffix == BUNDLE_SUFFIX and Path(paths[0]).is_dir()
    if reader == "xctrace" and not is_bundle:
        raise UsageError("--reader xctrace takes exactly one unpacked .trace bundle")
    tool = find_tool() if is_bundle else None
    if reader == "xctrace" and tool is None:
        raise TracekitError("--reader xctrace needs a Mac with Xcode; omit --reader to read the bundle natively")
    return tool


def _read_through(
    tool: Tool, trace: Path, run: int | None, schemas: Collection[str], xctrace: XctraceOptions
) -> Recording:
    """The tables of these schemas, of all by default, through `xctrace` alone."""
    from tracekit.recording.xctrace.exporter import Exporter

    with tempfile.TemporaryDirectory(prefix="tracekit-") as between:
        exported = Exporter(tool, trace, xctrace.timeout_s).export(Path(between), run, schemas, xctrace.on_progress)
        # Everything is read now, because the files go away.
        recording = open_directly(exported.files, exported.run.number)
    recording.contents = replace(recording.contents, source=trace.name)
    return _with_notes(recording, "read with xctrace", failures=exported.failures)


class _MergedRecording:
    """A recording with all tables of some schemas taken from another reading of the same run.

    The two number their tables differently, so none of them has a position.
    """

    def __init__(self, base: Recording, other: Recording, schemas: Collection[str]) -> None:
        self._base, self._other, self._schemas = base, other, schemas
        joined = self.run
        runs = tuple(joined if run.number == joined.number else run for run in base.contents.runs)
        self.contents = replace(base.contents, runs=runs)

    @property
    def run(self) -> Run:
        """The run that this recording shows. A table that could not be read so far is `unreadable` in its list."""
        entries: list[TableEntry] = []
        replaced: set[str] = set()
        for entry in self._base.run.tables:
            if entry.schema not in self._schemas:
                entries.append(entry)
            elif entry.schema not in replaced:
                # Those of the other reading stand where the first one of the schema stands.
                replaced.add(entry.schema)
                entries += [other for other in self._other.run.tables if other.schema == entry.schema]
        return replace(self._base.run, tables=tuple(replace(entry, position=None) for entry in entries))

    def tables(self, schema: str, **attributes: str) -> list[Table]:
        """As `Recording.tables`."""
        source = self._other if schema in self._schemas else self._base
        return [replace(table, position=None) for table in source.tables(schema, **attributes)]

    def forget(self, schemas: Collection[str]) -> None:
        """As `Recording.forget`."""
        for source in (self._base, self._other):
            source.forget(schemas)

    def call_stacks(self, schema: str, **attributes: str) -> list[CallStacks]:
        """As `Recording.call_stacks`."""
        source = self._other if schema in self._schemas else self._base
        return source.call_stacks(schema, **attributes)


def _read_with_help(
    tool: Tool,
    trace: Path,
    run: int | None,
    schemas: Collection[str],
    progress: Callable[[Progress], None] | None,
    xctrace: XctraceOptions,
) -> Recording:
    """The recording as it is read natively, and through `xctrace` what cannot be read so.

    schemas: those that are needed, which are looked at row by row. By default all, of which those are taken for
    readable that look so from outside.
    """
    try:
        recording = open_directly([trace], run, progress=progress)
    except UnreadableRecording as error:
        xctrace.on_message(f"{error}; reading all of it with xctrace instead")
        try:
            exported = _read_through(tool, trace, run, schemas, xctrace)
        except TracekitError as second:
            raise UnreadableRecording(f"{error}; xctrace cannot read it either: {second}") from second
        return _with_notes(exported, f"could not be read natively: {error}")
    if schemas:
        # A recording of its own: progress counts each row once.
        looked_at = open_directly([trace], run)
        lacking = [schema for schema in schemas if any(table.reason for table in looked_at.tables(schema))]
    else:
        lacking = list(dict.fromkeys(entry.schema for entry in recording.run.tables if entry.reason))
    if not lacking:
        return recording
    xctrace.on_message(f"using xctrace for tables that cannot be read natively: {', '.join(lacking)}")
    try:
        exported = _read_through(tool, trace, recording.run.number, lacking, xctrace)
    except TracekitError as error:
        return _with_notes(recording, failures=[(schema, str(error)) for schema in lacking])
    failures = exported.contents.failures
    came = [schema for schema in lacking if schema not in dict(failures)]
    notes = [f"read with xctrace, because they cannot be read natively: {', '.join(came)}"] if came else []
    return _with_notes(_MergedRecording(recording, exported, came), *notes, failures=failures)


def _with_notes(recording: Recording, *notes: str, failures: Sequence[tuple[str, str]] = ()) -> Recording:
    """The recording with more notes, and with what `xctrace` was asked for and did not give."""
    contents = recording.contents
    in_vain = [f"xctrace could not export the table {schema} either: {reason}" for schema, reason in failures]
    recording.contents = replace(
        contents, notes=(*contents.notes, *notes, *in_vain), failures=(*contents.failures, *failures)
    )
    return recording
