"""Using the app with keys and mouse, on the sample recordings."""

from __future__ import annotations

import numpy as np
import pytest

from tracekit.lanes.lanes import Grouping
from tracekit.tui.screens.help import HelpScreen
from tracekit.tui.screens.small import TroubleScreen
from tracekit.tui.state import EventRef
from tracekit.tui.theme import DARK, LIGHT
from tracekit.tui.timeline.widget import Timeline
from tracekit.tui.viewport import column_of


async def test_zooming_panning_and_going_back(screen):
    whole = screen.state.view
    await screen.press("w")
    assert screen.state.view.span_ns == pytest.approx(whole.span_ns / 2, rel=0.001)
    zoomed = screen.state.view
    await screen.press("d")
    assert screen.state.view.start_ns == pytest.approx(zoomed.start_ns + zoomed.span_ns / 4, rel=0.001)
    await screen.press("a")
    assert screen.state.view == zoomed
    await screen.press("s")
    assert screen.state.view == whole
    await screen.press("w", "w", "0")
    assert screen.state.view == whole
    await screen.press("left_square_bracket")
    assert screen.state.view.span_ns == pytest.approx(whole.span_ns / 4, rel=0.001)
    await screen.press("right_square_bracket")
    assert screen.state.view == whole
    # After going back a step is the first of others.
    await screen.press("w", "d", "0", "w", "w", "left_square_bracket")
    assert screen.state.view == screen.state.bounds
    await screen.press("w", "w", "left_square_bracket")
    assert screen.state.view == screen.state.bounds
    await screen.press("left_square_bracket")
    assert screen.state.view != screen.state.bounds
    # Moving does not leave the recording.
    await screen.press("0", "a", "s", "left", "h", "w", "w", *["d"] * 14)
    bounds, view = screen.state.bounds, screen.state.view
    assert bounds.start_ns <= view.start_ns
    assert view.end_ns == bounds.end_ns


async def test_walking_through_the_events_of_a_lane(screen):
    activity = screen.state.session.trace.activity
    await screen.press("n")
    assert screen.state.selection.event == EventRef("activity", 0)
    await screen.press("n", "n")
    assert screen.state.selection.event == EventRef("activity", 2)
    assert screen.state.cursor_ns == int(activity.start_ns[2])
    await screen.press("N")
    assert screen.state.selection.event == EventRef("activity", 1)
    await screen.press("e")
    index = screen.state.selection.event.index
    alike = activity.duration_ns[activity.label.is_any(activity.label.item(index))]
    assert activity.duration_ns[index] > np.quantile(alike, 0.95)
    await screen.press("down", "n")
    assert screen.state.selection.event.frame == "data"
    await screen.press("f")
    span = screen.state.session.span(screen.state.selection.event)
    assert screen.state.view.start_ns <= span.start_ns < span.end_ns <= screen.state.view.end_ns
    await screen.press("escape")
    assert screen.state.selection.event is None


@pytest.mark.view("captions_concurrent")
async def test_expanding_a_lane_shows_all_its_rows(screen):
    timeline = screen.app.browse.query_one(Timeline)
    lane = next(lane for lane in timeline.renderer.lanes.lanes if lane.id == "activity")
    assert len(timeline.renderer.tracks(lane)) == 4
    await screen.press("x")
    # The scenario keeps up to eight predictions in flight.
    assert len(timeline.renderer.tracks(lane)) == 8
    await screen.press("x")
    assert len(timeline.renderer.tracks(lane)) == 4


async def test_help_opens_over_everything_and_themes_change_with_a_key(screen):
    assert screen.app.theme == DARK
    await screen.press("T")
    assert screen.app.theme == LIGHT
    await screen.press("T")
    assert screen.app.theme == DARK
    await screen.press("question_mark")
    assert isinstance(screen.app.screen, HelpScreen)
    assert "Next event" in screen.text()
    await screen.press("escape")
    assert screen.app.screen is screen.app.browse


