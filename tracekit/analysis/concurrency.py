"""How many predictions of a model are in flight at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.arrays import IntArray
from tracekit.intervals import Intervals, Timed, depth_profile, integrate, sums_between
from tracekit.sorting import few_bits


@dataclass(frozen=True, slots=True, eq=False)
class DepthOverTime:
    """How many predictions are in flight, as a step function and as time spent at each depth."""

    times_ns: IntArray
    """Shape (steps,): times at which the depth changes, sorted."""
    depth: IntArray
    """Shape (steps,): depth from each time on; 0 from the last one on, as before the first."""
    at_depth_ns: IntArray
    """Shape (largest depth + 1,): time spent with so many in flight, between the first start and the last end."""

    @property
    def mean(self) -> float | None:
        """Mean depth over the time in which at least one is in flight; None where there is no such time."""
        busy = int(self.at_depth_ns[1:].sum())
        weighted = int((self.at_depth_ns * np.arange(len(self.at_depth_ns))).sum())
        return weighted / busy if busy else None

    def above_ns(self, limit: int, windows: Intervals) -> IntArray:
        """Shape (windows,): time in each with more than `limit` in flight."""
        is_above = (self.depth > limit).astype(np.int64)
        return integrate(self.times_ns, is_above, windows.starts, windows.ends)


def depth_over_time(predictions: Timed) -> DepthOverTime:
    """Depth of predictions of one model or of several. O(n log n)."""
    called = Intervals.from_rows(predictions)
    times, depth = depth_profile(called.starts, called.ends)
    lasting = np.append(np.diff(times), 0) if len(times) else times
    order = np.argsort(few_bits(depth), kind="stable")
    edges = np.searchsorted(depth[order], np.arange(int(depth.max(initial=0)) + 2))
    return DepthOverTime(times, depth, sums_between(lasting[order], edges))


SLICES = 20
"""Equal slices of time that a course of the depth is given in: one differs from the next at a glance."""


@dataclass(frozen=True, slots=True)
class InFlight:
    """How many predictions were in flight at once, over time."""

    max: int
    """Most predictions in flight at once."""
    mean: float
    """Mean over the time in which at least one was."""
    at_depth_ns: tuple[int, ...]
    """Time with 0, 1, 2, ... in flight, from the first start to the last end."""
    start_ns: int
    """Start of the first slice."""
    slice_ns: float
    """Length of a slice; the first begins at `start_ns`, and the last ends with the last prediction."""
    slices: tuple[float, ...]
    """Mean number in flight in each slice."""


def summarize_in_flight(predictions: Timed) -> InFlight | None:
    """Predictions in flight over time; None where they last less than a ns for each slice.

    O(n log n).
    """
    in_flight = depth_over_time(predictions)
    if in_flight.mean is None or in_flight.times_ns[-1] - in_flight.times_ns[0] < SLICES:
        return None
    edges = np.linspace(in_flight.times_ns[0], in_flight.times_ns[-1], SLICES + 1).astype(np.int64)
    means = integrate(in_flight.times_ns, in_flight.depth, edges[:-1], edges[1:]) / np.diff(edges)
    return InFlight(
        max=int(in_flight.depth.max()),
        mean=in_flight.mean,
        at_depth_ns=tuple(in_flight.at_depth_ns.tolist()),
        start_ns=int(edges[0]),
        slice_ns=(int(edges[-1]) - int(edges[0])) / SLICES,
        slices=tuple(means.tolist()),
    )
