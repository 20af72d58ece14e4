"""Frames that predictions keep to, from starts laid on a grid by hand."""

import numpy as np
import pytest

from tracekit.analysis.throughput import frame_steps

MS = 1_000_000


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
