"""Predictions in flight over time, against counting nanosecond by nanosecond."""

import pytest
from hypothesis import given, settings, strategies as st

from tracekit.analysis.concurrency import SLICES, depth_over_time, summarize_in_flight
from tracekit.intervals import Intervals

INTERVALS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=12)


@settings(deadline=None, max_examples=200)
@given(INTERVALS, st.integers(1, 3))
def test_the_time_above_a_depth_is_counted_instant_by_instant(events, intervals, limit):
    rows = sorted((start, start + length) for start, length in intervals)
    predictions = events(*rows)
    depth = [sum(start <= time < end for start, end in rows) for time in range(50)]
    above = depth_over_time(predictions).above_ns(limit, Intervals.from_rows(predictions))
    assert above.tolist() == [sum(d > limit for d in depth[start:end]) for start, end in rows]


@settings(deadline=None, max_examples=200)
@given(INTERVALS)
def test_the_time_at_each_depth_is_counted_instant_by_instant(events, intervals):
    rows = sorted((start, start + length) for start, length in intervals)
    depths = depth_over_time(events(*rows))
    ran = [(start, end) for start, end in rows if end > start]
    span = range(min((start for start, _ in ran), default=0), max((end for _, end in ran), default=0))
    depth = [sum(start <= time < end for start, end in ran) for time in span]
    assert depths.at_depth_ns.tolist() == [depth.count(level) for level in range(max(depth, default=0) + 1)]
    assert depths.mean == (pytest.approx(sum(depth) / sum(d > 0 for d in depth)) if depth else None)
    assert depths.times_ns.shape == depths.depth.shape


def test_the_course_of_the_depth_is_its_mean_in_equal_slices(events):
    # 200 ns in slices of 10: one in flight for the first 100 ns, then none, then two, then three for the last 15.
    summary = summarize_in_flight(events((0, 100), (150, 200), (150, 200), (185, 200)))
    assert summary is not None
    assert (summary.start_ns, summary.slice_ns, len(summary.slices)) == (0, 10, SLICES)
    assert summary.slices == (*[1.0] * 10, *[0.0] * 5, *[2.0] * 3, 2.5, 3.0)
    assert (summary.max, summary.at_depth_ns) == (3, (50, 100, 35, 15))
    assert summary.mean == pytest.approx((100 + 70 + 45) / 150)


def test_without_time_in_flight_there_is_no_course(events):
    assert summarize_in_flight(events()) is None
    assert summarize_in_flight(events((5, 5), (9, 9))) is None
    assert summarize_in_flight(events((5, 5 + SLICES - 1))) is None
    assert summarize_in_flight(events((5, 5 + SLICES))).slices == (1.0,) * SLICES


@settings(deadline=None, max_examples=200)
@given(INTERVALS)
def test_the_slices_hold_all_time_in_flight(events, intervals):
    rows = sorted((1_000 * start, 1_000 * (start + length)) for start, length in intervals)
    summary = summarize_in_flight(events(*rows))
    total = sum(end - start for start, end in rows)
    # Slices begin and end at whole ns.
    assert (sum(summary.slices) * summary.slice_ns if summary else 0) == pytest.approx(total, rel=0.01)
