"""How far a number of a series may be off: a circular block bootstrap, for values that depend on their neighbors, and
Student's t for several series.

Latencies in one recording resemble their neighbors. Methods that take them for independent call four to fifteen times
as many recordings of one build different as they promise. Blocks of neighbors are drawn instead of single values.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np

from tracekit.analysis.latency import ranks
from tracekit.analysis.quantities import median_of, sample_quantiles
from tracekit.arrays import FloatArray, IntArray

RESAMPLES = 2_000
"""Draws for a standard error, which they settle to 1.6% of itself."""

MAX_DRAWN = 5_000
"""Values from which a median is no longer resampled, which takes seconds: medians of consecutive batches replace it."""

BATCHES = 100
"""Batches of such a series. Their spread is then settled to 7% of itself."""

MAX_PICKED = 100_000
"""Sums of blocks that are held at once: what a processor has at hand."""


def logs_of(values: IntArray) -> FloatArray:
    """Logarithms of latencies in ns: shape (n,)."""
    return np.log(np.maximum(values, 1).astype(np.float64))


def block_length(values: FloatArray) -> int:
    """Length of the blocks to draw from a series, from 1 to a quarter of it. O(n log n).

    At least the cube root of the count; more where the series depends on itself for longer. How long, is judged of the
    ranks and of the signs about the median, which bear outliers.
    """
    count = len(values)
    if count < 4:
        return 1
    dependence = max(map(_politis_white, (ranks(values), np.sign(values - median_of(values)))))
    return int(np.clip(max(math.ceil(count ** (1 / 3)), dependence), 1, count // 4))


def _politis_white(values: FloatArray) -> int:
    """The best block length of a circular block bootstrap of the mean.

    Politis and White, "Automatic block-length selection for the dependent bootstrap", Econometric Reviews 23 (2004),
    with the correction of Patton, Politis and White, Econometric Reviews 28 (2009).
    """
    count = len(values)
    centered = values - values.mean()
    variance = float(np.einsum("i,i", centered, centered)) / count
    if variance == 0:
        return 1
    # The first lag after which `quiet` autocorrelations in a row cannot be distinguished from 0 ends the dependence.
    quiet = max(5, math.ceil(math.sqrt(math.log10(count))))
    longest = min(math.ceil(math.sqrt(count)) + quiet, count - 1)
    limit = 2 * math.sqrt(math.log10(count) / count)
    # Lag by lag: of a long series most are never asked for.
    by_lag = [variance]

    def covariance(lag: int) -> float:
        while len(by_lag) <= lag:
            # On one thread: those that `@` starts take a hundred times as much processor time as they save.
            by_lag.append(float(np.einsum("i,i", centered[len(by_lag) :], centered[: count - len(by_lag)])) / count)
        return by_lag[lag]

    last, after = longest, 1
    for lag in range(1, longest + 1):
        if abs(covariance(lag)) / variance >= limit:
            after = lag + 1
        elif lag - after + 1 == quiet or lag == longest:
            last = max(after - 1, 1)
            break
    reach = min(2 * last, longest)
    covariances = np.array([covariance(lag) for lag in range(reach + 1)])
    lags = np.arange(1, reach + 1)
    # The flat-top window: 1 up to half its reach, then down to 0.
    window = np.minimum(1, 2 * (1 - lags / reach))
    spectrum = covariances[0] + 2 * float(window @ covariances[1 : reach + 1])
    slope = 2 * float((window * lags) @ covariances[1 : reach + 1])
    if spectrum <= 0:
        return 1
    best = (1.5 * slope**2 / spectrum**2 * count) ** (1 / 3)
    return math.ceil(min(float(best), 3 * math.sqrt(count), count / 3))


def quantile_error(values: FloatArray, block: int, quantile: float) -> float:
    """Standard error of a quantile of a series, which lies between two neighboring values: the spread of those of its
    resamples. Of a series beyond `MAX_DRAWN`, of batches for a median, else of its last values. O(RESAMPLES * n)."""
    if quantile == 0.5 and len(values) > MAX_DRAWN:
        batches = np.array_split(values, min(BATCHES, len(values) // block))
        return float(np.std([np.median(batch) for batch in batches], ddof=1)) / math.sqrt(len(batches))
    values = values[-MAX_DRAWN:]
    count = len(values)
    ascending = np.sort(values)
    # Positions in ascending order stand for the values: they are small numbers, which are faster to partition.
    position = np.empty(count, np.int16)
    position[np.argsort(values, kind="stable")] = np.arange(count, dtype=np.int16)
    windows = np.lib.stride_tricks.sliding_window_view(np.concatenate([position, position[: block - 1]]), block)
    starts = _generator(values).integers(0, count, (RESAMPLES, math.ceil(count / block)))
    rank = quantile * (count - 1)
    low, high = math.floor(rank), math.ceil(rank)
    # To partition about two places takes ten times as long as about one.
    drawn = np.partition(windows[starts].reshape(RESAMPLES, -1)[:, :count], high, axis=1)
    lower = drawn[:, :high].max(axis=1) if low < high else drawn[:, high]
    below, above = ascending[lower], ascending[drawn[:, high]]
    return float(np.std(below + (above - below) * (rank - low), ddof=1))


def estimate_of(logs: FloatArray, quantile: float = 0.5) -> tuple[float, float, float]:
    """A quantile of the logarithms of latencies of one recording in order of time, shape (n,); its standard error, as
    neighbors depend on each other, and the degrees of freedom of that."""
    block = block_length(logs)
    (center,) = sample_quantiles(logs, quantile)
    return center, quantile_error(logs, block, quantile), max(len(logs) / block - 1, 1.0)


def quantile_interval(values: IntArray, quantile: float = 0.5) -> tuple[float, float]:
    """95% interval of a quantile of latencies in ns of one recording, at least 4 in order of time. It says nothing of
    how much recordings differ."""
    center, error, degrees = estimate_of(logs_of(values), quantile)
    width = half_width((error,), (degrees,))
    return math.exp(center - width), math.exp(center + width)


def mean_errors(parts: FloatArray, block: int) -> FloatArray:
    """Standard errors of the means of several series drawn together, shape (n, parts): shape (parts,). O(n * parts)."""
    count = len(parts)
    blocks = math.ceil(count / block)
    generator = _generator(parts.sum(axis=1))
    errors, divisor = np.zeros(parts.shape[1]), blocks * block
    # Many parts do not occur, and their means are 0 in each draw.
    some = np.flatnonzero(parts.any(axis=0))
    wrapped = np.zeros((1 + count + block, len(some)))
    np.cumsum(np.concatenate([parts[:, some], parts[:block, some]]), axis=0, out=wrapped[1:])
    sums = wrapped[block : block + count] - wrapped[:count]
    # Some draws at a time, so that the processor has at hand what it picked.
    means, chunk = np.empty((RESAMPLES, len(some))), max(MAX_PICKED // (blocks * max(len(some), 1)), 1)
    for first in range(0, RESAMPLES, chunk):
        # To add up rows takes a tenth of the time of adding up within rows.
        drawn = np.ascontiguousarray(generator.integers(0, count, (min(chunk, RESAMPLES - first), blocks)).T)
        means[first : first + chunk] = sums.take(drawn, axis=0).sum(axis=0) / divisor
    errors[some] = np.ascontiguousarray(means.T).std(axis=1, ddof=1)
    return errors


def _generator(values: FloatArray) -> np.random.Generator:
    """Draws that depend on the order of the values alone: the same series gives the same digits, in any unit, on either
    side, and beside any other model."""
    digest = hashlib.sha256(ranks(values).astype("<f8").tobytes()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "little"))


def effective_size(values: FloatArray) -> float:
    """How many independent values a series is worth: n (1 - r) / (1 + r), r being its rank autocorrelation at lag 1.

    r is corrected for the bias of short series by (1 + 3 r) / n, and lies between 0 and 0.99. At least 1. O(n log n).
    """
    count = len(values)
    if count < 3 or not np.ptp(values):
        return float(count)
    rank = ranks(values)
    centered = rank - rank.mean()
    correlation = float(centered[1:] @ centered[:-1]) / float(centered @ centered)
    correlation = min(max(correlation + (1 + 3 * correlation) / count, 0.0), 0.99)
    return max(count * (1 - correlation) / (1 + correlation), 1.0)


_FARTHEST = 1e12
_RELATIVE_ERROR = 1e-14


@lru_cache
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


def half_width(errors: Sequence[float], degrees: Sequence[float]) -> float:
    """Half the width of the 95% interval of a difference, from the standard errors of its sides and their degrees of
    freedom. 0 where both are exact."""
    error, joint = joint_error(errors, degrees)
    return t_quantile(0.975, joint) * error if error else 0.0


def joint_error(errors: Sequence[float], degrees: Sequence[float]) -> tuple[float, float]:
    """Standard error of a difference, from those of its sides, and its degrees of freedom (Welch, Biometrika 34, 1947;
    Satterthwaite, Biometrics Bulletin 2, 1946)."""
    squares = [error**2 for error in errors]
    if not any(squares):
        return 0.0, sum(degrees)
    joint = sum(squares) ** 2 / sum(square**2 / degree for square, degree in zip(squares, degrees, strict=True))
    return math.sqrt(sum(squares)), joint


LEAST_T = 2.776
"""Standard errors of half an interval of several recordings, at least: those of three and three. Medians that jump
between two levels are not normal; taken for normal, 6% of five and five such recordings of one build would differ."""


def multiple(degrees: float) -> float:
    """Standard errors of half the width of an interval of several recordings."""
    return max(t_quantile(0.975, max(degrees, 1)), LEAST_T)


def student(before: FloatArray, after: FloatArray) -> tuple[float, float]:
    """Difference of the means of two samples, after less before, and half the width of its 95% interval by the spread
    that both share (Student's t). Where one side is a single value, that is a prediction interval. One of the sides
    must have two values."""
    degrees = len(before) + len(after) - 2
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in (before, after))
    error = math.sqrt(squares / degrees * (1 / len(before) + 1 / len(after)))
    return float(after.mean() - before.mean()), multiple(degrees) * error


def t_distribution(value: float, degrees: float) -> float:
    """The probability that Student's t is at most `value`, which is not negative; from one degree on to 5 digits."""
    # The density of the angle atan(t / sqrt(degrees)) is a power of its cosine, and gone after ten standard deviations.
    half = min(math.atan(value / math.sqrt(degrees)), 10 / math.sqrt(degrees)) / 2
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi)
    nodes, weights = _quadrature()
    return 0.5 + scale * half * float(weights @ np.cos(half * (1 + nodes)) ** (degrees - 1))


@cache
def _quadrature() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of Gauss and Legendre. Working them out takes 3 ms, which most commands need not wait for."""
    return np.polynomial.legendre.leggauss(64)
