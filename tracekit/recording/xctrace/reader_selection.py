"""Which reader reads a trace bundle: the native one, Apple's `xctrace`, or the second where the first cannot.

Another reader than the native one is never taken without a word: the notes of the recording name what `xctrace` read,
and the caller is informed before it takes its time.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tracekit.errors import TracekitError, UnreadableRecording, UsageError, unknown
from tracekit.recording.direct import open_directly
from tracekit.recording.sources import BUNDLE_SUFFIX, STANDARD_INPUT
from tracekit.recording.xctrace.tool import TIMEOUT_S, Tool, find_tool

if TYPE_CHECKING:
    from tracekit.recording.call_stacks import CallStacks
    from tracekit.recording.contents import Recording, Run, TableEntry
    from tracekit.recording.progress import Progress
    from tracekit.recording.table import Table


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


class MergedRecording:
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
        return replace(self._base.run, tables=tuple(self._entries()))

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

    def _entries(self) -> Iterator[TableEntry]:
        """Tables of the base; where the first one of a replaced schema stands, those of the other reading."""
        seen: set[str] = set()
        for entry in self._base.run.tables:
            if entry.schema not in self._schemas:
                yield replace(entry, position=None)
            elif entry.schema not in seen:
                seen.add(entry.schema)
                for other in self._other.run.tables:
                    if other.schema == entry.schema:
                        yield replace(other, position=None)


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


def read_through(
    tool: Tool, trace: Path, run: int | None, schemas: Collection[str], xctrace: XctraceOptions
) -> Recording:
    """The tables of these schemas, of all by default, through `xctrace` alone.

    Raises `TracekitError` where not even the table of contents can be had, `UsageError` for a run that does not
    exist.
    """
    from tracekit.recording.xctrace.exporter import Exporter

    with tempfile.TemporaryDirectory(prefix="tracekit-") as between:
        exported = Exporter(tool, trace, xctrace.timeout_s).export(Path(between), run, schemas, xctrace.on_progress)
        # Everything is read now, because the files go away.
        recording = open_directly(exported.files, exported.run.number)
    recording.contents = replace(recording.contents, source=trace.name)
    return _with_notes(recording, "read with xctrace", failures=exported.failures)


def read_with_help(
    tool: Tool,
    trace: Path,
    run: int | None,
    schemas: Collection[str],
    progress: Callable[[Progress], None] | None,
    xctrace: XctraceOptions,
) -> Recording:
    """The recording as it is read natively, and through `xctrace` what cannot be read so.

    schemas: those that are needed, which are looked at row by row. By default all, of which those are taken for
    readable that look so from outside. Raises `TracekitError` where neither reader can read.
    """
    try:
        recording = open_directly([trace], run, progress=progress)
    except UnreadableRecording as error:
        xctrace.on_message(f"{error}; reading all of it with xctrace instead")
        try:
            exported = read_through(tool, trace, run, schemas, xctrace)
        except TracekitError as second:
            raise UnreadableRecording(f"{error}; xctrace cannot read it either: {second}") from second
        return _with_notes(exported, f"could not be read natively: {error}")
    # A recording of its own: progress counts each row once.
    looked_at = open_directly([trace], run) if schemas else None
    lacking = _unreadable(recording, looked_at, schemas)
    if not lacking:
        return recording
    xctrace.on_message(f"using xctrace for tables that cannot be read natively: {', '.join(lacking)}")
    try:
        exported = read_through(tool, trace, recording.run.number, lacking, xctrace)
    except TracekitError as error:
        return _with_notes(recording, failures=[(schema, str(error)) for schema in lacking])
    failures = exported.contents.failures
    came = [schema for schema in lacking if schema not in dict(failures)]
    notes = [f"read with xctrace, because they cannot be read natively: {', '.join(came)}"] if came else []
    return _with_notes(MergedRecording(recording, exported, came), *notes, failures=failures)


def _unreadable(recording: Recording, looked_at: Recording | None, schemas: Collection[str]) -> list[str]:
    """Wanted schemas of which at least one table cannot be read, or not all of it."""
    if looked_at is None:
        return list(dict.fromkeys(entry.schema for entry in recording.run.tables if entry.reason))
    return [schema for schema in schemas if any(table.reason for table in looked_at.tables(schema))]


def _with_notes(recording: Recording, *notes: str, failures: Sequence[tuple[str, str]] = ()) -> Recording:
    """The recording with more notes, and with what `xctrace` was asked for and did not give."""
    contents = recording.contents
    in_vain = [f"xctrace could not export the table {schema} either: {reason}" for schema, reason in failures]
    recording.contents = replace(
        contents, notes=(*contents.notes, *notes, *in_vain), failures=(*contents.failures, *failures)
    )
    return recording
