"""Student's t distribution, for degrees of freedom that need not be whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tracekit.arrays import FloatArray

_FARTHEST = 1e12
_RELATIVE_ERROR = 1e-14


def t_quantile(probability: float, degrees: float) -> float:
    """The value below which Student's t lies with this probability, by Newton's method.

    `probability` lies between 0.5 and 1, `degrees` is above 0; an absurdly heavy tail gives infinity. Agrees with
    printed tables to their last digit. O(1).
    """
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi * degrees)
    value = 0.0
    # Right of 0 the distribution function is concave: each step comes nearer from the left and none goes too far.
    while value < _FARTHEST:
        density = scale * math.pow(1 + value * value / degrees, -(degrees + 1) / 2)
        step = (probability - t_distribution(value, degrees)) / density
        value += step
        if step <= value * _RELATIVE_ERROR:
            return value
    return math.inf


def half_width(errors: Sequence[float], degrees: Sequence[float], confidence: float) -> float:
    """Half the width of the interval of a difference, from the standard errors of its sides and their degrees of
    freedom. 0 where both are exact."""
    error, joint = joint_error(errors, degrees)
    return t_quantile(0.5 + confidence / 2, joint) * error if error else 0.0


def joint_error(errors: Sequence[float], degrees: Sequence[float]) -> tuple[float, float]:
    """Standard error of a difference, from those of its sides, and its degrees of freedom (Welch, Biometrika 34, 1947;
    Satterthwaite, Biometrics Bulletin 2, 1946)."""
    squares = [error**2 for error in errors]
    if not any(squares):
        return 0.0, sum(degrees)
    joint = sum(squares) ** 2 / sum(square**2 / degree for square, degree in zip(squares, degrees, strict=True))
    return math.sqrt(sum(squares)), joint


def welch(before: FloatArray, after: FloatArray, confidence: float) -> tuple[float, float]:
    """Difference of the means of two samples, after less before, and half the width of its interval.

    Where one side is a single value, its spread is taken to be the other's: the prediction interval
    t(k - 1) s sqrt(1 + 1/k). One of the sides must have two values.
    """
    samples = [values if len(values) > 1 else other for values, other in ((before, after), (after, before))]
    errors = [
        float(sample.std(ddof=1)) / math.sqrt(len(values))
        for values, sample in zip((before, after), samples, strict=True)
    ]
    difference = float(after.mean() - before.mean())
    if min(len(before), len(after)) == 1:
        return difference, t_quantile(0.5 + confidence / 2, len(samples[0]) - 1) * math.hypot(*errors)
    return difference, half_width(errors, [len(sample) - 1 for sample in samples], confidence)


def t_distribution(value: float, degrees: float) -> float:
    """The probability that Student's t is at most `value`, which is not negative; from one degree on to 5 digits."""
    # The density of the angle atan(t / sqrt(degrees)) is a power of its cosine, and gone after ten standard deviations.
    half = min(math.atan(value / math.sqrt(degrees)), 10 / math.sqrt(degrees)) / 2
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi)
    return 0.5 + scale * half * float(_WEIGHTS @ np.cos(half * (1 + _NODES)) ** (degrees - 1))


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
