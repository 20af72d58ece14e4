"""In which state of the device each call ran, and how durations compare between states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals

THERMAL_STATES: tuple[str, ...] = ("Nominal", "Fair", "Serious", "Critical")
"""Thermal states from cool to hot, as the Thermal State instrument names them."""

THROTTLED = THERMAL_STATES[2:]
"""Those in which a device slows down."""

UNKNOWN = -1
"""Place of a state that is not recorded or not among the named ones."""


def states_at(states: pd.DataFrame, names: Sequence[str], times_ns: IntArray) -> IntArray:
    """Place in `names` of the state that held at each time: shape (times,), `UNKNOWN` where none did.

    `states` is a context frame with `start_ns`, `duration_ns` and `state`, sorted by start, whose rows do not overlap.
    O((s + t) log s).
    """
    if states.empty:
        return np.full(len(times_ns), UNKNOWN, np.int64)
    state_times = Intervals.from_rows(states)
    index_of = {name: index for index, name in enumerate(names)}
    state = np.array([index_of.get(str(name), UNKNOWN) for name in states["state"]], np.int64)
    row = np.searchsorted(state_times.starts, times_ns, side="right") - 1
    inside = (row >= 0) & (times_ns < state_times.ends[np.maximum(row, 0)])
    return np.where(inside, state[np.maximum(row, 0)], UNKNOWN)


@dataclass(frozen=True, slots=True, eq=False)
class ThermalComparison:
    """Durations of calls in the coolest and in the hottest thermal state that hold enough of them."""

    state: IntArray
    """Shape (calls,): index in `THERMAL_STATES`, or `UNKNOWN`."""
    coolest: int | None
    """None where no state holds enough calls."""
    hottest: int | None
    """None where only one state does."""
    cool_median_ns: float | None
    hot_median_ns: float | None

    @property
    def ratio(self) -> float | None:
        """Median in the hottest state over that in the coolest; None where two states cannot be compared."""
        if self.hot_median_ns is None or not self.cool_median_ns:
            return None
        return self.hot_median_ns / self.cool_median_ns

    @property
    def is_cool(self) -> BoolArray:
        """Shape (calls,): ran in the coolest state."""
        return self.state == self.coolest if self.coolest is not None else np.zeros(len(self.state), np.bool_)


def compare_thermal_states(durations_ns: IntArray, state: IntArray, min_calls: int) -> ThermalComparison:
    """Durations by thermal state; a state counts from `min_calls` calls on. Shape (calls,) each. O(n)."""
    counts = np.bincount(state[state >= 0], minlength=len(THERMAL_STATES))
    enough = np.flatnonzero(counts >= min_calls).tolist()
    coolest = enough[0] if enough else None
    hottest = enough[-1] if len(enough) > 1 else None
    medians = [None if each is None else float(np.median(durations_ns[state == each])) for each in (coolest, hottest)]
    return ThermalComparison(state, coolest, hottest, medians[0], medians[1])
