"""Which compute unit Core ML's own rows of a prediction suggest where the hardware was not recorded.

| unit          | rows of one prediction in nine public captures (one app, iPhone, iOS 27.2)    |
|---------------|-------------------------------------------------------------------------------|
| Neural Engine | two input validations and a data cast; neither a `CPU` row nor a request      |
| GPU           | a request to the GPU, or its preparation                                      |
| CPU           | a `CPU` row of nearly the whole prediction; neither a data cast nor a request |

It is weaker evidence than rows of the hardware: other systems may record otherwise, and every model that ran on the
Neural Engine there kept a state. So it answers no question alone, but whether
instances of a model differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown.device_runs import UNITS
from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.statistics import sums_by_label
from tracekit.arrays import BoolArray, IntArray
from tracekit.trace.events import Device, Kind
from tracekit.trace.frames import is_any, or_minus_one
from tracekit.trace.instruments.catalogue import GPU, NEURAL_ENGINE
from tracekit.trace.trace import Trace, cached_by_trace

WHOLE = 0.9
"""Share of a prediction from which on a `CPU` row is nearly all of it (heuristic): in those captures it is 93% or more
for three models on the CPU. A fourth, with 35% and 74%, suggests nothing."""

MOST = 0.5
"""Share of a prediction above which `CPU` rows are most of it: an instance that works there differs from one that
hardly does (heuristic)."""

USUAL = 0.9
"""Share of the predictions that must suggest the same unit (heuristic)."""

SHOWN_BY = {
    Device.ANE: "two input validations and a data cast, and no other work",
    Device.GPU: "requests to the GPU",
    Device.CPU: "a CPU row of nearly the whole prediction",
}
"""What suggests each unit, in words."""


class SuggestedUnit(NamedTuple):
    """What rows suggest of several predictions."""

    device: Device
    predictions: int
    """How many suggest it."""
    of: int


def suggested_unit(trace: Trace, predictions: pd.Index) -> SuggestedUnit | None:
    """The unit that nearly all of these predictions suggest; None where they do not, and where the hardware that would
    show it was recorded. O(predictions), and O(n log n) once for each trace."""
    if not len(predictions):
        return None
    suggested = _of_calls(trace, predictions)
    counts = np.bincount(suggested[suggested >= 0], minlength=len(UNITS))
    best = int(counts.argmax())
    if not counts[best] or counts[best] < USUAL * len(predictions):
        return None
    return SuggestedUnit(UNITS[best], int(counts[best]), len(predictions))


def units_used(trace: Trace, predictions: pd.Index, compute: pd.DataFrame, hardware: pd.DataFrame) -> BoolArray:
    """Shape (predictions, units), in the order of `UNITS`: the unit worked for the call. `compute` and `hardware` are
    the rows of these predictions, linked to them.

    Rows of the hardware show it, requests stand for execution that was not recorded, and what Core ML's rows suggest
    counts where neither does. The CPU counts where it works for most of the call. O(n log n).
    """
    recorded = {entry.instrument for entry in trace.coverage if entry.recorded}
    used = np.column_stack([_of_calls(trace, predictions) == unit for unit in range(len(UNITS))])
    for unit, executed, requested, instrument in (
        (Device.ANE, Kind.ANE_EXEC, Kind.ANE_REQUEST, NEURAL_ENGINE),
        (Device.GPU, Kind.GPU_EXEC, Kind.GPU_REQUEST, GPU),
    ):
        linked = or_minus_one(hardware["prediction"])[is_any(hardware["kind"], executed)]
        if instrument not in recorded:
            linked = np.append(linked, or_minus_one(compute["prediction"])[is_any(compute["kind"], requested)])
        used[:, UNITS.index(unit)] |= predictions.isin(linked)
    frame = breakdown(trace).frame.reindex(predictions)
    cpu, duration = (frame[name].to_numpy(np.float64, na_value=0.0) for name in ("cpu_busy_ns", "duration_ns"))
    used[:, UNITS.index(Device.CPU)] |= (cpu > MOST * duration) & (duration > 0)
    return used


def _of_calls(trace: Trace, predictions: pd.Index) -> IntArray:
    """What each of these predictions suggests: index in `UNITS`, -1 for nothing."""
    index = breakdown(trace).frame.index.get_indexer(predictions)
    return np.append(_suggestions(trace), -1)[index]


@cached_by_trace
def _suggestions(trace: Trace) -> IntArray:
    """Shape (top predictions,), in the order of the breakdown: index in `UNITS`, -1 for none."""
    frame = breakdown(trace).frame
    recorded = {entry.instrument for entry in trace.coverage if entry.recorded}
    engine, gpu = NEURAL_ENGINE in recorded, GPU in recorded

    def count(rows: pd.DataFrame, chosen: BoolArray | None = None) -> IntArray:
        """Rows in each prediction."""
        linked = or_minus_one(rows["prediction"])
        return sums_by_label(frame.index, linked if chosen is None else linked[chosen])

    data, compute = trace.data, trace.compute
    validations = count(data, is_any(data["kind"], Kind.INPUT_VALIDATION))
    casts = count(data, is_any(data["kind"], Kind.DATA_CAST))
    requests = count(compute, is_any(compute["kind"], Kind.GPU_PREPARE, Kind.GPU_REQUEST))
    others = count(compute, ~is_any(compute["kind"], Kind.GPU_PREPARE, Kind.GPU_REQUEST, Kind.CPU_COMPUTE))
    # The stages of a pipeline have rows of their own, and hardware that was recorded is better evidence.
    alone = (count(trace.activity) == 0) & (count(trace.hardware) == 0) & (others == 0)
    cpu = frame["cpu_busy_ns"].to_numpy(dtype=np.int64, na_value=0)
    duration = frame["duration_ns"].to_numpy()
    all_on_cpu = (duration > 0) & (cpu >= WHOLE * duration)
    suggest = (
        alone & (not engine) & (validations == 2) & (casts == 1) & (count(compute) == 0),
        alone & (not gpu) & (requests > 0),
        alone & (not (engine and gpu)) & all_on_cpu & (casts == 0) & (requests == 0),
    )
    return np.select(suggest, range(len(UNITS)), -1)
