"""The entry point of the command line: it can be stopped without a traceback from its first line on. What it imports at
the top, the interpreter has already: until `run` is at work, Ctrl-C would show a traceback."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

_INTERRUPTED = 130
_GARBAGE_THRESHOLDS = (300_000, 20, 20)
"""Importing and reading make many objects and few cycles; looking for those as often as Python does by default takes a
tenth of the time of a short run."""


def run() -> NoReturn:
    """Entry point of the `tracekit` script and of `python -m tracekit`."""
    try:
        import signal

        # A command in the background of a script does not hear Ctrl-C, and is to go on so.
        heeds_interrupt = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if heeds_interrupt:
            signal.signal(signal.SIGINT, leave)
        import atexit
        import gc

        gc.set_threshold(*_GARBAGE_THRESHOLDS)
        ending: list[int] = []
        if not (sys.gettrace() or sys.getprofile() or "coverage" in sys.modules):
            # Called when threads have ended, after everything that is registered later.
            atexit.register(_end, ending)
        from tracekit.cli.output import prepare
        from tracekit.cli.process import Terminated, lighten, raising_terminated

        prepare()
        lighten()
        with raising_terminated():
            try:
                if heeds_interrupt:
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                from tracekit.cli.dispatch import main

                status = main(sys.argv[1:])
            except Terminated as end:
                status = end.status
            if heeds_interrupt:
                signal.signal(signal.SIGINT, leave)
        ending.append(status)
        import threading

        if any(thread.name == "tracekit query" for thread in threading.enumerate()):
            # It heeds nothing, and DuckDB would wait for it.
            _end(ending)
    except KeyboardInterrupt:
        leave()
    sys.exit(status)


def _end(status: list[int]) -> None:
    """Let the system free all memory at once: Python takes a twentieth of a short command to free each object."""
    if status:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                # Closed, or cannot be written: what tracekit prints itself was flushed before.
                continue
        os._exit(status[0])


def leave(_number: int = 0, _frame: FrameType | None = None) -> NoReturn:
    """End at once, where there is nothing yet, or nothing any more, that needs to be put in order."""
    try:
        os.write(2, b"tracekit: interrupted\n")
    finally:
        os._exit(_INTERRUPTED)
