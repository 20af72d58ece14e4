"""How the latency of a model runs: its trend, the places at which it shifts, and the values it gathers around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.analysis.latency.modes import modes
from tracekit.analysis.latency.trends import Trend, change_point_segments, trend

if TYPE_CHECKING:
    import pandas as pd

MIN_PREDICTIONS = 20
"""Predictions below which neither a shift nor a second level can be distinguished from chance (`trends`, `modes`)."""


@dataclass(frozen=True, slots=True)
class Level:
    """Predictions between two shifts of their latency."""

    start_ns: int
    """Start of the first of them."""
    count: int
    median_ns: float


@dataclass(frozen=True, slots=True)
class Mode:
    """A value that latencies gather around."""

    median_ns: float
    count: int
    share: float
    """Of the predictions."""


@dataclass(frozen=True, slots=True)
class LatencyTrend:
    """How the latency of one model's warm predictions develops."""

    trend: Trend
    levels: tuple[Level, ...]
    """In order of time; one where the latency does not shift."""
    modes: tuple[Mode, ...]
    """Shortest first; one where the latencies do not fall apart."""


def summarize_latency_trend(predictions: pd.DataFrame) -> LatencyTrend | None:
    """Latency trend of calls (shared event columns, sorted by start); None below `MIN_PREDICTIONS`. O(n log n)."""
    if len(predictions) < MIN_PREDICTIONS:
        return None
    durations, starts = predictions["duration_ns"].to_numpy(), predictions["start_ns"].to_numpy()
    groups = modes(durations)
    parts = zip(groups.centers_ns.tolist(), groups.counts.tolist(), groups.shares.tolist(), strict=True)
    return LatencyTrend(
        trend=trend(durations),
        levels=tuple(
            Level(int(starts[part.first]), part.count, part.median_ns) for part in change_point_segments(durations)
        ),
        modes=tuple(Mode(*part) for part in parts),
    )
