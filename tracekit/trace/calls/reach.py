"""How far a prediction reaches beyond what is seen of it.

In a prediction a thread runs, and is sampled, or waits for a compute unit. Where all units were recorded, a time in which
none works and the thread is not sampled lies outside of the call (guess: threads wait for nothing else for long).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tracekit.intervals import Intervals

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import IntArray

FEW: Final = 3
"""Sampling periods within which a running thread is sampled (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Times in which compute units work, with less than `slack_ns` between the rows of one: shape (n,) each."""

    starts: IntArray
    ends: IntArray
    slack_ns: int

    @classmethod
    def of(cls, rows: pd.DataFrame, slack_ns: int) -> Reach:
        """From rows of hardware. O(n log n)."""
        work = Intervals.from_rows(rows)
        times = Intervals(work.starts - slack_ns, work.ends).union()
        return cls(times.starts + slack_ns, times.ends, slack_ns)

    def latest_end(self, time_ns: int) -> int:
        """When a prediction ends at the latest that is last seen at this time. O(log n)."""
        index = int(np.searchsorted(self.starts, time_ns + self.slack_ns, "right")) - 1
        covered = index >= 0 and self.ends[index] >= time_ns
        return (int(self.ends[index]) if covered else time_ns) + self.slack_ns

    def earliest_start(self, time_ns: int) -> int:
        """When a prediction begins at the earliest that is first seen at this time. O(log n)."""
        index = int(np.searchsorted(self.ends, time_ns - self.slack_ns, "left"))
        covered = index < len(self.starts) and self.starts[index] <= time_ns
        return (int(self.starts[index]) if covered else time_ns) - self.slack_ns

