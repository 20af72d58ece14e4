"""Ctrl-C, SIGTERM and SIGHUP at any time: no traceback, no program left at work, no terminal left behind."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from support.choice import sweep_rest
from support.processes import at_work, needs_proc
from tracekit.cli.process import raising_terminated

PATIENCE_S = 60.0
ON, OFF = b"\x1b[?1049h", b"\x1b[?1049l"
HIDDEN, SHOWN = b"\x1b[?25l", b"\x1b[?25h"
AT_IMPORT = """
import importlib.abc, os, signal, sys
class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.{number})
sys.meta_path.insert(0, Interrupting())
"""


def interrupted_at(module: str, folder: Path, command: list[str], number: str = "SIGINT"):
    """A command that gets a signal when it imports a module."""
    (folder / "sitecustomize.py").write_text(AT_IMPORT.format(name=module, number=number), encoding="utf-8")
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=PATIENCE_S)


@pytest.mark.turns(4)
@pytest.mark.parametrize(
    ("module", "script"),
    [
        *(("tracekit.cli.output", False), ("tracekit.cli.output", True), ("tracekit.cli.process", False)),
        *(("tracekit.cli.dispatch", True), ("argparse", False), ("tracekit.cli.options", True)),
        *(("tracekit.detectors.plugins", False), ("numpy", True), ("numpy", False), ("lxml", True)),
    ],
)
def test_ctrl_c_during_start_up_shows_no_traceback(tmp_path: Path, clean: Path, module: str, script: bool) -> None:
    start = ["-c", "import sys; from tracekit.cli.main import run; sys.exit(run())"] if script else ["-m", "tracekit"]
    result = interrupted_at(module, tmp_path, [sys.executable, *start, "analyze", str(clean)])
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "tracekit: interrupted\n")


def test_a_command_in_the_background_does_not_hear_ctrl_c(tmp_path: Path) -> None:
    command = ["sh", "-c", f"trap '' INT; exec {shlex.quote(sys.executable)} -m tracekit --version"]
    assert interrupted_at("tracekit.cli.dispatch", tmp_path, command).returncode == 0


@pytest.mark.sweep
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_a_command_leaves_nothing_half_done(tmp_path: Path, clean: Path, number: signal.Signals) -> None:
    report = tmp_path / "out" / "report.md"
    report.parent.mkdir()
    report.write_text("before")
    command = [sys.executable, "-m", "tracekit", "analyze", str(clean), "-o", str(report)]
    result = interrupted_at("tracekit.render.markdown", tmp_path, command, number.name)
    assert (result.returncode, result.stderr) == (128 + number, f"tracekit: terminated by {number.name}\n")
    assert [(path.name, path.read_text()) for path in report.parent.iterdir()] == [("report.md", "before")]


class Recording:
    """`tracekit record` in a process of its own, with the stand-in."""

    def __init__(self, output: Path) -> None:
        command = [sys.executable, "-m", "tracekit", "record", "--attach", "App", "--no-prompt", "-o", str(output)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
        self.heard = ""

    def until(self, word: str) -> None:
        while word not in self.heard:
            line = self.process.stderr.readline()
            assert line, self.heard
            self.heard += line

    def ended(self) -> tuple[int, str]:
        out, rest = self.process.communicate(timeout=PATIENCE_S)
        self.heard += rest
        return self.process.returncode, out


@needs_proc
@pytest.mark.parametrize(
    ("number", "mode", "stage"),
    sweep_rest(
        (signal.SIGTERM, "", "recording;"),
        (signal.SIGHUP, "failed", "recording;"),
        (signal.SIGTERM, "never-starts", None),
    ),
)
def test_no_stage_of_recording_outlives_the_end(
    standin, standin_log, tmp_path: Path, number: signal.Signals, mode: str, stage: str | None
) -> None:
    standin(record=mode)
    output = tmp_path / "run.trace"
    recording = Recording(output)
    if stage is None:
        while not standin_log():
            time.sleep(0.05)
        time.sleep(0.5)
    else:
        recording.until(stage)
    recording.process.send_signal(number)
    status, out = recording.ended()
    assert status == 128 + number
    assert "tracekit: stopping" in recording.heard
    assert at_work(output) == []
    if not mode:
        assert out == f"{output}\n"
        assert (output / "form.template").exists()
    assert "Traceback" not in recording.heard


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_query_ends_at_once(tracekit, clean: Path, monkeypatch, number: signal.Signals) -> None:
    query_database = pytest.importorskip("tracekit.query.database", exc_type=ImportError)
    pytest.importorskip("duckdb")
    wait = query_database.wait

    def wait_and_end(futures, seconds: float):
        wait(futures, seconds)
        signal.raise_signal(number)

    monkeypatch.setattr(query_database, "wait", wait_and_end)
    query = "select count(*) from range(100000000) a, range(100000000) b where a.range + b.range = 7"
    with raising_terminated():
        result = tracekit("sql", clean, query)
    assert (result.status, result.out) == (128 + number, "")
    assert "internal error" not in result.err


def test_a_server_for_agents_ends(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    command, pipe = [sys.executable, "-m", "tracekit", "mcp", str(tmp_path)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        process.stdin.write(f"{asked}\n")
        process.stdin.flush()
        assert "protocolVersion" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        try:
            assert process.wait(PATIENCE_S) == 128 + signal.SIGTERM
        finally:
            process.kill()


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.modes = termios.tcgetattr(slave)
        self.slave = slave
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tracekit", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env=os.environ | {"TERM": "xterm-256color"},
        )
        self.out = b""

    def read(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], min(rest, 0.1))[0]:
                self.out += os.read(self.master, 65_536)
            elif self.process.poll() is not None:
                return

    def until(self, word: bytes) -> None:
        end = time.monotonic() + PATIENCE_S
        while word not in self.out:
            assert time.monotonic() < end, self.out[-500:]
            self.read(0.2)


VERDICT = b"No findings"


@pytest.mark.parametrize(("number", "shown"), sweep_rest((signal.SIGTERM, ON), (signal.SIGHUP, VERDICT)))
def test_view_gives_the_terminal_back(clean: Path, number: signal.Signals, shown: bytes) -> None:
    terminal = Terminal("view", str(clean))
    terminal.until(shown)
    terminal.process.send_signal(number)
    terminal.read(PATIENCE_S)
    assert terminal.process.wait(PATIENCE_S) == 128 + number
    assert terminal.out.rfind(OFF) > terminal.out.rfind(ON)
    assert terminal.out.rfind(SHOWN) > terminal.out.rfind(HIDDEN)
    assert termios.tcgetattr(terminal.slave)[:4] == terminal.modes[:4]
    assert b"Traceback" not in terminal.out
    assert terminal.out.endswith(f"tracekit: terminated by {number.name}\r\n".encode())


@pytest.mark.sweep
def test_view_ends_where_its_terminal_is_gone_and_no_signal_tells(clean: Path) -> None:
    terminal = Terminal("view", str(clean))
    terminal.until(VERDICT)
    # It has a session of its own, which this terminal does not control.
    os.close(terminal.slave)
    os.close(terminal.master)
    assert terminal.process.wait(PATIENCE_S) == 128 + signal.SIGHUP
