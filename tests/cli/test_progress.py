"""Progress is for a person who waits, and for nobody else."""

from __future__ import annotations

import io
import re
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from tracekit.cli import reading as module, requests
from tracekit.cli.dispatch import main
from tracekit.cli.reading import showing_progress
from tracekit.recording import Progress
from tracekit.request import ALL
from tracekit.testing import Process, Scenario, write_bundle


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

    screen(monkeypatch)
    with showing_progress(quiet=True) as report:
        assert report is None

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


def test_several_recordings_are_read_on_all_cores_and_say_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, jobs = screen(monkeypatch), []

    def in_processes(work, items, count):
        jobs.append(count)
        return iter(items)

    monkeypatch.setattr("tracekit.cli.workers.in_processes", in_processes)
    monkeypatch.setattr(requests, "cores", lambda: 3)
    clock = iter((0.0, 20.0, 40.0, 60.0, 700.0))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    arguments = Namespace(jobs=None, dask=None, quiet=False, timeout=1.0)
    items = [f"{number}.trace" for number in range(4)]
    assert list(requests.results_of(print, items, str, arguments, ALL)) == items
    assert jobs == [3]
    assert shown.getvalue().splitlines() == [
        "tracekit: 1 of 4 done, about 60 s left: 0.trace",
        "tracekit: 2 of 4 done, about 40 s left: 1.trace",
        "tracekit: 3 of 4 done, about 20 s left: 2.trace",
        "tracekit: 4 of 4 done: 3.trace",
    ]
    # A JSON report is read sooner than a process starts.
    monkeypatch.setattr(module.time, "monotonic", lambda: 0.0)
    done = requests.results_of(lambda item, **_: item, ["a.json", "b.json"], str, arguments, ALL)
    assert (list(done), jobs) == (["a.json", "b.json"], [3])


def test_each_of_several_recordings_is_named_while_it_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown = screen(monkeypatch)
    monkeypatch.setattr(module, "PATIENCE_S", 0.0)
    names = ("one.trace", "other.trace")
    for name in names:
        write_bundle(Scenario(Process("App", 7), duration_ns=1_000_000_000), tmp_path / name)
    command = ["analyze", *(str(tmp_path / name) for name in names), "--no-config", "--jobs", "1"]
    assert main(command) == 3
    assert f"1 of 2: {names[0]}:" in shown.getvalue()
    assert re.search(rf"2 of 2, about \d+ s left: {names[1]}:", shown.getvalue())
    before = shown.getvalue()
    assert main([*command, "-q"]) == 3
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
