"""Cold and warm latencies, and the frame rate that they allow."""

from __future__ import annotations

import pytest

from tracekit.analysis.latency import frame_rate, summarize_latency, warm_mask

MS = 1_000_000


@pytest.fixture
def activity(frame):
    """A load, a slow first prediction of 30 ms, and 24 of 10 ms, one every 20 ms."""
    rows = [(0, 5 * MS), (10 * MS, 40 * MS)] + [(k * 20 * MS, (k * 20 + 10) * MS) for k in range(3, 27)]
    return frame(*rows, kind=["load_cached"] + ["prediction"] * 25)


def test_the_first_prediction_after_a_load_is_cold(activity):
    predictions = activity.iloc[1:]
    warm = warm_mask(activity, predictions)
    assert warm.tolist() == [False] + [True] * 24
    latency = summarize_latency(predictions, warm)
    assert (latency.cold.count, latency.cold.max_ns) == (1, 30 * MS)
    assert (latency.warm.count, latency.warm.max_ns, latency.warm.p95_ns) == (24, 10 * MS, 10 * MS)


def test_the_mask_follows_the_labels_of_the_predictions(activity):
    assert warm_mask(activity, activity.loc[[5, 1]]).tolist() == [True, False]
    later = activity.set_axis(range(100, 126))
    assert warm_mask(later.loc[[100, 101, 107]], later.loc[[107, 101]]).tolist() == [True, False]


def test_without_predictions_there_are_no_statistics(frame):
    latency = summarize_latency(frame(), warm_mask(frame(), frame()))
    assert (latency.warm, latency.cold) == (None, None)
    assert frame_rate(frame(), warm_mask(frame(), frame())) is None


def test_ten_milliseconds_support_a_hundred_frames(activity):
    predictions = activity.iloc[1:]
    rate = frame_rate(predictions, warm_mask(activity, predictions))
    assert (rate.at_mean, rate.at_p95, rate.predictions) == (100.0, 100.0, 24)


def test_the_slowest_twentieth_sets_the_rate_that_can_be_kept(frame):
    # The reference's figure: 22.19 ms, about 45 frames per second; here every fifth call takes twice as long.
    rows = [(k * 100 * MS, k * 100 * MS + (44_380_000 if k % 5 == 0 else 22_190_000)) for k in range(20)]
    predictions = frame(*rows)
    rate = frame_rate(predictions, warm_mask(predictions, predictions))
    assert rate.at_mean == pytest.approx(1e9 / (22.19e6 * 1.2))
    assert rate.at_p95 == pytest.approx(1e9 / 44.38e6)


def test_calls_that_overlap_do_not_count_since_they_wait_for_each_other(frame):
    predictions = frame((0, 40 * MS), (20 * MS, 60 * MS), (100 * MS, 110 * MS))
    rate = frame_rate(predictions, warm_mask(predictions, predictions))
    assert (rate.at_mean, rate.at_p95, rate.predictions) == (100.0, None, 1)
    assert frame_rate(predictions.iloc[:2], warm_mask(predictions, predictions.iloc[:2])) is None
