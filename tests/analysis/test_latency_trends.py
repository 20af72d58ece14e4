"""Trends and shifts of latency, on sequences whose course is known."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tracekit.analysis.latency import change_points, trend

MS = 1_000_000


def test_growing_durations_have_correlation_one():
    rising = trend(np.arange(10, 40))
    assert rising.correlation == pytest.approx(1)
    # Thirds 10 to 19 and 30 to 39.
    assert rising.last_to_first_third == pytest.approx(34.5 / 14.5)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 9), min_size=3, max_size=12))
def test_the_correlation_is_that_of_the_ranks(durations):
    ranks = [sum(o < d for o in durations) + (sum(o == d for o in durations) + 1) / 2 for d in durations]
    correlation = trend(np.array(durations)).correlation
    if len(set(durations)) == 1:
        assert correlation is None
    else:
        assert correlation == pytest.approx(np.corrcoef(ranks, range(len(ranks)))[0, 1])


def test_too_few_predictions_have_no_trend():
    assert trend(np.array([3, 4])).correlation is None
    assert trend(np.array([3, 4])).last_to_first_third is None
    assert trend(np.array([0, 0, 5])).last_to_first_third is None


@pytest.mark.parametrize(("before", "after", "ratio"), [(40, 40, 1.5), (30, 100, 2.0), (200, 60, 0.6)])
def test_a_shift_is_found_where_it_happens(before, after, ratio):
    level = np.concatenate((np.full(before, 10 * MS), np.full(after, 10 * MS * ratio)))
    for seed in range(10):
        random = np.random.default_rng(seed)
        durations = (level * np.exp(random.normal(0, 0.05, before + after))).astype(np.int64)
        start, shift, end = change_points(durations)
        assert (start, end) == (0, before + after), seed
        # The last values before it may by chance lie nearer to the other level's.
        assert abs(shift - before) <= 5, seed
        assert np.median(durations[shift:]) / np.median(durations[:shift]) == pytest.approx(ratio, rel=0.05), seed


@pytest.mark.parametrize("count", [20, 100, 1000])
def test_noise_and_outliers_are_no_shift(count):
    for seed in range(20):
        random = np.random.default_rng(seed)
        durations = 10 * MS * np.exp(random.normal(0, 0.3, count)) * np.where(random.random(count) < 0.02, 20, 1)
        assert change_points(durations.astype(np.int64)) == [0, count], seed


@pytest.mark.parametrize(
    ("levels_ms", "counts", "options", "points"),
    [
        ([100, 110], [500, 500], {}, [0, 1_000]),  # Small shifts count for nothing however certain.
        ([100, 110], [500, 500], {"min_ratio": 1.05}, [0, 500, 1_000]),
        ([10, 25, 10], [100, 50, 80], {}, [0, 100, 150, 230]),
        ([1, 100], [5, 5], {}, [0, 10]),
        ([], [], {}, [0]),
    ],
)
def test_stretches_of_exact_levels(levels_ms, counts, options, points):
    assert change_points(np.repeat(np.array(levels_ms, np.int64) * MS, counts), **options) == points
