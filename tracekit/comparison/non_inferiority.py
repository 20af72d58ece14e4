"""Whether models are slower than a baseline by no more than is allowed.

A model fails where it is slower by what is allowed or more, and the lower end of its change lies above 0. These ends
hold for all models of a check together (Bonferroni). It passes where the upper end of a one-sided 95% interval lies
below what is allowed (non-inferiority), and where nothing shows that it is slower, if the smallest slowdown that would
be seen is near enough to what is allowed: each check says which that is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from tracekit.arrays import FloatArray, IntArray
from tracekit.comparison.latency import MANY, MIN_EFFECTIVE, Reason, doubt_of
from tracekit.comparison.models import LARGEST_ERROR
from tracekit.comparison.sampling import effective_size, estimate_of, joint_error, logs_of, t_quantile
from tracekit.comparison.settings import Floor

LEVEL: Final = 0.05
"""How often a model passes that is slower by the smallest slowdown that is seen."""
FAMILY: Final = 0.01
"""How often a check finds any model slower in a build that is not, at most."""
FAR: Final = 4.0
"""So many times what is allowed, the smallest slowdown that is seen is too much to let a model pass (heuristic)."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The latencies of one model, of the recordings of each side that have enough."""

    sides: Sequence[Sequence[IntArray]]
    """In ns, an array in order of time for each recording."""
    floor: Floor
    is_fair: bool
    """Whether those of all recordings lie equally far behind a load."""
    error_ns: int = 0
    """How far both sides together may be off."""


@dataclass(frozen=True, slots=True)
class Held:
    """The latency of a model, held against a baseline."""

    passed: bool | None
    """None: it cannot be told."""
    reason: Reason | None
    """Why it cannot."""
    latencies_ns: tuple[float, float]
    """Medians; of several recordings the geometric mean of their medians."""
    change: float
    """After by before, less 1, as all that follow."""
    low: float
    """At this level, the model is not slower by less."""
    high: float
    """Nor by more, at 95%."""
    allowed: float
    seen: float | None
    """A model that is slower by this passes in one of 20 checks; None where no model has several recordings."""
    needed: int | None
    """Recordings a side, up to `MANY`, of which this would be no more than what is allowed."""
    predictions: tuple[tuple[int, ...], tuple[int, ...]]
    """Of each recording of each side, as many as were compared."""


def hold(models: Sequence[Compared]) -> list[Held | None]:
    """Each model held against what its `Floor` allows, by the spread of the recordings of both sides, which models
    share as far as theirs are alike. None where a side has no recording with enough predictions. O(n log n)."""
    measured = [index for index, model in enumerate(models) if all(model.sides)]
    centers = [
        [np.array([np.median(logs_of(one)) for one in side]) for side in models[index].sides] for index in measured
    ]
    degrees = np.array([sum(map(len, sides)) - 2 for sides in centers], np.float64)
    squares = np.array([sum(float(((side - side.mean()) ** 2).sum()) for side in sides) for sides in centers])
    shared = moderated_variances(squares, degrees) if degrees.any() else None
    result: list[Held | None] = [None] * len(models)
    for place, index in enumerate(measured):
        sides, error, free = centers[place], 0.0, 0.0
        if shared is not None:
            error = math.sqrt(shared[0][place] * sum(1 / len(side) for side in sides))
            free = float(shared[1][place])
        if not degrees[place]:
            # What its predictions say of it is the least that recordings of it differ by.
            _, *ends = zip(*(estimate_of(logs_of(side[0])) for side in models[index].sides), strict=True)
            error, free = max((error, free), joint_error(*ends))
        result[index] = _held(models[index], sides, Power(error, free, len(measured)), is_sample=shared is not None)
    return result


@dataclass(frozen=True, slots=True)
class Power:
    """What a check can see of a model. All in logarithms."""

    error: float
    """Standard error of the change."""
    degrees: float
    models: int

    @property
    def low(self) -> float:
        """How far below the change its lower end is."""
        return t_quantile(1 - FAMILY / self.models, self.degrees) * self.error

    @property
    def high(self) -> float:
        """How far above the change its upper end is."""
        return t_quantile(1 - LEVEL, self.degrees) * self.error

    def passes_below(self, limit: float) -> float:
        """The change below which a model passes."""
        is_near = self.low + self.high <= math.log1p(FAR * math.expm1(limit))
        return max(limit - self.high, self.low) if is_near else limit - self.high

    def seen(self, limit: float) -> float:
        """The smallest slowdown that is seen."""
        return max(limit, self.low + self.high)

    def needed(self, limit: float, counts: Sequence[int]) -> int | None:
        """Recordings a side, up to `MANY`, that see what is allowed: errors go with the root of their number."""
        smallest = (limit / (self.low + self.high)) ** 2 * sum(1 / count for count in counts)
        fewest = max(math.ceil(2 / smallest), *counts) if smallest else MANY + 1
        return fewest if fewest <= MANY else None


