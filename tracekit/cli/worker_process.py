"""What a process runs that works for another one of this machine. It ends where the other one has gone."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from tracekit.cli.startup import lighten
from tracekit.cli.terminated import Terminated, raising_terminated

if TYPE_CHECKING:
    from typing import BinaryIO

END_S: Final = 2.0
"""How long what was begun, such as a temporary file, may take to be put in order."""


def main() -> None:
    """Answer each pickled `(work, item)` of standard input with a pickled `(result, None)`, or `(None, (words,
    traceback))` where the work failed. Ends at once where standard input ends."""
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a plug-in reads or prints is no part of that.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    lighten()
    with suppress(Terminated, BrokenPipeError), raising_terminated():
        waiting = SimpleQueue[bytes]()
        threading.Thread(target=_receive, args=(orders, waiting), daemon=True).start()
        while True:
            answers.write(_answer(waiting.get()))
            answers.flush()
    sys.stderr.flush()
    # There is nothing left to put in order, and the reading thread cannot be woken.
    os._exit(0)


def _receive(orders: BinaryIO, waiting: SimpleQueue[bytes]) -> None:
    """Hand over what comes. At the end, end this process, whatever it is busy with."""
    with suppress(EOFError, OSError, pickle.UnpicklingError):
        while True:
            waiting.put(pickle.load(orders))  # noqa: S301 - from the process that started this one
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    time.sleep(END_S)
    os._exit(1)


def _answer(order: bytes) -> bytes:
    try:
        work, item = pickle.loads(order)  # noqa: S301 - likewise
        return pickle.dumps((work(item), None))
    except Exception as error:
        from tracekit.errors import words_of

        return pickle.dumps((None, (words_of(error), traceback.format_exc())))
