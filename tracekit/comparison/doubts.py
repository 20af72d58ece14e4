"""Why a change of latency is not told: reasons, and what makes one doubtful although its interval excludes 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from tracekit.analysis.latency import change_point_segments, modes
from tracekit.arrays import FloatArray, IntArray
from tracekit.comparison.resampling import effective_size, logs_of

_NEAR = 0.5
"""Share of a change that may lie between two levels that are taken for one (heuristic)."""
_LONG = 0.2
"""Share of a recording that shows a level of its own (heuristic)."""
_VISIT = 5
"""Predictions in a row that show one, at least; of a longer recording a tenth (heuristic)."""
_SURE = 3.0
"""Standard errors beyond which it is not by chance (heuristic)."""
LASTING = 50
"""Predictions from which on a recording shows that a clock or a compute unit changes, by simulation."""
_HIDDEN = 110.0
"""By this over the square of its predictions, as a difference of logarithms, a shorter recording may be slower by
itself: a third with 20, twice as slow with 12 (by simulation)."""


class Reason(StrEnum):
    """Why an answer is inconclusive."""

    MISSING = "missing"
    """One side has no warm prediction of the model."""
    FEW = "few"
    """Fewer predictions than `MIN_PREDICTIONS`, or worth fewer than `MIN_EFFECTIVE` independent ones."""
    WIDE = "wide"
    """The interval reaches beyond the floor, and does not exclude that nothing changed."""
    SMALL = "small"
    """Changed for certain, but whether by more than the floor is open."""
    NOT_STEADY = "not steady"
    """One recording itself moves by as much as the two differ."""
    INEXACT = "inexact"
    """Call stacks do not show calls this short exactly enough."""
    MODES = "modes"
    """Latencies gather around several values, one of which the other side has too: their median may jump between them.
    """
    SHORT = "short"
    """The recordings are too short to show that clocks or units change by themselves, which may be all of it."""
    HOT = "hot"
    """One side ran in a thermal state in which devices slow down, and the other did not, or did not record its own."""
    UNEQUAL = "unequal"
    """Recordings reach so differently far behind a load that the longer ones may only be warmer."""


def hidden_by_shortness(predictions: int) -> float:
    """How far a recording with so many predictions may be off by itself, as a difference of logarithms."""
    return _HIDDEN / predictions**2 if predictions < LASTING else 0.0


class Doubt(NamedTuple):
    """Why a change is not believed."""

    reason: Reason
    width: float
    """How far it may be off, as a difference of logarithms: all that separates levels of one side from those of the
    other."""


def doubt_of(sides: Sequence[Sequence[IntArray]], change: float) -> Doubt | None:
    """Why a change of the logarithm of the median is not believed although the interval shows it; None where it is. A
    level of one side that comes so near to one of the other may be the same, held for longer. O(n log n)."""
    is_pair = max(map(len, sides)) == 1
    if is_pair and abs(change) < (hidden := hidden_by_shortness(min(len(side[0]) for side in sides))):
        return Doubt(Reason.SHORT, hidden)
    found = (
        (Reason.NOT_STEADY, [[_levels(values, math.exp(abs(change))) for values in side] for side in sides]),
        (Reason.MODES, [[modes(values).centers_ns for values in side] for side in sides]),
    )
    for reason, levels in found:
        before, after = (np.log(np.maximum(np.concatenate(side), 1.0)) for side in levels)
        apart = np.subtract.outer(after, before)
        if any(len(own) > 1 for side in levels for own in side) and np.abs(apart).min() < _NEAR * abs(change):
            return Doubt(reason, max(abs(change), float(np.abs(apart - change).max())))
    if is_pair:
        before, after = (logs_of(side[0]) for side in sides)
        for one, other in ((before, after), (after, before)):
            if _visits(one, float(np.median(other)), abs(change)):
                return Doubt(Reason.NOT_STEADY, abs(change))
    return None


def _visits(logs: FloatArray, level: float, change: float) -> bool:
    """Whether some predictions in a row come near to a level, and farther than chance brings them."""
    length = max(_VISIT, len(logs) // 10)
    if len(logs) <= length:
        return False
    distance = np.abs(logs - np.median(logs))
    # From the median absolute deviation of normal values to the standard error of the median of so many.
    noise = float(np.median(distance)) / 0.6745 * 1.2533 / math.sqrt(effective_size(logs) / len(logs) * length)
    medians = np.median(np.lib.stride_tricks.sliding_window_view(logs, length), axis=1)
    far = np.abs(medians - np.median(logs)) > _SURE * noise
    return bool((far & (np.abs(medians - level) < _NEAR * change)).any())


def _levels(values: IntArray, ratio: float) -> FloatArray:
    """What the median of a recording is in long parts of it, between which it shifts by as much, and without any one
    of its parts."""
    segments = change_point_segments(values, min_ratio=ratio)
    levels = [segment.median_ns for segment in segments if segment.count >= _LONG * len(values)]
    if len(segments) > 1:
        # What is left must be long enough, too.
        parts = np.repeat(np.arange(len(segments)), [segment.count for segment in segments])
        others = (values[parts != part] for part in range(len(segments)))
        levels += [float(np.median(rest)) for rest in others if len(rest) >= _LONG * len(values)]
    return np.array(levels)
