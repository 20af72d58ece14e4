"""The lane of late frames: as long as each came late, and colored by what held it up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from tracekit.analysis.frames.late import late_frames
from tracekit.analysis.frames.paths import Path
from tracekit.columns import Codes, Texts, codes_of
from tracekit.lanes.categories import Category
from tracekit.lanes.events import LaneRows, by_code, events_without_models
from tracekit.lanes.lanes import main_thread
from tracekit.rows import group_ids
from tracekit.trace.instruments.frames import Frames
from tracekit.trace.trace import Trace
from tracekit.units import format_count, format_time

LATE: Final = "late frames"
"""What events of the lane call their frame; their indices are rows of `late_frames` of the whole trace."""
COLORS: Final = {
    Path.GPU: Category.GPU,
    Path.CPU: Category.CPU,
    Path.MAIN_BUSY: Category.PREDICTION,
    Path.MAIN_WAITS: Category.PREDICTION,
}


def late_lanes(trace: Trace) -> Iterator[LaneRows]:
    """None where no frame came late. Reads the samples. O(n log n)."""
    late = late_frames(trace)
    if not len(late):
        return
    counted = late.counted
    path, model = (np.where(counted, each.codes, -1) for each in (late.path, late.model))
    colors = by_code(path, [COLORS[Path(text)] for text in late.path.values])
    labels = _labels(trace.frames.take(late.place), Codes(path, late.path.values))
    events = events_without_models(
        LATE, np.arange(len(late)), late.start_ns, late.start_ns + late.duration_ns, colors, labels
    )
    yield LaneRows(
        LATE, "Late frames", "System", replace(events, models=model, model_texts=late.model.values), "", True
    )


def judged_lanes(trace: Trace) -> tuple[LaneRows, ...]:
    """This lane, and that of the main thread where call stacks show when it ran. Reads the samples."""
    return (*late_lanes(trace), *main_thread(trace))


def _labels(late: Frames, path: Texts) -> Texts:
    """By how many refreshes of which length each came late, and what held it up."""
    # Clocks of displays wander by some us.
    interval = np.rint(late.interval_ns.filled(0) / 10_000).astype(np.int64)
    label = group_ids([path.codes, late.intervals.filled(0), interval], len(late))
    _, first = np.unique(label, return_index=True)
    texts = []
    for held_by, count, length in zip(
        path.take(first).as_objects(), late.intervals.filled(0)[first].tolist(), interval[first].tolist(), strict=True
    ):
        refreshes = f" by {format_count(count, 'refresh', 'refreshes')} of {format_time(10_000 * length)}"
        texts.append(f"late{refreshes if length else ''}: {held_by or 'cause unknown'}")
    return codes_of(label, texts)
