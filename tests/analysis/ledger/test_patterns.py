"""What calls have in common, of times that are made for it."""

from __future__ import annotations

import numpy as np
import pytest

from tracekit.analysis.ledger.patterns import (
    PAUSE_NS,
    amounts_of_work,
    first_level,
    first_of_each_amount,
    longer_by_state,
    usually_longer,
)
from tracekit.analysis.statistics import CallTimes
from tracekit.analysis.throughput import after_pause

MS = 1_000_000


def starts(*gaps_ms: int):
    """Calls of 5 ms after these gaps."""
    begin = np.cumsum([gap + 5 for gap in gaps_ms]) * MS
    return CallTimes(begin, np.full(len(begin), 5 * MS))


def test_a_pause_is_long_and_no_usual_gap():
    assert np.flatnonzero(after_pause(starts(*[28] * 20, 2_000, *[28] * 20), PAUSE_NS)).tolist() == [20]
    assert not after_pause(starts(*[28] * 20, 900, *[28] * 20), PAUSE_NS).any()
    assert not after_pause(starts(*[2_000] * 20), PAUSE_NS).any(), "each call follows such a gap"


def jittered(*levels: tuple[int, int]):
    """So many calls of about so many µs each."""
    draws = np.random.default_rng(4)
    return np.concatenate([us * 1_000 + draws.integers(-us * 50, us * 50, count) for count, us in levels])


@pytest.mark.parametrize(
    ("levels", "first"),
    [
        ([(40, 600), (400, 1_300)], 40),
        ([(400, 600)], None),
        ([(40, 1_300), (400, 600)], None),
        # It comes and goes.
        ([(40, 600), (100, 1_300), (100, 600), (100, 1_300)], None),
    ],
)
def test_a_lasting_slowdown_begins_once_and_stays(levels, first):
    times = jittered(*levels)
    found = first_level(times, np.ones(len(times), np.bool_))
    assert found == pytest.approx(len(times) if first is None else first, abs=2)


def test_calls_that_are_not_judged_begin_no_slowdown():
    times = jittered((40, 600), (400, 1_300))
    assert first_level(times, np.arange(len(times)) < 40) == len(times)


def test_amounts_of_work_are_told_apart_where_nearly_all_are_known():
    work = np.tile([8 * MS, 8 * MS, 20 * MS], 20)
    assert amounts_of_work(work).tolist() == [0, 0, 1] * 20
    assert not amounts_of_work(np.where(np.arange(60) % 2, work, 0)).any()
    assert not amounts_of_work(np.full(60, 8 * MS)).any()


def test_the_first_of_an_amount_comes_after_each_load_once():
    amount, first = np.array([0, 0, 1, 1, 0, 0, 1, 1]), np.zeros(8, np.bool_)
    assert np.flatnonzero(first_of_each_amount(amount, first)).tolist() == [2]
    first[4] = True
    assert np.flatnonzero(first_of_each_amount(amount, first)).tolist() == [2, 6]


def test_a_state_counts_by_its_median_against_the_base():
    own = np.array([10, 10, 10, 15, 15, 10, 10]) * MS
    state = np.array([0, 0, 0, 2, 2, 1, -1])
    assert longer_by_state(own, 10 * MS, state, 0).tolist() == [0, 0, 5 * MS, 0]
    assert not longer_by_state(own, 10 * MS, state, -1).any()


def test_two_calls_of_a_pattern_are_needed():
    own = np.array([10, 10, 30, 30]) * MS
    assert usually_longer(own, own > 10 * MS, 10 * MS)
    assert not usually_longer(own, np.arange(4) == 2, 10 * MS)
