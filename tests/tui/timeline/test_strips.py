"""Predictions over time, against what can be counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from support.analyses import kept_trace
from tracekit.analysis.statistics import top_calls
from tracekit.trace.events import Kind
from tracekit.tui.state import EventRef, Selection, Session as OpenSession, bounds_of, first_state
from tracekit.tui.timeline.layout import Line
from tracekit.tui.timeline.strips import PredictionsOverTime, blocks, model_of, predictions_over_time


@pytest.fixture(scope="module")
def captions(samples):
    return kept_trace(samples / "captions_concurrent.trace")


def spans(trace, model: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends of the predictions of an app with models that run nothing else."""
    rows = top_calls(trace, Kind.PREDICTION)
    rows = rows if model is None else rows.where(rows.model.is_any(model))
    return rows.start_ns, rows.ends_ns


def check(strips: PredictionsOverTime, starts: np.ndarray, ends: np.ndarray, bounds: np.ndarray) -> None:
    """Both strips against counts at each moment where one of the predictions begins."""
    in_flight, latency = (steps.largest(bounds).tolist() for steps in (strips.in_flight, strips.latency))
    for at, (low, high) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
        on = (starts < high) & (ends > low) & (ends > starts)
        moments = np.concatenate(([low], starts[on & (starts >= low)]))
        assert in_flight[at] == max(int(((starts <= time) & (ends > time)).sum()) for time in moments)
        assert latency[at] == (ends - starts)[on].max(initial=0)


@pytest.mark.parametrize("columns", [1, 7, 200])
def test_each_column_shows_most_in_flight_and_the_longest_that_is_on(captions, columns):
    bounds = np.linspace(1_900_000_000, 3_300_000_000, columns + 1).astype(np.int64)
    check(predictions_over_time(captions, None), *spans(captions), bounds)


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 40)), min_size=1, max_size=30),
    st.lists(st.integers(-5, 110), min_size=2, max_size=12, unique=True),
)
def test_any_predictions(reload_trace, intervals, edges):
    starts, durations = np.array(sorted(intervals), np.int64).T
    template = top_calls(reload_trace, Kind.PREDICTION).take([0] * len(starts))
    rows = replace(template, start_ns=starts, duration_ns=durations)
    strips = predictions_over_time(replace(reload_trace, activity=rows), None)
    check(strips, starts, starts + durations, np.array(sorted(edges)))


def test_as_many_are_in_flight_as_the_sample_was_made_with(captions):
    strips = predictions_over_time(captions, "CaptionEncoder")
    assert strips.values(Line.IN_FLIGHT, np.array([0, 11_000_000_000])).tolist() == [8]
    assert len(spans(captions, "CaptionEncoder")[0]) == 276
    assert predictions_over_time(captions, "Segmenter") is None


def test_a_prediction_at_the_edge_of_two_columns_is_in_one(reload_trace):
    prediction = top_calls(reload_trace, Kind.PREDICTION).take(slice(1))
    rows = replace(prediction, start_ns=np.array([10]), duration_ns=np.array([10]))
    one = predictions_over_time(replace(reload_trace, activity=rows), None)
    assert one.in_flight.largest(np.array([0, 10, 20, 30])).tolist() == [0, 1, 0]
    assert one.latency.largest(np.array([0, 10, 20, 30])).tolist() == [0, 10, 0]
    assert one.latency.largest(np.array([12, 15, 18])).tolist() == [10, 10]


def test_the_largest_value_fills_all_lines_and_none_but_0_is_blank():
    top, bottom = (blocks(np.array([0, 1, 50, 100]), 100, part, 2).characters for part in (0, 1))
    assert bottom == [" ", "▁", "█", "█"]
    assert top == [" ", " ", " ", "█"]


def test_the_model_is_that_of_the_selection_then_of_the_filter(reload_trace):
    session = OpenSession("x", reload_trace, None, bounds_of(reload_trace))
    state = first_state((session,))
    assert model_of(state) is None
    filtered = replace(state, filter=replace(state.filter, model="InkWash"))
    assert model_of(filtered) == "InkWash"
    assert model_of(replace(filtered, selection=Selection(model="Mosaic"))) == "Mosaic"
    event = reload_trace.activity.model.known.argmax()
    chosen = replace(state, selection=Selection(event=EventRef("activity", int(event))))
    assert model_of(chosen) == reload_trace.activity.model.item(event)
