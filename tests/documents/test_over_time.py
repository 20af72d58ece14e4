"""How predictions follow each other and how their latency runs, in words."""

import numpy as np
import pytest

from support.handover import trace_of
from tracekit.documents.over_time import bars, numbers, trend
from tracekit.documents.report_models import over_time_section
from tracekit.report.build import build_report
from tracekit.testing import Model, Process, Scenario

MS = 1_000_000


def models_of(calls, loads=((0, 40),)):
    """Models of the report on an app that loads and calls its model at these times, (start, duration) in ms."""
    scenario = Scenario(Process("App", 7), duration_ns=60_000 * MS)
    for start, length in loads:
        scenario.load(Model("Net"), start * MS, length * MS)
    for start, length in calls:
        scenario.predict(Model("Net"), round(start * MS), round(length * MS))
    return build_report(trace_of(scenario), []).models


def cell(model, title):
    return numbers(model, model.throughput)[title]


def test_a_steady_camera_is_told_in_numbers():
    (row,) = models_of([(100 + 100 * k / 3, 10) for k in range(60)])
    titles = ("predictions/s", "interval", "steady", "most in\nflight", "gap\nmedian", "gaps, %\nof time")
    assert [cell(row, title) for title in titles] == ["30.0", "33.3 ms", "30 fps", "1", "23.3 ms", "70%"]
    assert trend(row) == "stable latency"
    assert cell(row, "in flight over time") == ""


def test_bursts_and_predictions_in_flight_together_are_counted():
    # Three calls that overlap, 20 ms apart, ten times; then a pause of 5 s, and all over again.
    starts = [base + 100 * group + 20 * k for base in (100, 6_000) for group in range(10) for k in range(3)]
    (row,) = models_of([(start, 50) for start in starts])
    assert (cell(row, "bursts"), cell(row, "most in\nflight")) == ("2", "3")
    # Of each 100 ms, 90 have a prediction in flight: 150 ms of predictions.
    assert cell(row, "mean in\nflight") == "1.7"
    spark = cell(row, "in flight over time")
    assert len(spark) == 20
    assert "·" in spark
    assert "█" in spark


def test_first_calls_are_told_apart_from_later_ones():
    # Ten loads, after each a call of 30 ms and four of 10 ms.
    starts = [1_000 * load + 50 + 50 * k for load in range(10) for k in range(5)]
    calls = [(start, 30 if index % 5 == 0 else 10) for index, start in enumerate(starts)]
    (row,) = models_of(calls, loads=[(1_000 * load, 40) for load in range(10)])
    assert "first after a load 30.0 ms, then 10.0 ms (medians)" in trend(row)


@pytest.mark.parametrize(
    ("durations", "words"),
    [
        ([10] * 31 + [25] * 30, "latency shifts from 10.0 ms to 25.0 ms at 3.200 s (medians)"),
        ([10 + k / 2 for k in range(61)], "latency grows: the last third takes 2.3x as long as the first"),
        ([25] + [40 - k / 2 for k in range(60)], "latency falls: the last third takes 0.4x as long as the first"),
        ([10, 30] * 30 + [10], "bimodal latency: 10.0 ms (50%) and 30.0 ms (50%)"),
        ([10] * 20, ""),
    ],
)
def test_the_course_of_the_latency_is_told_in_its_plainest_form(durations, words):
    (row,) = models_of([(100 + 100 * k, length) for k, length in enumerate(durations)])
    assert trend(row) == words


def test_one_prediction_follows_nothing():
    assert over_time_section(models_of([(100, 10)])) is None


def test_bars_are_as_high_as_their_share_of_the_largest():
    assert bars([0, 1, 4, 8]) == "·▁▄█"
    assert bars([0.0, 0.0]) == "··"
    assert bars([]) == ""
    assert bars((np.arange(8) + 1).tolist()) == "▁▂▃▄▅▆▇█"
