"""What programs are still at work."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

needs_proc = pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc to look for what is left at work")


def at_work(output: Path) -> list[int]:
    """Processes of the stand-in, and guards, that record into the output."""
    running = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"--output" in words and b"record" in words and str(output).encode() in words:
                running.append(int(entry.name))
    return running


def wait_until_none(output: Path, patience_s: float = 20.0) -> None:
    """Wait until nothing records into the output any more."""
    end = time.monotonic() + patience_s
    while at_work(output):
        assert time.monotonic() < end, at_work(output)
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def at_work_in(folder: Path) -> None:
    """Say in a folder which process this is, and be busy for ever."""
    (folder / str(os.getpid())).touch()
    while True:
        time.sleep(60)
