"""Bursts, gaps and paces of predictions, worked out by hand and against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tracekit.analysis.idle import core_ml_calls
from tracekit.analysis.pace import steady_rate
from tracekit.analysis.throughput import burst_numbers, bursts, gaps, summarize_throughput
from tracekit.intervals import Intervals

MS = 1_000_000


def test_a_gap_longer_than_five_usual_intervals_ends_a_burst(events):
    # Intervals of 10, 10, 54, 55, 10, 10, whose median is 10, and gaps of 6, 6, 50, 51, 6, 6.
    starts = [0, 10, 20, 74, 129, 139, 149]
    in_bursts = bursts(events(*[(start, start + 4) for start in starts]))
    assert in_bursts.burst.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert in_bursts.first.tolist() == [0, 4]
    assert in_bursts.count.tolist() == [4, 3]
    assert (in_bursts.start_ns.tolist(), in_bursts.end_ns.tolist()) == ([0, 129], [78, 153])
    assert in_bursts.busy_ns.tolist() == [16, 12]
    assert in_bursts.gap_ns.tolist() == [62, 12]


def test_calls_handed_over_at_one_instant_do_not_make_every_gap_long(events):
    in_bursts = bursts(events(*[(start, start + 5) for start in (0, 0, 0, 0, 10, 10, 10, 10, 20, 20)]))
    assert in_bursts.count.tolist() == [10]


def test_no_prediction_is_no_burst_and_one_is_one(events):
    assert bursts(events()).count.tolist() == []
    assert bursts(events((5, 9))).count.tolist() == [1]
    throughput = summarize_throughput(events((5, 9)), bursts(events((5, 9))))
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
def test_gaps_are_the_instants_of_a_burst_without_prediction(events, drawn, worked):
    rows = sorted((start, start + length) for start, length in drawn)
    predictions = events(*rows)
    in_bursts = bursts(predictions)
    hardware = events(*sorted((start, start + length) for start, length in worked))
    result = gaps(predictions, in_bursts)
    throughput = summarize_throughput(predictions, in_bursts, Intervals.from_rows(hardware).covered_time())
    free, idle = set(), set()
    for number in range(len(in_bursts.count)):
        members = [row for row, burst in zip(rows, in_bursts.burst.tolist(), strict=True) if burst == number]
        instants = range(members[0][0], max(end for _, end in members))
        free |= {(number, t) for t in instants if not any(start <= t < end for start, end in members)}
    idle = {(n, t) for n, t in free if not any(start <= t < start + length for start, length in worked)}
    covered = sorted(
        t for start, end in zip(result.starts.tolist(), result.ends.tolist(), strict=True) for t in range(start, end)
    )
    assert covered == sorted(t for _, t in free)
    assert throughput.device_idle_ns == len(idle)
    assert int(in_bursts.gap_ns.sum()) == len(free)


@pytest.mark.parametrize("without", [0, 3, 6], ids=["first", "inner", "last"])
def test_a_call_without_duration_leaves_all_sums_of_gaps_alike(events, without):
    # Seven calls of 4 ms, one every 10 ms, one of which has no duration: 6 gaps of 6 ms, and 4 ms more.
    lengths = [0 if index == without else 4 for index in range(7)]
    predictions = events(*[(index * 10 * MS, (index * 10 + length) * MS) for index, length in enumerate(lengths)])
    throughput = summarize_throughput(predictions, bursts(predictions), Intervals.from_rows(events()).covered_time())
    free = 36 * MS if without == 6 else 40 * MS
    assert (throughput.gap_ns, throughput.gaps.total_ns, throughput.device_idle_ns) == (free, free, free)


def test_device_idle_time_is_unknown_without_hardware(events):
    predictions = events((0, 4), (10, 14))
    assert summarize_throughput(predictions, bursts(predictions)).device_idle_ns is None


def paced(events, period_ns, duration_ns, count=60, jitter=0.01, seed=1):
    rng = np.random.default_rng(seed)
    starts = (np.arange(1, count + 1) * period_ns + rng.normal(0, jitter * period_ns, count)).astype(int)
    lengths = (duration_ns * rng.normal(1, 0.0005, count)).astype(int)
    return events(*zip(starts.tolist(), (starts + lengths).tolist(), strict=True))


def rate_of(trace_of, predictions, activity=None):
    """The steady rate of some predictions, among all rows of the activity."""
    calls = core_ml_calls(trace_of(predictions if activity is None else activity))
    return steady_rate(predictions, bursts(predictions), calls, int(predictions.model.codes[0]))


@pytest.mark.parametrize(("rate", "busy_ms"), [(120, 3), (60, 7), (30, 12), (25, 20), (24, 20)])
def test_calls_at_a_camera_or_display_rate_are_named(events, trace_of, rate, busy_ms):
    predictions = paced(events, 1e9 / rate, busy_ms * MS)
    steady = rate_of(trace_of, predictions)
    assert steady.fps == rate
    assert abs(steady.deviation) < 0.01
    assert summarize_throughput(predictions, bursts(predictions)).per_second == pytest.approx(rate, rel=0.01)


@pytest.mark.parametrize(
    ("period_ms", "busy_ms", "jitter"),
    [(28.0, 7, 0.01), (33.3, 33.1, 0.001), (33.3, 7, 0.3)],
    ids=["no common rate", "back to back", "irregular"],
)
def test_other_calls_have_no_pace(events, trace_of, period_ms, busy_ms, jitter):
    assert rate_of(trace_of, paced(events, period_ms * MS, int(busy_ms * MS), jitter=jitter)) is None


def in_turn(events, drafts, gap_ns, wait_ns=0, seed=5):
    """Calls of `Target` of about 13 ms, each after so many of `Draft` of about 5 ms; each call follows the one before
    after a gap. With `wait_ns`, each round waits for its time instead."""
    rng, now, rows, models = np.random.default_rng(seed), 0, [], []
    for index in range(60):
        now = max(now, index * wait_ns)
        for model in [*["Draft"] * drafts, "Target"]:
            length = int((5 if model == "Draft" else 13.0) * MS * rng.normal(1, 0.02))
            rows.append((now, now + length))
            models.append(model)
            now += length + gap_ns
    activity = events(*rows, model=models)
    return activity, activity.where(activity.model.is_any("Target"))


@pytest.mark.parametrize(("drafts", "gap_ns"), [(4, 80_000), (3, 1_333_000), (2, 3_444_000)])
def test_calls_that_follow_those_of_another_model_keep_no_pace(events, trace_of, drafts, gap_ns):
    # 13 ms, four times 5 ms and five gaps of 80 us are 33.4 ms: 30 fps by chance. So are fewer drafts with longer gaps.
    activity, target = in_turn(events, drafts, gap_ns)
    assert np.median(np.diff(target.start_ns)) == pytest.approx(1e9 / 30, rel=0.01)
    assert rate_of(trace_of, target, activity) is None


def test_a_model_after_another_one_keeps_the_pace_of_the_camera(events, trace_of):
    activity, target = in_turn(events, 1, 80_000, wait_ns=1_000_000_000 // 30)
    assert rate_of(trace_of, target, activity).fps == 30


def test_a_model_that_works_on_its_own_does_not_hide_a_pace(events, trace_of):
    camera = paced(events, 1e9 / 30, 8 * MS)
    rng, now, rows = np.random.default_rng(8), 0, []
    while now < 2_000 * MS:
        length = int(rng.integers(20, 60)) * MS
        rows.append((now, now + length))
        now += length + 100_000
    start, end = camera.start_ns.tolist(), camera.ends_ns.tolist()
    both = sorted([*((*row, "Other") for row in rows), *((*row, "Camera") for row in zip(start, end, strict=True))])
    activity = events(*[row[:2] for row in both], model=[row[2] for row in both])
    assert rate_of(trace_of, activity.where(activity.model.is_any("Camera")), activity).fps == 30


TOGETHER = [(index * 6_000, (index + 1) * 5_100_000) for index in range(30)]
"""30 calls started 6 us apart, done one after the other every 5.1 ms: 30 in 153 ms."""
TAPPED = [(start + tap, end + tap) for tap in (0, 4_000 * MS, 11_000 * MS) for start, end in TOGETHER]
PAIRS = [(index * 46 * MS + late, index * 46 * MS + late + 30 * MS) for index in range(40) for late in (0, MS)]
"""Two every 46 ms, 1 ms apart and 30 ms long: 43 per second, and no interval of 1 ms."""
BY_TURNS = [(at + index * 25 * MS, at + (index * 25 + 50) * MS) for at in (0, 5_000 * MS) for index in range(80)]
"""One starts every 25 ms and takes 50 ms, for 2 s, again after 3 s."""


@pytest.mark.parametrize(
    ("rows", "times", "per_second", "interval_ns"),
    [
        (TOGETHER, 1, 30 / 0.153, None),
        (TAPPED, 3, 30 / 0.153, None),
        (PAIRS, 1, 43.5, None),
        (BY_TURNS, 2, 40, 25 * MS),
    ],
    ids=["together", "tapped", "pairs", "by turns"],
)
def test_calls_in_flight_together_are_as_many_per_second_as_were_made(events, rows, times, per_second, interval_ns):
    throughput = summarize_throughput(predictions := events(*rows), bursts(predictions))
    assert (throughput.bursts, throughput.interval_ns) == (times, interval_ns)
    assert throughput.per_second == pytest.approx(per_second, rel=0.02)


def test_a_long_call_ends_no_burst_and_a_gap_does(events):
    # Intervals 10, 91, 10, 64, 10: five times their median is 50, and the gap before 175 is 55.
    rows = ((0, 9), (10, 100), (101, 110), (111, 120), (175, 184), (185, 194))
    assert burst_numbers(events(*rows)).tolist() == [0, 0, 0, 0, 1, 1]


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 60)), min_size=2, max_size=24))
def test_no_rate_exceeds_the_predictions_of_the_time_in_flight(events, drawn):
    rows = sorted((start, start + length) for start, length in drawn)
    throughput = summarize_throughput(predictions := events(*rows), times := bursts(predictions))
    for before, after in zip(range(len(rows) - 1), range(1, len(rows)), strict=True):
        if times.burst[before] != times.burst[after]:
            assert max(end for _, end in rows[:after]) < rows[after][0], "cut while a call is in flight"
    members = [row for row, burst in zip(rows, times.burst.tolist(), strict=True) if times.count[burst] > 1]
    in_flight = len({t for start, end in members for t in range(start, end)})
    if throughput.per_second and in_flight:
        assert throughput.per_second <= len(members) * 1e9 / in_flight * (1 + 1e-9)
    if throughput.interval_ns is not None:
        assert throughput.per_second * throughput.interval_ns >= 0.5e9


def test_throughput_counts_distances_inside_bursts_only(events):
    # Two bursts of five, one start every 10 ms, a second apart.
    starts = [k * 10 * MS for k in range(5)] + [1000 * MS + k * 10 * MS for k in range(5)]
    predictions = events(*[(start, start + 4 * MS) for start in starts])
    throughput = summarize_throughput(predictions, bursts(predictions))
    assert (throughput.bursts, throughput.predictions) == (2, 10)
    assert throughput.per_second == pytest.approx(100)
    assert (throughput.span_ns, throughput.gap_ns) == (88 * MS, 48 * MS)
    # The gap between the bursts is none of the eight gaps of 6 ms.
    assert (throughput.gaps.count, throughput.gaps.max_ns, throughput.gaps.total_ns) == (8, 6 * MS, 48 * MS)
    assert throughput.device_idle_ns is None
    # Work of 5 ms in the first gap, of which 2 ms lie in the call before.
    hardware = events((2 * MS, 7 * MS))
    assert (
        summarize_throughput(
            predictions, bursts(predictions), Intervals.from_rows(hardware).covered_time()
        ).device_idle_ns
        == 45 * MS
    )
