"""No screen draws a character that steers the terminal or reorders a line, wherever it comes from."""

from __future__ import annotations

import unicodedata

import pytest
from rich.segment import Segment
from textual.color import Color

from tracekit.testing import Process, write_export
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario
from tracekit.tui.screens.browse import PANES
from tracekit.tui.text import VisibleText

HOSTILE = "\x9b31mA\u202eB\u2066C\x85D\U000e0041E\u200fF"
PATH = "evil\x1b]0;owned\x07\x9b2J\u202e"
MS = 1_000_000


def steering(text: str) -> set[str]:
    return {each for each in text if each != "\n" and unicodedata.category(each) in ("Cc", "Cf", "Co", "Zl", "Zp")}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    scenario = Scenario(Process(f"App{HOSTILE}", 412), duration_ns=2_000 * MS)
    for name in (HOSTILE, f"Other{HOSTILE}"):
        for k in range(30):
            scenario.load(Model(name), (30 + 40 * k) * MS, 20 * MS)
            scenario.predict(Model(name), (52 + 40 * k) * MS, 5 * MS)
    folder = tmp_path_factory.mktemp("hostile") / PATH
    write_export(scenario, folder)
    return folder


@pytest.mark.sweep
def test_no_pane_draws_it_whatever_is_opened_in_it(run_view, hostile):
    async def test(screen) -> None:
        for place, pane in enumerate([pane for pane in PANES if pane.RECORDINGS == 1], 1):
            for keys in ([str(place)], ["enter"], ["down", "enter"], ["i"], ["i"]):
                await screen.press(*keys)
                assert steering(screen.text()) == set(), (pane.PANE, keys)
        assert "\ufffd" in screen.text()
        # The heading of the events behind a row too.
        screen.app.change(pane="aggregation")
        screen.app.browse.focus_pane()
        # The rows of the list are made in a thread.
        await screen.settle()
        await screen.press("enter")
        heading = str(screen.app.browse.pane.query(".heading").first().render())
        assert screen.state.pane == "events"
        assert "\ufffd31mA\ufffdB" in heading
        assert steering(heading) == set()

    run_view(test, hostile)


@pytest.mark.sweep
def test_two_of_them_and_the_prompts_neither(run_view, hostile, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def test(screen) -> None:
        for keys in (["slash"], ["escape"], ["n", "n"], ["question_mark"], ["escape"], ["S"], ["enter"], ["escape"]):
            await screen.press(*keys)
            assert steering(screen.text()) == set(), keys

    run_view(test, hostile, hostile)


def test_a_recording_that_cannot_be_opened_is_named_without_it(run_view, tmp_path, monkeypatch):
    from tracekit.errors import UnreadableRecording
    from tracekit.tui import opening

    def fails(*_) -> None:
        raise UnreadableRecording(f"there is no {PATH}{HOSTILE}; check the path")

    monkeypatch.setattr(opening, "read", fails)

    async def test(screen) -> None:
        assert "evil\ufffd]0;owned\ufffd" in screen.text()
        assert steering(screen.text()) == set()

    run_view(test, tmp_path / PATH)


def test_the_opening_screen_has_signs_for_it(run_view, held_reading, tmp_path):
    async def test(screen) -> None:
        try:
            await screen.pilot.pause()
            assert "evil\ufffd]0;owned\ufffd" in screen.text()
            assert steering(screen.text()) == set()
        finally:
            held_reading.set()

    run_view(test, tmp_path / PATH, wait=False)


def test_what_a_widget_draws_keeps_its_cells():
    line = [Segment(f"a{HOSTILE}b"), Segment("模型 👩\u200d💻"), Segment("\ue000")]
    shown = VisibleText().apply(line, Color(0, 0, 0))
    assert steering("".join(part.text for part in shown)) <= {"\u200d"}
    assert [part.cell_length for part in shown] == [part.cell_length for part in line]
    assert shown[1].text == line[1].text
