"""How soon Ctrl-C ends what is under way."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

AT_ONCE_S = 0.5
"""Processor time from the signal to the end."""


def interrupted_after_s(work: Callable[[], object]) -> float:
    """Processor time between Ctrl-C and the end of what is done again and again until then."""
    sent_s: list[float] = []

    def send() -> None:
        sent_s.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    def work_on() -> None:
        while not sent_s or time.process_time() < sent_s[0] + 20 * AT_ONCE_S:
            work()

    # A test run in the background ignores Ctrl-C, and so would what it tests.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work_on()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    return time.process_time() - sent_s[0]
