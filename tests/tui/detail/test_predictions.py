"""The list of predictions: what it counts, and where it leads."""

from dataclasses import replace

import numpy as np
import pytest

from support.lists import column, heading, listed
from tracekit.analysis.statistics import top_calls
from tracekit.trace.events import Kind
from tracekit.tui.detail.events import PredictionsPane
from tracekit.tui.opening import calls_of
from tracekit.tui.state import EventRef, Sort


async def test_the_predictions_are_those_that_the_app_called(screen):
    await screen.press("4")
    called = top_calls(screen.state.session.trace, Kind.PREDICTION)
    rows = listed(screen, PredictionsPane).rows
    # The longest first, the earlier of equal ones.
    order = np.argsort(-called.duration_ns, kind="stable")
    assert [rows.index(row) for row in range(len(rows))] == called.id[order].tolist()
    # Each prediction of this sample follows a load of its own.
    assert set(column(screen, PredictionsPane, "phase")) == {"first"}
    assert "N Neural Engine, G GPU" in screen.text()
    await screen.press("o")
    assert screen.state.sorts["predictions"] == Sort("model", descending=False)
    names = column(screen, PredictionsPane, "model")
    assert names == sorted(names, key=str.casefold)


async def test_a_prediction_is_chosen_from_its_list_and_zoomed_to(screen):
    # Before any was chosen it is the first.
    await screen.press("4", "enter")
    called = listed(screen, PredictionsPane).rows
    for place, keys in ((0, ()), (2, ("down", "down", "enter"))):
        await screen.press(*keys)
        chosen = screen.state.selection
        assert chosen.prediction == called.index(place)
        assert chosen.event == EventRef("activity", chosen.prediction)
        span, view = screen.state.session.span(chosen.event), screen.state.view
        assert view.start_ns <= span.start_ns < span.end_ns <= view.end_ns
        assert view.span_ns == pytest.approx(span.span_ns * 1.2, rel=0.01)


def test_the_parts_of_every_prediction_are_its_duration(reload_trace):
    calls = calls_of(reload_trace)
    assert len(calls) > 100
    assert (calls.time_ns.sum(axis=0) == calls.durations).all()
    for place in (0, len(calls) - 1):
        row = calls.parts(place)
        assert sum(part.share for part in row.slices) == pytest.approx(1)
        assert len(row.bar(37)) == 37
    assert calls.position(int(calls.index[3])) == 3
    loads = np.flatnonzero(reload_trace.activity.kind.is_any("load_cached"))
    assert calls.position(int(loads[0])) is None


@pytest.mark.sweep
async def test_the_line_above_inferred_predictions_says_so(screen):
    session = screen.state.session
    for inferred, line, few in (
        (373, "373 predictions, inferred · ", "373, inferred · "),
        (2, "373 predictions, 2 inferred", "373, 2 inferred · "),
    ):
        calls = replace(session.calls, inferred=np.arange(len(session.calls)) < inferred)
        screen.app.change(sessions=(replace(session, calls=calls),), inspector=True)
        await screen.press("4")
        assert column(screen, PredictionsPane, "phase").count("–") == inferred
        assert heading(screen, PredictionsPane).startswith(few)
        await screen.press("i")
        assert heading(screen, PredictionsPane).startswith(line)
