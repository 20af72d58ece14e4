"""What the compute units did in each prediction, beside the partition of its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown.device_runs import device_runs
from tracekit.analysis.breakdown.rows import Layer
from tracekit.intervals import Intervals, depth_profile, integrate, union_by_group

if TYPE_CHECKING:
    from tracekit.analysis.breakdown.device_runs import DeviceRuns, Handoffs
    from tracekit.analysis.breakdown.rows import Rows
    from tracekit.arrays import BoolArray, IntArray


def work_columns(
    rows: Rows,
    predictions: pd.DataFrame,
    *,
    hidden: BoolArray,
    hidden_ane: BoolArray,
) -> tuple[dict[str, pd.arrays.IntegerArray], Handoffs]:
    """Columns `handoffs`, `handoff_gap_ns`, `lead_ns`, `tail_ns` and `segments`, as `Breakdown.frame` explains them.

    With them the hand-offs one by one. `hidden`: predictions in which a unit may have worked unseen; `hidden_ane`: the
    Neural Engine. O(n log n).
    """
    runs = _runs(rows)
    handoffs, gap_ns = runs.handoffs()
    count = len(predictions)
    gaps = np.zeros(count, np.int64)
    np.add.at(gaps, handoffs.window, gap_ns)
    first = np.flatnonzero(np.diff(runs.prediction, prepend=-1))
    last = np.append(first[1:], len(runs.prediction))[: len(first)] - 1
    lead, tail = np.zeros(count, np.int64), np.zeros(count, np.int64)
    called = Intervals.from_rows(predictions)
    worked = runs.prediction[first]
    lead[worked] = runs.start_ns[first] - called.starts[worked]
    tail[worked] = called.ends[worked] - runs.reach_ns[last]
    idle = np.ones(count, dtype=bool)
    idle[worked] = False
    columns = {
        "handoffs": pd.arrays.IntegerArray(np.bincount(handoffs.window, minlength=count).astype(np.int64), hidden),
        "handoff_gap_ns": pd.arrays.IntegerArray(gaps, hidden),
        "lead_ns": pd.arrays.IntegerArray(lead, hidden | idle),
        "tail_ns": pd.arrays.IntegerArray(tail, hidden | idle),
        "segments": _segments(rows, hidden_ane, count),
    }
    return columns, handoffs


def _runs(rows: Rows) -> DeviceRuns:
    """Runs of the units, by index of the prediction."""
    unit = _UNIT_OF_LAYER[rows.layer]
    chosen = (unit >= 0) & ~rows.preparation
    executes = (rows.layer == Layer.ANE) | (rows.layer == Layer.GPU)
    times = Intervals(rows.start_ns, rows.end_ns).where(chosen)
    return device_runs(rows.window[chosen], unit[chosen], executes[chosen], times)


_UNIT_OF_LAYER = np.array(
    [
        {Layer.ANE: 0, Layer.ANE_REQUEST: 0, Layer.GPU: 1, Layer.GPU_REQUEST: 1, Layer.CPU: 2}.get(layer, -1)
        for layer in Layer
    ]
)
"""Index in `UNITS` of the compute unit of each layer; -1 for none."""


def _segments(rows: Rows, hidden: BoolArray, count: int) -> pd.arrays.IntegerArray:
    """Distinct operations of each prediction on the Neural Engine; null where a row does not name its operation."""
    ane = rows.layer == Layer.ANE
    nameless = hidden.copy()
    nameless[rows.window[ane & (rows.operation < 0)]] = True
    keys = rows.operation[ane], rows.model[ane], rows.window[ane]
    order = np.lexsort(keys)
    differs = np.any([key[order[1:]] != key[order[:-1]] for key in keys], axis=0)
    first = order[np.append(True, differs)[: len(order)]]
    return pd.arrays.IntegerArray(np.bincount(keys[-1][first], minlength=count).astype(np.int64), nameless)


def other_models(predictions: pd.DataFrame) -> IntArray:
    """Time of each prediction in which at least one prediction of another model was running. O(n log n)."""
    called = Intervals.from_rows(predictions)
    # Within a prediction its own model runs all the time, so two models at once are it and another.
    _, piece_starts, piece_ends = union_by_group(predictions["model"].cat.codes, called.starts, called.ends)
    times, depth = depth_profile(piece_starts, piece_ends)
    return integrate(times, (depth >= 2).astype(np.int64), called.starts, called.ends)
