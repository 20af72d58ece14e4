"""Opens a recording with tracekit's own readers, without Apple's tool."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from tracekit.recording.contents import Recording
from tracekit.recording.progress import Progress


def open_directly(
    paths: Sequence[str | Path],
    run: int | None = None,
    schemas: Collection[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Recording:
    """The recording as our own readers read it. Parameters and errors are those of `open_recording`."""
    # Imported here, since lxml is heavy and the table classes of this package are not.
    from tracekit.recording.bundle.files import find_bundle

    if (bundle := find_bundle(paths)) is not None:
        from tracekit.recording.bundle.recording import open_bundle

        return open_bundle(bundle, run, progress)
    from tracekit.recording.export.recording import open_export
    from tracekit.recording.sources import resolve

    return open_export(resolve(paths), run, schemas, progress)
