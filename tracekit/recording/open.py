"""Opens a recording, whatever it lies in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from tracekit.recording.contents import Contents, Recording
    from tracekit.recording.progress import Progress


def open_recording(
    path: str | Path | Sequence[str | Path],
    *,
    run: int | None = None,
    schemas: Collection[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Recording:
    """Open a recording.

    path: a `.trace` bundle or a zip archive of one; or one XML file that `xctrace export` wrote, several of them, a
    folder or zip archive of them, with or without the table of contents, or `-` for standard input. Names do not
    matter. run: number of the run, by default the latest. schemas: tables of an export that are needed now; the
    others are counted, and read when `Recording.tables` asks for them. By default everything is read now. Tables of a
    bundle are always read when they are asked for. progress: called about ten times a second during long reads.

    Raises `UnreadableRecording` for input that cannot be read, `UsageError` for a run that does not exist.
    """
    # Imported here, since lxml is heavy and the table classes of this package are not.
    from tracekit.recording.bundle.files import find_bundle

    paths = [path] if isinstance(path, str | Path) else list(path)
    if (bundle := find_bundle(paths)) is not None:
        from tracekit.recording.bundle.recording import open_bundle

        return open_bundle(bundle, run, progress)
    from tracekit.recording.export.recording import open_export
    from tracekit.recording.sources import resolve

    return open_export(resolve(paths), run, schemas, progress)


def open_contents(
    path: str | Path | Sequence[str | Path], *, progress: Callable[[Progress], None] | None = None
) -> Contents:
    """What a recording holds: all runs, and their tables with state and row counts. Cells are not decoded.

    Raises `UnreadableRecording` for input that cannot be read.
    """
    return open_recording(path, schemas=(), progress=progress).contents
