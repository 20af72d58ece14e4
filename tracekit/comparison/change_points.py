"""Lasting steps and slow drifts in a series of builds.

Steps are found as E-divisive means finds them (Matteson and James, JASA 109, 2014, with squared distances): where a
stretch of builds is split so that its sides differ most, held against a t test, as Apache Otava does. Stretches are
those of seeded binary segmentation (Kovács et al., Biometrika 110, 2023), so that one step cannot hide another. A drift
looks like a staircase to this search, so each stair is held against a line. Error rates:
`tests/support/simulated_histories.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from math import log, sqrt

import numpy as np

from tracekit.arrays import FloatArray, IntArray
from tracekit.comparison.sampling import t_distribution, t_quantile

MIN_SIDE = 3
"""Fewest builds on each side of a step: one build may be an accident of its recording."""
MIN_BUILDS = 8
"""Fewest builds of a series in which steps are looked for."""
CHANCE = 1e-5
"""Probability with which the split of a steady stretch passes as a step (heuristic: by simulation)."""
_LOOKED = 4 * CHANCE
"""The same before dependence between builds is known."""
_BY_TURNS = 2e-4
"""Probability with which builds that go to and fro may look like a step (heuristic: by simulation)."""
_OUTLIER = 4.0
"""Robust standard deviations beyond which a lone build stands apart from its neighbors (heuristic)."""
_NORMAL = 1.4826
"""Standard deviation of a normal distribution by its median absolute deviation."""
_PLACES = 7.35
"""Twice the difference of log likelihoods with 95% of steps (Eo and Morley, Quantitative Economics 6, 2015)."""
MIN_DRIFT = 4
"""Fewest builds over which a change counts as drift: a faster one is a step (heuristic)."""
_MOST_STAIRS = 6
"""Stairs that a drift is taken for at most."""
_BENDS = 12
"""Builds from which on a line is tried (heuristic)."""
_EXACT = 1e-18
"""Sums of squares up to this are those of rounding."""
_TRIED = np.array([*range(13), 16, 20, 28, 44, 76, 140, 200])
"""How many builds before the first stair a drift may begin, and after the last one end."""


@dataclass(frozen=True, slots=True)
class Change:
    """A lasting change of a series. Builds are named by their position in it, from 0."""

    kind: str
    """`change point` or `drift`."""
    last_before: int
    """The last build that is as before; of a drift, the build that it began after."""
    first_after: int
    """The first build that is as after: a change point lies between the two with 95% confidence. A drift ends here."""
    before: float
    """Level before, in the unit of the values."""
    after: float
    """Level after it."""
    confidence: float
    """Probability that it is no chance."""


def changes_in(values: FloatArray) -> tuple[Change, ...]:
    """Lasting changes of a series, shape (builds,), in order; none if it is too short. O(n log n) for few changes."""
    if len(values) < MIN_BUILDS:
        return ()
    # The series with lone builds that stand apart replaced by the median of the five around them: shape (builds,).
    padded = np.pad(values, 2, constant_values=np.nan)
    around = np.nanmedian(np.lib.stride_tricks.sliding_window_view(padded, 5), axis=1)
    apart = np.abs(values - around)
    # The median of five follows the noise, so deviations from it are too small by about this factor.
    scale = _NORMAL * float(np.median(apart)) * 1.25
    usual = np.where(apart > _OUTLIER * scale, around, values) if scale else around
    # Where steps may be: the first build after each, in order. Of stretches that overlap, the shortest with a step
    # decides, since it has no other one in it.
    steps: list[tuple[int, float, int, int, int]] = []
    for length, starts in _stretches(len(usual)):
        windows = np.lib.stride_tricks.sliding_window_view(usual, length)[starts]
        squares = _t_squared(windows)
        best = squares.argmax(axis=1)
        strength = squares[np.arange(len(starts)), best]
        for at in np.flatnonzero(strength > _threshold(length)).tolist():
            start = int(starts[at])
            steps.append((length, -float(strength[at]), start, start + length, start + MIN_SIDE + int(best[at])))
    candidates: list[int] = []
    for _, _, start, end, place in sorted(steps):
        if not any(start < other < end for other in candidates):
            candidates.append(place)
    places = _confirmed(usual, sorted(candidates))
    described = list(_described(usual, places))
    ends = [*(change.last_before + 1 for change in described[1:]), len(values)]
    return tuple(one for one, end in zip(described, ends, strict=False) if not _visited(values, one, end))


def _visited(values: FloatArray, change: Change, end: int) -> bool:
    """Whether builds that go to a level and come back may stay there for as many builds in a row as a change has until
    `end`: medians of recordings whose clock or compute unit sticks jump between two levels."""
    beyond = (values - (change.before + change.after) / 2) * (change.after - change.before) > 0
    earlier, stayed = beyond[: change.last_before + 1], beyond[change.last_before + 1 : end]
    visits = np.count_nonzero(earlier[1:] & ~earlier[:-1]) + bool(earlier[:1].any())
    # As if half a visit had been missed.
    share = (visits + 0.5) / (np.count_nonzero(~earlier) + 1)
    return bool(share ** np.count_nonzero(stayed) > _BY_TURNS)


def _stretches(builds: int) -> Iterator[tuple[int, IntArray]]:
    """Lengths, and where stretches of that length begin: each overlaps the next by half, the last ends the series."""
    length = 2 * MIN_SIDE
    while length < builds:
        last = builds - length
        yield length, np.unique(np.append(np.arange(last, 0, -(length // 2)), 0))
        length *= 2
    yield builds, np.zeros(1, np.int64)


def _between(windows: FloatArray) -> FloatArray:
    """Sum of squares between the sides of each split of each window: shape (windows, length - 1)."""
    length = windows.shape[1]
    left = np.cumsum(windows - windows.mean(axis=1, keepdims=True), axis=1)[:, :-1]
    counts = np.arange(1, length)
    between: FloatArray = left**2 * (length / (counts * (length - counts)))
    return between


def _t_squared(windows: FloatArray) -> FloatArray:
    """Square of Student's t of each split of each window, shape (windows, splits): first side `MIN_SIDE` builds on."""
    length = windows.shape[1]
    between = _between(windows)[:, MIN_SIDE - 1 : length - MIN_SIDE]
    within = np.maximum(length * windows.var(axis=1, keepdims=True) - between, 0.0)
    exact = (within <= _EXACT) & (between > _EXACT)
    return np.where(exact, np.inf, between * (length - 2) / np.maximum(within, _EXACT))


