"""A filter and a range narrow lanes, lists and statistics alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from textual.widgets import Static

from tracekit.analysis.comparison import Measure
from tracekit.lanes.categories import Category
from tracekit.tui.detail.compare import ComparePane
from tracekit.tui.detail.events import EventsPane, PredictionsPane
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.detail.statistics import AggregationPane
from tracekit.tui.ranges import aggregation
from tracekit.tui.screens.small import AskScreen
from tracekit.tui.state import EventFilter
from tracekit.tui.timeline.glyphs import Ink, Picture, fade, fade_letters
from tracekit.tui.timeline.tracks import passing_track, tracks
from tracekit.tui.timeline.widget import Timeline
from tracekit.tui.viewport import Span, column_of


def lines_of(screen):
    return screen.app.browse.query_one(AggregationPane).query_one(RowList).rows.records


def categories(screen, lane_id: str) -> list[int]:
    """Categories of the columns of the first row of a lane, as its lowest line is drawn."""
    renderer = screen.app.browse.query_one(Timeline).renderer
    index = [lane.id for lane in renderer.lanes.lanes].index(lane_id)
    *_, line = [line for line in renderer.arrangement.lines if line.lanes == (index,) and line.track == 0]
    lane = renderer.lanes.lanes[index]
    return renderer._track_lines(screen.state, lane, renderer.tracks(lane)[0], line)[line.part].categories


@pytest.mark.view(size=(200, 50))
async def test_a_filter_narrows_the_aggregation_is_said_in_the_header_and_goes_with_one_key(screen):
    await screen.press("2")
    rows = len(lines_of(screen))
    await screen.press("slash")
    assert isinstance(screen.app.screen, AskScreen)
    await screen.answer("kind:prediction model:mosaic >7ms")
    assert screen.state.filter == EventFilter(model="Mosaic", kind="prediction", min_ns=7_000_000)
    assert screen.state.pane == "aggregation"
    activity = screen.state.session.trace.activity
    chosen = activity.where(activity.model.is_any("Mosaic") & activity.kind.is_any("prediction"))
    long = chosen.where(chosen.duration_ns >= 7_000_000)
    assert 0 < len(long) < len(chosen)
    (line,) = lines_of(screen)
    assert (line.source.statistics.count, line.source.statistics.total_ns) == (len(long), long.duration_ns.sum())
    said = "Mosaic, prediction, ≥ 7 ms"
    assert f"Filter: {said}, c clears" in screen.text().splitlines()[0]
    assert f"1 row · whole recording, filter: {said}" in screen.text()
    await screen.press("ctrl+y")
    assert screen.app.clipboard.startswith(f"Whole recording, filter: {said}\n")
    assert f"| `Mosaic` | Prediction | Activity | {len(long)} |" in screen.app.clipboard
    # The events of a row are those that it counts.
    await screen.press("enter")
    said = "Prediction, Mosaic, prediction, ≥ 7 ms"
    assert f"{len(long)} events · whole recording, filter: {said}" in screen.text()
    listed = screen.app.browse.query_one(EventsPane).query_one(RowList).rows
    assert [listed.ref(row).index for row in range(len(listed))] == long.id.tolist()
    # What was typed stands there again, to be changed.
    await screen.press("2", "slash")
    assert "model:Mosaic kind:prediction >7ms" in screen.text()
    await screen.press("escape", "c")
    assert len(lines_of(screen)) == rows
    assert "c clears" not in screen.text()


async def test_what_does_not_pass_the_filter_is_faded_on_the_lanes(screen):
    whole = categories(screen, "activity")
    assert Category.FADED not in whole
    await screen.press("slash")
    await screen.answer("model:watercolor")
    shown = categories(screen, "activity")
    activity, columns = screen.state.session.trace.activity, screen.app.browse.columns
    own = activity.start_ns[activity.model.is_any("Watercolor")]
    first, last = (column_of(screen.state.view, columns, int(own[at])) for at in (0, -1))
    # The models of this sample take turns, each for some seconds.
    bright = [at for at, code in enumerate(shown) if code not in (-1, Category.FADED)]
    assert first <= bright[0] < bright[-1] <= last + 1
    assert len(bright) > (last - first) // 2
    faded = [at for at, code in enumerate(shown) if code == Category.FADED]
    assert [at for at, code in enumerate(whole) if code >= 0] == sorted([*bright, *faded])
    assert faded
    await screen.press("x")
    assert categories(screen, "activity") == shown
    await screen.press("x", "c")
    assert categories(screen, "activity") == whole


def test_what_is_chosen_stays_and_the_rest_fades():
    whole = Picture(["█", "▃", " ", "▅"], [4, 4, -1, 7], [Ink.LABEL, Ink.BLOCK, Ink.BLOCK, Ink.BLOCK])
    chosen = Picture(["P", " ", " ", "▂"], [4, -1, -1, 4], [Ink.LABEL, Ink.BLOCK, Ink.BLOCK, Ink.BLOCK])
    codes = [4, Category.FADED, -1, 4]
    assert fade(whole, chosen) == Picture(["P", "▃", " ", "▂"], codes, whole.inks)
    assert fade_letters(whole, chosen) == Picture(["P", "·", " ", "▂"], codes, whole.inks)


def test_rows_keep_their_intervals_where_some_are_left_out(make_events):
    events = make_events((0, 100), (10, 20), (50, 20), (200, 10))
    rows = tracks(events, 4)
    kept = [passing_track(events, row, np.array([False, True, False, True])) for row in rows]
    assert [row.positions.tolist() for row in rows] == [[0, 3], [1, 2]]
    assert [row.positions.tolist() for row in kept] == [[3], [1]]
    assert kept[0].total.until(np.array([150, 205])).tolist() == [0, 5]


@pytest.mark.view("sharpen_8bit")
async def test_predictions_of_a_range_are_warm_by_the_loads_before_it(screen):
    session = screen.state.session
    activity = session.trace.activity
    (start,) = activity.ends_ns[activity.kind.is_any("load_cached")].tolist()
    calls = activity.where(activity.kind.is_any("prediction")).take(slice(5))
    # From after the load to the fifth prediction, of which the first one is not warm.
    span = Span(start, int(calls.start_ns[-1]) + 1 - start)
    (row,) = [row for row in aggregation(session, span, EventFilter()) if row.label == "Prediction"]
    assert (row.statistics.count, row.warm.count) == (5, 4)
    assert row.warm.total_ns == calls.duration_ns[1:].sum()
    # A load that does not pass the filter is a load all the same.
    (row,) = aggregation(session, span, EventFilter(kind="prediction"))
    assert (row.statistics.count, row.warm.count) == (5, 4)
    screen.app.change(range=span)
    await screen.press("2")
    assert "Prediction, warm" in screen.text()


@pytest.mark.sweep
@pytest.mark.view("sharpen_8bit", "sharpen_float16")
async def test_a_filter_narrows_the_comparison_of_numbers(screen):
    for measure, keys in (("mean", ""), ("count", "uuu")):
        await screen.press(*keys)
        listed = screen.app.browse.query_one("#pane-compare").query_one(RowList)
        assert len({row.kind for row in listed.rows.records}) > 1
        await screen.press("slash")
        await screen.answer("kind:prediction")
        assert (screen.state.pane, screen.state.measure) == ("compare", measure)
        assert {row.kind for row in listed.rows.records} == {"prediction"}
        await screen.press("c")


@pytest.mark.view("style_transfer_reload", "style_transfer_fixed")
async def test_an_empty_list_names_only_what_keeps_events_away(screen):
    nothing = EventFilter(text="no event is called so")
    # Before the first event: the sample's first load starts later than 1 ns.
    early = Span(0, 1)
    screen.app.change(filter=nothing, range=early, pane="events")
    await screen.settle()
    assert "No events match in this range; c clears the filter, esc the range." in screen.text()
    for pane, what in (
        (AggregationPane, "event"),
        (EventsPane, "event"),
        (PredictionsPane, "prediction"),
        (ComparePane, "event"),
    ):
        for filtered, span, told in (
            (nothing, None, f"No {what}s match; c clears the filter."),
            (EventFilter(), early, f"No {what}s in this range; esc clears it."),
            (nothing, early, f"No {what}s match in this range; c clears the filter, esc the range."),
        ):
            state = replace(screen.state, filter=filtered, range=span, measure=Measure.MEAN)
            assert screen.app.browse.query_one(pane).make(state).empty == told


REACHING = "events overlapping it"


@pytest.mark.turns(3)
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_the_line_above_events_and_predictions_names_range_and_filter(screen, size):
    def above() -> str:
        line = screen.app.browse.pane.query_one(".heading").render().plain
        assert line in screen.text()
        assert not line.endswith("…")
        return line

    trace = screen.state.session.trace
    await screen.press("3")
    assert above() == f"{sum(map(len, trace.events.values())):,} events · whole recording"
    # From the beginning of the first prediction to 200 ms later.
    calls = trace.activity.where(trace.activity.kind.is_any("prediction"))
    start = int(calls.start_ns[0])
    span = Span(start, 200_000_000)

    def within(rows) -> int:
        ends = rows.start_ns + np.maximum(rows.duration_ns, 1)
        return int(((rows.start_ns < span.end_ns) & (ends > start)).sum())

    screen.app.change(range=span)
    await screen.settle()
    events, called = f"{sum(map(within, trace.events.values()))} events", f"{within(calls)} predictions"
    assert above().startswith(f"{events} · range of 200 ms")
    assert above().endswith(REACHING)
    await screen.press("4")
    few = called.removesuffix(" predictions")
    wide, where = size[0] == 200, "in range" if size[0] == 120 else "range of 200 ms"
    assert above().startswith(f"{called} · range of 200 ms" if wide else f"{few} · {where} · N Neural")
    screen.app.change(filter=EventFilter(kind="prediction"))
    await screen.settle()
    # Beside the signs there is no room for both.
    both = ": events overlapping it, filter: prediction · N Neural"
    assert (both if wide else ", filter: prediction") in above()
    assert above().startswith(f"{called} · range of 200 ms")
    await screen.press("3")
    assert above().startswith(f"{called.removesuffix(' predictions')} events · range of 200 ms")
    assert above().endswith(", filter: prediction")
    screen.app.change(range=Span(0, 1))
    await screen.press("4")
    await screen.settle()
    assert "No predictions match in this range" in screen.text()
    screen.app.change(range=None, filter=EventFilter(model="Mosaic"))
    await screen.settle()
    count = calls.model.is_any("Mosaic").sum()
    told = {80: f"{count} · filter: Mosaic", 120: f"{count} · filtered", 200: f"{count} predictions · filter: Mosaic"}
    assert above().startswith(f"{told[size[0]]} · N Neural Engine")


@pytest.mark.sweep
@pytest.mark.turns(2)
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.view("style_transfer_reload", "style_transfer_fixed")
async def test_what_range_and_filter_leave_as_it_is_says_so(screen, size):
    def above() -> str:
        return screen.app.browse.pane.query_one(Static).render().plain

    # The findings of both, which no range narrows, are the way to compare after the counts.
    screen.app.change(measure=None)
    for key in "158":
        await screen.press(key)
        assert not above().startswith(("not filtered", "whole"))
    assert "(all)" not in screen.text()
    found = len(screen.state.session.report.results)
    screen.app.change(filter=EventFilter(model="Mosaic"))
    for key in "158":
        await screen.press(key)
        assert above().startswith("not filtered · ")
        assert len(above()) > len("not filtered · ") + 10
    # One overview for each recording.
    assert screen.text().count("(all)") == 2
    assert len(screen.state.session.report.results) == found
    screen.app.change(range=Span(0, 10**9))
    await screen.press("1")
    assert above().startswith("whole recording, not filtered · ")
    screen.app.change(filter=EventFilter())
    await screen.press("1")
    assert above().startswith("whole recording · ")


@pytest.mark.sweep
@pytest.mark.view("local_chat", size=(120, 40))
async def test_phases_are_listed_and_filtered_and_fade_as_events_do(screen):
    phases = screen.state.session.trace.phases
    (lane,) = [lane.id for lane in screen.app.browse.query_one(Timeline).renderer.lanes.lanes if lane.title == "Prompt"]
    await screen.press("3")
    assert f"{len(phases)} events" in screen.text()
    prompts = int(phases.phase.is_any("prompt").sum())
    await screen.press("slash")
    await screen.answer("kind:prompt")
    assert f"{prompts} events · whole recording, filter: prompt" in screen.text()
    assert Category.FADED not in categories(screen, lane)
    await screen.press("slash")
    await screen.answer("kind:sampling")
    assert set(categories(screen, lane)) <= {-1, Category.FADED}
    # Statistics are of Core ML and hardware.
    await screen.press("c", "2", "Z")
    assert "No Core ML or hardware events in this recording; 6 has its language models." in screen.text()
