"""Which run of which recording a trace is of, in copies and exports of it alike."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from tracekit.trace.events import Events, Origin
from tracekit.trace.trace import Trace


def identity_of(trace: Trace) -> str | None:
    """A hash that copies of a run and complete exports of it share, and no other recording: of when it began, its
    number, the target's process id, and the times of its rows. None where neither its beginning nor any row is known.

    Names nothing, so that it may leave the machine. O(rows), without reading a file again.
    """
    run, process = trace.run, trace.run.target.process
    try:
        # In UTC, to the ms: bundles and exports write it with different offsets.
        moment = datetime.fromisoformat(run.start_date or "")
        began = (moment.astimezone(UTC) if moment.tzinfo else moment).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        began = None
    # Of what Core ML recorded, or else of what was recorded beside it: inferred calls are no facts of a recording.
    is_core_ml = bool(trace.activity.origin.is_any(Origin.CORE_ML).any())
    rows: Events = trace.activity if is_core_ml else trace.hardware
    arrays = [rows.start_ns, rows.duration_ns]
    if not is_core_ml and trace.sampled is not None:
        arrays.append(trace.sampled.samples.time_ns)
    times = [array for array in arrays if len(array)]
    if began is None and not times:
        return None
    digest = hashlib.sha256(repr((began, run.number, None if process is None else process.pid)).encode())
    for array in times:
        digest.update(array.astype("<i8", copy=False).tobytes())
    return digest.hexdigest()[:32]
