"""Whether the latency of one model changed between two recordings, or between two sets of recordings.

A latency is compared by the logarithm of its median, so that a change is a ratio. A change may be doubtful although
its interval excludes 0. The method is described in docs/compare.md, with its measured error rates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from tracekit.analysis.latency import change_points, modes
from tracekit.analysis.quantities import least, median, sample_quantiles
from tracekit.arrays import FloatArray, IntArray
from tracekit.comparison.sampling import effective_size, estimate_of, half_width, logs_of, multiple, student
from tracekit.comparison.settings import Floor

METHOD_VERSION = 3
"""Raised when the same recordings may get another answer. A baseline names the version it was judged by."""

MIN_PREDICTIONS = 12
"""Fewest warm predictions on either side."""
MIN_EFFECTIVE = 16.0
"""Least effective sample size on either side, by simulation: with half of it, 8% of comparisons of one build are wrong
whose latencies swing slowly or depend on each other."""
BUILD_APART = 0.075
"""Difference of logarithms that 1 in 100 pairs of recordings of one build have, if these differ by 2%."""
MIN_P95 = 300
"""Fewest warm predictions for a 95th percentile: at 100, half of the shifts of 10% are missed, at 300 1%."""


FEW, MANY = 3, 10
"""Recordings a side: from how many on they show how much recordings differ, and how many can be made in ten minutes,
where each takes half a minute."""


class Answer(StrEnum):
    """What a comparison says."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    """The whole interval lies within the floor: earned, not assumed."""
    INCONCLUSIVE = "inconclusive"


CHANGED = frozenset((Answer.REGRESSED, Answer.IMPROVED))


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
    """Latencies gather around several values, one of which the other side has too: their median may jump."""
    SHORT = "short"
    """The recordings are too short to show that clocks or units change by themselves, which may be all of it."""
    RUNS = "runs"
    """Two recordings of one build may be as far apart."""
    HOT = "hot"
    """One side ran in a thermal state in which devices slow down, and the other did not, or did not record its own."""
    SIMULATOR = "simulator"
    """One side was recorded in a simulator."""
    UNEQUAL = "unequal"
    """Recordings reach so differently far behind a load that the longer ones may only be warmer."""


@dataclass(frozen=True, slots=True)
class LatencyChange:
    """A latency before and after. Times in ns; None where a side has no value."""

    answer: Answer
    reason: Reason | None
    """None unless the answer is "inconclusive"."""
    before_ns: float | None
    """Median; of several recordings the geometric mean of their medians."""
    after_ns: float | None
    ratio: float | None
    """After by before."""
    low: float | None
    """Ends of the interval of the ratio; None where it cannot be given."""
    high: float | None
    predictions: tuple[tuple[int, ...], tuple[int, ...]]
    """Of each recording of each side, as many as were compared."""
    effective: tuple[float, float] | None
    """Independent predictions that those of each side are worth; None where the recordings are the sample."""
    wanted: int | None
    """Predictions a side that carry an answer, where there are fewer; recordings a side that would settle it, where
    these are the sample."""
    floor: float | None
    """Share of the latency by which it must change to count; None where there is no latency to compare."""
    resolution_ns: int = 0
    """How exactly the times are known: the time between two samples, where only call stacks show them."""
    counted: str = "predictions"
    """What its times are of: `loads`, or as of `ModelMeasurements`."""


def compare_latency(
    before: Sequence[IntArray], after: Sequence[IntArray], *, floor: Floor | None = None
) -> LatencyChange:
    """Compare warm latencies in ns, an array in order of time for each recording of a side.

    One recording a side is judged by its own predictions, which cannot see how much recordings of one build differ.
    As soon as a side has several, recordings with at least `MIN_PREDICTIONS` are the sample. O(n log n).
    """
    return _compared((before, after), 0.5, 1 if len(before) == len(after) == 1 else MIN_PREDICTIONS, floor or Floor())


def compare_p95(before: Sequence[IntArray], after: Sequence[IntArray], *, floor: Floor | None = None) -> LatencyChange:
    """Compare the 95th percentile of warm latencies in ns, an array in order of time for each recording of a side.

    Only recordings with at least `MIN_P95` predictions count. O(n log n).
    """
    return _compared((before, after), 0.95, MIN_P95, floor or Floor())


def _alone(side: Sequence[IntArray], quantile: float) -> float | None:
    """That of a side which is not compared; None where no recording has enough predictions for one."""
    if quantile == 0.5:
        return median(np.concatenate(side)) if side else None
    quantiles = [sample_quantiles(values, 0.95)[0] for values in side if len(values) >= least(0.95)]
    return math.exp(float(np.mean(np.log(np.maximum(quantiles, 1.0))))) if quantiles else None


def _compared(given: Sequence[Sequence[IntArray]], quantile: float, fewest: int, floor: Floor) -> LatencyChange:
    """A quantile of both sides, of the recordings with the `fewest` predictions or more. Several are the sample, each
    with the logarithm of its own quantile."""
    sides = [[values for values in side if len(values) >= fewest] for side in given]
    if not all(sides):
        lacking = Reason.FEW if all(any(map(len, side)) for side in given) else Reason.MISSING
        alone, needed = [_alone(side, quantile) for side in given], None if quantile == 0.5 else fewest
        return _change(Answer.INCONCLUSIVE, lacking, alone, None, given, wanted=needed)
    effective = wanted = None
    values: list[float]
    if max(map(len, sides)) == 1:
        counts = [len(one) for (one,) in sides]
        logs = [logs_of(one) for (one,) in sides]
        effective = effective_size(logs[0]), effective_size(logs[1])
        values = [sample_quantiles(one, quantile)[0] for (one,) in sides]
        if min(counts) < 4:
            return _change(Answer.INCONCLUSIVE, Reason.FEW, values, None, sides, effective, MIN_PREDICTIONS)
        centers, errors, degrees = zip(*(estimate_of(one, quantile) for one in logs), strict=True)
        change, width = centers[1] - centers[0], half_width(errors, degrees)
    else:
        means = [np.array([math.log(max(*sample_quantiles(one, quantile), 1.0)) for one in side]) for side in sides]
        change, width = student(*means)
        counts = [len(side) for side in sides]
        values = [math.exp(float(side.mean())) for side in means]
    limit = floor.log(*values)
    answer, reason = judge(change, width, limit)
    if effective is not None and (min(counts) < MIN_PREDICTIONS or min(effective) < MIN_EFFECTIVE):
        answer, reason, width = (
            Answer.INCONCLUSIVE,
            Reason.FEW,
            max(width, abs(change), hidden_by_shortness(min(counts))),
        )
        # What a short recording hides is seen from `LASTING` on.
        rows = max(count * MIN_EFFECTIVE / worth for count, worth in zip(counts, effective, strict=True))
        needed = math.ceil(max(LASTING, rows))
        two_digits: int = 10 ** max(len(str(needed)) - 2, 0)
        wanted = -(-needed // two_digits) * two_digits if quantile == 0.5 else None
    elif quantile == 0.5 and answer in CHANGED and (doubt := doubt_of(sides, change, width)):
        answer, reason, width = Answer.INCONCLUSIVE, doubt[0], max(width, doubt[1])
        wanted = LASTING if reason is Reason.SHORT else None
    if effective is None and quantile == 0.5 and reason in (Reason.WIDE, Reason.SMALL):
        # As the change is not known exactly, it is not taken to lie nearer to the floor than half of that.
        wide = abs(change) if abs(change) >= limit else max(limit - abs(change), limit / 2)
        wanted = recordings_needed(counts, width / max(wide, _LEAST_WIDTH))
    return _change(answer, reason, values, (change, width, limit), sides, effective, wanted)


def judge(change: float, width: float, floor: float) -> tuple[Answer, Reason | None]:
    """The answer to a difference, given half the width of its interval."""
    if abs(change) > width and abs(change) >= floor:
        return (Answer.REGRESSED if change > 0 else Answer.IMPROVED), None
    if abs(change) + width < floor:
        return Answer.UNCHANGED, None
    return Answer.INCONCLUSIVE, Reason.SMALL if abs(change) > width else Reason.WIDE


_LEAST_WIDTH = 1e-6
"""Of an interval that is wished for, where the floor is 0 and nothing changed."""


def recordings_needed(counts: Sequence[int], narrower: float) -> int | None:
    """Recordings a side, which differ as these do, of which the interval is so many times narrower; None for more than
    `MANY`."""
    if min(counts) < FEW:
        return FEW
    now = multiple(sum(counts) - 2) * math.hypot(*(count**-0.5 for count in counts))
    more = range(max(counts) + 1, MANY + 1)
    return next((n for n in more if multiple(2 * n - 2) * math.sqrt(2 / n) * narrower <= now), None)


def _change(
    answer: Answer,
    reason: Reason | None,
    values: Sequence[float | None],
    difference: tuple[float, float, float] | None,
    sides: Sequence[Sequence[IntArray]],
    effective: tuple[float, float] | None = None,
    wanted: int | None = None,
) -> LatencyChange:
    """`difference` is that of the logarithms, with half the width of its interval and its floor."""
    low = high = floor = None
    if difference is not None:
        change, width, limit = difference
        low, high, floor = math.exp(change - width), math.exp(change + width), math.expm1(limit)
    before, after = values
    ratio = after / before if before and after is not None else None
    first, second = (tuple(map(len, side)) for side in sides)
    return LatencyChange(answer, reason, before, after, ratio, low, high, (first, second), effective, wanted, floor)


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
_HIDDEN = 300.0
"""By this over the square of its predictions, as a difference of logarithms, a shorter recording may be slower by
itself: an eighth with 49, twice as slow with 20 (by simulation)."""


def hidden_by_shortness(predictions: int) -> float:
    """How far a recording with so many predictions may be off by itself, as a difference of logarithms."""
    return _HIDDEN / predictions**2 if predictions < LASTING else 0.0


def doubt_of(sides: Sequence[Sequence[IntArray]], change: float, width: float) -> tuple[Reason, float] | None:
    """Why a change of the logarithm of the median is not believed although the interval shows it; None where it is. A
    level of one side that comes so near to one of the other may be the same, held for longer. With it, how far the
    change may be off: all that separates levels of one side from those of the other. `width` is half its interval.
    O(n log n)."""
    is_pair = max(map(len, sides)) == 1
    if min(map(len, sides)) >= FEW:
        if _visited(sides, change):
            return Reason.NOT_STEADY, abs(change)
        return (Reason.WIDE, least_width) if abs(change) <= (least_width := _width_within(sides)) else None
    if is_pair and abs(change) < (usual := math.hypot(width, BUILD_APART)):
        return Reason.RUNS, usual
    if is_pair and abs(change) < (hidden := hidden_by_shortness(min(len(side[0]) for side in sides))):
        return Reason.SHORT, hidden
    doubts = (
        (Reason.NOT_STEADY, [[_levels(values, math.exp(abs(change))) for values in side] for side in sides]),
        (Reason.MODES, [[modes(values)[1] for values in side] for side in sides]),
    )
    for reason, levels in doubts:
        before, after = (np.log(np.maximum(np.concatenate(side), 1.0)) for side in levels)
        apart = np.subtract.outer(after, before)
        if any(len(own) > 1 for side in levels for own in side) and np.abs(apart).min() < _NEAR * abs(change):
            return reason, max(abs(change), float(np.abs(apart - change).max()))
    if is_pair:
        before, after = (logs_of(side[0]) for side in sides)
        for one, other in ((before, after), (after, before)):
            if _visits(one, float(np.median(other)), abs(change)):
                return Reason.NOT_STEADY, abs(change)
    return None


_SOME = 0.1
"""Share of the predictions of a side that show a level of its own, of several recordings (heuristic)."""
_STAYED = 1 / 3
"""Share of a change that a level which is there before and after may move by (heuristic)."""


def _visited(sides: Sequence[Sequence[IntArray]], change: float) -> bool:
    """Whether the fastest or the slowest tenth of the predictions is where it was, at the level of the other side:
    recordings that hold both levels, for shorter or longer, differ by chance."""
    logs = (logs_of(np.concatenate(side)) for side in (sides if change > 0 else sides[::-1]))
    fast, slow = (sample_quantiles(one, _SOME, 0.5, 1 - _SOME) for one in logs)
    size = abs(change)
    moved = [(after - before) / size for before, after in zip(fast, slow, strict=True)]
    slows_down = moved[2] < _STAYED and -_NEAR < (fast[2] - slow[1]) / size < 1
    return bool(slows_down or (moved[0] < _STAYED and -_NEAR < (fast[1] - slow[0]) / size < 1))


_SHORT_DEPENDENCE = 0.15
"""Independent predictions that one is worth, from which on a recording shows how far its median may be off: less is
of latencies that swing, whose medians are more alike than that (by simulation)."""


def _width_within(sides: Sequence[Sequence[IntArray]]) -> float:
    """Least half width of the interval of a difference of medians, as three of them may agree by chance: what the
    predictions within the recordings leave open. 0 where these do not show it. O(n log n)."""
    worth, squares = [], 0.0
    for side in sides:
        for logs in map(logs_of, side):
            independent = effective_size(logs)
            worth.append(independent / len(logs))
            squares += (_median_error(logs, independent) / len(side)) ** 2
    return multiple(len(worth) - 2) * math.sqrt(squares) if np.median(worth) >= _SHORT_DEPENDENCE else 0.0


def _median_error(logs: FloatArray, independent: float) -> float:
    """Standard error of the median of so many independent values, by the median absolute deviation of normal ones."""
    return float(np.median(np.abs(logs - np.median(logs)))) / 0.6745 * 1.2533 / math.sqrt(independent)


def _visits(logs: FloatArray, level: float, change: float) -> bool:
    """Whether some predictions in a row come near to a level, and farther than chance brings them."""
    length = max(_VISIT, len(logs) // 10)
    if len(logs) <= length:
        return False
    noise = _median_error(logs, effective_size(logs) / len(logs) * length)
    medians = np.median(np.lib.stride_tricks.sliding_window_view(logs, length), axis=1)
    far = np.abs(medians - np.median(logs)) > _SURE * noise
    return bool((far & (np.abs(medians - level) < _NEAR * change)).any())


def _levels(values: IntArray, ratio: float) -> FloatArray:
    """Medians of a recording in long parts of it, between which it shifts by as much, and without each of its parts."""
    segments = [slice(*edges) for edges in pairwise(change_points(values, min_ratio=ratio))]
    parts = [values[segment] for segment in segments]
    if len(segments) > 1:
        # What is left must be long enough, too.
        parts += [np.delete(values, segment) for segment in segments]
    return np.array([float(np.median(part)) for part in parts if len(part) >= _LONG * len(values)])
