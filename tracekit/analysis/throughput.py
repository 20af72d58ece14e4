"""When predictions come: bursts, gaps between predictions, throughput, whether they start at a steady rate, and how
many frames of a camera or a display pass from one to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.analysis.quantities import median_of
from tracekit.analysis.statistics import Statistics, duration_statistics
from tracekit.arrays import BoolArray, FloatArray, IntArray
from tracekit.intervals import CoveredTime, Intervals, Timed

BURST_FACTOR = 5.0
"""A gap of more than this many usual intervals ends a burst (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Bursts:
    """Predictions that follow each other closely."""

    burst: IntArray
    """Shape (predictions,): number of the burst of each prediction, 0 to bursts - 1, in their order."""
    first: IntArray
    """Shape (bursts,): index of the first prediction of each burst."""
    count: IntArray
    """Shape (bursts,): predictions in it; 1 for a prediction on its own."""
    start_ns: IntArray
    """Shape (bursts,): start of the first prediction."""
    end_ns: IntArray
    """Shape (bursts,): latest end of its predictions."""
    busy_ns: IntArray
    """Shape (bursts,): time in it with at least one prediction in flight."""

    @property
    def gap_ns(self) -> IntArray:
        """Shape (bursts,): time in it without any prediction in flight."""
        return self.end_ns - self.start_ns - self.busy_ns


def burst_numbers(predictions: Timed) -> IntArray:
    """Shape (predictions,): number of the burst of each prediction (sorted by start) of any models.

    A burst ends only where nothing is in flight, for more than `BURST_FACTOR` usual intervals. O(n log n).
    """
    called = Intervals.from_rows(predictions)
    intervals = _intervals(called)
    limit = BURST_FACTOR * median_of(intervals) if len(intervals) else np.inf
    free = called.starts[1:] - np.maximum.accumulate(called.ends)[:-1]
    return np.cumsum(np.concatenate(([False], free > limit))[: len(called)])


def _intervals(called: Intervals) -> FloatArray:
    """For each call with one that starts after its end: the mean time from start to start until then, above 0.

    Where none overlap, these are the times from start to start. Calls that start together would make those tiny.
    """
    if called.in_turn():
        apart = np.diff(called.starts).astype(np.float64)
        return apart[apart > 0]
    index = np.arange(len(called))
    following = np.maximum(np.searchsorted(called.starts, called.ends), index + 1)
    followed = following < len(called)
    index, following = index[followed], following[followed]
    intervals: FloatArray = (called.starts[following] - called.starts[index]) / (following - index)
    return intervals[intervals > 0]


def after_pause(predictions: Timed, pause_ns: int) -> BoolArray:
    """Each that follows a gap of `pause_ns` or more which is longer than five times the usual interval: calls of a
    model that is called rarely are not all after a pause. O(n log n)."""
    times = Intervals.from_rows(predictions)
    paused = np.append(False, times.starts[1:] - np.maximum.accumulate(times.ends)[:-1] >= pause_ns)[: len(times)]
    if paused.any():
        paused[1:] &= np.diff(burst_numbers(predictions)) != 0
    return paused


def bursts(predictions: Timed) -> Bursts:
    """Bursts of the predictions, as `burst_numbers` has them. O(n log n)."""
    called = Intervals.from_rows(predictions)
    burst = burst_numbers(predictions)
    first = np.flatnonzero(np.diff(burst, prepend=-1))
    return Bursts(
        burst=burst,
        first=first,
        count=np.diff(first, append=len(called)),
        start_ns=called.starts[first],
        end_ns=np.maximum.reduceat(called.ends, first) if len(first) else first,
        busy_ns=called.covered_by_group(burst, len(first)),
    )


def gaps(predictions: Timed, burst_times: Bursts) -> Intervals:
    """Times inside bursts in which no prediction was in flight, by start. They add up to `Bursts.gap_ns`; a prediction
    without duration neither fills a gap nor splits one. O(n log n)."""
    pieces = Intervals.from_rows(predictions).union()
    # A gap opens where a burst or a piece begins or ends: calls without duration at the edge of a burst leave no piece.
    # A stable sort merges what ascends already.
    low = np.sort(np.concatenate((burst_times.start_ns, pieces.ends)), kind="stable")
    high = np.sort(np.concatenate((pieces.starts, burst_times.end_ns)), kind="stable")
    return Intervals(low, high).where(high > low)


@dataclass(frozen=True, slots=True)
class SteadyRate:
    """A steady rate at which predictions start."""

    fps: int
    """Frames per second, a usual rate of cameras and displays."""
    period_ns: float
    """Time between two frames."""
    deviation: float
    """How far the median distance is from the period, as a share of it; positive where it is longer."""
    spread: float
    """Half the distance between the quartiles, as a share of the median distance."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """How predictions follow each other inside bursts of two and more. None: no such burst."""

    bursts: int
    """Bursts, predictions on their own included."""
    predictions: int
    """Predictions inside bursts of two and more."""
    span_ns: int
    """Summed length of those bursts."""
    gap_ns: int
    """Part of the span without any prediction in flight."""
    gaps: Statistics | None
    """The times between predictions, inside bursts, in which none was in flight; None where there is none."""
    device_idle_ns: int | None
    """Part of `gap_ns` in which neither the Neural Engine nor the GPU worked, for whomever; None where the work of one
    of them was not recorded."""
    interval_ns: float | None
    """Median time from start to start; None where it is less than half of the mean, as where predictions start in
    groups."""
    per_second: float | None
    """Predictions per second: those of each burst over the time from its first start to its last and one mean interval,
    or over its time in flight if that is longer, as where they start together."""
    steady_rate: SteadyRate | None
    """Rate of a camera or timer that they follow; None where they follow none, and where they start after the end of
    other predictions."""


def summarize_throughput(
    predictions: Timed,
    burst_times: Bursts,
    busy: CoveredTime | None = None,
    steady: SteadyRate | None = None,
) -> Throughput:
    """Throughput of the predictions inside the bursts that `bursts` found. O((n + m) log n), m the pieces of `busy`.

    `busy`: when the compute units worked, whoever they worked for; None where that was not recorded.
    """
    several = burst_times.count > 1
    per_second = rate_of(predictions, burst_times)
    interval = float(np.median(start_distances(predictions, burst_times))) if per_second else None
    free = gaps(predictions, burst_times)
    return Throughput(
        bursts=len(burst_times.count),
        predictions=int(burst_times.count[several].sum()),
        span_ns=int((burst_times.end_ns - burst_times.start_ns)[several].sum()),
        gap_ns=int(burst_times.gap_ns[several].sum()),
        gaps=duration_statistics(free.starts, free.durations),
        device_idle_ns=None if busy is None else int(busy.free_within(free.starts, free.ends).sum()),
        interval_ns=interval if interval and per_second and 2 * interval * per_second >= 1e9 else None,
        per_second=per_second,
        steady_rate=steady,
    )


def rate_of(predictions: Timed, burst_times: Bursts) -> float | None:
    """`Throughput.per_second`. O(bursts)."""
    several = burst_times.count > 1
    count = burst_times.count[several]
    last = burst_times.first[several] + count - 1
    apart = predictions.start_ns[last] - burst_times.start_ns[several]
    total = float(np.maximum(apart * count / (count - 1), burst_times.busy_ns[several]).sum())
    return int(count.sum()) * 1e9 / total if total else None


def start_distances(predictions: Timed, burst_times: Bursts) -> IntArray:
    """Times from start to start inside bursts."""
    distances: IntArray = np.diff(predictions.start_ns)[np.diff(burst_times.burst) == 0]
    return distances
