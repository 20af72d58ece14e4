"""How far reading has come."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

INTERVAL_S = 0.1
"""Least time between two reports, so that reporting costs nothing."""


@dataclass(frozen=True, slots=True)
class Progress:
    """State of a long read."""

    done_bytes: int
    total_bytes: int | None
    """None where the size is not known beforehand."""
    source: str
    """Name of the file being read."""


class Meter:
    """Adds up what was read and reports it, at most every `INTERVAL_S`."""

    def __init__(self, report: Callable[[Progress], None] | None, total_bytes: int | None) -> None:
        self._report = report
        self._total = total_bytes
        self.done = 0
        """Bytes counted so far. Set back where a file is read again."""
        self._next = 0.0

    def advance(self, count: int, source: str) -> None:
        """Count bytes of one source."""
        self.done += count
        if self._report is not None and (now := time.monotonic()) >= self._next:
            self._next = now + INTERVAL_S
            done = self.done if self._total is None else min(self.done, self._total)
            self._report(Progress(done, self._total, source))
