"""Gaps between calls, and what sets the distances of calls."""

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tracekit.analysis.idle import Idle, Pacing, core_ml_calls, follows, idle_times, paced_stretches, pacing, spread
from tracekit.intervals import Intervals
from tracekit.trace.cache import Cache
from tracekit.trace.events import Calls

MS = 1_000_000


def activity(*rows):
    """Rows of (model, level, start, duration)."""
    columns = dict(zip(("model", "level", "start_ns", "duration_ns"), zip(*rows, strict=True), strict=False))
    calls = Calls.listed(len(rows), columns)
    return replace(calls, model=calls.model.recoded(str, order="ABC"))


def calls_of(rows):
    """What was asked of Core ML in a trace with these rows of the activity."""
    return core_ml_calls(SimpleNamespace(activity=rows, cache=Cache()))


def test_only_time_without_any_activity_is_idle():
    rows = activity(
        ("A", "top", 0, 10), ("B", "top", 15, 10), ("B", "sub", 27, 10), ("A", "top", 30, 10), ("A", "top", 60, 5)
    )
    idle = idle_times(calls_of(rows), 0, np.array([0, 30, 60]), np.zeros(3, np.int64), 2)
    assert idle.gaps.starts.tolist() == [10, 25, 40]
    assert idle.gaps.ends.tolist() == [15, 30, 60]
    names = rows.model.values
    assert [names[code] for code in idle.next_model] == ["B", "A", "A"]
    assert idle.distance_ns.tolist() == [30, 30]
    assert idle.idle_ns.tolist() == [10, 20]
    assert idle.share == 0.5


def rows_of(*lists):
    """Rows of models A, B, ..., each given by its (start, duration) pairs."""
    rows = [("ABC"[number], "top", *pair) for number, pairs in enumerate(lists) for pair in pairs]
    return activity(*sorted(rows, key=lambda row: row[2]))


def busy_of(*lists):
    idle = idle_times(
        calls_of(rows_of(*lists)), 0, np.array([start for start, _ in lists[0]]), np.zeros(20, np.int64), 2
    )
    return idle.busy_ns.tolist(), idle.next_model.tolist()


EVERY_100 = [(number * 100, 20) for number in range(20)]


def test_a_model_that_runs_between_most_calls_alternates():
    busy, following = busy_of(EVERY_100, [(start + 30, 10) for start, _ in EVERY_100[::2]])
    assert busy == [30, 20] * 9 + [30]
    assert following == [1, 0, 0] * 9 + [1, 0]


def test_a_model_that_runs_between_few_calls_works_by_itself():
    busy, following = busy_of(EVERY_100, [(start + 30, 10) for start, _ in EVERY_100[::3]])
    assert busy == [20] * 19
    assert set(following) == {0}


def test_a_model_that_is_asked_at_once_with_each_call_belongs_to_its_steps():
    # The second one begins in the first one's call, and ends before it or after it.
    busy, following = busy_of([(start + 5, 20) for start, _ in EVERY_100], [(start, 40) for start, _ in EVERY_100])
    # What began before the first call belongs to no step.
    assert busy == [25] + [40] * 18
    assert set(following) == {1}
    busy, following = busy_of([(start, 40) for start, _ in EVERY_100], [(start + 5, 60) for start, _ in EVERY_100])
    assert busy == [65] * 19
    assert set(following) == {0}


