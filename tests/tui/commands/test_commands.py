"""Events as the end of a walk, measuring and bookmarks, with keys."""

from __future__ import annotations

from threading import Event

import numpy as np
import pytest

from tracekit.trace.events import Attribution
from tracekit.tui.action_line import KeysFooter
from tracekit.tui.inspection.event import ATTRIBUTION_WORDS
from tracekit.tui.messages import in_background
from tracekit.tui.screens.small import ChooseScreen
from tracekit.tui.state import NOTHING, Bookmark, EventRef, FindingRef, Selection
from tracekit.tui.viewport import Span

NO_EVENT = "No event selected; press n or click one."


async def test_what_needs_an_event_says_that_none_is_selected(screen):
    for before, key in (("0", "F"), ("1", "P"), ("down", "V")):
        await screen.press(before)
        assert NO_EVENT not in screen.text()
        await screen.press(key)
        assert screen.state.selection.event is None
        assert NO_EVENT in screen.text(), key


@pytest.mark.view(size=(200, 50))
async def test_an_event_leads_to_its_prediction(screen):
    trace = screen.state.session.trace
    within = np.flatnonzero(trace.hardware.prediction.known)
    index = int(within[len(within) // 2])
    screen.app.select(Selection(event=EventRef("hardware", index)))
    await screen.press("P")
    prediction = trace.hardware.prediction.item(index)
    assert screen.state.selection.prediction == prediction
    assert "Where its time went" in screen.text()
    span = screen.state.session.span(EventRef("activity", prediction))
    assert screen.state.view.span_ns == pytest.approx(span.span_ns * 1.2, rel=0.01)
    loads = np.flatnonzero(trace.activity.kind.is_any("load_cached"))
    screen.app.select(Selection(event=EventRef("activity", int(loads[0]))))
    await screen.press("P")
    assert "does not belong to a known prediction" in screen.text()


@pytest.mark.view(size=(200, 80))
async def test_two_events_are_measured_from_edge_to_edge(screen):
    activity = screen.state.session.trace.activity
    starts, ends = activity.start_ns, activity.ends_ns
    # From the later one back to the first: the order does not matter.
    await screen.press("n", "n", "n", "v", "p", "p", "v")
    assert screen.state.range == Span(int(starts[0]), int(ends[2] - starts[0]))
    assert screen.state.ends == (
        Span(int(starts[0]), int(ends[0] - starts[0])),
        Span(int(starts[2]), int(ends[2] - starts[2])),
    )
    text = " ".join(screen.text().split())
    assert f"({starts[2] - ends[0]:,} ns)" in text
    assert f"({starts[2] - starts[0]:,} ns)" in text
    assert "start – start" in text
    await screen.press("escape")
    assert screen.state.ends is None
    # A cursor beside an event snaps to its edge.
    await screen.press("escape")
    start = int(starts[0])
    screen.app.change(cursor_ns=start - 1_000)
    await screen.press("v")
    assert screen.state.mark == Span(start, 0)
    far = int(activity.start_ns[10])
    screen.app.change(cursor_ns=far - 1_000)
    await screen.press("v")
    assert screen.state.range == Span(start, far - start)


async def test_bookmarks_are_set_listed_visited_and_taken_away(screen):
    await screen.press("B")
    assert "No bookmarks" in screen.text()
    await screen.press("n", "b")
    first = int(screen.state.session.trace.activity.start_ns[0])
    assert screen.state.bookmarks == (Bookmark(first, "Load (cached) · Watercolor"),)
    await screen.press("g")
    await screen.answer("3s")
    await screen.press("b")
    assert [entry.time_ns for entry in screen.state.bookmarks] == [first, 3_000_000_000]
    assert "◇" in screen.text()
    await screen.press("apostrophe")
    assert screen.state.cursor_ns == first
    await screen.press("B")
    assert isinstance(screen.app.screen, ChooseScreen)
    await screen.press("down", "enter")
    assert screen.state.cursor_ns == 3_000_000_000
    await screen.press("b")
    assert [entry.time_ns for entry in screen.state.bookmarks] == [first]


def test_every_attribution_is_said_in_words():
    assert set(ATTRIBUTION_WORDS) == set(Attribution)


@pytest.mark.sweep
async def test_a_result_that_comes_when_the_app_was_left_is_dropped(screen):
    app, held, shown, seen = screen.app, [], [], Event()

    def call_later(show) -> None:
        # A thread waits until the app has called it back.
        held.append(show)
        seen.wait(30)

    app.call_from_thread = call_later
    in_background(app, lambda: "in time", shown.append)
    in_background(app, lambda: "late", shown.append)
    while len(held) < 2:
        await screen.pilot.pause()
    held[0]()
    app.leave()
    held[1]()
    seen.set()
    assert len(shown) == 1


@pytest.mark.sweep
async def test_what_became_of_a_report_is_said_in_the_room_there_is(screen, tmp_path):
    await screen.press("n", "V", "R")
    await screen.answer(str(tmp_path / "range.md"))
    line = screen.text().splitlines()[-2]
    assert line.endswith(("range.md", "private data is redacted."))


@pytest.mark.sweep
@pytest.mark.view("style_transfer_reload", size=(80, 24))
async def test_a_pane_that_is_asked_for_is_seen_where_the_inspector_took_its_place(screen):
    await screen.press("i", "4")
    assert "where the time went" in screen.text() or "latency" in screen.text().lower()
    assert screen.app.focused is screen.app.browse.pane.focus_target()
    assert screen.app.browse.query_one("#detail").display
    # So is one behind a timeline that has the whole screen.
    screen.app.browse.focus_timeline()
    await screen.press("Z", "1")
    assert screen.app.browse.query_one("#lower").display


@pytest.mark.sweep
@pytest.mark.view("captions_concurrent")
async def test_findings_are_inspected_when_they_are_asked_for(screen):
    # The load is evidence of nothing, a prediction of a burst is.
    await screen.press("n", "1")
    assert screen.state.selection == NOTHING
    assert "Too many predictions are in flight" in screen.text().split("severity")[0].splitlines()[-2]
    session = screen.state.session
    finding, rows = next((check, rows["activity"]) for check, rows in enumerate(session.evidence) if rows)
    await screen.press("4")
    screen.app.select(Selection(event=EventRef("activity", int(rows[0])), prediction=int(rows[0])))
    await screen.wait()
    assert any(key.words == "Its finding" for key in screen.app.browse.query_one(KeysFooter).keys)
    await screen.press("1")
    assert screen.state.selection.finding == FindingRef(finding)
    # A lane without events says so.
    assert not len(session.trace.compute)
    for key in ("enter", "n", "E"):
        screen.app.browse.focus_timeline()
        screen.app.change(lane="compute")
        await screen.press("0")
        assert "This lane has no events" not in screen.text()
        await screen.press(key)
        assert "This lane has no events; choose another with ↑ and ↓." in screen.text(), key


@pytest.mark.view("sharpen_8bit")
async def test_the_legend_names_what_is_on_the_lanes_and_leaves_them_in_sight(screen):
    lanes = screen.text().splitlines()[:20]
    await screen.press("L")
    shown = screen.text()
    assert shown.splitlines()[:20] == lanes
    assert all(words in shown for words in ("load (cached)", "prediction", "Neural Engine data copy"))
    # No model is compiled, and nothing is faded.
    assert not any(words in shown for words in ("compilation", "fair", "serious"))
    await screen.press("L")
    assert "Neural Engine data copy" not in screen.text()
