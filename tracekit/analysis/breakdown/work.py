"""What the compute units did in each prediction, beside the partition of its time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown.rows import Layer
from tracekit.intervals import Intervals, depth_profile, integrate, running_end, union_by_group
from tracekit.trace.events import Device

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from tracekit.analysis.breakdown.rows import Rows
    from tracekit.arrays import BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Handoffs:
    """Changes of the compute unit within predictions, by prediction and time: shape (changes,) each."""

    window: IntArray
    """Place of the prediction, ascending."""
    source: npt.NDArray[np.int8]
    """Place in `UNITS` of the unit that worked before."""
    target: npt.NDArray[np.int8]
    """Place in `UNITS` of the one that worked then."""

    def of(self, places: IntArray) -> Handoffs:
        """Those of some predictions, by place, each named once; then with their places among these. O(n log n)."""
        found = np.flatnonzero(np.isin(self.window, places))
        order = np.argsort(places)
        window = order[np.searchsorted(places, self.window[found], sorter=order)]
        by_place = np.argsort(window, kind="stable")
        chosen = found[by_place]
        return Handoffs(window[by_place], self.source[chosen], self.target[chosen])


def work_columns(
    rows: Rows,
    predictions: pd.DataFrame,
    executed: Mapping[Device, BoolArray],
    *,
    hidden: BoolArray,
    hidden_ane: BoolArray,
) -> tuple[dict[str, pd.arrays.IntegerArray], Handoffs]:
    """Columns `handoffs`, `handoff_gap_ns`, `lead_ns`, `tail_ns` and `segments`, as `Breakdown.frame` explains them.

    With them the hand-offs one by one.

    A unit works while it executes; where none of its execution is in the prediction (`executed`), its requests stand
    for it. `hidden`: predictions in which a unit may have worked unseen; `hidden_ane`: the Neural Engine. O(n log n).
    """
    window, start, end, unit = _work(rows, executed)
    count = len(predictions)
    reach = running_end(window, end)
    changes = np.flatnonzero((window[1:] == window[:-1]) & (unit[1:] != unit[:-1])) + 1
    gaps = np.zeros(count, np.int64)
    np.add.at(gaps, window[changes], np.maximum(start[changes] - reach[changes - 1], 0))
    opens = np.flatnonzero(np.diff(window, prepend=-1))
    closes = np.append(opens[1:], len(window))[: len(opens)] - 1
    lead, tail = np.zeros(count, np.int64), np.zeros(count, np.int64)
    called = Intervals.from_rows(predictions)
    worked = window[opens]
    lead[worked] = start[opens] - called.starts[worked]
    tail[worked] = called.ends[worked] - reach[closes]
    idle = np.ones(count, dtype=bool)
    idle[worked] = False
    columns = {
        "handoffs": pd.arrays.IntegerArray(np.bincount(window[changes], minlength=count).astype(np.int64), hidden),
        "handoff_gap_ns": pd.arrays.IntegerArray(gaps, hidden),
        "lead_ns": pd.arrays.IntegerArray(lead, hidden | idle),
        "tail_ns": pd.arrays.IntegerArray(tail, hidden | idle),
        "segments": _segments(rows, hidden_ane, count),
    }
    codes = unit.astype(np.int8)
    return columns, Handoffs(window[changes], codes[changes - 1], codes[changes])


def _work(rows: Rows, executed: Mapping[Device, BoolArray]) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Window, start, end and number of the unit of the rows in which units worked, by window and start."""
    chosen = np.isin(rows.layer, [Layer.ANE, Layer.GPU, Layer.CPU])
    for device, requests in ((Device.ANE, Layer.ANE_REQUEST), (Device.GPU, Layer.GPU_REQUEST)):
        chosen |= (rows.layer == requests) & ~rows.preparation & ~executed[device][rows.window]
    order = np.flatnonzero(chosen)
    order = order[np.lexsort((-rows.end_ns[order], rows.start_ns[order], rows.window[order]))]
    return rows.window[order], rows.start_ns[order], rows.end_ns[order], _UNITS[rows.layer[order]]


UNITS = (Device.ANE, Device.GPU, Device.CPU)
"""The compute units, by number."""
_UNITS = np.array(
    [
        {Layer.ANE: 0, Layer.ANE_REQUEST: 0, Layer.GPU: 1, Layer.GPU_REQUEST: 1, Layer.CPU: 2}.get(layer, -1)
        for layer in Layer
    ]
)
"""Place in `UNITS` of the compute unit of each layer."""


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
