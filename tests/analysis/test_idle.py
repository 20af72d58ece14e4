"""Gaps between calls, and what sets the distances of calls."""

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings, strategies as st

from tracekit.analysis.idle import core_ml_calls, idle_times
from tracekit.analysis.pace import follows
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
    assert not follows(of(np.cumsum(calls + 13_333) - calls, calls), error_ns=1_000)
    assert follows(of(np.cumsum(loads + calls + 5_333) - loads - calls, loads, calls))


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
