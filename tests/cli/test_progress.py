"""Progress is for a person who waits, and for nobody else."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tracekit.cli import reading as module
from tracekit.cli.dispatch import main
from tracekit.cli.reading import showing_progress
from tracekit.recording import Progress


def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Make standard error a terminal."""
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return stream


def test_nothing_is_reported_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with showing_progress() as report:
        assert report is None
    monkeypatch.setattr(sys, "stderr", None)
    with showing_progress() as report:
        assert report is None


def test_quiet_reports_nothing_on_a_terminal_either(monkeypatch: pytest.MonkeyPatch) -> None:
    screen(monkeypatch)
    with showing_progress(quiet=True) as report:
        assert report is None


def test_a_short_read_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(monkeypatch)
    with showing_progress() as report:
        assert report is not None
        report(Progress(50, 100, "a.xml"))
    assert shown.getvalue() == ""


@pytest.mark.parametrize("total", [100, None])
def test_a_long_read_shows_the_file_and_leaves_no_line_behind(
    monkeypatch: pytest.MonkeyPatch, total: int | None
) -> None:
    shown = screen(monkeypatch)
    monkeypatch.setattr(module, "PATIENCE_S", 0.0)
    with showing_progress() as report:
        assert report is not None
        report(Progress(10, total, "[red]a.xml"))
        report(Progress(60, total, "[red]a.xml"))
    text = shown.getvalue()
    assert "[red]a.xml" in text
    assert text.endswith("\x1b[2K"), "the line of the bar is erased at the end"


def test_the_bar_says_which_of_several_recordings_and_what_goes_on_when_all_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = screen(monkeypatch)
    monkeypatch.setattr(module, "PATIENCE_S", 0.0)
    with showing_progress(label="2 of 3: run.trace:", then="running checks") as report:
        assert report is not None
        report(Progress(10, 100, "a.store"))
        assert "running checks" not in shown.getvalue()
        report(Progress(100, 100, "a.store"))
    text = shown.getvalue()
    assert "2 of 3: run.trace:" in text
    assert "running checks" in text


def test_each_of_several_recordings_is_named_while_it_is_read(monkeypatch: pytest.MonkeyPatch, samples: Path) -> None:
    shown = screen(monkeypatch)
    monkeypatch.setattr(module, "PATIENCE_S", 0.0)
    names = ("sharpen_8bit.trace", "sharpen_float16.trace")
    command = ["analyze", *(str(samples / name) for name in names), "--no-config"]
    assert main(command) == 0
    for number, name in enumerate(names, 1):
        assert f"{number} of 2: {name}:" in shown.getvalue()
    before = shown.getvalue()
    assert main([*command, "-q"]) == 0
    assert shown.getvalue() == before


def test_the_bar_goes_away_when_the_read_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(monkeypatch)
    monkeypatch.setattr(module, "PATIENCE_S", 0.0)

    def read() -> None:
        with showing_progress() as report:
            assert report is not None
            report(Progress(10, 100, "a.xml"))
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        read()
    assert shown.getvalue().endswith("\x1b[2K")
