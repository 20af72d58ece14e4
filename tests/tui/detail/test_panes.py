"""The detail area: its tabs, the line above each list, and what lists of nothing say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.lists import column, heading
from tracekit.api import judge
from tracekit.request import request_of
from tracekit.trace.filter import everything, narrow, only_range
from tracekit.tui.detail.events import EventsPane, PredictionsPane
from tracekit.tui.detail.statistics import AggregationPane, ModelsPane
from tracekit.tui.opening import calls_of
from tracekit.tui.state import EventFilter


async def drag_range(screen) -> None:
    """From the fifth event of the lane to the eleventh."""
    await screen.press("n", "n", "n", "n", "n", "v", "n", "n", "n", "n", "n", "n", "v")


@pytest.mark.view(size=(200, 50))
async def test_models_are_listed_with_their_facts_and_facts_of_the_recording_are_not_sorted(screen):
    await screen.press("6", "O")
    assert "Nothing to sort here" in screen.text()
    assert screen.state.sorts == {}
    await screen.press("5", "down")
    trace = screen.state.session.trace
    names = column(screen, ModelsPane, "model")
    assert set(names) == set(trace.models.name)
    assert screen.state.selection.model == names[1]
    activity = trace.activity
    loads = int((activity.model.is_any(names[1]) & activity.kind.is_any("load_cached")).sum())
    text = " ".join(screen.text().split())
    assert f"loads {loads} " in text
    assert "predictions/s" in text
    await screen.press("enter")
    assert screen.state.filter == EventFilter(model=names[1])


@pytest.mark.sweep
@pytest.mark.turns(3)
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_the_line_above_a_list_is_never_cut(screen, size):
    for inspector in (False, True):
        screen.app.change(inspector=inspector and size[0] > 110)
        await screen.settle()
        await screen.press("4")
        assert heading(screen, PredictionsPane).startswith("373 ")
        assert heading(screen, PredictionsPane).endswith("N Neural Engine, G GPU, d data, q queued, · unexplained")
        assert heading(screen, PredictionsPane) in screen.text()
        await screen.press("5")
        assert heading(screen, ModelsPane).startswith("5 models · N Neural Engine, ")
        assert heading(screen, ModelsPane) in screen.text()
    await drag_range(screen)
    await screen.press("slash")
    await screen.answer("device:ane")
    await screen.press("5")
    assert not heading(screen, ModelsPane).endswith("…")
    assert heading(screen, ModelsPane).startswith(("whole recording, not filtered", "unfiltered"))
    await screen.press("c", "2")
    assert "events starting in range" in heading(screen, AggregationPane)
    assert heading(screen, AggregationPane) in screen.text()


@pytest.mark.view("sharpen_8bit", size=(200, 50))
async def test_a_recording_without_events_says_so_in_every_list(screen):
    session = screen.state.session
    whole = session.trace
    emptied = narrow(whole, only_range(everything(whole), whole, -2, -1))
    report = judge(emptied, request_of(only=["reload-before-predict"]))
    bare = replace(session, trace=emptied, report=report, calls=calls_of(emptied))
    screen.app.change(sessions=(bare,))
    await screen.press("2")
    assert "No Core ML or hardware events in this recording" in screen.text()
    await screen.press("3")
    assert "No Core ML or hardware events in this recording" in screen.text()
    await screen.press("4")
    assert "No predictions in this recording" in screen.text()
    assert "0 predictions" not in screen.text()
    # No filter keeps away what there is not.
    filtered = replace(screen.state, filter=EventFilter(text="x"))
    for pane, what in (
        (AggregationPane, "Core ML or hardware event"),
        (EventsPane, "Core ML or hardware event"),
        (PredictionsPane, "prediction"),
    ):
        rows = screen.app.browse.query_one(pane).make(filtered)
        assert rows.empty.startswith(f"No {what}s in this recording")
    await screen.press("5")
    assert "No Core ML models in this recording; 6 shows its coverage." in screen.text()
