"""What samples show of Core ML, kept for each trace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from tracekit.arrays import BoolArray, IntArray
from tracekit.trace.calls import stacks
from tracekit.trace.calls.stacks import LoadPhase
from tracekit.trace.samples import SAMPLE_NS, TIMED
from tracekit.trace.trace import Trace, cached_by_trace


def core_ml_stacks(trace: Trace) -> pd.DataFrame | None:
    """What each distinct stack calls of Core ML (`tracekit.trace.calls.stacks.core_ml_stacks`); None where no samples
    were recorded."""
    return None if trace.sampled is None else stacks.core_ml_stacks(trace.sampled)


def busy_with(trace: Trace) -> dict[str, BoolArray]:
    """For each phase of a call and each unit of a prediction: whether a stack is in it. Shape (stacks,) each; nothing
    where no samples were recorded."""
    return {} if trace.sampled is None else stacks.busy_stacks(trace.sampled)


def source_of(trace: Trace, times_ns: IntArray) -> dict[str, Any]:
    """Columns of evidence that say where samples at these times stand: `row` counts samples in order of time."""
    assert trace.samples is not None  # noqa: S101 - the samples are among them
    row = np.searchsorted(trace.samples["time_ns"].to_numpy(), times_ns)
    return {"model": None, "table": TIMED[0], "row": row, "resolution_ns": SAMPLE_NS}


@cached_by_trace
def enclosing_phases(trace: Trace) -> dict[str, str]:
    """The innermost phase that all stacks of a phase of a load lie in, by phase; nothing for one outside of others."""
    flags = busy_with(trace)
    seen = [str(phase) for phase in LoadPhase if phase in flags and flags[phase].any()]
    # Outer phases stand first in `LoadPhase`: of two that share all stacks, the earlier one encloses.
    outer = {
        phase: [
            other
            for other in seen
            if other != phase
            and not (flags[phase] & ~flags[other]).any()
            and ((flags[other] & ~flags[phase]).any() or seen.index(other) < seen.index(phase))
        ]
        for phase in seen
    }
    return {phase: max(phases, key=lambda each: len(outer[each])) for phase, phases in outer.items() if phases}
