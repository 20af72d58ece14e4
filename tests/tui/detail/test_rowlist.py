"""Keys in a list, and the columns that it shows."""

from __future__ import annotations

import pytest
from textual import events

from support.lists import listed
from tracekit.tui.detail.events import PredictionsPane
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.state import EventRef, Selection


async def burst(screen, *keys: str) -> None:
    for key in keys:
        screen.app.post_message(events.Key(key, "." if key == "full_stop" else None))
    await screen.settle()


@pytest.mark.sweep
async def test_no_key_of_a_burst_is_lost(screen):
    await burst(screen, *["full_stop"] * 5)
    assert screen.state.selection.finding.evidence == 4
    for pane in "13":
        await screen.press(pane, "home")
        rows = screen.app.focused
        await burst(screen, "down", "down", "down", "up", "down")
        assert rows.cursor == 3
        await burst(screen, "up", "up", "down", "down")
        assert rows.cursor == 3
        assert rows._ahead == []
        await burst(screen, "pagedown", "pagedown")
        assert rows.cursor == min(3 + 2 * rows.page, len(rows.rows) - 1)
    # What is chosen elsewhere moves the cursor after keys did.
    await screen.press("4", "home", "down", "down")
    rows = screen.app.focused
    assert rows.cursor == 2
    screen.app.select(Selection(event=EventRef("activity", rows.rows.index(7))))
    await screen.settle()
    assert rows.cursor == 7


async def test_the_cursor_stays_in_sight_at_both_ends_of_a_page(screen):
    await screen.press("3", "home")
    rows = screen.app.focused
    for row, first in ((rows.page - 1, 0), (rows.page, 1), (1, 1), (0, 0)):
        rows.go(row)
        await screen.wait()
        assert (rows.cursor, rows.scroll_offset.y) == (row, first)


async def test_enter_in_a_burst_opens_the_row_that_was_reached(screen):
    await screen.press("3")
    await burst(screen, "1", "home", "down", "down", "enter")
    assert screen.state.opened == screen.state.session.report.results.index(
        [check for check in screen.state.session.report.results if check.outcome == "finding"][2]
    )


async def test_columns_can_be_hidden_and_stay_so(screen):
    await screen.press("4", "C")
    await screen.press("space", "down", "down", "space", "escape")
    assert screen.state.hidden == {("predictions", "start"), ("predictions", "model")}
    shown = [entry.title for entry in listed(screen, PredictionsPane).visible_columns()]
    assert "start" not in shown
    assert "model" not in shown
    assert "duration" in shown
    await screen.press("2", "4")
    assert [entry.title for entry in listed(screen, PredictionsPane).visible_columns()] == shown
    await screen.press("6", "C")
    assert "No columns to choose" in screen.text()
    # The last one cannot be hidden.
    screen.app.change(hidden=frozenset())
    await screen.press("4", "C", *["space", "down"] * 6, "escape")
    assert screen.state.hidden == frozenset()
    assert "At least one column must stay" in screen.text()


@pytest.mark.sweep
@pytest.mark.view("sharpen_8bit")
async def test_what_was_selected_while_a_list_was_hidden_has_its_cursor(screen):
    await screen.press("4", "home")
    rows = screen.app.focused
    await burst(screen, "down", "down", "down", "1")
    screen.app.select(Selection(event=EventRef("activity", rows.rows.index(2))))
    await screen.settle()
    await screen.press("4")
    assert rows.cursor == 2


@pytest.mark.view(size=(80, 24))
@pytest.mark.parametrize("pane", ["4", "6", "I"])
async def test_lists_and_texts_move_as_in_less_and_vim(screen, pane):
    await screen.press("4", pane)
    shown = screen.app.focused
    last = len(shown.rows) - 1 if isinstance(shown, RowList) else shown.max_scroll_y
    half = shown.page // 2
    assert last > 2 * half
    for key, place in (("G", last), ("ctrl+u", last - half), ("g", 0), ("ctrl+d", half), ("j", half + 1), ("k", half)):
        await screen.press(key)
        assert (shown.cursor if isinstance(shown, RowList) else shown.scroll_y) == place, key
    # What g is elsewhere, colon is everywhere.
    await screen.press("colon")
    assert "Go to time" in screen.text()
