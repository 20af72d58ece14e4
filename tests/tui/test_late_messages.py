"""Messages that arrive when another recording, or another list, is on screen."""

from __future__ import annotations

from threading import Event

import numpy as np
import pytest

from tracekit.tui.app import ACTIONS_BY_ID
from tracekit.tui.detail.columns import ListColumn, column_widths, model_column
from tracekit.tui.detail.events import EventsPane
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.messages import RangeSelected, ViewMoved
from tracekit.tui.state import NOTHING
from tracekit.tui.viewport import Span, Viewport


def held_list(monkeypatch) -> Event:
    """From here on no list of events is made until this is set."""
    made, make = Event(), EventsPane.make

    def held(pane: EventsPane, state):
        assert made.wait(10)
        return make(pane, state)

    monkeypatch.setattr(EventsPane, "make", held)
    return made


@pytest.mark.view("sharpen_8bit", "style_transfer_reload")
async def test_a_late_message_is_about_the_recording_that_it_came_from(screen):
    app = screen.app
    await screen.press("3")
    listed = app.browse.pane.focus_target()
    listed.go(3)
    app.switch_recording(1)
    await screen.wait()
    # By now the list has as many rows of the other recording.
    assert len(listed.rows) > 3
    assert screen.state.selection == NOTHING

    app.switch_recording(0)
    view, span = Viewport(600_000_000, 100_000_000), Span(620_000_000, 1_000_000)
    app.post_message(ViewMoved(view, 0))
    app.post_message(RangeSelected(span, 0))
    app.switch_recording(1)
    await screen.wait()
    ahead = screen.state.origins[1] - screen.state.origins[0]
    assert ahead != 0
    assert screen.state.view == view.moved(ahead)
    assert screen.state.range == span.moved(ahead)


@pytest.mark.sweep
@pytest.mark.view("sharpen_8bit", "sharpen_float16")
async def test_the_title_of_a_column_that_is_no_longer_listed_sorts_nothing(screen):
    await screen.press("8")
    pane = screen.app.browse.pane
    gone = pane.focus_target().rows.columns[-1]
    assert gone.title == "ratio"
    await screen.press("u", "u", "u", "u")
    pane.sort_by_title(gone)
    await screen.wait()
    assert "compare" not in screen.state.sorts


@pytest.mark.sweep
async def test_a_search_for_commands_ends_with_its_screen(screen):
    ACTIONS_BY_ID["palette"].run(screen.app)
    await screen.pilot.pause()
    palette = screen.app.screen
    search = palette._gather_commands("zoom")
    palette._start_no_matches_countdown("zoom")
    palette.dismiss()
    assert search.is_cancelled
    assert palette._no_matches_timer is None


async def test_keys_typed_before_a_list_is_made_move_in_it(screen, monkeypatch):
    made = held_list(monkeypatch)
    for key in ("3", "C", "escape", "o", "y", "down", "down", "up", "down", "enter"):
        screen.app.simulate_key(key)
        await screen.pilot.pause()
    assert screen.state.selection == NOTHING
    made.set()
    await screen.wait()
    listed = screen.app.browse.pane.focus_target()
    assert listed.cursor == 2
    assert screen.state.selection.event == listed.rows.ref(2)
    # Enter zooms to it.
    assert screen.state.view != screen.state.bounds


@pytest.mark.sweep
async def test_keys_typed_while_a_list_is_made_again_move_in_the_new_one(screen, monkeypatch):
    await screen.press("3")
    listed = screen.app.browse.pane.focus_target()
    before = listed.rows
    made = held_list(monkeypatch)
    for key in ("O", "down", "down", "up", "down"):
        screen.app.simulate_key(key)
        await screen.pilot.pause()
    await screen.pilot.click(RowList, offset=(5, 6))
    assert screen.state.selection == NOTHING
    made.set()
    await screen.wait()
    assert listed.rows is not before
    assert listed.cursor == 2
    assert screen.state.selection.event == listed.rows.ref(2) != before.ref(2)


async def type_at_once(screen, *keys: str) -> None:
    for key in keys:
        screen.app.simulate_key(key)
    await screen.settle()


def predictions_of(screen):
    activity = screen.state.session.trace.activity
    return activity.where(activity.kind.is_any("prediction"))


@pytest.mark.sweep
async def test_keys_typed_at_once_sort_a_list_before_they_open_its_row(screen):
    called = predictions_of(screen)
    fastest = called.duration_ns.argmin()
    assert fastest
    await type_at_once(screen, "4", "O", "home", "enter")
    assert screen.state.selection.prediction == called.id[fastest]
    start, length = called.start_ns[fastest], called.duration_ns[fastest]
    assert screen.state.view.start_ns <= start < start + length <= screen.state.view.end_ns
    assert screen.state.view.span_ns < 2 * length
    await type_at_once(screen, "O", "home", "enter")
    chosen = screen.state.session.trace.activity.duration_ns[screen.state.selection.prediction]
    assert chosen == called.duration_ns.max()


@pytest.mark.sweep
@pytest.mark.parametrize("key", ["W", "V", "f"])
async def test_a_key_about_a_row_waits_for_the_row_that_was_gone_to(screen, key):
    called = predictions_of(screen)
    third = np.argsort(-called.duration_ns, kind="stable")[2]
    await type_at_once(screen, "4", "down", "down", key)
    start, length = called.start_ns[third], called.duration_ns[third]
    assert screen.state.selection.prediction == called.id[third]
    shown = screen.state.range if key == "V" else screen.state.view
    assert shown.start_ns <= start < start + length <= shown.end_ns
    assert shown.span_ns < 2 * length
    assert (screen.state.selection.waits is not None) == (key == "W")


@pytest.mark.sweep
async def test_a_key_waits_for_a_row_that_the_cursor_is_on_already(screen):
    """Of a range, the list has one row; nothing is selected before."""
    called = predictions_of(screen)
    third = called.id[np.argsort(-called.duration_ns, kind="stable")[2]]
    await screen.press("4", "down", "down", "V", "1")
    for keys in (("4", "home", "down", "down", "W"), ("home", "home", "W")):
        await type_at_once(screen, *keys)
        assert (screen.state.selection.prediction, screen.state.selection.waits is None) == (third, False)


def test_a_name_is_cut_alike_in_all_lists_that_have_room():
    long = "x" * 22
    columns = {
        width: column_widths([ListColumn("start", str, width=11), model_column(["short", long], str)], width)
        for width in (60, 30)
    }
    assert columns == {60: [11, 22], 30: [11, 16]}
    assert column_widths([ListColumn("start", str, width=11), model_column(["short", None], str)], 60) == [11, 6]
    assert column_widths([ListColumn("start", str, width=11), model_column(["x" * 40], str)], 60) == [11, 24]
