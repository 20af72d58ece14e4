"""Runs a command of the system: the one place from which tracekit starts other programs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from typing import BinaryIO, Final

from tracekit.errors import TracekitError
from tracekit.recording.xctrace import guard

TERMINATE_S: Final = 5.0
"""How long a command may take to end when it is asked to, before it is killed."""
KILLED_S: Final = 30.0
"""How long the end of a killed command is waited for."""


@dataclass(frozen=True, slots=True)
class Completed:
    """What a command did."""

    status: int
    """Exit status; a signal N counts as 128 + N, as shells have it."""
    output: str
    errors: str
    timed_out: bool = False

    @property
    def crashed(self) -> bool:
        """Whether a signal ended it that tracekit did not send."""
        return self.status > 128 and not self.timed_out


class Written:
    """What a command has written to a stream so far."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._read = 0

    @property
    def text(self) -> str:
        """All of it."""
        return self._content().decode("utf-8", "replace")

    @property
    def open_line(self) -> str:
        """The line that has no end yet, such as a question."""
        return self._content(self._read).rpartition(b"\n")[2].decode("utf-8", "replace")

    def new_lines(self) -> list[str]:
        """Whole lines since the last call."""
        content = self._content(self._read)
        complete_lines = content[: content.rfind(b"\n") + 1]
        self._read += len(complete_lines)
        return complete_lines.decode("utf-8", "replace").splitlines()

    def _content(self, start: int = 0) -> bytes:
        # The place in the file is shared with the command, so it must not be moved.
        return os.pread(self._file.fileno(), os.fstat(self._file.fileno()).st_size - start, start)


class Job:
    """A command that runs in a session of its own, so that Ctrl-C reaches tracekit alone.

    grace_s: with it, the command runs under a guard, which interrupts it where tracekit is gone and gives it so long to
    save. It costs the start of a program, and only what would go on by itself needs one.
    """

    def __init__(self, command: Sequence[str], *, keep_stdin: bool = False, grace_s: float | None = None) -> None:
        with ExitStack() as stack:
            try:
                files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(2)]
            except OSError as error:
                raise TracekitError(
                    f"cannot write a temporary file: {error.strerror or error}; is the disk full?"
                ) from error
            listening, self._control = os.pipe()
            stack.callback(os.close, self._control)
            guarded = [] if grace_s is None else [sys.executable, "-I", "-S", guard.__file__]
            guarded += [str(value) for value in (listening, grace_s, TERMINATE_S) if guarded]
            try:
                self._process = subprocess.Popen(  # noqa: S603 - a list, no shell
                    [*guarded, *command],
                    stdin=None if keep_stdin else subprocess.DEVNULL,
                    stdout=files[0],
                    stderr=files[1],
                    pass_fds=(listening,) if guarded else (),
                    start_new_session=True,
                )
            except OSError as error:
                raise TracekitError(f"cannot run {command[0]}: {error.strerror or error}") from error
            finally:
                os.close(listening)
            self._open = stack.pop_all()
        self.output, self.errors = map(Written, files)

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long. Whether it ended."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def outcome(self, *, timed_out: bool = False) -> Completed:
        """What it did; it must have ended."""
        status = self._process.returncode
        return Completed(128 - status if status < 0 else status, self.output.text, self.errors.text, timed_out)

    def interrupt(self) -> None:
        """What the first Ctrl-C does, for a command with a guard: the command gets it, no program that it started."""
        with suppress(BrokenPipeError):
            os.write(self._control, b"i")

    def end(self) -> None:
        """End it and everything it started, if it still runs."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            # A guard that was killed leaves its group to be ended.
            if self._process.poll() not in (None, -signal.SIGKILL):
                return
            # It may have ended by now; macOS then refuses with another error than Linux.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
            # Whatever is killed ends, at the latest once the system has time for it.
            self.wait(TERMINATE_S if number == signal.SIGTERM else KILLED_S)

    def close(self) -> None:
        """Let go of it. If it still runs, its guard ends it."""
        if self._process.poll() is None:
            # Nobody will ask for its status any more; without one, Popen would warn.
            self._process.returncode = 0
        self._open.close()


def run_command(command: Sequence[str], timeout_s: float) -> Completed:
    """Run a command to its end, or end it after `timeout_s`. Raises `TracekitError` where it cannot be started."""
    with closing(Job(command)) as job:
        try:
            ended = job.wait(timeout_s)
        finally:
            job.end()
        return job.outcome(timed_out=not ended)
