"""The predictions that the app called, one by one: what the list and the inspector show of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.latency import warm_mask
from tracekit.analysis.why.order import in_order
from tracekit.arrays import BoolArray, IntArray
from tracekit.lanes.events import position_of
from tracekit.report.time_breakdown import GROUPS, PartsRow, Slice
from tracekit.trace.events import Attribution
from tracekit.trace.filter import Shown
from tracekit.trace.frames import is_any
from tracekit.trace.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Predictions by start. Arrays have shape (n,), and (groups, n) with the groups of `GROUPS` where it says so."""

    index: IntArray
    """Rows of `Trace.activity`, ascending."""
    starts: IntArray
    durations: IntArray
    first: BoolArray
    """The first after a load of its model; see `tracekit.analysis.latency.warm_mask`."""
    inferred: BoolArray
    """Put together from hardware rows: whether it is the first is not known."""
    time_ns: IntArray
    """Shape (groups, n): time of each group of parts as far as it is known; together the durations."""
    incomplete: BoolArray
    """Shape (groups, n): some of the group is not known."""

    def __len__(self) -> int:
        return len(self.index)

    def position(self, index: int) -> int | None:
        """Position of a row of `Trace.activity`; None where it is no prediction that the app called. O(log n)."""
        return position_of(self.index, index)

    def parts(self, position: int) -> PartsRow:
        """Where the time of one went, without what only many predictions show."""
        duration_ns = int(self.durations[position])
        slices = tuple(
            Slice(group, float(time), float(time) / duration_ns, bool(missing))
            for group, time, missing in zip(
                GROUPS, self.time_ns[:, position], self.incomplete[:, position], strict=True
            )
            if time
        )
        return PartsRow("", float(duration_ns), slices, (), {})


def calls_of(trace: Trace, shown: Shown | None = None) -> Calls:
    """The predictions of a trace, of what is `shown` of it (None: all), by their rows of what is shown. O(n log n); the
    breakdown that it needs is kept for the trace."""
    parts = breakdown(in_order(trace))
    index = parts.frame.index.to_numpy(dtype=np.int64)
    if shown is not None:
        is_shown = shown.rows["activity"]
        parts = parts.of(parts.frame.index[is_shown[index]])
        index = np.cumsum(is_shown)[index[is_shown[index]]] - 1
    predictions = trace.activity.loc[parts.frame.index]
    return Calls(
        index=index,
        starts=predictions["start_ns"].to_numpy(),
        durations=predictions["duration_ns"].to_numpy(),
        first=~warm_mask(trace.activity, predictions),
        inferred=is_any(predictions["attribution"], Attribution.INFERRED),
        time_ns=np.array(
            [
                sum(parts.frame[part.column].fillna(0).to_numpy(dtype=np.int64) for part in group.parts)
                for group in GROUPS
            ],
            np.int64,
        ),
        incomplete=np.array(
            [np.logical_or.reduce([parts.unknown[part] >= 0 for part in group.parts]) for group in GROUPS], np.bool_
        ),
    )
