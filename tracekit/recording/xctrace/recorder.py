"""Recording with `xctrace record`: started, watched, stopped once, saved, checked."""

from __future__ import annotations

import re
import shlex
import signal
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tracekit.errors import TracekitError
from tracekit.recording.xctrace.messages import (
    ENDED_WITH_TARGET,
    FAILED,
    RUNNING,
    SAVING,
    advice_for,
    run_issues,
    was_saved,
    why_failed,
)
from tracekit.recording.xctrace.running import Job
from tracekit.signals import stop_signals

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tracekit.recording.xctrace.running import Completed
    from tracekit.recording.xctrace.tool import Tool
    from tracekit.signals import StopSignals

TIME_LIMIT: Final = re.compile(r"(\d+)(ms|s|m|h)", re.ASCII)
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_POLL_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for what, in seconds."""

    start: float = 120.0
    """From the call until the recording runs."""
    over_limit: float = 60.0
    """Beyond the time limit, which simulators were seen to ignore, until it is stopped."""
    saving: float = 600.0
    """Saving 4 s of some templates took more than 5 minutes."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to record."""

    output: Path
    template: str
    instruments: tuple[str, ...] = ()
    attach: str | None = None
    launch: tuple[str, ...] = ()
    all_processes: bool = False
    device: str | None = None
    time_limit: str | None = None
    no_prompt: bool = False

    def arguments(self) -> list[str]:
        """Arguments of `xctrace`. A launched command comes last, since everything after it belongs to it."""
        pairs = [("--template", self.template), *(("--instrument", name) for name in self.instruments)]
        optional = (("--device", self.device), ("--time-limit", self.time_limit))
        pairs += [(flag, value) for flag, value in optional if value is not None]
        words = ["record", "--output", str(self.output), *(word for pair in pairs for word in pair)]
        if self.no_prompt:
            words.append("--no-prompt")
        if self.attach is not None:
            return [*words, "--attach", self.attach]
        return [*words, "--launch", "--", *self.launch] if self.launch else [*words, "--all-processes"]

    def shell_command(self) -> str:
        """The command as it is typed on a Mac."""
        return f"xcrun xctrace {shlex.join(self.arguments())}"

    def limit_s(self) -> float | None:
        """Time limit in seconds."""
        match = TIME_LIMIT.fullmatch(self.time_limit or "")
        return int(match[1]) * _SECONDS[match[2]] if match else None


def record(
    tool: Tool, request: Request, tell: Callable[[str], None], patience: Patience | None = None
) -> tuple[str, ...]:
    """Record until the time limit, the end of the target, Ctrl-C, SIGTERM or SIGHUP, and wait until it is saved.

    tell: called with what happens, a sentence at a time. Returns warnings. Raises `TracekitError` where no usable
    recording came out. What a signal does in other places of the program follows when it is saved.
    """
    with stop_signals() as received:
        with closing(Job([*tool.command, *request.arguments()], keep_stdin=not request.no_prompt)) as job:
            _Watch(job, request, tell, patience or Patience(), received).until_saved()
            completed = job.completed()
        return _judge(completed, request)


class _Watch:
    """Follows a recording. It is told to stop once at most: a second signal would leave a broken bundle."""

    def __init__(
        self, job: Job, request: Request, tell: Callable[[str], None], patience: Patience, received: StopSignals
    ) -> None:
        self._job = job
        self._limit = request.limit_s()
        self._tell = tell
        self._patience = patience
        self._received = received
        self._deadline = time.monotonic() + patience.start
        self._running = self._stopped = self._saving = False
        self._asked_to_end = False

    def until_saved(self) -> None:
        """Return when the tool has ended. Raises `TracekitError` when it does not."""
        while not self._job.wait(_POLL_S):
            self._look()
            for number in self._received.new():
                self._heed(number)

    def _heed(self, number: int) -> None:
        """Stop at the first signal. Who presses Ctrl-C again does not want to wait; who ends the program expects that
        it takes what it started with it, and so it waits, unless it is told once more."""
        ends_program = number != signal.SIGINT
        if not self._stopped and not self._saving:
            self._stop("stopping; asked xctrace to save")
        elif not ends_program or self._asked_to_end:
            raise TracekitError(
                f"no longer waiting; xctrace (process {self._job.pid}) keeps saving on its own, and the recording is "
                "complete once that process exits"
            )
        self._asked_to_end = self._asked_to_end or ends_program

    def _look(self) -> None:
        for line in self._job.new_lines():
            if line.startswith(RUNNING) and not self._running:
                self._running = True
                self._deadline = self._after_limit()
                self._tell("recording; press Ctrl-C to stop and save")
            elif line.startswith(SAVING) and not self._saving:
                self._saving = True
                self._deadline = time.monotonic() + self._patience.saving
                self._tell("saving, which can take minutes; please wait")
        if time.monotonic() < self._deadline:
            return
        if self._stopped or self._saving:
            raise TracekitError(
                f"saving takes longer than {self._patience.saving:g} s; xctrace (process {self._job.pid}) was left "
                "running, and the recording is complete once that process exits"
            )
        why = "xctrace ignored the time limit" if self._running else "the recording did not start"
        self._stop(f"{why}; stopping it")

    def _after_limit(self) -> float:
        if self._limit is None:
            return float("inf")
        return time.monotonic() + self._limit + self._patience.over_limit

    def _stop(self, why: str) -> None:
        self._stopped = True
        self._deadline = time.monotonic() + self._patience.saving
        self._tell(why)
        self._job.interrupt()


def _judge(completed: Completed, request: Request) -> tuple[str, ...]:
    """Warnings of a recording that succeeded: it says that it was saved, and the bundle is complete."""
    issues, on_device = run_issues(completed.errors), request.device is not None
    bundle = request.output
    remains = f"; an incomplete recording remains at {bundle}" if bundle.exists() else ""
    if not was_saved(completed.output) or FAILED in completed.output:
        raise TracekitError(f"recording failed: {why_failed(completed, issues, on_device=on_device)}{remains}")
    if not (bundle / "form.template").is_file():
        raise TracekitError(
            f"the recording is incomplete (it has no form.template) and remains at {bundle}; record again and press "
            "Ctrl-C only once"
        )
    warnings = [f"{issue.level.lower()} while recording: {issue.text.rstrip('.')}" for issue in issues]
    advice = advice_for(issues, on_device=on_device)
    if completed.status not in (0, ENDED_WITH_TARGET):
        warnings.append(f"the recording was saved, but xctrace exited with status {completed.status}")
    return (*warnings, advice) if advice else tuple(warnings)
