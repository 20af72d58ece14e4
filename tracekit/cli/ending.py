"""How a command ends: exit statuses, the command after it, and SIGTERM and SIGHUP as an exception, so that what was
begun is put in order: files, programs, the terminal."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from types import FrameType

# Windows has no SIGHUP.
SIGNALS = (signal.SIGTERM, *(() if not hasattr(signal, "SIGHUP") else (signal.SIGHUP,)))


class ExitStatus(IntEnum):
    """What the process returns to its caller. Scripts and CI depend on the numbers."""

    DONE = 0
    """Done; no finding at or above `--fail-on`."""
    GATE_FAILED = 1
    """A finding reached `--fail-on`."""
    UNUSABLE = 2
    """Unusable input, bad usage, or a check that failed."""
    INCONCLUSIVE = 3
    """No check could be evaluated."""
    INTERRUPTED = 130
    """Stopped with Ctrl-C (128 + SIGINT, as shells have it)."""


@dataclass(frozen=True, slots=True)
class Next:
    """What a command wants to be run after it: a command line, without the name of the program."""

    arguments: tuple[str, ...]


class Terminated(BaseException):
    """The system, or whoever started the command, wants it to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def name(self) -> str:
        """Name of the signal."""
        return signal.Signals(self.number).name

    @property
    def status(self) -> int:
        """Exit status, as shells have it."""
        return 128 + self.number


@contextmanager
def raising_terminated() -> Iterator[None]:
    """Raise `Terminated` where one of the signals comes, unless it is ignored, as under `nohup`."""
    heeded = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in heeded:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, signal.SIG_DFL)


def _raise(number: int, _frame: FrameType | None) -> None:
    raise Terminated(number)
