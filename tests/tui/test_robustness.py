"""Keys that come before screens are gone, terminals without room, errors inside: the app goes on or ends in order."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.app import App

from support.choice import sweep_rest
from tracekit.cli import output
from tracekit.cli.dispatch import main
from tracekit.cli.process import ExitStatus
from tracekit.recording import open_recording
from tracekit.tui import app as app_module, state_app
from tracekit.tui.app import ViewApp
from tracekit.tui.messages import CheckToggled, Selected, in_background
from tracekit.tui.state import EventRef, FindingRef, Selection
from tracekit.tui.terminal import TerminalDriver


@pytest.mark.sweep
async def test_closing_a_screen_twice_closes_nothing_below_it(screen):
    for key in ("slash", "S", "C", "g", "question_mark", "ctrl+p"):
        await screen.press(key)
        over = screen.app.screen
        assert over is not screen.app.browse
        over.dismiss()
        over.dismiss()
        await screen.wait()
        assert screen.app.screen is screen.app.browse, key


@pytest.mark.sweep
@pytest.mark.parametrize("key", ["C", "B", "ctrl+p"])
async def test_a_list_over_the_screen_can_be_paged_where_there_is_no_room(screen, key):
    await screen.press("b", "n", "b")
    for size in ((1, 1), (2, 2), (5, 3), (200, 1), (1, 50), (40, 10)):
        await screen.press(key)
        await screen.pilot.resize_terminal(*size)
        await screen.press("pagedown", "pageup", "down", "end", "home")
        await screen.press("escape")
        await screen.wait()
        assert screen.app.screen is screen.app.browse


@pytest.mark.sweep
@pytest.mark.view("style_transfer_reload", "style_transfer_fixed")
async def test_what_a_list_told_of_other_rows_selects_nothing(screen):
    session = screen.state.session
    beyond = len(session.report.results)
    intervals = len(session.report.results[0].evidence)
    before = screen.state.selection
    for message in (
        Selected(Selection(finding=FindingRef(beyond))),
        Selected(Selection(finding=FindingRef(0, intervals))),
        CheckToggled(beyond),
        Selected(Selection(event=EventRef("activity", len(session.trace.activity)))),
    ):
        screen.app.post_message(message)
        await screen.wait()
        assert screen.state.selection == before
    assert screen.state.pane == "compare"


def run_headless(monkeypatch: pytest.MonkeyPatch, press) -> None:
    """`tracekit view` believes that it has a terminal; `press` uses the keys."""
    monkeypatch.setattr(app_module, "terminal_is_gone", lambda: False)
    monkeypatch.setattr(ViewApp, "run", lambda app: App.run(app, headless=True, size=(80, 24), auto_pilot=press))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(output, "standard_output", lambda: SimpleNamespace(isatty=lambda: True))


def fail(**_: object) -> None:
    raise LookupError("no such theme")


@pytest.mark.parametrize("way", sweep_rest("handler", "thread", "silent"))
def test_an_internal_error_ends_with_one_sentence_and_its_own_status(way, monkeypatch, capsys, reload_sample, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    async def press(pilot) -> None:
        app = pilot.app
        if way == "handler":
            monkeypatch.setattr(state_app, "theme_named", fail)
            app.simulate_key("T")
        elif way == "thread":
            in_background(app, fail, lambda _: None)
        else:
            app.panic("what Textual shows where its reading thread ends")

    run_headless(monkeypatch, press)
    assert main(["view", str(reload_sample)]) == ExitStatus.UNUSABLE
    shown = capsys.readouterr()
    reason = "RuntimeError: the terminal UI ended by itself" if way == "silent" else "LookupError: no such theme"
    advice = "please run again with --debug and report it"
    assert (shown.out, shown.err) == ("", f"tracekit: internal error ({reason}); {advice}\n")


def test_leaving_is_no_error(monkeypatch, capsys, reload_sample, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    async def press(pilot) -> None:
        pilot.app.simulate_key("q")

    run_headless(monkeypatch, press)
    assert main(["view", str(reload_sample)]) == ExitStatus.DONE
    assert capsys.readouterr().err == ""


def test_bytes_that_are_no_keys_are_dropped(monkeypatch):
    reads = [b"\xff\xfe", b"\x1b[99999999999u", b"w"]
    heard = []

    def read_one(driver: TerminalDriver) -> None:
        if not reads:
            driver.exit_event.set()
            return
        data = reads.pop(0).decode("utf-8")
        heard.append(chr(int(data[2:-1])) if data.startswith("\x1b") else data)

    monkeypatch.setattr("textual.drivers.linux_driver.LinuxDriver.run_input_thread", read_one)
    driver = TerminalDriver.__new__(TerminalDriver)
    driver.exit_event = asyncio.Event()
    TerminalDriver.run_input_thread(driver)
    assert heard == ["w"]


@pytest.mark.parametrize("alone", sweep_rest(True, False))
def test_a_damaged_bundle_opens_and_says_which_tables_could_not_be_read(run_view, samples, tmp_path, alone):
    good, bad = samples / "sharpen_float16.trace", tmp_path / "bad.trace"
    shutil.copytree(good, bad)
    (bad / "corespace/run1/core/uniquing/strings").write_bytes(b"damage")

    async def check(screen) -> None:
        assert screen.app.failure is None
        (problem,) = screen.app.reading_problems()
        assert problem.startswith("bad.trace: tables ")
        assert "coreml-os-signpost" in problem
        assert "'strings' is not a readable property list" in problem

    run_view(check, *([bad] if alone else [good, bad]))


@pytest.mark.sweep
def test_a_damaged_table_of_signposts_is_named_before_the_signature(run_view, samples, tmp_path):
    bad = Path(shutil.copytree(samples / "local_chat.trace", tmp_path / "bad.trace"))
    tables = open_recording(bad, schemas=()).run.tables
    sources = [entry.source for entry in tables if entry.schema == "os-signpost" and entry.rows]
    (bad / f"corespace/run1/core/stores/{sources[0]}/bulkstore").write_bytes(b"damage")

    async def check(screen) -> None:
        text = " ".join(screen.text().split())
        assert "Inconclusive: table os-signpost cannot be read: its rows file is cut off." in text
        assert "get-task-allow" not in text.partition("opy the bundle again")[0]

    run_view(check, bad)
