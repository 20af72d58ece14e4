"""Recordings that are read from before there is a screen: its modules are imported meanwhile, and it is put together.

Importing holds the interpreter, and a third of reading does without it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from tracekit.recording import Progress
from tracekit.request import Request, read_trace
from tracekit.trace.trace import Trace

_SWITCH_S = 0.0005
"""How long a thread may keep the interpreter from another that waits for it. Reading gives it back thousands of times,
and to get it again took ten times as long each."""


class Canceled(Exception):  # noqa: N818 - no error: the user wanted it
    """The user gave up waiting."""


class Ahead:
    """Reads recordings in a thread, one after another, and hands out their traces."""

    def __init__(self, paths: Sequence[str], request: Request) -> None:
        self._tell: Callable[[Progress], None] = lambda _: None
        sys.setswitchinterval(_SWITCH_S)
        pool = ThreadPoolExecutor(1)
        request = replace(request, progress=self._progressed)
        self._read = {path: pool.submit(read_trace, path, request) for path in paths}
        pool.shutdown(wait=False)

    def trace_of(self, path: str, request: Request) -> Trace:
        """As `read_trace`, whose progress is told from now on. Raises as that, and what the progress raises."""
        self._tell = request.progress or self._tell
        return self._read[path].result()

    def _progressed(self, done: Progress) -> None:
        self._tell(done)

    def stop(self) -> None:
        """Give up what is still to be read: nobody waits for it."""
        self._tell = _give_up


def _give_up(_: Progress) -> None:
    raise Canceled
