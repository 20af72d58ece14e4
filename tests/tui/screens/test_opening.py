"""How far reading has come."""

from __future__ import annotations

import asyncio

import pytest
from textual.app import App
from textual.widgets import Static

from tracekit.recording.progress import Progress
from tracekit.tui.screens.opening import OpeningScreen, progress_text


@pytest.mark.parametrize(
    ("done", "total", "first"),
    [
        (0, 200, "░" * 40 + "  0 %"),
        (100, 200, "█" * 20 + "░" * 20 + "  50 %"),
        (199, 200, "█" * 39 + "░" + "  99 %"),
        (200, 200, "█" * 40 + "  100 %"),
        (12_345_678, None, "12.3 MB read"),
        (5, 0, "0.0 MB read"),
    ],
)
def test_the_bar_shows_the_share_that_is_read(done, total, first) -> None:
    assert progress_text(Progress(done, total, "a.xml")).split("\n") == [first, "", "a.xml"]


def test_names_of_files_are_cut_and_cannot_steer_the_terminal() -> None:
    name = progress_text(Progress(1, 2, "\x1b[2J" + "n" * 200)).split("\n")[2]
    assert len(name) == 72
    assert "\x1b" not in name


def test_the_screen_shows_progress_and_how_to_give_up() -> None:
    async def main() -> None:
        app: App[None] = App()
        async with app.run_test(size=(80, 24)) as pilot:
            await app.push_screen(OpeningScreen("run.trace"))
            app.screen.tell(Progress(3, 4, "signposts"))
            await pilot.pause()
            text = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
            assert "Opening run.trace" in text
            assert "75 %" in text
            assert "signposts" in text
            assert "q gives up" in text
            assert app.screen.query_one("#progress", Static).size.width == 72

    asyncio.run(main())