@pytest.mark.sweep
async def test_an_action_is_found_in_the_palette(screen):
    await screen.press("ctrl+p", *"dark theme")
    await screen.pilot.pause(0.3)
    await screen.press("enter")
    assert screen.app.theme == LIGHT


async def test_clicks_select_what_is_under_the_pointer_and_a_tab_shows_its_pane(screen):
    await screen.pilot.click("TabLine", offset=(30, 0))
    await screen.settle()
    assert screen.state.pane == "events"
    screen.app.browse.focus_timeline()
    await screen.press("n", "f", "escape", "escape")
    timeline = screen.app.browse.query_one(Timeline)
    await screen.pilot.click(Timeline, offset=(timeline.renderer.gutter + timeline.renderer.columns // 2, 2))
    await screen.settle()
    assert screen.state.selection.event == EventRef("activity", 0)


@pytest.mark.sweep
@pytest.mark.view(size=(80, 24))
async def test_rows_of_lanes_that_are_out_of_sight_are_announced_at_both_ends(screen):
    def titles() -> list[str]:
        renderer = screen.app.browse.query_one(Timeline).renderer
        shown = screen.text().splitlines()[3 : 3 + renderer.arrangement.visible]
        return [line[: renderer.gutter] for line in shown]

    await screen.press("t", "t")
    # Pinned lanes for which there is no room are among those that scroll, with a row each.
    scrolled = screen.app.browse.query_one(Timeline).renderer.arrangement.first_of_lane
    lanes = [screen.app.lanes.lanes[at] for at in sorted(scrolled)]
    assert [lane.id for lane in lanes if lane.pinned] == ["mps", "command_buffers", "main thread"]
    rows = sum(1 if lane.pinned else len(lane.tracks) for lane in lanes)
    shown = titles()
    # A heading, and three rows of lanes.
    assert len(shown) == 4
    assert f" ▾{rows - 3} " in shown[-1]
    assert "▾" not in "".join(shown[:-1])
    assert "▴" not in "".join(shown)
    screen.app.change(lane=lanes[-1].id)
    await screen.settle()
    assert "▴" in titles()[0]
    assert "▾" not in "".join(titles())
    screen.app.change(lane=lanes[0].id)
    await screen.settle()
    # The name of the model, too, is in sight again.
    assert titles() == shown


def test_without_colors_categories_are_letters_and_range_and_filter_are_told_by_signs(
    run_view, reload_sample, monkeypatch
):
    monkeypatch.setenv("NO_COLOR", "1")

    async def test(screen) -> None:
        assert screen.app.no_color
        await screen.press("n", "n", "f")
        assert "[Prediction · WatercolorPP" in screen.text()
        await screen.press("escape", "0", "N", "N", "escape")
        assert "·[" not in screen.text()
        await screen.press("n", "n", "v", *["n"] * 5, "v", "f", "n")
        axis = screen.text().splitlines()[2]
        timeline = screen.app.browse.query_one(Timeline)
        span, view, columns = screen.state.range, screen.state.view, timeline.renderer.columns
        first, last = (
            timeline.renderer.gutter + column_of(view, columns, time) for time in (span.start_ns, span.end_ns - 1)
        )
        assert (axis[first], axis[last]) == ("[", "]")
        assert "=" in axis[first:last]
        assert "=" not in axis[:first] + axis[last:]
        await screen.press("escape", "slash")
        await screen.answer("kind:prediction")
        activity = next(line for line in screen.text().splitlines() if "Activity" in line)
        assert "·" in activity
        assert not set("lL") & set(activity[timeline.renderer.gutter :])

    run_view(test, reload_sample)


@pytest.mark.view("not_instrumented")
async def test_a_recording_that_cannot_be_judged_opens_and_says_why(screen):
    assert screen.state.pane == "facts"
    text = " ".join(screen.text().split())
    assert "Inconclusive: the Core ML instrument recorded no events" in text
    # In the first line and in the pane, which has all of the width.
    assert screen.text().count("Inconclusive") == 2
    assert "Nothing selected" not in text
    assert "recorded, no events" in text
    # A pane that was chosen before the report came stays.
    await screen.press("4")
    screen.app.show_report(0, screen.state.session, {}, ())
    assert screen.state.pane == "predictions"


@pytest.mark.view("local_chat")
async def test_a_recording_without_checks_opens_on_what_ran(screen):
    assert screen.state.pane == "facts"
    text = " ".join(screen.text().split())
    assert "Core AI language model ran 3 requests" in text
    assert "generated tokens/s 64.6" in text
    # Nowhere the first of the checks that were not evaluated.
    assert "not evaluated" not in text
    # Without predictions nobody is told to ask why one was slow.
    assert "Why slow" not in screen.text()
    await screen.press("n", "W")
    assert "No predictions in this recording: W explains those of Core ML." in screen.text()
    await screen.press("3")
    assert "Copy row" in screen.text()
    # An empty list has neither titles nor rows to copy or to open.
    for key, absent in (("4", "0 predictions"), ("5", "0 models"), ("5", "load mean")):
        await screen.press(key)
        assert absent not in screen.text()
        assert not any(words in screen.text().splitlines()[-1] for words in ("enter", "Copy row"))
    assert "No Core ML models in this recording; 6 has its language models." in screen.text()


def test_what_cannot_be_opened_is_explained(run_view, tmp_path):
    async def test(screen) -> None:
        assert isinstance(screen.app.screen, TroubleScreen)
        assert str(tmp_path / "no.trace") in screen.app.failure
        assert "Can't open this recording" in screen.text()
        # No other command can read it either.
        assert "tracekit export" not in screen.text()
        # Only what needs no recording is possible here.
        await screen.press("w", "t", "question_mark")
        assert isinstance(screen.app.screen, HelpScreen)

    run_view(test, tmp_path / "no.trace")


@pytest.mark.view(wait=False)
async def test_giving_up_while_reading_ends_the_program(screen, held_reading):
    await screen.pilot.press("q")
    await screen.pilot.pause()
    assert screen.app._exit
    held_reading.set()


async def test_a_recording_opens_with_all_of_it_in_view_and_marks_evidence_however_lanes_are_grouped(screen):
    assert screen.state.view == screen.state.bounds
    assert screen.state.session.report.summary.findings == 1
    text = screen.text()
    assert "style_transfer_reload.trace · StyleCam · 16.5 s" in text
    # Keys take one line.
    assert sum(" zoom" in line.casefold() for line in text.splitlines()) == 1
    assert "W Why slow" in text
    assert "Thermal" in text
    assert "not recorded" in text
    marked = screen.app.lanes.evidence
    checks = screen.state.session.report.results
    # Of each finding all intervals, while the report lists the 50 longest.
    assert [check.evidence_total for check in checks if check.outcome == "finding"] == [80, 83, 69, 60, 76]
    assert {name: int(mask.sum()) for name, mask in marked.items()} == {"activity": 80 + 83 + 69 + 60 + 76}
    lanes = [lane.id for lane in screen.app.lanes.lanes]
    await screen.press("n")
    for grouping, lane in ((Grouping.EVENTS, "activity/Load (cached)"), (Grouping.MODELS, "Watercolor/activity")):
        await screen.press("t")
        assert (screen.state.grouping, screen.state.lane) == (grouping, lane)
        assert [lane.id for lane in screen.app.lanes.lanes] != lanes
        assert screen.app.lanes.evidence is marked
    await screen.press("t")
    assert screen.state.grouping is Grouping.LANES
    assert [lane.id for lane in screen.app.lanes.lanes] == lanes
    assert screen.state.selection.event == EventRef("activity", 0)
