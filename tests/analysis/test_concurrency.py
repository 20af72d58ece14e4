"""Predictions in flight over time, against counting nanosecond by nanosecond."""

import statistics

import pytest
from hypothesis import given, settings, strategies as st

from tracekit.analysis.concurrency import SLICES, depth_over_time, summarize_concurrency, summarize_in_flight

INTERVALS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=12)


@settings(deadline=None, max_examples=200)
@given(INTERVALS, st.integers(1, 3))
def test_counting_every_nanosecond_gives_the_same(events, intervals, limit):
    rows = sorted((start, start + length) for start, length in intervals)
    summary = summarize_concurrency(events(*rows), limit)
    depth = [sum(start <= time < end for start, end in rows) for time in range(50)]
    busy = sum(d >= 1 for d in depth)
    assert summary.max_depth == max(depth)
    assert summary.busy_ns == busy
    assert summary.share_above == pytest.approx(sum(d > limit for d in depth) / busy if busy else 0)
    assert abs(summary.excess_ns - sum(max(d - limit, 0) / d for d in depth if d)) < 0.501
    above = [2 * sum(d > limit for d in depth[start:end]) > end - start for start, end in rows]
    assert summary.is_above.tolist() == above
    alone = [end - start for start, end in rows if end > start and all(d == 1 for d in depth[start:end])]
    assert summary.alone_count == len(alone)
    assert summary.alone_median_ns == (statistics.median(alone) if alone else None)
    slow = [end - start for (start, end), chosen in zip(rows, above, strict=True) if chosen]
    assert summary.is_above.sum() == len(slow)
    assert summary.above_median_ns == (statistics.median(slow) if slow else None)


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
