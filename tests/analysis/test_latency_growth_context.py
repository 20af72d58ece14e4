"""Time of tokens by their contexts: lines, bends, and what looks like one."""

from __future__ import annotations

import numpy as np
import pytest

from support.choice import sweep_rest
from tracekit.analysis.latency_growth import context_growth

CONTEXT = np.arange(100.0, 260.0)
PLACE = (CONTEXT - 100) / 159
MS = 1e6


def noisy(time_ns: np.ndarray, seed: int) -> np.ndarray:
    """Times that vary by 5%, of which one in fifty is up to four times as long."""
    random = np.random.default_rng(seed)
    late = np.where(random.random(len(time_ns)) < 0.02, random.uniform(1.5, 4), 1)
    return time_ns * (1 + 0.05 * random.standard_normal(len(time_ns))) * late


def test_the_line_is_that_of_the_lower_half():
    growth = context_growth(CONTEXT, 10 * MS + 20_000 * (CONTEXT - 100))
    assert growth is not None
    assert growth.slope_ns == pytest.approx(20_000)
    assert growth.line(np.array([200.0]))[0] == pytest.approx(12 * MS)
    assert growth.excess == pytest.approx(0, abs=1e-9)


@pytest.mark.sweep
def test_intervals_hold_the_true_slope_19_times_of_20():
    held = 0
    for seed in range(200):
        growth = context_growth(CONTEXT, noisy(10 * MS * (1 + PLACE), seed))
        assert growth is not None
        held += abs(growth.slope_ns - 10 * MS / 159) <= growth.slope_error_ns
    # 95% of 200 are 190, give or take 6 (two standard deviations).
    assert 184 <= held <= 198


@pytest.mark.parametrize("at", sweep_rest(0.5, 0.3, 0.7, 0.9))
def test_noise_and_jumps_do_not_bend(at):
    shapes = (1 + 0 * PLACE, 1 + 3 * PLACE, 1 + (at < PLACE))
    for shape in shapes:
        growths = [context_growth(CONTEXT, noisy(10 * MS * shape, seed)) for seed in range(25)]
        assert not any(each and each.curved and each.excess > each.excess_error for each in growths)


def test_a_bend_is_seen_through_noise():
    growths = [context_growth(CONTEXT, noisy(10 * MS * (1 + 2 * PLACE**2), seed)) for seed in range(25)]
    assert all(each and each.curved and each.excess > each.excess_error for each in growths)


def test_gaps_in_the_contexts_give_no_answer():
    few = (PLACE < 0.1) | (PLACE > 0.9)
    assert context_growth(CONTEXT[few], np.full(int(few.sum()), 10 * MS)) is None
    assert context_growth(np.zeros(0), np.zeros(0)) is None
    assert context_growth(np.full(9, 50.0), np.full(9, 10 * MS)) is None
