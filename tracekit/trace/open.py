"""Opens a trace. Apart from `tracekit.api`, so that a screen can show lanes before any detector is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.recording import open_recording
from tracekit.trace.build import NEEDED_SCHEMAS, build_trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracekit.recording import Progress, XctraceOptions
    from tracekit.recording.open import Paths
    from tracekit.trace.trace import Trace


def open_trace(
    path: Paths,
    *,
    run: int | None = None,
    reader: str = "auto",
    xctrace: XctraceOptions | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Trace:
    """Read a recording and work out what it means.

    `run` is the number of the run; the latest one where it is None. `reader` is `auto`, `native` or `xctrace`, and
    `xctrace` says how the last is asked, as for `open_recording`. Raises `UnreadableRecording` for an input that is no
    recording or a broken one, `UsageError` for a run that it does not hold, and `TracekitError` for the reader
    `xctrace` on a machine without it.
    """
    opened = open_recording(path, run=run, schemas=NEEDED_SCHEMAS, progress=progress, reader=reader, xctrace=xctrace)
    return build_trace(opened)
