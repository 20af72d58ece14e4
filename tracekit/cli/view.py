"""`tracekit view PATH [OTHER]`: browse a recording in the terminal."""

from __future__ import annotations

import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import replace

from tracekit.cli.main import leave
from tracekit.cli.output import is_terminal, narrate, terminal_problem
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import check_recordings
from tracekit.cli.requests import request_from
from tracekit.errors import UsageError
from tracekit.recording import Progress, XctraceOptions
from tracekit.request import Request, read_trace
from tracekit.trace.trace import Trace

_SWITCH_S = 0.0005
"""How long a thread may keep the interpreter from another that waits for it, a tenth of Python's own: reading gives it
back thousands of times."""


class _Ahead:
    """Reads recordings in a thread, one after another, from before there is a screen."""

    def __init__(self, paths: Sequence[str], request: Request) -> None:
        self._tell: Callable[[Progress], None] = lambda _: None
        sys.setswitchinterval(_SWITCH_S)
        pool = ThreadPoolExecutor(1)
        request = replace(request, progress=self._progressed)
        self._read = {path: pool.submit(read_trace, path, request) for path in dict.fromkeys(paths)}
        pool.shutdown(wait=False)

    def _progressed(self, done: Progress) -> None:
        self._tell(done)

    def trace_of(self, path: str, request: Request) -> Trace:
        """As `read_trace`, which reports its progress from now on. Raises as that, and what the progress raises."""
        self._tell = request.progress or self._tell
        return self._read[path].result()

    def stop(self) -> None:
        """Give up what is still to be read: nobody waits for it."""
        for future in self._read.values():
            future.cancel()
        self._tell = _give_up


def run(arguments: Namespace) -> ExitStatus:
    """Open the terminal UI."""
    if not (sys.stdin is not None and sys.stdin.isatty() and is_terminal()):
        raise UsageError("view needs a terminal; without one, use `tracekit analyze`")
    if problem := terminal_problem():
        raise UsageError(f"view needs a terminal for whole screens: {problem}; `tracekit analyze` needs none")
    paths = tuple(path for path in (arguments.path, arguments.other) if path is not None)
    if "-" in paths:
        raise UsageError("view cannot read a recording from standard input; pass a file")
    check_recordings(paths)
    # The screen belongs to the UI: nothing else is printed while it runs. Mistakes in the settings are reported before.
    request = request_from(arguments, xctrace=XctraceOptions(arguments.timeout))
    ahead = _Ahead(paths, request)
    # Python loses an interrupt that comes at the wrong moment of an import. Once there is a screen, that takes it.
    heeds_interrupt = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeds_interrupt:
        signal.signal(signal.SIGINT, leave)
    try:
        # Imported while the recordings are read: numpy needs the interpreter for half of that time.
        from tracekit.tui.app import run as run_app
        from tracekit.tui.opening import Viewed

        problems = run_app(Viewed(paths, request, arguments.theme, ahead.trace_of))
    finally:
        ahead.stop()
        if heeds_interrupt:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    for problem in problems:
        narrate(f"tracekit: {problem}")
    return ExitStatus.UNUSABLE if problems else ExitStatus.DONE


def _give_up(_: Progress) -> None:
    raise CancelledError
