"""How far a prediction reaches beyond what is seen of it, by when units work."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tracekit.intervals import Intervals
from tracekit.trace.calls.hardware import Reach

MS = 1_000_000


def reach(*times: tuple[int, int], slack: int = 3) -> Reach:
    """Of work from when until when, in ms."""
    edges = np.array(times, np.int64).reshape(-1, 2) * MS
    return Reach.of(Intervals(edges[:, 0], edges[:, 1]), slack * MS)


@pytest.mark.parametrize(
    ("time", "earliest", "latest"),
    [
        # Alone: the thread would be sampled again within the slack.
        (5, 2, 8),
        # Units work for somebody from 20 to 30, and again from 32 to 40: a call may wait all that time.
        (18, 15, 43),
        (25, 17, 43),
        (31, 17, 43),
        (42, 17, 45),
        # Too long behind it.
        (44, 41, 47),
    ],
)
def test_a_prediction_waits_while_units_work(time, earliest, latest):
    working = reach((20, 30), (32, 40))
    assert working.earliest_start(time * MS) == earliest * MS
    assert working.latest_end(time * MS) == latest * MS


def test_without_work_it_reaches_no_farther_than_samples_lie_apart():
    assert (reach().earliest_start(9 * MS), reach().latest_end(9 * MS)) == (6 * MS, 12 * MS)


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 30)), max_size=12), st.integers(0, 240))
def test_it_reaches_as_far_as_steps_of_the_slack_over_work(rows, time):
    times = [(start, start + length) for start, length in rows]
    working = reach(*times)
    latest, earliest = time, time
    for _ in times:
        latest = max([latest, *(end for start, end in times if start <= latest + 3 and end >= time)])
        earliest = min([earliest, *(start for start, end in times if end >= earliest - 3 and start <= time)])
    assert working.latest_end(time * MS) == (latest + 3) * MS
    assert working.earliest_start(time * MS) == (earliest - 3) * MS
