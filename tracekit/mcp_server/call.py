"""A question between the client that asks it and the thread that answers it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING

from tracekit.characters import visible

if TYPE_CHECKING:
    from tracekit.recording import Progress

Tell = Callable[[float, float | None, str], None]
"""Says how far the work has come: done, of how much, and what is being done."""


class NoLongerWantedError(Exception):
    """The question was taken back."""


class Call:
    """One question: it says how far its answer has come, and hears when it is taken back."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._gone = Event()
        self._stop: Callable[[], None] | None = None

    def cancel(self) -> None:
        """Take it back, from another thread."""
        self._gone.set()
        if self._stop is not None:
            self._stop()

    def tell(self, words: str, done: float = 0, total: float | None = None) -> None:
        """Say what is being done. Raises `NoLongerWantedError` where nobody waits for it."""
        if self._gone.is_set():
            raise NoLongerWantedError
        self._tell(done, total, visible(words))

    def stopped_by(self, stop: Callable[[], None]) -> None:
        """What ends the work that comes now, from another thread."""
        self._stop = stop
        self.tell("answering")

    def reading(self, progress: Progress) -> None:
        """Say how far reading has come."""
        self.tell(f"reading {progress.source}", progress.done_bytes, progress.total_bytes)
