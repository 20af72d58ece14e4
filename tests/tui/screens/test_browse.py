"""The areas of the main screen: which have room, and what the status line says."""

from __future__ import annotations

import re

import pytest
from textual.events import Resize
from textual.geometry import Size

from tracekit.tui.inspector import Inspector
from tracekit.tui.messages import RedrawWanted
from tracekit.tui.screens.browse import BrowseScreen
from tracekit.tui.timeline.layout import Line
from tracekit.tui.timeline.widget import Timeline
from tracekit.units import format_time


@pytest.mark.view(size=(80, 24))
async def test_the_inspector_comes_and_goes_with_the_room_for_it(screen):
    async def resize(width: int) -> bool:
        await screen.pilot.resize_terminal(width, 40)
        await screen.settle()
        return screen.app.browse.query_one(Inspector).display

    assert not screen.state.inspector
    assert await resize(160)
    assert not await resize(90)
    assert await resize(110)
    await screen.press("i")
    assert not await resize(90)
    assert not await resize(160)
    await screen.press("i")
    assert await resize(120)


@pytest.mark.view("not_instrumented", size=(200, 60))
async def test_lines_that_lanes_do_not_need_are_those_of_the_lists(screen):
    timeline, browse = screen.app.browse.query_one(Timeline), screen.app.browse
    assert Line.BLANK not in [line.line for line in timeline.renderer.arrangement.lines]
    few = timeline.size.height
    await screen.press("t")
    assert Line.BLANK not in [line.line for line in timeline.renderer.arrangement.lines]
    assert timeline.size.height != few
    await screen.press("Z")
    assert timeline.size.height > browse.size.height - 5


@pytest.mark.view(size=(80, 24))
async def test_the_inspector_takes_the_place_of_the_detail_where_it_is_narrow(screen):
    assert not screen.state.inspector
    await screen.press("n")
    # Without it the status line names the selection.
    activity = screen.state.session.trace.activity
    assert f" {activity.label.item(0)} · {activity.model.item(0)} · " in screen.text().splitlines()[-2]
    await screen.press("i")
    assert " in view" in screen.text().splitlines()[-2]
    assert "18,363,125 ns" in screen.text()
    assert screen.app.browse.query_one("#detail").display is False
    await screen.press("i")
    assert screen.app.browse.query_one("#detail").display is True
    # The keys stay on the timeline, and go from list to inspector and back.
    assert screen.app.focused.id == "timeline-0"
    await screen.press("4", "i")
    assert screen.app.focused.id == "inspector"
    await screen.press("i", "down")
    assert screen.app.focused is screen.app.browse.pane.focus_target()
    assert screen.app.focused.cursor == 1


@pytest.mark.view(size=(79, 24))
async def test_a_terminal_that_leaves_things_out_says_so_until_the_next_key(screen):
    def status() -> str:
        return screen.text().splitlines()[-2].strip()

    async def resize(*size: int) -> None:
        await screen.pilot.resize_terminal(*size)
        await screen.settle()

    assert status() == "79×24: some content hidden; 80×24 shows all · ? keys"
    await screen.press("w")
    assert " in view" in status()
    for width, height in ((79, 24), (80, 23)):
        await resize(80, 24)
        assert " in view" in status()
        await resize(width, height)
        assert status() == f"{width}×{height}: some content hidden; 80×24 shows all · ? keys"
    # Where it is still less, every key leaves it there.
    told = "80×24 or larger shows everything"
    for size in ((59, 24), (80, 15)):
        await resize(80, 24)
        await screen.press("w")
        assert told not in screen.text()
        await resize(*size)
        assert told in screen.text(), size
        await screen.press("w")
        assert told in screen.text(), size


@pytest.mark.sweep
@pytest.mark.view(size=(30, 7))
async def test_where_nothing_fits_only_that_is_said_until_there_is_room(screen):
    for width, height in ((30, 7), (39, 24), (80, 9)):
        await screen.pilot.resize_terminal(width, height)
        await screen.settle()
        told = f"{width}×{height} is too small; use 80×24 or larger. q quits."
        assert " ".join(screen.text().split()) == told
        await screen.pilot.resize_terminal(80, 24)
        await screen.settle()
        assert "too small" not in screen.text()
        assert "Neural Engine" in screen.text()
        # The keys are where they were.
        before = screen.state.selection.event
        await screen.press("n")
        assert screen.state.selection.event not in (None, before)


@pytest.mark.sweep
@pytest.mark.view(size=(80, 24))
async def test_the_status_line_leaves_out_what_has_no_room_in_whole_parts(screen):
    await screen.press("n", "V")
    for width, told in (
        (80, ["Load (cached)", "0.000 s – 16.481 s", "range"]),
        (100, ["Load (cached)", "0.000 s – 16.481 s", "range"]),
        (120, ["Load (cached)", "0.000 s – 16.481 s", "16.5 s in view", "range"]),
        (140, ["Load (cached)", "0.000 s – 16.481 s", "16.5 s in view", "cursor 0.612 s", "range"]),
    ):
        await screen.pilot.resize_terminal(width, 24)
        await screen.settle()
        screen.app.change(inspector=False)
        await screen.settle()
        line = screen.text().splitlines()[-2]
        parts = line.strip().split("  ·  ")
        assert [part.startswith(words) for part, words in zip(parts, told, strict=True)] == [True] * len(told), line


