"""Opens a recording, whatever it lies in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from tracekit.recording.contents import Contents, Recording
from tracekit.recording.direct import open_directly
from tracekit.recording.progress import Progress
from tracekit.recording.xctrace.reader_selection import XctraceOptions, read_through, read_with_help, usable_tool

Paths = str | Path | Sequence[str | Path]
"""One path or several that make up one recording. `-` is standard input."""


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
        return read_through(tool, trace, run, needed, options)
    return read_with_help(tool, trace, run, needed, progress, options)


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
        if each.number == recording.run.number
        else open_recording(paths, run=each.number, schemas=(), reader=reader, xctrace=xctrace).run
        for each in recording.contents.runs
    ]
    return replace(recording.contents, runs=tuple(runs))
