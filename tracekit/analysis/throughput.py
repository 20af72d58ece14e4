"""When predictions come: bursts, gaps between predictions, throughput, and whether they start at a steady rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.statistics import Statistics, duration_statistics
from tracekit.intervals import Intervals, union_by_group

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import IntArray
    from tracekit.intervals import CoveredTime

BURST_FACTOR = 5.0
"""A distance from start to start of more than this many median ones ends a burst (heuristic)."""

TOLERANCE = 0.02
"""Part of the period of a frame rate by which the median distance may differ from it (heuristic)."""
SPREAD = 0.05
"""Part of the median distance that half the distance between the quartiles may be (heuristic)."""

FRAME_RATES: tuple[int, ...] = (120, 90, 60, 50, 30, 25, 24, 15)
"""Frames per second of displays and cameras, the likely pacemakers: 8.3, 11.1, 16.7, 20, 33.3, 40, 41.7, 66.7 ms."""


@dataclass(frozen=True, slots=True, eq=False)
class Bursts:
    """Predictions that follow each other closely."""

    burst: IntArray
    """Shape (predictions,): number of the burst of each prediction, 0 to bursts - 1, in the order of the frame."""
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


def bursts(predictions: pd.DataFrame, factor: float = BURST_FACTOR) -> Bursts:
    """Bursts of the predictions (shared event columns, sorted by start) of one model or of several.

    A burst ends where the next prediction starts more than `factor` times the median distance later; the median is of
    distances above 0, so that calls handed over at one instant do not make every gap long. O(n log n).
    """
    called = Intervals.from_rows(predictions)
    distances = np.diff(called.starts)
    positive = distances[distances > 0]
    limit = factor * float(np.median(positive)) if len(positive) else np.inf
    opens = np.concatenate(([True], distances > limit))[: len(called)]
    burst = np.cumsum(opens) - 1
    first = np.flatnonzero(opens)
    count = np.diff(first, append=len(called))
    return Bursts(
        burst=burst,
        first=first,
        count=count,
        start_ns=called.starts[first],
        end_ns=np.maximum.reduceat(called.ends, first) if len(first) else first,
        busy_ns=called.covered_by_group(burst, len(first)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class IdleGaps:
    """Times inside bursts in which no prediction was in flight: shape (gaps,) each, by start.

    They add up to `Bursts.gap_ns`; a prediction without duration neither fills a gap nor splits one.
    """

    start_ns: IntArray
    end_ns: IntArray
    device_idle_ns: IntArray | None
    """Time of the gap in which no row of the hardware was active; None where it was not given."""


def gaps(predictions: pd.DataFrame, burst_times: Bursts, busy: CoveredTime | None = None) -> IdleGaps:
    """Gaps between predictions inside their bursts.

    `busy`: when the compute units worked, whoever they worked for; None where that was not recorded.
    O((n + m) log n), m the pieces of `busy`.
    """
    called = Intervals.from_rows(predictions)
    group, piece_starts, piece_ends = union_by_group(burst_times.burst, called.starts, called.ends)
    # A gap opens where a burst or a piece begins or ends: calls without duration at the edge of a burst leave no piece.
    owner = np.concatenate((np.arange(len(burst_times.count)), group))
    low = np.concatenate((burst_times.start_ns, piece_ends))[np.argsort(owner, kind="stable")]
    owner = np.concatenate((group, np.arange(len(burst_times.count))))
    high = np.concatenate((piece_starts, burst_times.end_ns))[np.argsort(owner, kind="stable")]
    low, high = low[high > low], high[high > low]
    return IdleGaps(low, high, None if busy is None else busy.free_within(low, high))


@dataclass(frozen=True, slots=True)
class SteadyRate:
    """A steady rate at which predictions start."""

    fps: int
    """One of `FRAME_RATES`."""
    period_ns: float
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
    """Median time from start to start."""
    per_second: float | None
    """Predictions started per second: distances over their summed length."""
    steady_rate: SteadyRate | None
    """None where the predictions keep no common frame rate, or run back to back, when their own latency sets the
    beat."""


def summarize_throughput(
    predictions: pd.DataFrame,
    burst_times: Bursts,
    busy: CoveredTime | None = None,
    *,
    slack: float = 0.05,
) -> Throughput:
    """Throughput of the predictions inside the bursts that `bursts` found, `busy` as in `gaps`. O((n + m) log n).

    A steady rate is named where the median distance lies within `TOLERANCE` of the period of a rate of `FRAME_RATES`,
    half the distance between the quartiles is at most `SPREAD` of it, and gaps make up at least `slack` of the span:
    all (heuristic), set so that the nearest rates, 24 and 25, stay apart and that back-to-back calls have none.
    """
    several = burst_times.count > 1
    starts = predictions["start_ns"].to_numpy()
    distances = np.diff(starts)[np.diff(burst_times.burst) == 0]
    span = int((burst_times.end_ns - burst_times.start_ns)[several].sum())
    gap = int(burst_times.gap_ns[several].sum())
    steady = None
    if len(distances) and span and gap >= slack * span:
        steady = _steady_rate(distances)
    total = int(distances.sum())
    free = gaps(predictions, burst_times, busy)
    return Throughput(
        bursts=len(burst_times.count),
        predictions=int(burst_times.count[several].sum()),
        span_ns=span,
        gap_ns=gap,
        gaps=duration_statistics(free.start_ns, free.end_ns - free.start_ns),
        device_idle_ns=None if free.device_idle_ns is None else int(free.device_idle_ns.sum()),
        interval_ns=float(np.median(distances)) if len(distances) else None,
        per_second=len(distances) * 1e9 / total if total else None,
        steady_rate=steady,
    )


def _steady_rate(distances: IntArray) -> SteadyRate | None:
    low, middle, high = (float(value) for value in np.quantile(distances, [0.25, 0.5, 0.75]))
    if middle <= 0 or (high - low) / 2 > SPREAD * middle:
        return None
    rate = min(FRAME_RATES, key=lambda rate: abs(middle * rate / 1e9 - 1))
    deviation = middle * rate / 1e9 - 1
    if abs(deviation) > TOLERANCE:
        return None
    return SteadyRate(rate, 1e9 / rate, deviation, (high - low) / 2 / middle)
