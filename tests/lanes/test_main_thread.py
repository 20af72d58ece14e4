"""When the main thread ran, from samples written by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from tracekit.lanes.lanes import main_thread
from tracekit.lanes.main_thread import main_thread_frame
from tracekit.trace.trace import TraceCache

MS = 1_000_000


def trace(*times_ms: float, main=True, pid=7, weight=MS, target=7):
    count = len(times_ms)
    samples = pd.DataFrame(
        {
            "time_ns": [round(time * MS) for time in times_ms],
            "main_thread": pd.array([main] * count, "boolean"),
            "pid": pd.array([pid] * count, "Int64"),
            "weight_ns": pd.array([weight] * count, "Int64"),
        }
    )
    process = SimpleNamespace(pid=target)
    run = SimpleNamespace(target=SimpleNamespace(process=process))
    return SimpleNamespace(cache=TraceCache(), samples=samples, run=run)


def test_samples_one_after_another_are_one_stretch_and_a_gap_ends_it() -> None:
    # Distances of real samples vary a little; the thread waits from 4 to 9.
    frame = main_thread_frame(trace(1, 2.03, 3, 9, 10.02))
    assert (frame["start_ns"] / MS).tolist() == [1, 9]
    assert ((frame["start_ns"] + frame["duration_ns"]) / MS).tolist() == [4, 11.02]


@pytest.mark.parametrize(
    "without",
    [
        trace(),
        trace(1, 2, main=False),
        trace(1, 2, main=pd.NA),
        trace(1, 2, pid=8),
        SimpleNamespace(cache=TraceCache(), samples=None),
    ],
)
def test_without_a_sample_of_the_main_thread_there_is_no_lane(without) -> None:
    assert main_thread_frame(without).empty
    assert main_thread(without) == ()


def test_a_weight_that_is_not_recorded_is_that_of_instruments() -> None:
    frame = main_thread_frame(trace(1, weight=pd.NA))
    assert frame["duration_ns"].tolist() == [MS]


def test_the_lane_is_a_pinned_strip() -> None:
    (lane,) = main_thread(trace(1, 2, 8))
    assert (lane.title, lane.pinned, lane.strip, len(lane.events)) == ("Main thread", True, True, 2)
