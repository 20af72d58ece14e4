"""Statistics of durations, with rules for when there are enough of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Statistics:
    """Durations in ns. A quantile is None where there are too few values for it."""

    count: int
    total_ns: int
    """Plain sum, as Instruments shows it. Rows may overlap: it is not elapsed time."""
    union_ns: int
    """Elapsed time covered by at least one of the rows."""
    mean_ns: float
    min_ns: int
    p50_ns: float
    p90_ns: float | None
    p95_ns: float | None
    p99_ns: float | None
    max_ns: int
    stdev_ns: float | None
