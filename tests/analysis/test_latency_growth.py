"""Growth inside sequences: what counts, what does not, and where a sequence ends."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from tracekit.analysis.latency import rank_correlations
from tracekit.analysis.latency_growth import growth


def of(*sequences):
    durations = np.concatenate([np.asarray(part, np.int64) for part in sequences])
    burst = np.repeat(np.arange(len(sequences)), [len(part) for part in sequences])
    return growth(durations, burst)


RISING = range(1000, 2000, 25)


def test_sequences_that_rise_and_start_afresh():
    sequences = of(RISING, RISING)
    assert sequences.first.tolist() == [0, 40]
    assert sequences.count.tolist() == [40, 40]
    assert sequences.correlation.tolist() == pytest.approx([1, 1])
    # First tenth 1000 to 1075, last tenth 1900 to 1975.
    assert sequences.ratio.tolist() == pytest.approx([1937.5 / 1037.5] * 2)
    assert sequences.start_ns.tolist() == [1037.5, 1037.5]
    assert sequences.usual
    assert sequences.starts_afresh


def test_a_level_that_goes_on_rising_does_not_start_afresh():
    sequences = of(RISING, range(2000, 4000, 50))
    assert sequences.grows.tolist() == [True, True]
    assert not sequences.starts_afresh


@pytest.mark.parametrize(
    "durations",
    [
        pytest.param([1000] * 40, id="constant"),
        pytest.param([1000, 1001] * 10 + [2000, 2001] * 10, id="one jump"),
        pytest.param([1000, 1001] * 10 + [1500, 1501] * 10 + [2200, 2201] * 10, id="two jumps"),
        pytest.param(list(reversed(RISING)), id="falling"),
        pytest.param(list(range(1000, 1400, 10)), id="less than half as long again"),
        pytest.param(list(RISING)[:19], id="too short"),
    ],
)
def test_what_is_no_growth(durations):
    assert not of(durations).usual


def test_half_of_the_sequences_must_grow():
    flat = [1000, 1001] * 20
    assert of(RISING, flat).usual
    assert not of(RISING, flat, flat).usual


def test_a_fall_of_the_latency_ends_a_sequence_without_any_pause_and_one_short_call_ends_none():
    sequences = of([*RISING, *RISING])
    assert sequences.first.tolist() == [0, 40]
    assert sequences.starts_afresh
    durations = [*RISING]
    durations[30] = 500
    assert of(durations).first.tolist() == [0]
    sequences = growth(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert (len(sequences.count), sequences.usual, sequences.starts_afresh) == (0, False, False)


def test_shorter_sequences_are_judged_where_that_is_asked():
    durations, burst = np.arange(1_000, 2_200, 100), np.zeros(12, np.int64)
    assert not growth(durations, burst).usual
    assert growth(durations, burst, min_calls=6).usual


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), max_size=60))
def test_rank_correlations_are_those_of_each_group_by_itself(pairs):
    group = np.sort(np.array([pair[0] for pair in pairs], np.int64))
    values = np.array([pair[1] for pair in pairs], np.int64)
    correlations = rank_correlations(values, group, 4)
    for number in range(4):
        ranked = pd.Series(values[group == number])
        expected = 0.0
        if len(ranked) >= 3 and np.ptp(ranked.to_numpy()):
            expected = float(np.corrcoef(ranked.rank(), np.arange(len(ranked)))[0, 1])
        assert correlations[number] == pytest.approx(expected, abs=1e-9)
