"""Signals that want the program to end, kept until there is time for them."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

# Windows has no SIGHUP.
END_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, *(() if not hasattr(signal, "SIGHUP") else (signal.SIGHUP,)))


class StopSignals:
    """The signals that came, in order."""

    def __init__(self, leave_within_s: float | None = None) -> None:
        self._numbers: list[int] = []
        self._seen = 0
        self._leave_within_s = leave_within_s

    def take(self, number: int, _frame: FrameType | None) -> None:
        """Handler: keep the number, and see to it that the program ends in time where that was asked for."""
        self._numbers.append(number)
        if self._leave_within_s is not None:
            # An alarm, since it comes even while the main thread waits for another that has ended.
            signal.signal(signal.SIGALRM, lambda *_: os._exit(128 + number))
            signal.setitimer(signal.ITIMER_REAL, self._leave_within_s)

    def new(self) -> list[int]:
        """Those since the last call."""
        new = self._numbers[self._seen :]
        self._seen += len(new)
        return new

    @property
    def ending(self) -> int | None:
        """The last one that is meant for the whole program, not for what it does; None without one."""
        return next((number for number in reversed(self._numbers) if number != signal.SIGINT), None)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C, or who sent the same signal, wanted what is under way to end."""
        return signal.SIGINT in self._numbers


@contextmanager
def stop_signals(leave_within_s: float | None = None) -> Iterator[StopSignals]:
    """Keep SIGINT, SIGTERM and SIGHUP instead of being interrupted by them: a program that was just started, or is
    saving, is never lost sight of. Afterwards the last of those that end the program is sent again. With
    `leave_within_s`, the process is ended that many seconds after a signal, whatever it then waits for. A signal that
    is ignored, as SIGHUP under `nohup`, stays so. Signals reach the main thread only."""
    received = StopSignals(leave_within_s)
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    handlers = {number: signal.getsignal(number) for number in END_SIGNALS}
    handled = {number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)}
    for number in handled:
        signal.signal(number, received.take)
    try:
        yield received
    finally:
        if leave_within_s is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handled.items():
            signal.signal(number, handler)
        if received.ending is not None:
            signal.raise_signal(received.ending)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """What must not be done by half: the signals take effect after it."""
    with stop_signals() as received:
        yield
    if received.interrupted:
        raise KeyboardInterrupt
