"""Runs a command of the system: the one place from which tracekit starts other programs."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tracekit.errors import TracekitError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

TERMINATE_S: Final = 5.0
"""How long a command may take to end when it is told to, before it is killed."""


@dataclass(frozen=True, slots=True)
class Completed:
    """What a command did."""

    status: int
    """Exit status; a signal N counts as 128 + N, as shells have it."""
    output: str
    errors: str
    timed_out: bool = False


class Job:
    """A command that runs in a session of its own, so that Ctrl-C reaches tracekit alone.

    It writes to files, not pipes: it can be left behind and still finish.
    """

    def __init__(self, command: Sequence[str], *, keep_stdin: bool = False) -> None:
        self._output: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this object
        self._errors: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        self._read = 0
        try:
            self._process = subprocess.Popen(  # noqa: S603 - a list, no shell
                command,
                stdin=None if keep_stdin else subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._errors,
                start_new_session=True,
            )
        except OSError as error:
            self._output.close()
            self._errors.close()
            raise TracekitError(f"cannot run {command[0]}: {error.strerror or error}") from error
        self.pid = self._process.pid

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long. Whether it ended."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def new_lines(self) -> list[str]:
        """Whole lines of standard output since the last call."""
        text = self._content(self._output)[self._read :]
        complete_lines = text[: text.rfind(b"\n") + 1]
        self._read += len(complete_lines)
        return complete_lines.decode("utf-8", "replace").splitlines()

    def completed(self, *, timed_out: bool = False) -> Completed:
        """What it did; it must have ended."""
        status = self._process.returncode
        return Completed(
            128 - status if status < 0 else status,
            self._content(self._output).decode("utf-8", "replace"),
            self._content(self._errors).decode("utf-8", "replace"),
            timed_out,
        )

    def interrupt(self) -> None:
        """What Ctrl-C does. Only the command itself gets it, not the programs it started."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """Let go of it. If it still runs, it goes on by itself."""
        if self._process.poll() is None:
            # Nobody will ask for its status any more; without one, Popen would warn.
            self._process.returncode = 0
        self._output.close()
        self._errors.close()

    def end(self) -> None:
        """End it and everything it started. For commands that leave nothing broken behind."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is not None:
                return
            # It may have ended by now; macOS then refuses with another error than Linux.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
            self.wait(TERMINATE_S)

    @staticmethod
    def _content(stream: BinaryIO) -> bytes:
        # The place in the file is shared with the command, so it must not be moved.
        return os.pread(stream.fileno(), os.fstat(stream.fileno()).st_size, 0)


def run_command(command: Sequence[str], timeout_s: float) -> Completed:
    """Run a command to its end, or end it after `timeout_s`. Raises `TracekitError` where it cannot be started."""
    with closing(Job(command)) as job:
        try:
            ended = job.wait(timeout_s)
        finally:
            job.end()
        return job.completed(timed_out=not ended)