@pytest.mark.sweep
async def test_the_ends_of_the_view_are_told_in_one_notation(screen):
    await screen.press("n")
    previous = 0
    while screen.state.view.span_ns > 1_000:
        view = screen.state.view
        told = screen.text().splitlines()[-2].split("  ·  ")[0].strip() if previous else ""
        ends = re.fullmatch(r"(\d+\.\d{3}(?: \d{3})*) s – (\d+\.\d{3}(?: \d{3})*) s", told)
        if previous:
            assert ends, told
            for end, time in zip(ends.groups(), (view.start_ns, view.end_ns), strict=True):
                seconds, _, digits = end.replace(" ", "").partition(".")
                scale = 10 ** (9 - len(digits))
                shown = int(seconds + digits) * scale
                assert 0 <= time - shown < scale
                assert scale * 10 <= max(view.span_ns, 10)
            assert ends[1] != ends[2]
        previous = view.span_ns
        await screen.press("w")
        assert screen.state.view.span_ns < previous or previous < 1_000


@pytest.mark.sweep
async def test_a_range_is_told_with_its_length_so_far_and_how_far_its_events_are_apart(screen):
    def line() -> str:
        return screen.text().splitlines()[-2]

    activity = screen.state.session.trace.activity
    whole = activity.ends_ns[2] - activity.start_ns[0]
    await screen.press("n", "v", "n", "n")
    for width in (80, 120):
        await screen.pilot.resize_terminal(width, 40)
        await screen.settle()
        assert f"range {format_time(whole)}, v to finish" in line()
    await screen.press("v")
    gap = activity.start_ns[2] - activity.ends_ns[0]
    assert gap > 0
    assert f"gap {format_time(gap)}" in line()
    assert f"start – start {format_time(activity.start_ns[2] - activity.start_ns[0])}" in line()
    await screen.press("escape")
    assert "v to finish" not in line()
    # The length so far is that of the range that comes of it.
    await screen.press("v", "n", "g")
    await screen.answer("5s")
    told = line()
    await screen.press("v")
    assert f"range {format_time(screen.state.range.span_ns)}, v to finish" in told


async def test_the_sign_of_the_cursor_is_filled_where_the_keys_are(screen):
    for key, signs in (("0", "▸▹"), ("1", "▹▸"), ("shift+tab", "▸▹")):
        await screen.press(key)
        assert "".join(line[0] for line in screen.text().splitlines() if line.startswith(("▸", "▹"))) == signs


@pytest.mark.sweep
@pytest.mark.view(size=(80, 24))
async def test_of_two_sizes_that_come_at_once_the_last_one_stays(screen, monkeypatch):
    laid_out = []
    lay_out = BrowseScreen._refresh_layout

    def noted(browse: BrowseScreen, size: Size | None = None, scroll: bool = False) -> None:
        laid_out.append(size)
        if len(laid_out) < 40:
            lay_out(browse, size, scroll)

    browse, last = screen.app.browse, Size(100, 30)
    monkeypatch.setattr(BrowseScreen, "_refresh_layout", noted)
    screen.app._size = last
    for size in (Size(90, 30), last, Size(90, 30)):
        browse.post_message(Resize(size, size))
        browse.post_message(RedrawWanted())
    await screen.wait()
    assert browse.size == last
    assert Size(90, 30) not in laid_out


@pytest.mark.sweep
@pytest.mark.view("meal_planner", size=(80, 24))
async def test_the_status_line_names_a_phase_of_a_runtime(screen):
    await screen.press("n")
    name = screen.state.session.trace.phases.name.item(screen.state.selection.event.index)
    assert screen.text().splitlines()[-2].startswith(f" {name} · ")


@pytest.mark.sweep
@pytest.mark.view("local_chat", size=(60, 16))
async def test_a_view_of_a_narrow_terminal_is_fitted_to_a_wide_one_and_so_is_one_that_is_gone_back_to(screen):
    await screen.press("n")
    browse, narrow = screen.app.browse, screen.app.browse.columns
    while screen.state.view.span_ns > narrow:
        await screen.press("w")
    await screen.press("0")
    await screen.pilot.resize_terminal(200, 60)
    await screen.press("left_square_bracket")
    assert narrow < browse.columns == screen.state.view.span_ns
    await screen.pilot.resize_terminal(60, 16)
    while screen.state.view.span_ns > narrow:
        await screen.press("w")
    await screen.pilot.resize_terminal(200, 60)
    await screen.settle()
    assert browse.columns == screen.state.view.span_ns
