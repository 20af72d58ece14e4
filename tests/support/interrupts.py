"""How soon Ctrl-C ends what is under way."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

AT_ONCE_S = 2.0
"""Processor time from the signal to the end; usual are some milliseconds."""
ATTEMPTS = 5
"""Python itself drops a Ctrl-C that comes while an object is finalized."""


def interrupted_after_s(work: Callable[[], object]) -> float:
    """Processor time between Ctrl-C and the end of what is done again and again until then."""
    # A test run in the background ignores Ctrl-C, and so would what it tests.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for _ in range(ATTEMPTS):
            if (needed_s := _attempt_s(work)) is not None:
                return needed_s
    finally:
        signal.signal(signal.SIGINT, before)
        # What the interrupt left unclosed is finalized in this test, not in one that follows.
        gc.collect()
    pytest.fail(f"Ctrl-C did not end it in {ATTEMPTS} attempts")


def _attempt_s(work: Callable[[], object]) -> float | None:
    """As above; None where the interrupt did not arrive."""
    sent_s: list[float] = []

    def send() -> None:
        sent_s.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.2, send)
    timer.start()
    try:
        while not sent_s or time.process_time() < sent_s[0] + AT_ONCE_S:
            work()
    except KeyboardInterrupt:
        return time.process_time() - sent_s[0]
    finally:
        timer.join()
    return None
