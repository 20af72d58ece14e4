"""Predictions that hardware shows, and how far a prediction reaches beyond what is seen of it.

In a prediction a thread runs, and is sampled, or waits for a compute unit. Where all units were recorded, a time in
which none works and the thread is not sampled lies outside of the call (guess: threads wait for nothing else for long).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from tracekit.intervals import Intervals
from tracekit.trace.events import Device, Kind, Lane
from tracekit.trace.frames import categorical, is_any, or_minus_one

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import BoolArray, IntArray
    from tracekit.trace.calls.pieces import Timeline

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


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Predictions that hardware shows: shape (n,) each."""

    starts: IntArray
    ends: IntArray
    model: IntArray
    on_gpu: BoolArray
    reach: Reach | None
    """How far a prediction may reach; None where not all units were recorded."""
    loading: Reach
    """The same of a load, that waits for the Neural Engine to take a model in."""
    pieces: Intervals
    """All rows of hardware, those of a prediction next to each other, in order of time."""
    first_piece: IntArray
    """Shape (n + 1,): the first of these of each prediction, and their number."""

    def is_over(self, line: Timeline, place: int, end: int, start: int) -> bool:
        """Whether the prediction that worked until `end` is over before `start`: for a while in between no unit works,
        and the thread of this place is not sampled. O(log n + samples in between)."""
        if self.reach is None or start - end <= FEW * line.period_ns:
            return False
        until = int(np.searchsorted(line.thread, line.thread[place], "right"))
        times = line.time[place:until]
        inside = times[slice(*np.searchsorted(times, (end, start)).tolist())].tolist()
        return any(self.reach.latest_end(one) < other for one, other in pairwise([end, *inside, start]))

    def busy_at(self, index: int, times: IntArray) -> int:
        """At how many of these times a prediction has a unit at work. O(rows of the prediction)."""
        own = slice(int(self.first_piece[index]), int(self.first_piece[index + 1]))
        begun = np.searchsorted(self.pieces.starts[own], times, "right") - 1
        ends = np.maximum.accumulate(self.pieces.ends[own])
        return int(((begun >= 0) & (times < ends[begun])).sum()) if len(ends) else 0

    def busy_ns(self, index: int) -> int:
        """How long a unit works for a prediction. O(rows of the prediction)."""
        own = slice(int(self.first_piece[index]), int(self.first_piece[index + 1]))
        return Intervals(self.pieces.starts[own], self.pieces.ends[own]).covered_ns

    @classmethod
    def of(cls, activity: pd.DataFrame, hardware: pd.DataFrame, slack_ns: int, *, watched: bool) -> Work:
        """From the frame of `reconstruct_predictions` and the rows of all hardware, of which all that a prediction
        waits for was recorded where it is `watched`."""
        starts = activity["start_ns"].to_numpy()
        ends = starts + activity["duration_ns"].to_numpy()
        model = categorical(activity["model"]).codes.astype(np.int64)
        on_gpu = is_any(activity["device"], Device.GPU)
        units = hardware[is_any(hardware["lane"], Lane.NEURAL_ENGINE, Lane.GPU)]
        loading = hardware[is_any(hardware["kind"], Kind.ANE_LOAD, Kind.ANE_COMPILE)]
        reach = Reach.of(units, slack_ns) if watched else None
        prediction = or_minus_one(hardware["prediction"])
        order = np.argsort(prediction, kind="stable")
        order = order[np.searchsorted(prediction[order], 0) :]
        return cls(
            starts,
            ends,
            model,
            on_gpu,
            reach,
            Reach.of(loading, slack_ns),
            Intervals.from_rows(hardware).where(order),
            np.searchsorted(prediction[order], np.arange(len(starts) + 1)),
        )
