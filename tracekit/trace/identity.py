"""Which recording a trace is of, whatever it was read from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime

from tracekit.arrays import IntArray
from tracekit.trace.events import Origin
from tracekit.trace.frames import is_any
from tracekit.trace.trace import Trace


def identity_of(trace: Trace) -> str | None:
    """A hash that copies of a run and complete exports of it share, and no other recording: of when it began, its
    number, the target's process id, and the times of its rows. None where neither its beginning nor any row is known.

    Names nothing, so that it may leave the machine. O(rows), without reading a file again.
    """
    run = trace.run
    began, process = _utc(run.start_date), run.target.process
    times = [array for array in _times(trace) if len(array)]
    if began is None and not times:
        return None
    digest = hashlib.sha256(repr((began, run.number, None if process is None else process.pid)).encode())
    for array in times:
        digest.update(array.astype("<i8", copy=False).tobytes())
    return digest.hexdigest()[:32]


def _times(trace: Trace) -> Iterator[IntArray]:
    """Of what Core ML recorded, or else of what was recorded beside it: inferred calls are no facts of a recording."""
    is_core_ml = bool(is_any(trace.activity["origin"], Origin.CORE_ML).any())
    frame = trace.activity if is_core_ml else trace.hardware
    yield frame["start_ns"].to_numpy()
    yield frame["duration_ns"].to_numpy()
    if not is_core_ml and trace.sampled is not None:
        yield trace.sampled.samples["time_ns"].to_numpy()


def _utc(date: str | None) -> str | None:
    """A date of any offset in UTC, to the ms: bundles and exports write it with different ones."""
    try:
        moment = datetime.fromisoformat(date or "")
        return (moment.astimezone(UTC) if moment.tzinfo else moment).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        return None
