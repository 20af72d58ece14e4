"""Whether the time of a token grows faster than the context. Attention reads all of the context for each token, so that
its time grows along a line; what rises above that line has another cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracekit.arrays import FloatArray

BINS: Final = 20
"""Parts of the range of contexts, of equal width. The median of each counts, so that single slow tokens do not."""
_LEAST: Final = 6
"""Parts of each half that must hold tokens."""
_T: Final = {4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31}
"""Of Student's distribution, for intervals of 95%, by degrees of freedom: parts of the lower half less two."""
_CURVED: Final = 3.5
"""Standard errors by which a curve must bend up, in all of the range, its lower and its upper three quarters: then no
jump looks like one (99.5% or more each)."""


@dataclass(frozen=True, slots=True)
class ContextGrowth:
    """How the time of a token depends on the context."""

    slope_ns: float
    """Of the line through the lower half of the contexts: ns for each token of context."""
    slope_error_ns: float
    """Half of its interval of 95%."""
    start_ns: float
    """Of a token, at the shortest context, on this line."""
    middle: float
    """Context in tokens from which on the upper half begins."""
    excess: float
    """Time in the upper half beyond the line, as a share of what the line says."""
    excess_error: float
    """Half of its interval of 95%."""
    curved: bool
    """Whether time bends up throughout, which no jump does."""
    least: float
    """Shortest context."""

    def line(self, context: FloatArray) -> FloatArray:
        """What the line says of contexts, in ns."""
        return self.start_ns + self.slope_ns * (context - self.least)


def context_growth(context: FloatArray, time_ns: FloatArray) -> ContextGrowth | None:
    """Growth of the time of tokens with their contexts, shape (tokens,) each; None where the contexts do not cover
    their range. O(n log n)."""
    if not len(context) or not np.ptp(context):
        return None
    low, high = float(context.min()), float(context.max())
    place = np.minimum(((context - low) / (high - low) * BINS).astype(np.int64), BINS - 1)
    order = np.argsort(place, kind="stable")
    held, first = np.unique(place[order], return_index=True)
    x = np.array([np.median(each) for each in np.split(context[order], first[1:])])
    y = np.array([np.median(each) for each in np.split(time_ns[order], first[1:])])
    lower = held < BINS // 2
    if min(int(lower.sum()), int((~lower).sum())) < _LEAST:
        return None
    slope, start, error = _line(x[lower] - low, y[lower])
    variance = float(((x[lower] - x[lower].mean()) ** 2).sum())
    expected = start + slope * (x[~lower] - low)
    mean = max(float(expected.mean()), 1.0)
    quantile = _T[int(lower.sum()) - 2]
    distance = float(x[~lower].mean() - x[lower].mean())
    of_line = error * np.sqrt(1 / lower.sum() + distance**2 / variance + 1 / (~lower).sum())
    parts = (np.ones(len(held), np.bool_), held < BINS * 3 // 4, held >= BINS // 4)
    return ContextGrowth(
        slope_ns=slope,
        slope_error_ns=quantile * error / np.sqrt(variance),
        start_ns=start,
        middle=low + (high - low) / 2,
        excess=float((y[~lower] - expected).mean()) / mean,
        excess_error=quantile * float(of_line) / mean,
        curved=all(_bends_up(x[part], y[part]) for part in parts),
        least=low,
    )


def _line(x: FloatArray, y: FloatArray) -> tuple[float, float, float]:
    """Slope and start of the line through points, and the standard error of a point."""
    slope, start = np.polyfit(x, y, 1)
    rest = y - (start + slope * x)
    return float(slope), float(start), float(np.sqrt((rest**2).sum() / (len(x) - 2)))


def _bends_up(x: FloatArray, y: FloatArray) -> bool:
    scaled = (x - x.mean()) / np.ptp(x)
    terms = np.vander(scaled, 3)
    fitted, *_ = np.linalg.lstsq(terms, y)
    rest = y - terms @ fitted
    variance = float((rest**2).sum()) / (len(x) - 3) * np.linalg.inv(terms.T @ terms)[0, 0]
    return bool(fitted[0] > _CURVED * np.sqrt(variance) and fitted[0] > 0)
