"""Whether a long first call may be the prompt of a language model, whose answer the calls after it make.

A call that warms the model up takes longer because something is prepared; a call with a larger input keeps its compute
unit at work for longer. Only the second looks like a prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.detectors import Intervals, Kind, ModelView, is_any

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, IntArray
    from tracekit.detectors.framework import ModelView


WORKED_SHARE = 0.5
"""Part of the extra time of a call in which its compute unit works for it beyond the usual; with less, waiting and
preparing are what makes it long (heuristic)."""


def works_longer(view: ModelView, index: IntArray) -> BoolArray:
    """Shape (index,): the compute units worked for the call at that position for much of the time that it took beyond
    the median. True also where no work of the model was recorded, since then it may have. O(n log n)."""
    durations = view.predictions["duration_ns"].to_numpy()
    extra = durations[index] - float(np.median(durations))
    busy = _busy_ns(view)
    if not busy.any():
        return np.ones(len(index), np.bool_)
    longer: BoolArray = busy[index] - float(np.median(busy)) >= WORKED_SHARE * extra
    return longer


def _busy_ns(view: ModelView) -> IntArray:
    """Shape (predictions,): time in which a compute unit worked for the prediction."""
    parts = [
        frame[is_any(frame["kind"], *kinds) & frame["prediction"].notna().to_numpy()]
        for frame, kinds in ((view.hardware, (Kind.ANE_EXEC, Kind.GPU_EXEC)), (view.compute, (Kind.CPU_COMPUTE,)))
    ]
    called = np.concatenate([part["prediction"].to_numpy(dtype=np.int64) for part in parts])
    index = view.predictions.index.get_indexer(pd.Index(called))
    known = index >= 0
    return Intervals.from_rows(*parts).where(known).covered_by_group(index[known], len(view.predictions))
