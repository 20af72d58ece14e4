"""Cold and warm latencies."""

import numpy as np
import pandas as pd
import pytest

from tracekit.analysis.latency import ranks, summarize_latency
from tracekit.analysis.loads import first_after_load

MS = 1_000_000


@pytest.fixture
def activity(events):
    """A load, a slow first prediction of 30 ms, and 24 of 10 ms, one every 20 ms."""
    rows = [(0, 5 * MS), (10 * MS, 40 * MS)] + [(k * 20 * MS, (k * 20 + 10) * MS) for k in range(3, 27)]
    return events(*rows, kind=["load_cached"] + ["prediction"] * 25)


def test_the_first_prediction_after_a_load_is_cold(activity):
    predictions = activity.take(slice(1, None))
    warm = ~first_after_load(activity)[1:]
    assert warm.tolist() == [False] + [True] * 24
    latency = summarize_latency(predictions, warm)
    assert (latency.cold.count, latency.cold.max_ns) == (1, 30 * MS)
    assert (latency.warm.count, latency.warm.max_ns, latency.warm.p95_ns) == (24, 10 * MS, 10 * MS)


@pytest.mark.parametrize("values", [[], [5], [3, 1, 2], [2, 1, 2, 2, 0, 1], [0.5, -1.0, 0.5, 0.0, -0.0]])
def test_equal_values_share_the_mean_of_their_ranks(values):
    assert ranks(np.array(values)).tolist() == pd.Series(values, dtype=float).rank().tolist()


def test_without_predictions_there_are_no_statistics(events):
    latency = summarize_latency(events(), ~first_after_load(events()))
    assert (latency.warm, latency.cold) == (None, None)