def test_a_model_that_also_runs_between_the_calls_works_by_itself():
    wandering = [(start + 17 * number % 60, 10) for number, (start, _) in enumerate(EVERY_100)]
    busy, following = busy_of([(start, 40) for start, _ in EVERY_100], wandering)
    assert busy == [40] * 19
    assert set(following) == {0}
    longer = [(start * 12 // 10, 70) for start, _ in EVERY_100[:16]]
    assert max(busy_of([(start, 40) for start, _ in EVERY_100], longer)[0]) == 40


def test_sequences_are_kept_apart_and_short_ones_left_out():
    rows = activity(*(("A", "top", start, 5) for start in (0, 10, 20, 1000, 1010)))
    idle = idle_times(calls_of(rows), 0, rows.start_ns, np.array([0, 0, 0, 1, 1]), 3)
    assert (idle.gaps.starts.tolist(), idle.gaps.ends.tolist()) == ([5, 15], [10, 20])
    assert idle.distance_ns.tolist() == [10, 10]


def test_without_calls_there_is_no_gap():
    idle = idle_times(calls_of(activity()), 0, np.zeros(0, np.int64), np.zeros(0, np.int64), 2)
    assert (len(idle.gaps), len(idle.distance_ns), idle.share) == (0, 0, 0.0)


def in_turn(ours, theirs, steps):
    """Whether a model takes turns with the one whose calls open the steps, or is used at once with it in each: row by
    row, as the comments of the limits have it."""
    last = {row: until for row in theirs for begin, until in steps if begin <= row[0] < until}
    used = set(last.values())
    met = [row for row in last if row[1] > last[row] or any(other[0] < row[0] < other[1] for other in ours)]
    if len(used) < 0.5 * len(steps):
        return False
    if len(met) <= 0.05 * len(last):
        return True
    runs, reach = [], -1
    for begin, end, own in sorted([(*row, 1) for row in ours] + [(*row, 0) for row in theirs]):
        if begin >= reach:
            runs.append([0, 0])
        runs[-1][own] += 1
        reach = max(reach, end)
    return sum(run != [1, 1] for run in runs) <= 0.05 * len(runs)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 30), st.sampled_from("AAABBC")), min_size=8, max_size=40),
    st.sampled_from([0.3, 1.0, 3.0]),
    st.integers(2, 40),
)
def test_time_of_a_model_and_of_those_in_turn_with_it_is_busy(rows, stretch, split):
    starts = np.cumsum([max(1, int(gap * stretch)) for gap, _, _ in rows]).tolist()
    times = {name: [] for name in "ABC"}
    for start, (_, length, name) in zip(starts, rows, strict=True):
        times[name].append((start, start + length))
    calls = np.array([begin for begin, _ in times["A"]], np.int64)
    sequence = (np.arange(len(calls)) >= split).astype(np.int64)
    idle = idle_times(
        calls_of(rows_of(*([(b, e - b) for b, e in each] for each in times.values()))), 0, calls, sequence, 2
    )
    steps = [pair for pair, a, b in zip(pairwise(calls.tolist()), sequence[:-1], sequence[1:], strict=True) if a == b]
    if not steps:
        assert not len(idle.busy_ns)
        return
    low, high = steps[0][0], steps[-1][1]
    seen = {name: [row for row in each if low <= row[0] <= high] for name, each in times.items()}
    chosen = {"A"} | {name for name in "BC" if in_turn(seen["A"], seen[name], steps)}
    busy = {at for name in chosen for begin, end in seen[name] for at in range(begin, end)}
    assert idle.busy_ns.tolist() == [sum(begin <= at < end for at in busy) for begin, end in steps]
    every = {at for each in times.values() for begin, end in each for at in range(begin, end)}
    assert idle.idle_ns.tolist() == [sum(at not in every for at in range(begin, end)) for begin, end in steps]
    assert int(idle.gaps.durations.sum()) == int(idle.idle_ns.sum())


def steps(calls_ms, gaps_ms):
    calls, gaps = (np.rint(np.array(part) * MS).astype(np.int64) for part in (calls_ms, gaps_ms))
    return calls + gaps, calls


CALLS = [(6, 14, 10, 8, 12)[index * 7 % 5] for index in range(60)]
WORK = [(19, 21, 20, 20.5, 19.5, 20.2)[index * 5 % 6] for index in range(60)]


