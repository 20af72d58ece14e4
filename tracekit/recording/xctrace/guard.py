"""Runs a recording and never leaves it behind: whatever ends tracekit, SIGKILL included, ends the recording too.

A program of its own that imports nothing of tracekit: `guard.py CONTROL GRACE PATIENCE PROGRAM [ARGUMENT ...]`. It
exits with the status of the program, a signal N as 128 + N. A byte on the descriptor CONTROL interrupts the program, as
Ctrl-C does. Where CONTROL closes, tracekit is gone: the program is interrupted, may take GRACE to save, and PATIENCE to
end when it is asked to, before it is killed. Both are in seconds.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress

CANNOT_RUN = 127


class _Guarded:
    """The program, and what was done to end it."""

    def __init__(self, pid: int, grace: float, patience: float) -> None:
        self._pid = pid
        self._grace, self._patience = grace, patience
        self._deadline: float | None = None
        self._interrupted = self._asked_to_end = False

    def wait_for_end(self, control: int, ended: int) -> int:
        """Do as `control` says until the command has ended; `ended` becomes readable when it may have."""
        watched = [control, ended]
        while True:
            left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
            readable, _, _ = select.select(watched, [], [], left)
            if ended in readable:
                with suppress(BlockingIOError):
                    os.read(ended, 4096)
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
            if control in readable:
                # A second one would break what is saved.
                if not self._interrupted:
                    self._interrupted = True
                    os.kill(self._pid, signal.SIGINT)
                if not os.read(control, 1):
                    watched = [ended]
                    self._deadline = time.monotonic() + self._grace
            elif self._deadline is not None and time.monotonic() >= self._deadline:
                # Ask the whole group to end, and kill it the next time, the guard included, which is of the group.
                number = signal.SIGKILL if self._asked_to_end else signal.SIGTERM
                self._asked_to_end = True
                self._deadline = time.monotonic() + self._patience
                # macOS refuses where a member of the group is another user's.
                with suppress(PermissionError):
                    os.killpg(0, number)


def main(arguments: list[str]) -> int:
    """Status of the command."""
    control, grace, patience, command = int(arguments[0]), float(arguments[1]), float(arguments[2]), arguments[3:]
    os.set_inheritable(control, False)
    ended, wake = os.pipe()
    os.set_blocking(ended, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # What is sent to the whole group is meant for the command. A handler, unlike SIG_IGN, does not pass on to it.
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda *_: None)
    try:
        pid = os.posix_spawnp(command[0], command, os.environ)
    except OSError as error:
        os.write(2, f"cannot run {command[0]}: {error.strerror}\n".encode())
        return CANNOT_RUN
    return _Guarded(pid, grace, patience).wait_for_end(control, ended)


if __name__ == "__main__":
    status = main(sys.argv[1:])
    os._exit(status)
