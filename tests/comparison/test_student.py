"""Student's t against printed tables."""

from __future__ import annotations

import math

import pytest

from tracekit.comparison.student import t_distribution, t_quantile


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


def test_degrees_of_freedom_need_not_be_whole():
    assert t_quantile(0.975, 2) > t_quantile(0.975, 2.5) > t_quantile(0.975, 3)


def test_the_quantile_is_the_inverse_of_the_distribution():
    for degrees in (1, 2.5, 7, 400):
        assert t_distribution(t_quantile(0.9, degrees), degrees) == pytest.approx(0.9, abs=1e-9)


def test_one_degree_of_freedom_is_the_cauchy_distribution():
    assert t_distribution(3.0, 1) == pytest.approx(0.5 + math.atan(3.0) / math.pi, abs=1e-12)


def test_an_endless_tail_is_infinite():
    assert t_quantile(0.975, 0.01) == math.inf
