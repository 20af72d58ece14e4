"""While a recording is read: how far it has come, and what is done meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from tracekit.recording.progress import Progress
from tracekit.tui.app import ViewApp
from tracekit.tui.inspector import Inspector
from tracekit.tui.opening import Viewed
from tracekit.tui.screens.help import HelpScreen
from tracekit.tui.screens.small import OpeningScreen, progress_text


@pytest.mark.parametrize(
    ("done", "total", "first"),
    [
        (0, 200, "░" * 40 + "  0%"),
        (100, 200, "█" * 20 + "░" * 20 + "  50%"),
        (199, 200, "█" * 39 + "░" + "  99%"),
        (200, 200, "█" * 40 + "  100%"),
        (12_345_678, None, "12.3 MB read"),
        (5, 0, "0.0 MB read"),
    ],
)
def test_the_bar_shows_the_share_that_is_read(done, total, first):
    assert progress_text(Progress(done, total, "a.xml"), 72).split("\n") == [first, "", "a.xml"]


def test_names_of_files_are_cut_and_cannot_steer_the_terminal():
    name = progress_text(Progress(1, 2, "\x1b[2J" + "n" * 200), 72).split("\n")[2]
    assert len(name) == 72
    assert "\x1b" not in name


def test_the_bar_and_its_share_fit_into_narrow_terminals():
    assert progress_text(Progress(1, 2, "a.xml"), 17).split("\n")[0] == "█████░░░░░░  50%"


@pytest.mark.parametrize(
    "size", [(44, 12), *(pytest.param(size, marks=pytest.mark.sweep) for size in ((80, 24), (200, 50)))]
)
@pytest.mark.view(wait=False)
async def test_the_screen_shows_progress_and_how_to_give_up(screen, size, held_reading):
    while "75%" not in screen.text():
        await screen.pilot.pause()
    assert isinstance(screen.app.screen, OpeningScreen)
    text = screen.text()
    assert "Opening" in text
    assert "signposts" in text
    assert "q cancels" in text
    held_reading.set()
    await screen.settle()


@pytest.mark.sweep
@pytest.mark.view(wait=False)
async def test_help_that_is_read_meanwhile_stays_and_leads_to_the_lanes(screen, held_reading):
    await screen.pilot.press("question_mark", *["down"] * 7)
    await screen.pilot.pause()
    assert isinstance(screen.app.screen, HelpScreen)
    first_line = screen.app.screen.first_line
    assert first_line > 0
    held_reading.set()
    await screen.settle()
    assert isinstance(screen.app.screen, HelpScreen)
    assert screen.app.screen.first_line == first_line
    await screen.press("escape")
    assert screen.app.screen is screen.app.browse
    await screen.press("n")
    assert screen.state.selection.event is not None


@pytest.mark.sweep
@pytest.mark.parametrize(("before", "after"), [(160, 90), (90, 160)])
def test_a_size_that_changes_meanwhile_is_the_one_to_begin_with(before, after, run_view, held_reading, reload_sample):
    async def test(screen) -> None:
        await screen.pilot.resize_terminal(after, 40)
        held_reading.set()
        await screen.settle()
        shown = {width: width >= 110 for width in (before, after)}
        for width in (after, before, after):
            await screen.pilot.resize_terminal(width, 40)
            await screen.settle()
            assert screen.app.browse.query_one(Inspector).display == shown[width], width
            assert screen.app.browse.query_one("#detail").display

    run_view(test, reload_sample, size=(before, 40), wait=False)


@pytest.mark.usefixtures("run_view")
def test_the_first_picture_is_told_once_when_lanes_are_on_screen(reload_sample):
    pictures = []

    async def main() -> None:
        app = ViewApp(
            Viewed((str(reload_sample),)), at_first_picture=lambda: pictures.append((app.is_open, app.screen))
        )
        async with app.run_test(size=(80, 24)) as pilot:
            while not pictures:
                await pilot.pause()
            await app.workers.wait_for_complete()
            await pilot.press("n", "t")
            await app.workers.wait_for_complete()
            assert pictures == [(True, app.browse)]

    asyncio.run(asyncio.wait_for(main(), 30))


@pytest.mark.view(size=(80, 24))
async def test_what_is_typed_searches_the_keys(screen):
    cases = (
        (("Z",), "Maximize the focused part", "Zoom in"),
        (("c", "o", "p", "y", "space", "f", "i", "n"), "Copy the finding", "Copy the row"),
        (("w", "h", "e", "e", "l"), "Zoom at the pointer", "Move and zoom"),
        (("x", "y", "z"), "No key for “xyz”.", "Mouse"),
    )
    for keys, there, absent in cases:
        await screen.press("question_mark")
        assert "Zoom in 2x" in screen.text()
        await screen.press(*keys)
        assert there in screen.text()
        assert absent not in screen.text()
        await screen.press("question_mark")
        assert screen.app.screen is screen.app.browse
