"""The lane of late frames: as long as each came late, and colored by what held it up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from tracekit.analysis.frames.late import LateFrames, late_frames
from tracekit.analysis.frames.paths import Path
from tracekit.columns import Codes, codes_of
from tracekit.lanes.categories import Category
from tracekit.lanes.events import LaneRows, by_code, events_without_models
from tracekit.lanes.lanes import main_thread
from tracekit.trace.trace import Trace

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
    shown = codes_of(np.where(counted, late.path.codes, -1), late.path.values)
    colors = by_code(shown.codes, [COLORS[Path(text)] for text in shown.values])
    ends = late.start_ns + late.duration_ns
    events = events_without_models(LATE, np.arange(len(late)), late.start_ns, ends, colors, _labels(late))
    models = np.where(counted, late.model.codes, -1)
    yield LaneRows(
        LATE, "Late frames", "System", replace(events, models=models, model_texts=late.model.values), "", True
    )


def judged_lanes(trace: Trace) -> tuple[LaneRows, ...]:
    """This lane, and that of the main thread where call stacks show when it ran. Reads the samples."""
    return (*late_lanes(trace), *main_thread(trace))


def _labels(late: LateFrames) -> Codes[str]:
    """What held each up, or that it is not known."""
    known = np.where(late.counted, late.path.codes, len(late.path.values))
    return codes_of(known, [*(f"late: {path}" for path in late.path.values), "late, cause unknown"])
