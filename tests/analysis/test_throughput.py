"""Bursts, gaps and paces of predictions, worked out by hand and against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracekit.analysis.throughput import bursts, gaps, summarize_throughput
from tracekit.intervals import Intervals

MS = 1_000_000


def test_a_gap_longer_than_five_usual_distances_ends_a_burst(frame):
    # Distances 10, 10, 50, 51, 10, 10; the median is 10.
    starts = [0, 10, 20, 70, 121, 131, 141]
    in_bursts = bursts(frame(*[(start, start + 4) for start in starts]))
    assert in_bursts.burst.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert in_bursts.first.tolist() == [0, 4]
    assert in_bursts.count.tolist() == [4, 3]
    assert (in_bursts.start_ns.tolist(), in_bursts.end_ns.tolist()) == ([0, 121], [74, 145])
    assert in_bursts.busy_ns.tolist() == [16, 12]
    assert in_bursts.gap_ns.tolist() == [58, 12]


def test_calls_handed_over_at_one_instant_do_not_make_every_gap_long(frame):
    in_bursts = bursts(frame(*[(start, start + 5) for start in (0, 0, 0, 0, 10, 10, 10, 10, 20, 20)]))
    assert in_bursts.count.tolist() == [10]


def test_no_prediction_is_no_burst_and_one_is_one(frame):
    assert bursts(frame()).count.tolist() == []
    assert bursts(frame((5, 9))).count.tolist() == [1]
    throughput = summarize_throughput(frame((5, 9)), bursts(frame((5, 9))))
    assert (throughput.interval_ns, throughput.per_second, throughput.predictions, throughput.span_ns) == (
        None,
        None,
        0,
        0,
    )
    assert (throughput.gaps, throughput.device_idle_ns) == (None, None)


INTERVALS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=10)


@settings(deadline=None, max_examples=200)
@given(INTERVALS, INTERVALS)
def test_gaps_are_the_instants_of_a_burst_without_prediction(frame, drawn, worked):
    rows = sorted((start, start + length) for start, length in drawn)
    predictions = frame(*rows)
    in_bursts = bursts(predictions)
    hardware = frame(*sorted((start, start + length) for start, length in worked))
    result = gaps(predictions, in_bursts, Intervals.from_rows(hardware).covered_time())
    free, idle = set(), set()
    for number in range(len(in_bursts.count)):
        members = [row for row, burst in zip(rows, in_bursts.burst.tolist(), strict=True) if burst == number]
        instants = range(members[0][0], max(end for _, end in members))
        free |= {(number, t) for t in instants if not any(start <= t < end for start, end in members)}
    idle = {(n, t) for n, t in free if not any(start <= t < start + length for start, length in worked)}
    covered = sorted(
        t
        for start, end in zip(result.start_ns.tolist(), result.end_ns.tolist(), strict=True)
        for t in range(start, end)
    )
    assert covered == sorted(t for _, t in free)
    assert int(result.device_idle_ns.sum()) == len(idle)
    assert int(in_bursts.gap_ns.sum()) == len(free)


@pytest.mark.parametrize("without", [0, 3, 6], ids=["first", "inner", "last"])
def test_a_call_without_duration_leaves_all_sums_of_gaps_alike(frame, without):
    # Seven calls of 4 ms, one every 10 ms, one of which has no duration: 6 gaps of 6 ms, and 4 ms more.
    lengths = [0 if index == without else 4 for index in range(7)]
    predictions = frame(*[(index * 10 * MS, (index * 10 + length) * MS) for index, length in enumerate(lengths)])
    throughput = summarize_throughput(predictions, bursts(predictions), Intervals.from_rows(frame()).covered_time())
    free = 36 * MS if without == 6 else 40 * MS
    assert (throughput.gap_ns, throughput.gaps.total_ns, throughput.device_idle_ns) == (free, free, free)


def test_device_idle_time_is_unknown_without_hardware(frame):
    predictions = frame((0, 4), (10, 14))
    assert gaps(predictions, bursts(predictions)).device_idle_ns is None


def paced(frame, period_ns, duration_ns, count=60, jitter=0.01, seed=1):
    noise = np.random.default_rng(seed).normal(0, jitter * period_ns, count)
    starts = (np.arange(1, count + 1) * period_ns + noise).astype(int).tolist()
    return frame(*[(start, start + duration_ns) for start in starts])


@pytest.mark.parametrize(("rate", "busy_ms"), [(120, 3), (60, 7), (30, 12), (25, 20), (24, 20)])
def test_calls_at_a_camera_or_display_rate_are_named(frame, rate, busy_ms):
    predictions = paced(frame, 1e9 / rate, busy_ms * MS)
    throughput = summarize_throughput(predictions, bursts(predictions))
    assert throughput.steady_rate.fps == rate
    assert abs(throughput.steady_rate.deviation) < 0.01
    assert throughput.per_second == pytest.approx(rate, rel=0.01)


@pytest.mark.parametrize(
    ("period_ms", "busy_ms", "jitter"),
    [(28.0, 7, 0.01), (33.3, 33.1, 0.001), (33.3, 7, 0.3)],
    ids=["no common rate", "back to back", "irregular"],
)
def test_other_calls_have_no_pace(frame, period_ms, busy_ms, jitter):
    predictions = paced(frame, period_ms * MS, int(busy_ms * MS), jitter=jitter)
    assert summarize_throughput(predictions, bursts(predictions)).steady_rate is None


def test_throughput_counts_distances_inside_bursts_only(frame):
    # Two bursts of five, one start every 10 ms, a second apart.
    starts = [k * 10 * MS for k in range(5)] + [1000 * MS + k * 10 * MS for k in range(5)]
    predictions = frame(*[(start, start + 4 * MS) for start in starts])
    throughput = summarize_throughput(predictions, bursts(predictions))
    assert (throughput.bursts, throughput.predictions) == (2, 10)
    assert throughput.per_second == pytest.approx(100)
    assert (throughput.span_ns, throughput.gap_ns) == (88 * MS, 48 * MS)
    # The gap between the bursts is none of the eight gaps of 6 ms.
    assert (throughput.gaps.count, throughput.gaps.max_ns, throughput.gaps.total_ns) == (8, 6 * MS, 48 * MS)
    assert throughput.device_idle_ns is None
    # Work of 5 ms in the first gap, of which 2 ms lie in the call before.
    hardware = frame((2 * MS, 7 * MS))
    assert (
        summarize_throughput(
            predictions, bursts(predictions), Intervals.from_rows(hardware).covered_time()
        ).device_idle_ns
        == 45 * MS
    )
