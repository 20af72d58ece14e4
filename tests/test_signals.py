"""Signals that want the program to end."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

WAITING = """
import os, signal, threading
from tracekit.signals import stop_signals
with stop_signals(leave_within_s=0.1):
    os.kill(os.getpid(), signal.{name})
    threading.Event().wait(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_process_that_waits_without_end_is_ended(number: signal.Signals) -> None:
    program = WAITING.format(name=number.name)
    ended = subprocess.run([sys.executable, "-c", program], timeout=30, check=False)
    assert ended.returncode == 128 + number
