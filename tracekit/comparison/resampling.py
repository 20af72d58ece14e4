"""How far a number of a series may be off: a circular block bootstrap, for values that depend on their neighbors.

Latencies in one recording resemble their neighbors. Methods that take them for independent call four to fifteen times
as many recordings of one build different as they promise. Blocks of neighbors are drawn instead of single values.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np

from tracekit.analysis.latency import ranks
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
    wanted = max(
        math.ceil(count ** (1 / 3)),
        _politis_white(ranks(values)),
        _politis_white(np.sign(values - np.median(values))),
    )
    return int(np.clip(wanted, 1, count // 4))


def _politis_white(values: FloatArray) -> int:
    """The best block length of a circular block bootstrap of the mean.

    Politis and White, "Automatic block-length selection for the dependent bootstrap", Econometric Reviews 23 (2004),
    with the correction of Patton, Politis and White, Econometric Reviews 28 (2009).
    """
    count = len(values)
    centered = values - values.mean()
    variance = float(centered @ centered) / count
    if variance == 0:
        return 1
    # The first lag after which `quiet` autocorrelations in a row cannot be distinguished from 0 ends the dependence.
    quiet = max(5, math.ceil(math.sqrt(math.log10(count))))
    longest = min(math.ceil(math.sqrt(count)) + quiet, count - 1)
    limit = 2 * math.sqrt(math.log10(count) / count)
    # Lag by lag: of a long series most are never asked for.
    known = [float(centered @ centered) / count]

    def covariance(lag: int) -> float:
        while len(known) <= lag:
            known.append(float(centered[len(known) :] @ centered[: count - len(known)]) / count)
        return known[lag]

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


def median_error(values: FloatArray, block: int) -> float:
    """Standard error of the median of a series: the spread of its resampled medians. O(RESAMPLES * n)."""
    if len(values) > MAX_DRAWN:
        batches = np.array_split(values, min(BATCHES, len(values) // block))
        return float(np.std([np.median(batch) for batch in batches], ddof=1)) / math.sqrt(len(batches))
    return quantile_error(values, block, 0.5)


def quantile_error(values: FloatArray, block: int, quantile: float) -> float:
    """Standard error of a quantile of a series, which lies between two neighboring values; of a series beyond
    `MAX_DRAWN` from its last values alone. O(RESAMPLES * n)."""
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


def mean_errors(parts: FloatArray, block: int) -> FloatArray:
    """Standard errors of the means of several series drawn together, shape (n, parts): shape (parts,). O(n * parts)."""
    count = len(parts)
    blocks = math.ceil(count / block)
    generator = _generator(parts.sum(axis=1))
    errors = np.zeros(parts.shape[1])
    # Many parts do not occur, and their means are 0 in each draw.
    some = parts.any(axis=0)
    parts = parts[:, some]
    wrapped = np.concatenate([np.zeros((1, parts.shape[1])), np.cumsum(np.concatenate([parts, parts[:block]]), axis=0)])
    sums = wrapped[block : block + count] - wrapped[:count]
    starts = generator.integers(0, count, (RESAMPLES, blocks))
    # Part by part, and some draws at a time, so that the processor has at hand what it picks from and what it picked.
    of_parts, chunk = np.ascontiguousarray(sums.T), max(MAX_PICKED // blocks, 1)
    pieces = [starts[first : first + chunk] for first in range(0, RESAMPLES, chunk)]
    means = np.empty((RESAMPLES, len(of_parts)))
    for index, of_part in enumerate(of_parts):
        means[:, index] = np.concatenate([of_part[piece].sum(axis=1) for piece in pieces]) / (blocks * block)
    errors[some] = means.std(axis=0, ddof=1)
    return errors


def _generator(values: FloatArray) -> np.random.Generator:
    """Draws that depend on the order of the values alone: the same series gives the same digits, in any unit, on either
    side, and beside any other model."""
    digest = hashlib.sha256(ranks(values).astype("<f8").tobytes()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "little"))


def effective_size(values: FloatArray) -> float:
    """How many independent values a series is worth: n (1 - r) / (1 + r), r being its rank autocorrelation at lag 1.

    r is corrected for the bias of short series by (1 + 3 r) / n, and lies between 0 and 0.99. O(n log n).
    """
    count = len(values)
    if count < 3 or not np.ptp(values):
        return float(count)
    rank = ranks(values)
    centered = rank - rank.mean()
    correlation = float(centered[1:] @ centered[:-1]) / float(centered @ centered)
    correlation = min(max(correlation + (1 + 3 * correlation) / count, 0.0), 0.99)
    return count * (1 - correlation) / (1 + correlation)
