"""Errors of estimates against what theory says of them, and Student's t against printed tables."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from support.simulated_latencies import Case, latencies
from tracekit.comparison.sampling import (
    MAX_DRAWN,
    block_length,
    effective_size,
    mean_errors,
    quantile_error,
    t_distribution,
    t_quantile,
)


def normal(count, seed=0):
    return np.random.default_rng(seed).normal(size=count)


def dependent(count, phi, seed=0):
    shocks = normal(count + 100, seed) * math.sqrt(1 - phi**2)
    values = np.zeros(count + 100)
    for index in range(1, len(values)):
        values[index] = phi * values[index - 1] + shocks[index]
    return values[100:]


def test_the_error_of_a_median_of_independent_values_is_that_of_the_normal_distribution():
    # The standard error of the median of n normal values is about sqrt(pi / 2 / n).
    errors = [quantile_error(values, block_length(values), 0.5) for values in (normal(400, seed) for seed in range(20))]
    assert np.mean(errors) == pytest.approx(math.sqrt(math.pi / 2 / 400), rel=0.15)


def test_values_that_depend_on_their_neighbors_have_a_larger_error():
    values = dependent(500, 0.8)
    assert quantile_error(values, block_length(values), 0.5) > 1.5 * quantile_error(values, 1, 0.5)


def test_a_long_series_has_the_error_of_its_batches():
    values = normal(MAX_DRAWN * 4)
    assert quantile_error(values, 20, 0.5) == pytest.approx(math.sqrt(math.pi / 2 / len(values)), rel=0.3)


def test_the_error_of_an_outer_quantile_is_larger_than_that_of_the_median():
    values = normal(500)
    assert quantile_error(values, 8, 0.95) > 1.3 * quantile_error(values, 8, 0.5)


def test_errors_of_means_are_those_of_independent_values():
    parts = np.column_stack([normal(500), 3 * normal(500, 1), np.full(500, 7.0)])
    errors = mean_errors(parts, 8)
    assert errors[0] == pytest.approx(1 / math.sqrt(500), rel=0.3)
    assert errors[1] == pytest.approx(3 / math.sqrt(500), rel=0.3)
    assert errors[2] == pytest.approx(0, abs=1e-9)


def test_blocks_grow_with_dependence():
    lengths = [np.mean([block_length(dependent(500, phi, seed)) for seed in range(10)]) for phi in (0.0, 0.8, 0.95)]
    assert math.ceil(500 ** (1 / 3)) <= lengths[0] < lengths[1] < lengths[2]


def test_the_effective_size_is_that_of_the_autocorrelation():
    # An autoregressive series of lag 1 is worth n (1 - phi) / (1 + phi) values.
    sizes = [effective_size(dependent(2000, 0.5, seed)) for seed in range(5)]
    assert np.mean(sizes) == pytest.approx(2000 / 3, rel=0.15)
    assert effective_size(normal(2000)) == pytest.approx(2000, rel=0.15)


def test_equal_values_are_exact():
    values = np.full(50, 3.0)
    assert quantile_error(values, block_length(values), 0.5) == 0
    assert effective_size(values) == 50


@given(st.lists(st.integers(1, 10**9), min_size=4, max_size=60), st.floats(0.01, 100))
def test_the_unit_of_the_values_changes_nothing(values, factor):
    one = np.array(values, dtype=np.float64)
    block = block_length(one)
    assert 1 <= block <= max(len(values) // 4, 1)
    error = quantile_error(one, block, 0.5)
    assert 0 <= error <= np.ptp(one)
    assert quantile_error(one * 2, block, 0.5) == pytest.approx(2 * error)
    assert 0 < effective_size(one) <= len(values)


ARCH = [
    [2.06, 1.41], [1.28, 1.39], [2.19, 3.28], [3.73, 4.72], [10.47, 10.47],
    [1.52, 0.44], [4.87, 5.08], [4.91, 5.10], [8.03, 8.98], [11.63, 13.71],
    [2.11, 2.67], [2.56, 5.47], [6.20, 7.35], [11.41, 13.60], [23.70, 24.00],
    [1.75, 2.14], [4.75, 5.93], [15.62, 15.90], [17.14, 18.70], [27.69, 31.91],
]  # fmt: skip
"""`arch.bootstrap.optimal_block_length(...)["circular"]` of arch 8.0.0, of signs about the median and of ranks of
the series below."""


@pytest.mark.parametrize("seed", range(20))
def test_blocks_and_errors_are_those_of_arch(seed):
    count = (50, 100, 200, 500)[seed // 5]
    case = Case("", phi=(0, 0.3, 0.6, 0.8, 0.95)[seed % 5])
    series = np.log(latencies(case, count, np.random.default_rng(seed)))
    expected = min(max(math.ceil(count ** (1 / 3)), math.ceil(max(ARCH[seed]))), count // 4)
    assert abs(block_length(series) - expected) <= 1
    assert quantile_error(series, block_length(series), 0.5) == pytest.approx(
        quantile_error(series, expected, 0.5), rel=0.05
    )


@pytest.mark.parametrize(
    ("probability", "degrees", "printed"),
    [
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.975, 5, 2.571),
        (0.95, 10, 1.812),
        (0.995, 10, 3.169),
        (0.975, 30, 2.042),
        (0.975, 120, 1.980),
        (0.975, 1e7, 1.960),
    ],
)
def test_quantiles_are_those_of_the_tables(probability, degrees, printed):
    assert t_quantile(probability, degrees) == pytest.approx(printed, abs=6e-4)


def test_quantiles_lie_between_those_of_the_tables_and_belong_to_the_distribution():
    assert t_quantile(0.975, 2) > t_quantile(0.975, 2.5) > t_quantile(0.975, 3)
    for degrees in (1, 2.5, 7, 400):
        assert t_distribution(t_quantile(0.9, degrees), degrees) == pytest.approx(0.9, abs=1e-9)
    # One degree of freedom is the Cauchy distribution.
    assert t_distribution(3.0, 1) == pytest.approx(0.5 + math.atan(3.0) / math.pi, abs=1e-12)
    assert t_quantile(0.975, 0.01) == math.inf
