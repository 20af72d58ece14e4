"""What the keys at the bottom say, at every width and in every place; what the tabs say where there is little room."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from support.choice import sweep_rest
from tracekit.trace.filter import everything, narrow, only_range
from tracekit.tui import opening
from tracekit.tui.action_line import ALWAYS, FooterKey, KeysFooter, Tab, keys_that_fit, tab_texts

KEYS = [FooterKey("w s", "Zoom", "zoom_in"), FooterKey("/", "Filter", "filter")]


def test_help_and_quit_are_never_left_out():
    assert [key.action for key in ALWAYS] == ["help", "quit"]
    for width in range(80):
        shown = keys_that_fit(KEYS, width)
        assert shown[-2:] == list(ALWAYS)
        assert shown[:-2] == KEYS[: len(shown) - 2]
        text = "".join(f" {key.sign} {key.words} " for key in shown)
        assert cell_len(text) <= width or len(shown) == len(ALWAYS)
    assert len(keys_that_fit(KEYS, 80)) == len(KEYS) + len(ALWAYS)


@pytest.mark.parametrize("size", sweep_rest(((60, 16),), ((120, 40),)))
async def test_keys_say_what_they_do_here(screen, size):
    def shown() -> str:
        return screen.text().splitlines()[-1]

    screen.draw()
    assert "enter Select event" in shown()
    await screen.press("1")
    assert "enter List intervals" in shown()
    await screen.press("enter")
    assert "enter Close" in shown()
    await screen.press("down")
    assert "enter Zoom in" in shown()
    await screen.press("v")
    assert "v End range" in shown()
    await screen.press("escape", "5")
    assert "enter List events" in shown()
    assert shown().endswith("? Help  q Quit")
    # A click does what the key does.
    left = shown().index("? Help")
    await screen.pilot.click(KeysFooter, offset=(left, 0))
    await screen.wait()
    assert screen.app.screen.__class__.__name__ == "HelpScreen"


@pytest.mark.sweep
def test_enter_is_named_only_where_a_check_has_something_to_list(run_view, samples, fixed_sample):
    async def one_model(screen) -> None:
        await screen.press("1")
        assert "enter" not in screen.text().splitlines()[-1]

    async def five_models(screen) -> None:
        await screen.press("1")
        assert "enter List checks" in screen.text().splitlines()[-1]
        await screen.press("enter")
        assert "enter Close" in screen.text().splitlines()[-1]

    run_view(one_model, samples / "sharpen_float16.trace")
    run_view(five_models, fixed_sample)


def test_without_events_no_key_is_offered_that_needs_one(run_view, samples, monkeypatch):
    read = opening.read

    def without_events(*request: object):
        session = read(*request)
        whole = session.trace
        return replace(session, trace=narrow(whole, only_range(everything(whole), whole, -2, -1)))

    async def test(screen) -> None:
        first = screen.text()
        # It opens on its coverage, with nothing to inspect beside it.
        assert screen.state.pane == "facts"
        assert not screen.app.browse.query_one("#inspector").display
        assert " n " not in first
        assert "press n" not in first
        assert "enter Select event" not in first
        assert "/ Filter" not in first
        assert "v Range" not in first
        for key in ("n", "enter", "V", "P", "F"):
            await screen.press(key)
            assert "No events in this recording; 6 shows its coverage." in screen.text().splitlines()[-2]

    monkeypatch.setattr(opening, "read", without_events)
    run_view(test, samples / "captions_concurrent.trace")


async def test_one_part_of_the_screen_can_have_all_of_it(screen):
    lines = screen.text().splitlines()
    await screen.press("Z")
    timeline = screen.app.browse.query_one("#timelines")
    assert timeline.size.height == len(lines) - 3
    await screen.press("escape", "1", "I")
    text = screen.text()
    # The fix is there in full width.
    assert "Fix" in text
    assert max(map(len, text.splitlines()[1:-2])) > 100
    assert not timeline.display
    await screen.press("I")
    assert timeline.display


@pytest.mark.parametrize("width", [30, 48, 60, 80, 200])
def test_tabs_fit_or_lose_what_matters_least(width):
    tabs = [Tab(str(at), f"{at} Title of {at}", "1,234", f"{at} Short") for at in range(6)]
    texts = tab_texts(tabs, width)
    assert len(texts) == 6
    assert all(text.strip().startswith(str(at)) for at, text in enumerate(texts))
    assert sum(map(len, texts)) <= width
    if width == 200:
        assert texts[0] == " 0 Title of 0 (1,234) "
    if width == 80:
        # One badge more fits where no title has to be shorter for it.
        assert texts[0] == " 0 Title of 0"
        assert tab_texts(tabs[:5], width)[:2] == [" 0 Title of 0 (1,234)", " 1 Title of 1"]
    if width == 60:
        # 13 and a blank for a title, 7 and a blank for a short one.
        assert texts == [" 0 Title of 0", " 1 Title of 1", *(f" {at} Short" for at in range(2, 6))]
    if width == 48:
        assert "".join(texts) == "".join(f" {at} Short" for at in range(6))
