"""Streams: narrow encodings, readers that leave, full disks, no stream at all."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.choice import sweep_rest
from tracekit.cli import output
from tracekit.errors import TracekitError


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("17.17 µs × 3", "17.17 us x 3"),
        ("≥ 10 %…", ">= 10 %..."),
        ("█▓▒░ ±1 ▁▇█", "#=:. +-1 _=#"),
        ("模型", "??"),
        ("\ud800", "?"),
    ],
)
def test_what_cannot_be_encoded_becomes_the_nearest_ascii(
    monkeypatch: pytest.MonkeyPatch, text: str, shown: str
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    output.prepare()
    output.emit(text)
    assert raw.getvalue() == shown.encode()


def test_utf8_formats_are_utf8_whatever_the_stream_is(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    output.prepare()
    output.emit('{"name": "µ 模型"}', utf8=True)
    assert raw.getvalue().decode("utf-8") == '{"name": "µ 模型"}'


def test_a_stream_that_cannot_take_text_is_a_sentence_and_a_missing_one_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    output.prepare()
    output.emit("data")
    output.narrate("narration")
    assert not output.has_color()

    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(TracekitError, match="cannot write to standard output: No space left on device"):
        output.emit("data")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_gives_status_2_and_no_traceback() -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "tracekit", "explain"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 2
    assert result.stderr == "tracekit: cannot write to standard output: No space left on device\n"


@pytest.mark.sweep
def test_a_reader_that_leaves_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [sys.executable, "-m", "tracekit", "explain", "--json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("terminal", "environment", "expected"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"CLICOLOR_FORCE": "1"}, True),
        (False, {"FORCE_COLOR": "0"}, False),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_color_needs_a_terminal_that_wants_it(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, environment: dict[str, str], expected: bool
) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stdout", screen)
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert output.has_color() is expected


@pytest.mark.parametrize(
    ("variables", "reason"),
    sweep_rest(
        ({"TERM": "dumb"}, "TERM is dumb"),
        ({"TERM": "xterm", "PYTHONIOENCODING": "cp1252"}, "no Unicode (cp1252)"),
        ({"TERM": "xterm", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, "takes no Unicode"),
    ),
)
def test_a_terminal_without_whole_screens_is_one_sentence(samples: Path, variables, reason) -> None:
    leader, follower = os.openpty()
    command = [sys.executable, "-m", "tracekit", "view", str(samples / "sharpen_8bit.trace")]
    ended = subprocess.run(
        command,
        stdin=follower,
        stdout=follower,
        stderr=subprocess.PIPE,
        env={**os.environ, **variables},
        check=False,
        timeout=60,
    )
    os.close(follower)
    os.close(leader)
    said = ended.stderr.decode()
    assert ended.returncode == 2
    assert reason in said
    assert said.count("\n") == 1


def test_windows_has_no_full_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "os", SimpleNamespace(name="nt"))
    assert output.terminal_problem() == "consoles of Windows are not supported, Linux in WSL is"
