"""Rows of overlapping intervals against the definition."""

import numpy as np
from hypothesis import given, settings, strategies as st

from tracekit.lanes.events import stack

INTERVALS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)), max_size=25)


def stacked(intervals):
    ordered = sorted(intervals, key=lambda entry: (entry[0], -entry[1]))
    starts = np.array([start for start, _ in ordered], np.int64)
    ends = starts + np.array([length for _, length in ordered], np.int64)
    return starts.tolist(), ends.tolist(), stack(starts, ends).tolist()


@settings(deadline=None)
@given(INTERVALS)
def test_every_interval_takes_the_lowest_row_that_is_free_when_it_starts(intervals):
    starts, ends, rows = stacked(intervals)
    for at, (start, row) in enumerate(zip(starts, rows, strict=True)):
        taken = {rows[other] for other in range(at) if ends[other] > start}
        assert row == min(set(range(len(starts) + 1)) - taken)


@settings(deadline=None)
@given(INTERVALS)
def test_there_are_as_many_rows_as_intervals_at_once(intervals):
    starts, ends, rows = stacked(intervals)
    most = max((sum(s <= t < e for s, e in zip(starts, ends, strict=True)) for t in starts), default=0)
    assert max(rows, default=-1) + 1 == most


def test_nested_intervals_stand_below_those_that_contain_them_and_a_row_that_is_free_is_used_again():
    assert stacked([(0, 100), (10, 50), (20, 10), (40, 5), (70, 10)])[2] == [0, 1, 2, 2, 1]
    # The fourth begins when the second is over, though two others are still on.
    assert stacked([(0, 10), (1, 2), (2, 10), (5, 2), (20, 5), (21, 1)])[2] == [0, 1, 2, 1, 0, 1]
    assert stack(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []
