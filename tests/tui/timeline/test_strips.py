"""Predictions over time, against what can be counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tracekit
from tracekit.tui.state import EventRef, Selection, bounds_of, first_state
from tracekit.tui.state import Session as OpenSession
from tracekit.tui.timeline.strips import PredictionsOverTime, blocks, model_of, predictions_over_time


@pytest.fixture(scope="module")
def captions(samples):
    return tracekit.open_trace(samples / "captions_concurrent.trace")


@pytest.mark.parametrize("columns", [1, 7, 200])
def test_each_column_shows_most_in_flight_and_the_longest_that_is_on(captions, columns: int) -> None:
    found = predictions_over_time(captions, None)
    bounds = np.linspace(1_900_000_000, 3_300_000_000, columns + 1).astype(np.int64)
    in_flight, latency = found.in_flight(bounds), found.latency(bounds)
    for at, (low, high) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
        on = (found.starts < high) & (found.ends > low)
        moments = np.concatenate(([low], found.starts[on & (found.starts >= low)]))
        depth = [int(((found.starts <= time) & (found.ends > time)).sum()) for time in moments]
        assert in_flight[at] == max(depth)
        assert latency[at] == (found.ends - found.starts)[on].max(initial=0)


def test_as_many_are_in_flight_as_the_sample_was_made_with(captions) -> None:
    found = predictions_over_time(captions, "CaptionEncoder")
    assert int(found.in_flight(np.array([0, 11_000_000_000])).max()) == 8
    assert len(found.starts) == 276
    assert predictions_over_time(captions, "Segmenter") is None


def test_a_prediction_at_the_edge_of_two_columns_is_in_one() -> None:
    times, depth = np.array([-(2**62), 10, 20]), np.array([0, 1, 0])
    one = PredictionsOverTime(np.array([10]), np.array([20]), times, depth, inferred=False)
    assert one.in_flight(np.array([0, 10, 20, 30])).tolist() == [0, 1, 0]
    assert one.latency(np.array([0, 10, 20, 30])).tolist() == [0, 10, 0]
    assert one.latency(np.array([12, 15, 18])).tolist() == [10, 10]


def test_the_largest_value_fills_all_lines_and_none_but_0_is_blank() -> None:
    top, bottom = (blocks(np.array([0, 1, 50, 100]), part, 2).characters for part in range(2))
    assert bottom == [" ", "▁", "█", "█"]
    assert top == [" ", " ", " ", "█"]


def test_the_model_is_that_of_the_selection_then_of_the_filter(reload_trace) -> None:
    session = OpenSession("x", reload_trace, None, bounds_of(reload_trace))
    state = first_state((session,))
    assert model_of(state) is None
    filtered = replace(state, filter=replace(state.filter, model="InkWash"))
    assert model_of(filtered) == "InkWash"
    assert model_of(replace(filtered, selection=Selection(model="Mosaic"))) == "Mosaic"
    event = reload_trace.activity["model"].first_valid_index()
    chosen = replace(state, selection=Selection(event=EventRef("activity", int(event))))
    assert model_of(chosen) == reload_trace.activity["model"].iloc[event]
