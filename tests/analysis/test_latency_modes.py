"""Modes of durations, on seeded random draws whose modes are known."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tracekit.analysis.latency import modes, summarize_latency_trend
from tracekit.analysis.statistics import CallTimes

MS = 1_000_000


def drawn(seed, *groups):
    """(count, median in ms, spread on the log scale) groups, shuffled; and the group of each value."""
    random = np.random.default_rng(seed)
    values = np.concatenate([np.exp(random.normal(np.log(at * MS), spread, n)) for n, at, spread in groups])
    owner = np.repeat(np.arange(len(groups)), [n for n, *_ in groups])
    order = random.permutation(len(values))
    return values[order].astype(np.int64), owner[order]


SEEDS = range(10)


@pytest.mark.parametrize(
    "groups",
    [
        [(40, 10, 0.05), (40, 20, 0.05)],
        [(180, 10, 0.1), (20, 30, 0.1)],
        [(60, 5, 0.08), (60, 10, 0.08), (60, 20, 0.08)],
        [(12, 10, 0.03), (12, 16, 0.03)],
    ],
    ids=["two", "few slow ones", "three", "close and narrow"],
)
def test_well_separated_modes_are_found_with_their_members(groups):
    for seed in SEEDS:
        values, owner = drawn(seed, *groups)
        assert modes(values)[0].tolist() == owner.tolist(), seed
    shown = summarize_latency_trend(CallTimes(np.arange(len(values)), values))
    assert [mode.count for mode in shown.modes] == [n for n, *_ in groups]
    assert sum(mode.share for mode in shown.modes) == pytest.approx(1)
    assert [mode.median_ns for mode in shown.modes] == [np.median(values[owner == k]) for k in range(len(groups))]


@pytest.mark.parametrize("spread", [0.02, 0.1, 0.3])
def test_one_bell_is_one_mode(spread):
    for seed, count in product(SEEDS, (12, 60, 500)):
        values, _ = drawn(seed, (count, 12, spread))
        assert modes(values)[0].tolist() == [0] * count, (seed, count)


def test_a_few_outliers_are_no_mode_and_modes_closer_than_the_ratio_are_one():
    for seed in SEEDS:
        values, _ = drawn(seed, (95, 10, 0.05), (5, 40, 0.05))
        assert not modes(values)[0].any(), seed
        values, _ = drawn(seed, (100, 10, 0.03), (100, 13, 0.03))
        assert not modes(values)[0].any(), seed
        assert len(modes(values, min_ratio=1.2)[1]) == 2, seed


def test_no_value_has_no_mode_and_equal_values_have_one():
    assert modes(np.zeros(0, np.int64))[1].tolist() == []
    assert modes(np.zeros(30, np.int64))[0].tolist() == [0] * 30
    assert modes(np.full(30, 7))[1].tolist() == [7]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 10**12), max_size=60))
def test_modes_partition_the_values_in_ascending_order(values):
    durations = np.array(values, dtype=np.int64)
    mode, medians = modes(durations)
    assert mode.shape == durations.shape
    edges = [(durations[mode == k].min(), durations[mode == k].max()) for k in range(len(medians))]
    assert all(before[1] <= after[0] for before, after in pairwise(edges))
