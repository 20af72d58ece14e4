"""What sets the distances of calls, and the frames that predictions keep to, from starts laid on a grid by hand."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tracekit.analysis.idle import Idle
from tracekit.analysis.pace import Pacing, frame_steps, paced_stretches, pacing, spread
from tracekit.analysis.statistics import CallTimes
from tracekit.intervals import Intervals

MS = 1_000_000


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


def idle_of(*parts, jitter_ns=200_000):
    """Idle times and calls from (sequence, fps, calls, length in ms) each; without fps each call follows the one before
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
    idle = Idle(Intervals.none(), none, none, np.concatenate(sequence), distance, distance - busy, busy)
    return idle, CallTimes(np.append(0, np.cumsum(distance)), np.append(busy, MS)[: len(busy) + 1])


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
    stretch = paced_stretches(*idle_of(*(parts or [(0, None, 0, 1)])))
    counts = np.unique(stretch[stretch >= 0], return_counts=True)[1]
    # Where the rate shifts inside a sequence, the place is found within a few calls.
    assert counts.tolist() == pytest.approx(expected, abs=3)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.sampled_from([15, 20, 24, 30, 60]), st.integers(30, 70)), min_size=1, max_size=4))
def test_a_camera_keeps_a_beat_whatever_rates_it_runs_at(rates):
    cameras = idle_of(*((number, fps, count, 200 / fps) for number, (fps, count) in enumerate(rates)))
    assert (paced_stretches(*cameras) >= 0).all()


def camera(events, rate, every, *, offset_us=0, count=80, seed=2):
    """Predictions of half a frame at this rate; one in `every` takes 1.3 frames, and the next frame is dropped."""
    noise = np.random.default_rng(seed).integers(0, 1_000 * offset_us + 1, 2 * count)
    period, number, rows = 1_000 * MS // rate, 1, []
    for index in range(count):
        start = number * period + int(noise[index])
        slow = index % every == every - 1
        rows.append((start, start + period * (13 if slow else 5) // 10))
        number += 2 if slow else 1
    return events(*rows)


@pytest.mark.parametrize("rate", [120, 60, 30, 25, 24])
@pytest.mark.parametrize("every", [2, 3, 10])
def test_dropped_frames_are_counted_at_each_rate(events, rate, every):
    steps_seen = frame_steps(camera(events, rate, every, offset_us=100))
    assert steps_seen.frames_per_second == rate
    assert steps_seen.index[steps_seen.frames == 2].tolist() == [k for k in range(79) if k % every == every - 1]


def test_a_pause_of_the_user_is_no_step(events):
    rows = [(k * 33 * MS + k * MS // 3 + (2_000 * MS if k > 40 else 0),) * 2 for k in range(80)]
    steps_seen = frame_steps(events(*[(start, end + 9 * MS) for start, end in rows]))
    assert 40 not in steps_seen.index.tolist()
    assert set(steps_seen.frames.tolist()) == {1}


def test_calls_that_follow_each_other_at_once_keep_to_no_frames(events):
    """Lengths near one and two frames: the starts follow them, and not a beat."""
    rng, now, rows = np.random.default_rng(4), 0, []
    for index in range(80):
        length = int((66 if index % 4 == 3 else 33) * MS * rng.normal(1, 0.03))
        rows.append((now, now + length))
        now += length + 200_000
    assert frame_steps(events(*rows)) is None


def test_equal_calls_that_follow_each_other_at_once_keep_to_no_frames(events):
    """Steps of 11 ms are a frame of 90 fps, but those of 31 ms are no whole number of them."""
    starts = np.cumsum([31 * MS if k % 8 == 7 else 11 * MS for k in range(80)])
    steps_seen = frame_steps(events(*[(int(start), int(start) + 10 * MS) for start in starts]))
    assert steps_seen is None


@pytest.mark.parametrize(("steps", "known"), [(20, True), (19, False)])
def test_few_steps_show_no_rate(events, steps, known):
    steps_seen = frame_steps(camera(events, 30, 5, count=steps + 1))
    assert (steps_seen is not None) == known


def test_without_single_frames_the_rate_is_the_lower_one(events):
    starts = np.cumsum([200 * MS // 3] * 60)
    steps_seen = frame_steps(events(*[(int(start), int(start) + 50 * MS) for start in starts]))
    assert steps_seen.frames_per_second == 15
    assert set(steps_seen.frames.tolist()) == {1}


@pytest.mark.parametrize("length", [20, 21])
def test_calls_that_follow_each_other_look_like_no_frames_where_one_length_is_twice_the_other(events, length):
    rows, at = [], 0
    for index in range(90):
        end = at + (length if index % 3 == 0 else 10) * MS
        rows.append((at, end))
        at = end + MS
    assert frame_steps(events(*rows)) is None


def test_late_frames_may_leave_the_usual_gap_on_the_whole(events):
    # The median late prediction, 45.3 ms, is a frame longer than the usual 12 ms, so that the median gap is the same.
    period, rows, at = round(1e9 / 30), [], 0
    for index in range(120):
        length = (38, 45.333, 52)[index // 6 % 3] if index % 6 == 0 else 12
        rows.append((at, at + round(length * MS)))
        at += period * (2 if index % 6 == 0 else 1)
    steps_seen = frame_steps(events(*rows))
    assert steps_seen.frames_per_second == 30
    assert int((steps_seen.frames > 1).sum()) == 20
