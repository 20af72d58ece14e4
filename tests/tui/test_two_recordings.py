"""Two recordings side by side, with keys and mouse."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tracekit.analysis.comparison import Measure
from tracekit.api import judge
from tracekit.comparison.latency import Answer
from tracekit.comparison.models import Pair
from tracekit.render.blocks import Role
from tracekit.request import request_of
from tracekit.trace.filter import EVENT_FRAMES, everything, narrow, only_range
from tracekit.tui.detail.compare import ComparePane
from tracekit.tui.opening import calls_of
from tracekit.tui.ranges import passing
from tracekit.tui.screens.title import change_words, title_line
from tracekit.tui.state import EventFilter
from tracekit.tui.theme import palette_of
from tracekit.tui.timeline.layout import Line
from tracekit.tui.timeline.widget import Timeline
from tracekit.tui.viewport import Span, column_of


@pytest.mark.view("style_transfer_reload", "style_transfer_fixed", size=(120, 60))
async def test_two_recordings_share_scale_and_cursor_and_strips_of_one_model(screen):
    timelines = list(screen.app.browse.query(Timeline))
    assert len(timelines) == 2
    # A step beyond the latency, which is the last way to compare, are the findings.
    await screen.press(*["u"] * 5)
    # In the list and in the inspector.
    assert screen.text().count("reload-before-predict") == 2
    assert "5 models" in screen.text()
    assert "1 finding fixed" in screen.text().splitlines()[0]
    await screen.press("enter")
    assert screen.state.pane == "findings"
    # Comparing by something else puts the keys on the list.
    await screen.press("3", "u")
    assert screen.state.pane == "compare"
    await screen.press("down")
    assert screen.app.focused.cursor == 1
    await screen.press("w", "w")
    assert " → " in screen.text()
    rulers = [timeline.renderer.line(1) for timeline in timelines]
    assert [segment.text for segment in rulers[0]] == [segment.text for segment in rulers[1]]
    await screen.press("0", "5", "down")
    for timeline in timelines:
        assert timeline.renderer.model == screen.state.selection.model is not None
        # Each of the five models runs for less than a quarter of the time.
        assert 0 < (timeline.renderer.values_of(Line.IN_FLIGHT) > 0).mean() < 0.25


@pytest.mark.sweep
@pytest.mark.view("style_transfer_reload", "captions_concurrent", size=(120, 60))
async def test_strips_of_two_recordings_have_one_scale(screen):
    renderers = [timeline.renderer for timeline in screen.app.browse.query(Timeline)]
    for strip, scale in ((Line.IN_FLIGHT, "max 8"), (Line.LATENCY, "97.5 ms")):
        tops = []
        for renderer in renderers:
            lines = [y for y, line in enumerate(renderer.arrangement.lines) if (line.line, line.part) == (strip, 0)]
            title, *cells = renderer.line(lines[0])
            assert scale in title.text
            tops.append("█" in "".join(cell.text for cell in cells))
        # Only the recording with the largest value fills the height.
        assert tops == [False, True]


@pytest.mark.view("sharpen_8bit", "style_transfer_reload")
async def test_first_predictions_are_put_under_one_another(screen):
    firsts = [session.first_prediction_ns for session in screen.state.sessions]
    assert firsts[0] != firsts[1]
    whole = screen.state.bounds
    assert screen.state.view == whole
    renderers = [timeline.renderer for timeline in screen.app.browse.query(Timeline)]
    state = screen.state
    columns = [
        column_of(state.with_active(at).view, renderer.columns, firsts[at]) for at, renderer in enumerate(renderers)
    ]
    assert columns[0] == columns[1]
    assert "╱" in screen.text()
    await screen.press("A")
    assert screen.state.view == screen.state.bounds != whole
    await screen.press("A")
    assert screen.state.view == screen.state.bounds == whole


@pytest.mark.view("style_transfer_reload", "sharpen_8bit")
async def test_the_other_recording_takes_over_keys_and_detail(screen):
    await screen.press("n", "w", "w")
    view = screen.state.view
    await screen.press("z")
    state = screen.state
    assert state.session.name == "sharpen_8bit.trace"
    assert state.selection.event is None
    firsts = [session.first_prediction_ns for session in state.sessions]
    assert state.view.start_ns - view.start_ns == firsts[1] - firsts[0]
    await screen.press("n")
    assert screen.state.selection.event.frame == "activity"
    span = screen.state.session.span(screen.state.selection.event)
    assert screen.state.view.start_ns <= span.start_ns < screen.state.view.end_ns
    await screen.press("z")
    assert screen.state.active == 0
    # The wheel over one recording moves both.
    second = list(screen.app.browse.query(Timeline))[1]
    before = screen.state.view
    second._look(second._state.view.moved(1_000_000))
    await screen.settle()
    assert screen.state.active == 0
    assert screen.state.view == before.moved(1_000_000)


async def test_one_recording_has_nothing_to_compare_with(screen):
    for key in "8uzA":
        await screen.press("0")
        assert "Only one recording is open" not in screen.text()
        before = screen.state
        await screen.press(key)
        assert screen.state == before
        assert "Only one recording is open" in screen.text(), key


@pytest.mark.sweep
@pytest.mark.view("style_transfer_reload", "style_transfer_fixed")
async def test_a_comparison_without_events_says_so_of_both(screen):
    emptied = []
    for session in screen.state.sessions:
        whole = session.trace
        trace = narrow(whole, only_range(everything(whole), whole, -2, -1))
        report = judge(trace, request_of(only=["reload-before-predict"]))
        emptied.append(replace(session, trace=trace, report=report, calls=calls_of(trace)))
    pane = screen.app.browse.query_one(ComparePane)
    filtered = replace(screen.state, measure=Measure.MEAN, filter=EventFilter(text="x"))
    assert pane.make(filtered).empty == "No events match; c clears the filter."
    bare = replace(filtered, sessions=tuple(emptied))
    assert pane.make(bare).empty.startswith("No Core ML or hardware events in either recording")


@pytest.mark.sweep
@pytest.mark.view("style_transfer_reload", "style_transfer_fixed")
async def test_a_row_of_a_comparison_leads_to_the_events_that_it_counts(screen):
    screen.app.change(filter=EventFilter(min_ns=15_000_000))
    await screen.press("8", "u")
    pane = screen.app.browse.query_one(ComparePane)
    rows = pane.make(replace(screen.state, measure=Measure.COUNT))
    pane.state = screen.state
    checked = 0
    for place, row in enumerate(rows.records):
        if row.before is None or row.warm:
            continue
        chosen = pane.open_message(rows, place).fields["filter"]
        trace = screen.state.session.trace
        listed = sum(int(passing(trace, name, chosen, None).sum()) for name in EVENT_FRAMES)
        assert listed == row.before.count, row
        checked += 1
    assert checked > 4


@pytest.mark.view("style_transfer_reload", "style_transfer_fixed")
async def test_the_first_line_says_the_loads_where_no_latency_changed_for_certain(screen):
    # As the samples were made: 81 loads before as many predictions, and one.
    assert "  Loads of Pointillism 81 → 1 (1.47 s → 17.5 ms); 1 finding fixed" in screen.text().splitlines()[0]
    title = title_line(screen.state, 120, palette_of(screen.app.current_theme))
    assert palette_of(screen.app.current_theme).better in [str(span.style) for span in title.spans]
    comparison = screen.state.comparison
    (mosaic,) = [model for model in comparison.models if model.name == "Mosaic"]

    def told(**fields: object) -> tuple[str, Answer] | None:
        return change_words(replace(comparison, models=(replace(mosaic, **fields),)))

    # Twice as many loads in a recording with twice as many predictions are no change.
    twice = {"loads": Pair(10, 20), "predictions": Pair(100, 200)}
    assert told(**twice) == ("Prediction 6.97 → 6.97 ms (0.0%, unchanged)", Answer.UNCHANGED)
    assert told(loads=Pair(None, 1))[1] is Answer.UNCHANGED
    assert told(loads=Pair(1, 2), load_ns=Pair(2e6, 4e6)) == ("Loads 1 → 2 (2.00 → 4.00 ms)", Answer.REGRESSED)
    # What the comparison is sure of comes before the loads.
    slower = replace(mosaic.p95, before_ns=8e6, after_ns=10e6, ratio=1.25, answer=Answer.REGRESSED)
    assert told(p95=slower) == ("Prediction p95 8.00 → 10.0 ms (+25%, regressed)", Answer.REGRESSED)
    assert told(p95=slower, latency=replace(slower, after_ns=9.6e6, ratio=1.2))[0].startswith("Prediction 8.00")


@pytest.mark.view("sharpen_8bit", "sharpen_float16")
async def test_two_recordings_open_on_means_with_what_changed_in_the_first_line(screen):
    assert (screen.state.pane, screen.state.measure) == ("compare", "mean")
    # The medians of the warm predictions of both samples, as they were made.
    assert "Prediction 12.4 → 8.68 ms (−30%, improved); 1 finding fixed" in screen.text().splitlines()[0]
    title = title_line(screen.state, 120, palette_of(screen.app.current_theme))
    assert palette_of(screen.app.current_theme).better in [str(span.style) for span in title.spans]
    rows = screen.app.browse.pane.focus_target().rows
    named = [row.model is not None for row in rows.records if row.change(Measure.MEAN).difference is not None]
    assert named == sorted(named, reverse=True)
    assert not all(named)
    cells = {row.label: rows.columns[-1].text(row) for row in rows.records}
    assert cells["Prediction"].role is Role.GOOD
    assert cells["Neural Engine execution"].role is Role.BAD
    # 91 ms and 94 ms, and few of them.
    assert cells["Load (cached)"].role is Role.PLAIN


@pytest.mark.sweep
@pytest.mark.view("style_transfer_reload", "style_transfer_fixed", size=(120, 40))
async def test_a_row_of_numbers_in_a_range_is_inspected(screen):
    bounds = screen.state.bounds
    screen.app.change(range=Span(bounds.start_ns, bounds.start_ns + bounds.span_ns // 2))
    await screen.settle()
    await screen.press("8", "down")
    row = screen.state.selection.row or screen.state.selection.elsewhere.row
    counted = (row.source.warm if row.warm else row.source.statistics).count
    everything = {line.label: line.statistics.count for line in screen.state.session.report.aggregation}
    assert 0 < counted < everything[row.source.label]
    assert "Nothing selected" not in screen.text()
