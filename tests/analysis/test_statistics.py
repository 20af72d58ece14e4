"""Durations in numbers, checked by hand and against the standard library."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tracekit.analysis.statistics import covered_ns, duration_statistics, medians_by_group, medians_of_others


def of(durations, starts=None):
    values = np.array(durations, np.int64)
    begin = np.zeros(len(values), np.int64) if starts is None else np.array(starts, np.int64)
    return duration_statistics(begin, values)


def test_no_row_has_no_statistics_and_one_no_deviation():
    assert of([]) is None
    assert of([5]).stdev_ns is None


def test_a_worked_example():
    statistics_of = of([4, 1, 3, 2], starts=[0, 10, 10, 11])
    assert (statistics_of.count, statistics_of.total_ns, statistics_of.min_ns, statistics_of.max_ns) == (4, 10, 1, 4)
    assert statistics_of.mean_ns == 2.5
    assert statistics_of.p50_ns == 2.5
    # [0,4) and [10,13): rows at 10 and 11 overlap.
    assert statistics_of.elapsed_ns == 7
    assert statistics_of.stdev_ns == pytest.approx((5 / 3) ** 0.5)


@pytest.mark.parametrize(
    ("count", "present"),
    [(9, ()), (10, ("p90",)), (19, ("p90",)), (20, ("p90", "p95")), (99, ("p90", "p95")), (100, ("p90", "p95", "p99"))],
)
def test_a_quantile_needs_enough_values(count, present):
    statistics_of = of(range(count))
    assert tuple(name for name in ("p90", "p95", "p99") if getattr(statistics_of, f"{name}_ns") is not None) == present


def test_quantiles_interpolate_between_neighbors():
    # Ranks run from 0 to 100, so the quantile q of 0, 10, ..., 1000 is 1000 q.
    statistics_of = of([10 * k for k in range(101)])
    assert (statistics_of.p50_ns, statistics_of.p90_ns, statistics_of.p95_ns, statistics_of.p99_ns) == (
        500,
        900,
        950,
        990,
    )


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 10**12), min_size=2, max_size=40))
def test_mean_median_and_deviation_equal_the_standard_library(values):
    statistics_of = of(values)
    assert statistics_of.mean_ns == pytest.approx(statistics.fmean(values))
    assert statistics_of.p50_ns == pytest.approx(statistics.median(values))
    assert statistics_of.stdev_ns == pytest.approx(statistics.stdev(values), abs=1e-3)


def test_absurd_durations_do_not_wrap_to_a_negative_total():
    statistics_of = of([2**61] * 5)
    assert statistics_of.total_ns == 5 * 2**61
    assert statistics_of.mean_ns == 2**61


@settings(deadline=None)
@given(st.lists(st.integers(0, 100), max_size=12))
def test_the_median_of_the_others_leaves_each_value_out(values):
    medians = medians_of_others(np.array(values, np.int64), np.arange(len(values))).tolist()
    for index, value in enumerate(medians):
        others = values[:index] + values[index + 1 :]
        assert value == statistics.median(others) if others else math.isnan(value)


def test_covered_time_counts_each_instant_once(events):
    assert covered_ns(events((0, 10), (5, 20)), events((15, 30), (40, 41))) == 31
    assert covered_ns(events()) == 0


def test_each_group_has_its_median_and_one_without_values_has_none():
    medians = medians_by_group(np.array([3, 10, 1, 2, 7]), np.array([0, 2, 0, 2, 0]), 4)
    np.testing.assert_array_equal(medians, [3.0, np.nan, 6.0, np.nan])


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 10**15), min_size=1, max_size=7), max_size=5))
def test_medians_by_group_are_those_of_the_chosen_values_of_each_group(sequences):
    durations = np.array([value for values in sequences for value in (*values, 10**16)], np.int64)
    sequence = np.repeat(np.arange(len(sequences)), [len(values) + 1 for values in sequences])
    chosen = durations < 10**16
    medians = medians_by_group(durations[chosen], sequence[chosen], len(sequences))
    assert medians.tolist() == [float(np.median(values)) for values in sequences]


@pytest.mark.parametrize("groups", [1, 2, 5])
def test_medians_of_large_groups_are_those_of_the_standard_library(groups):
    draws = np.random.default_rng(groups)
    values, group = draws.integers(0, 10**12, 4_001), draws.integers(0, groups, 4_001)
    expected = [statistics.median(values[group == number].tolist()) for number in range(groups)]
    assert medians_by_group(values, group, groups + 1)[:-1].tolist() == expected
