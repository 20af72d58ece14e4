"""The course of the latency of a model, on durations whose course is known."""

import numpy as np
import pytest

from tracekit.analysis.latency import MIN_PREDICTIONS, summarize_latency_trend

MS = 1_000_000


def calls(events, durations):
    return events(*[(k * 50 * MS, k * 50 * MS + int(length)) for k, length in enumerate(durations)])


def test_a_shift_is_given_with_the_time_at_which_it_happens(events):
    summary = summarize_latency_trend(calls(events, [10 * MS] * 30 + [25 * MS] * 40))
    assert [(level.start_ns, level.count, level.median_ns) for level in summary.levels] == [
        (0, 30, 10 * MS),
        (30 * 50 * MS, 40, 25 * MS),
    ]
    assert summary.trend.last_to_first_third == 2.5


def test_levels_that_alternate_are_modes_and_no_shift(events):
    noise = np.random.default_rng(1).normal(1, 0.02, 90)
    summary = summarize_latency_trend(calls(events, np.where(np.arange(90) % 3 == 0, 30 * MS, 10 * MS) * noise))
    assert len(summary.levels) == 1
    assert [(mode.count, mode.share) for mode in summary.modes] == [
        (60, pytest.approx(2 / 3)),
        (30, pytest.approx(1 / 3)),
    ]
    assert [mode.median_ns for mode in summary.modes] == pytest.approx([10 * MS, 30 * MS], rel=0.02)
    assert summary.trend.last_to_first_third == pytest.approx(1, rel=0.02)


def test_steady_calls_have_one_level_and_one_mode(events):
    summary = summarize_latency_trend(calls(events, 10 * MS * np.random.default_rng(2).normal(1, 0.05, 200)))
    assert (len(summary.levels), len(summary.modes), summary.trend.count) == (1, 1, 200)
    assert abs(summary.trend.correlation) < 0.3


def test_too_few_calls_have_no_course(events):
    assert summarize_latency_trend(calls(events, [10 * MS] * (MIN_PREDICTIONS - 1))) is None
    assert summarize_latency_trend(calls(events, [10 * MS] * MIN_PREDICTIONS)) is not None
