"""Whether a long first call may be the prompt of a language model, whose answer the calls after it make.

A call that warms the model up takes longer because something is prepared; a call with a larger input keeps its compute
unit at work for longer. Only the second looks like a prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.detectors.shared.comparable_latency import latencies

if TYPE_CHECKING:
    from tracekit.detectors import BoolArray, IntArray, ModelView

WORKED_SHARE = 0.5
"""Part of the extra time of a call in which its compute unit works for it beyond the usual; with less, waiting and
preparing are what makes it long (heuristic)."""


def works_longer(view: ModelView, index: IntArray) -> BoolArray:
    """Shape (index,): the compute units worked for the call at that position for much of the time that it took beyond
    the median. True also where no work of the model was recorded, since then it may have. O(n log n)."""
    durations = view.predictions["duration_ns"].to_numpy()
    extra = durations[index] - float(np.median(durations))
    busy = latencies(view).work_ns
    if not busy.any():
        return np.ones(len(index), np.bool_)
    longer: BoolArray = busy[index] - float(np.median(busy)) >= WORKED_SHARE * extra
    return longer
