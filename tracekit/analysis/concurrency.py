"""How many predictions of a model are in flight at once, and whether that slows them down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.analysis.quantities import median
from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals, Timed, depth_profile, integrate, sums_between
from tracekit.sorting import few_bits


@dataclass(frozen=True, slots=True)
class ConcurrencySummary:
    """Predictions of one model in flight over time, against a limit."""

    limit: int
    max_depth: int
    """Most predictions in flight at once."""
    busy_ns: int
    """Time with at least one in flight."""
    share_above: float
    """Share of the busy time with more than `limit` in flight; 0.0 where there is no busy time."""
    excess_ns: int
    """Part of the busy time that belongs to predictions beyond the first `limit`: the integral of their share of those
    in flight. With 6 in flight and a limit of 2, four sixths of the time. Never more than `busy_ns`."""
    is_above: BoolArray
    """Shape (predictions,): more than `limit` were in flight for more than half of its time."""
    above_median_ns: float | None
    """Median duration of those predictions; None where there is none."""
    alone_count: int
    """Predictions during which no other was in flight."""
    alone_median_ns: float | None


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


def summarize_concurrency(predictions: Timed, limit: int) -> ConcurrencySummary:
    """Concurrency of one model's predictions. Predictions without duration count for nothing.

    O(n log n).
    """
    called, in_flight = Intervals.from_rows(predictions), depth_over_time(predictions)
    durations, spent = called.durations, in_flight.at_depth_ns
    level = np.arange(len(spent))
    busy, above = (int(spent[level > fewer].sum()) for fewer in (0, limit))
    is_above = np.zeros(len(called), np.bool_)
    if len(spent) - 1 > limit:
        is_deep = (in_flight.depth > limit).astype(np.int64)
        is_above = 2 * integrate(in_flight.times_ns, is_deep, called.starts, called.ends) > durations
    alone = called.alone() & (durations > 0)
    return ConcurrencySummary(
        limit=limit,
        max_depth=len(spent) - 1,
        busy_ns=busy,
        share_above=above / busy if busy else 0.0,
        excess_ns=round(float((spent * (np.maximum(level - limit, 0) / np.maximum(level, 1))).sum())),
        is_above=is_above,
        above_median_ns=median(durations[is_above]),
        alone_count=int(alone.sum()),
        alone_median_ns=median(durations[alone]),
    )