def _held(model: Compared, centers: Sequence[FloatArray], power: Power, *, is_sample: bool) -> Held:
    before, after = (float(side.mean()) for side in centers)
    change, limit = after - before, model.floor.log_allowed(math.exp(before))
    low, high = change - power.low, change + power.high
    below = power.passes_below(limit) if is_sample else limit - power.high
    passed = False if change >= limit and low > 0 else True if change < below else None
    reason = Reason.WIDE if passed is None else None
    if passed is not None and not model.is_fair:
        reason = Reason.UNEQUAL
    elif passed is False and (doubt := doubt_of(model.sides, change, change - low)):
        reason, width = doubt
        low, high = min(low, change - width), max(high, change + width)
    elif passed and model.error_ns > LARGEST_ERROR * math.exp(min(before, after)):
        reason = Reason.INEXACT
    elif passed is not None and max(map(len, model.sides)) == 1:
        # One recording a side is judged by its own predictions.
        worth = min(effective_size(logs_of(one)) for (one,) in model.sides)
        reason = Reason.FEW if worth < MIN_EFFECTIVE else None
    return Held(
        passed=passed if reason is None else None,
        reason=reason,
        latencies_ns=(math.exp(before), math.exp(after)),
        change=math.expm1(change),
        low=math.expm1(low),
        high=math.expm1(high),
        allowed=math.expm1(limit),
        seen=math.expm1(power.seen(limit)) if is_sample else None,
        needed=power.needed(limit, list(map(len, model.sides))) if is_sample else None,
        predictions=(tuple(map(len, model.sides[0])), tuple(map(len, model.sides[1]))),
    )


@dataclass(frozen=True, slots=True)
class Outlook:
    """What checks of builds against a baseline can be expected to say."""

    smallest: float
    """The smallest slowdown of any model that it can show, less 1."""
    inconclusive: float
    """Share of checks of a build that did not change in which it cannot be told for some model."""


def outlook(medians_ns: Sequence[FloatArray], floors: Sequence[Floor], recordings: int) -> Outlook | None:
    """What a baseline can show, of which each model has the medians of its recordings, to so many recordings of a
    build. None where no model has two. O(models)."""
    pairs = zip(medians_ns, floors, strict=True)
    several = [(np.log(np.maximum(latencies, 1.0)), floor) for latencies, floor in pairs if len(latencies) > 1]
    if not several:
        return None
    squares = np.array([float(((logs - logs.mean()) ** 2).sum()) for logs, _ in several])
    variances, degrees = moderated_variances(squares, np.array([len(logs) - 1.0 for logs, _ in several]))
    smallest, told = 0.0, 1.0
    for (logs, floor), variance, free in zip(several, variances.tolist(), degrees.tolist(), strict=True):
        power = Power(math.sqrt(variance * (1 / len(logs) + 1 / recordings)), free, len(several))
        limit = floor.log_allowed(math.exp(float(logs.mean())))
        smallest = max(smallest, power.seen(limit))
        told *= NormalDist().cdf(power.passes_below(limit) / power.error)
    return Outlook(math.expm1(smallest), 1 - told)


def moderated_variances(squares: FloatArray, degrees: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Variances of several models with their degrees of freedom, each drawn towards what all have in common, the more
    the less they differ: shape (models,) each, both ways. `squares` are sums of squares. A model without degrees of
    freedom has what all have in common; any model must have some.

    Smyth, "Linear models and empirical Bayes methods", Statistical Applications in Genetics and Molecular Biology 3
    (2004). A single model keeps its own.
    """
    free = degrees[degrees > 0]
    own = np.maximum(squares[degrees > 0] / free, _LEAST_VARIANCE)
    logs = np.log(own) - np.array([_digamma(n / 2) - math.log(n / 2) for n in free])
    beyond = float(logs.var(ddof=1)) - float(np.mean([_trigamma(n / 2) for n in free])) if len(free) > 1 else 0.0
    if beyond <= 0:
        pooled = max(float(squares.sum() / free.sum()), _LEAST_VARIANCE)
        return np.full(len(degrees), pooled), np.full(len(degrees), free.sum())
    prior = 2 * _inverse_trigamma(beyond)
    common = math.exp(float(logs.mean()) + _digamma(prior / 2) - math.log(prior / 2))
    variances = (prior * common + np.maximum(squares, _LEAST_VARIANCE * degrees)) / (prior + degrees)
    return variances, np.minimum(degrees + prior, free.sum())


_LEAST_VARIANCE: Final = 1e-8
"""Recordings that agree to 0.01% do so by chance."""


def _digamma(x: float) -> float:
    """Derivative of the logarithm of the gamma function, to five digits."""
    step = _STEP * x
    return (math.lgamma(x + step) - math.lgamma(x - step)) / (2 * step)


def _trigamma(x: float) -> float:
    """Its derivative."""
    step = _STEP * x
    return (math.lgamma(x + step) - 2 * math.lgamma(x) + math.lgamma(x - step)) / step**2


_STEP: Final = 1e-3
"""Share of x: smaller ones lose digits of the second difference."""


def _inverse_trigamma(value: float) -> float:
    """Where the trigamma function, which falls, has this value, by bisection."""
    low, high = 1e-4, 1e6
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _trigamma(middle) > value else (low, middle)
    return low