PROMPTS = [(250, 450, 750, 975)[index // 18 % 4] if index % 18 == 1 else CALLS[index] for index in range(60)]


@pytest.mark.parametrize(
    ("calls", "gaps", "expected"),
    [
        pytest.param(CALLS, WORK, Pacing.FOLLOWING, id="gaps do not know of the calls"),
        pytest.param(CALLS, [2 * call for call in CALLS], Pacing.FOLLOWING, id="longer calls, longer gaps"),
        pytest.param(PROMPTS, WORK, Pacing.FOLLOWING, id="a few prompts are far longer"),
        pytest.param(CALLS, [33 - call for call in CALLS], Pacing.PERIODIC, id="starts on a grid"),
        pytest.param(
            CALLS,
            [(66 if index % 7 == 3 else 33) - call for index, call in enumerate(CALLS)],
            Pacing.PERIODIC,
            id="dropped frames",
        ),
        pytest.param(
            CALLS,
            [(30, 34, 32, 31, 33, 35, 29)[index * 3 % 7] - call for index, call in enumerate(CALLS)],
            Pacing.PERIODIC,
            id="gaps shrink with the calls",
        ),
        pytest.param([10, 11], [20, 23], Pacing.UNCLEAR, id="few calls"),
        pytest.param(
            [10] * 60, [(17, 20, 23, 26)[index // 15] for index in range(60)], Pacing.UNCLEAR, id="drifting gaps"
        ),
    ],
)
def test_gaps_that_know_of_the_calls_keep_a_beat(calls, gaps, expected):
    assert pacing(*steps(calls, gaps)) is expected


def test_a_camera_is_a_beat_where_most_calls_take_longer_than_a_frame():
    calls = [(20, 22, 8, 21, 19)[index * 3 % 5] for index in range(60)]
    late = np.array([(0, 2, 1, 3, 2, 4)[index * 5 % 6] / 10 for index in range(61)])
    distances = [33.33 if call > 16.67 else 16.67 for call in calls] + np.diff(late)
    assert pacing(*steps(calls, distances - calls)) is Pacing.PERIODIC


@pytest.mark.parametrize("gaps", [(5, 90, 60, 35, 20), (80, 90, 100, 120, 110)])
def test_distances_that_lie_anywhere_between_shorter_beats_keep_none(gaps):
    # What is left of them without beats of a half or a third of the usual distance happens to go up and down in turn.
    assert pacing(*steps(CALLS, [gaps[index % 5] for index in range(60)])) is not Pacing.PERIODIC


def test_each_start_off_a_grid_by_chance_is_a_beat():
    late = np.array([(0, 3, 1, 5, 2, 4)[index * 5 % 6] for index in range(61)])
    # Calls of one length say nothing, but what is early now is late next time.
    assert pacing(*steps([10] * 60, 23 + np.diff(late))) is Pacing.PERIODIC


def test_the_spread_is_half_the_distance_between_quartiles_over_the_median():
    assert spread(np.array([10, 20, 30, 40, 50])) == pytest.approx(10 / 30)
    assert spread(np.array([0, 0, 0])) == float("inf")


def test_even_distances_may_follow_each_other():
    rng = np.random.default_rng(3)
    calls = 20_000 + rng.integers(-400, 400, 60)
    loads = 8_000 + rng.integers(-900, 900, 60)

    def of(starts, *parts):
        """Rounds at these starts, each of calls that follow at once; the last is the prediction."""
        ends = np.cumsum(np.column_stack(parts), axis=1) + starts[:, None]
        begins = ends - np.column_stack(parts)
        rows = [("A", "top", *row) for row in zip(begins.ravel(), (ends - begins).ravel(), strict=True)]
        return idle_times(calls_of(activity(*rows)), 0, begins[:, -1], np.zeros(60, np.int64), 2)

    even = np.arange(60) * 33_333
    assert follows(of(np.cumsum(calls + 13_333) - calls, calls))
    assert not follows(of(even, calls))
    assert not follows(of(even, np.full(60, 20_000)))
    assert not follows(of(even, loads, calls))
    assert follows(of(np.cumsum(loads + calls + 5_333) - loads - calls, loads, calls))


def idle_of(*parts, jitter_ns=200_000):
    """Idle times of calls from (sequence, fps, calls, length in ms) each; without fps each call follows the one before
    after a gap of 16 to 27 ms."""
    rng = np.random.default_rng(6)
    distance, busy, sequence = [], [], []
    for number, fps, count, length in parts:
        calls = length * MS * rng.uniform(0.95, 1.05, count)
        late = rng.uniform(0, jitter_ns, count + 1)
        distance.append(1e9 / fps + np.diff(late) if fps else calls + rng.uniform(16, 27, count) * MS)
        busy.append(calls)
        sequence.append(np.full(count, number))
    distance, busy = (np.concatenate(values).astype(np.int64) for values in (distance, busy))
    none = np.zeros(0, np.int64)
    return Idle(Intervals.none(), none, none, np.concatenate(sequence), distance, distance - busy, busy)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([(0, 24, 60, 10), (1, 20, 60, 13)], [60, 60]),
        ([(0, 24, 60, 10), (0, 20, 60, 13)], [60, 60]),
        ([(0, 30, 80, 8), (1, None, 80, 9)], [80]),
        ([(0, None, 80, 9), (1, None, 80, 12)], []),
        ([(0, 30, 19, 8), (1, 24, 19, 8)], []),
        ([], []),
    ],
    ids=["sequences", "shift", "camera, then photos", "photos", "too few", "none"],
)
def test_each_stretch_of_steps_may_keep_a_beat_of_its_own(parts, expected):
    stretch = paced_stretches(idle_of(*parts) if parts else idle_of((0, None, 0, 1)))
    counts = np.unique(stretch[stretch >= 0], return_counts=True)[1]
    # Where the rate shifts inside a sequence, the place is found within a few calls.
    assert counts.tolist() == pytest.approx(expected, abs=3)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.sampled_from([15, 20, 24, 30, 60]), st.integers(30, 70)), min_size=1, max_size=4))
def test_a_camera_keeps_a_beat_whatever_rates_it_runs_at(rates):
    idle = idle_of(*((number, fps, count, 200 / fps) for number, (fps, count) in enumerate(rates)))
    assert (paced_stretches(idle) >= 0).all()


def test_the_gaps_of_some_steps():
    rows = activity(*(("A", "top", start, 5) for start in (0, 10, 20, 1000, 1010, 1030)))
    idle = idle_times(calls_of(rows), 0, rows.start_ns, np.array([0, 0, 0, 1, 1, 1]), 3)
    chosen = idle.of_steps(idle.sequence == 1)
    assert (chosen.gaps.starts.tolist(), chosen.gaps.ends.tolist(), chosen.step.tolist()) == (
        [1005, 1015],
        [1010, 1030],
        [0, 1],
    )
    assert (chosen.distance_ns.tolist(), chosen.idle_ns.tolist()) == ([10, 20], [5, 15])