@cache
def _threshold(length: int) -> float:
    return t_quantile(1 - _LOOKED / 2, length - 2) ** 2


def _confirmed(values: FloatArray, places: Sequence[int]) -> list[int]:
    """The places that stay steps between their neighbors, each moved to where it fits best; the weakest go first."""
    kept = list(places)
    # Most steps have the neighbors that they had when the last one went.
    best_split, chance = cache(partial(_best_split, values)), cache(partial(_chance, values))
    while kept:
        moved: list[int] = []
        for at, high in zip(kept, [*kept[1:], len(values)], strict=True):
            moved.append(best_split(moved[-1] if moved else 0, high, at))
        edges = [0, *moved, len(values)]
        chances = [chance(low, at, high) for low, at, high in zip(edges, moved, edges[2:], strict=False)]
        if max(chances) <= CHANCE:
            return moved
        weakest = chances.index(max(chances))
        kept = moved[:weakest] + moved[weakest + 1 :]
    return []


def _best_split(values: FloatArray, low: int, high: int, at: int) -> int:
    if high - low < 2 * MIN_SIDE:
        return at
    return low + MIN_SIDE + int(_t_squared(values[None, low:high])[0].argmax())


def _chance(values: FloatArray, low: int, at: int, high: int) -> float:
    """How probable so strong a step is where there is none, or so steep a line from any build on: neighbors on a line
    are alike, which would take from the step what it proves."""
    order = np.arange(high - low, dtype=np.float64)
    bends = (np.maximum(order - bend, 0.0) for bend in range(0, at - low, max((at - low) // _BENDS, 1)))
    return min(_chance_of(values[low:high], shape) for shape in ((order >= at - low).astype(np.float64), *bends))


def _chance_of(values: FloatArray, shape: FloatArray) -> float:
    """How probable it is that values (shape (builds,)) follow a shape so well by chance: the t test of its slope.
    Builds of one day are alike, so dependence between neighbors takes from what they prove."""
    count, varied, around = len(values), shape - shape.mean(), values - values.mean()
    spread = float(varied @ varied)
    slope = float(varied @ around) / spread
    rest = around - slope * varied
    within = float(rest @ rest)
    if count <= 2 or within <= _EXACT:
        return 1.0 if count <= 2 or slope**2 * spread <= _EXACT else 0.0
    alike = float(rest[1:] @ rest[:-1]) / within
    alike = min(max(alike + (1 + 3 * alike) / count, 0.0), 0.9)
    error = sqrt(within / (count - 2) / spread * (1 + alike) / (1 - alike))
    return 2 * (1 - t_distribution(abs(slope) / error, count - 2))


def _described(values: FloatArray, places: Sequence[int]) -> Iterator[Change]:
    """Each step with its range and confidence; stairs that a line describes better are one drift."""
    edges = [0, *places, len(values)]
    rises = np.diff([values[low:high].mean() for low, high in pairwise(edges)]) > 0
    at = 0
    while at < len(places):
        run = next((end for end in range(at, len(places)) if rises[end] != rises[at]), len(places))
        # The longest drift first: its stairs alone are steps, too.
        drifts = (
            (end, _drift(values, edges[at], places[at:end], edges[end + 1]))
            for end in range(min(run, at + _MOST_STAIRS), at, -1)
        )
        end, drift = next((drift_there for drift_there in drifts if drift_there[1] is not None), (at + 1, None))
        confidence = 1 - min(_chance(values, *edges[step : step + 3]) for step in range(at, end))
        low, place, high = edges[at : at + 3]
        if drift is not None:
            yield Change("drift", *drift, confidence)
        else:
            levels = float(values[low:place].mean()), float(values[place:high].mean())
            # The last build before the step and the first after it, with 95% confidence.
            part = values[low:high]
            within = np.maximum(len(part) * part.var() - _between(part[None])[0], _EXACT)
            likely = np.flatnonzero(len(part) * np.log(within / within[place - low - 1]) <= _PLACES) + low + 1
            yield Change("change point", int(likely.min()) - 1, int(likely.max()), *levels, confidence)
        at = end


def _drift(values: FloatArray, low: int, stairs: Sequence[int], high: int) -> tuple[int, int, float, float] | None:
    """Where a drift begins and ends, and its levels there; None where stairs describe the builds as well.

    A drift is a level, a line and a level. Bayesian information criterion: stairs have a level and a place each; that
    both ends of a drift are searched for counts as one more.
    """
    low, high = max(low, stairs[0] - int(_TRIED[-1])), min(high, stairs[-1] + int(_TRIED[-1]))
    part = values[low:high]
    pieces = np.split(part, [stair - low for stair in stairs])
    of_stairs = float(sum(len(piece) * piece.var() for piece in pieces))
    begins, stops = stairs[0] - low - _TRIED, stairs[-1] - low + _TRIED
    begins, stops = begins[begins >= 0], stops[stops < len(part)]
    ends = [(first, last) for first in begins.tolist() for last in stops.tolist() if last - first >= MIN_DRIFT]
    if not ends:
        return None
    firsts, lasts = np.array(ends, np.float64).T[:, :, None]
    shapes = np.clip((np.arange(len(part)) - firsts) / (lasts - firsts), 0.0, 1.0)
    varied, around = shapes - shapes.mean(axis=1, keepdims=True), part - part.mean()
    slopes = varied @ around / (varied**2).sum(axis=1)
    rests = ((around - slopes[:, None] * varied) ** 2).sum(axis=1)
    best = int(rests.argmin())
    count = len(part)
    gain = count * log(max(of_stairs, _EXACT) / max(float(rests[best]), _EXACT)) + (2 * len(stairs) - 4) * log(count)
    if gain <= 0:
        return None
    before = float(part.mean() - slopes[best] * shapes[best].mean())
    return low + ends[best][0], low + ends[best][1], before, before + float(slopes[best])
