"""Follows a running `xctrace record`: what it prints, how long it takes, and when it is to stop."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from tracekit.recording.xctrace.running import Job
from tracekit.recording.xctrace.tool import RUNNING, SAVING, TARGET_EXITED, is_news
from tracekit.signals import StopSignals

_POLL_S: Final = 0.1
_SETTLED_S: Final = 0.5
"""What `xctrace` prints is passed on after this time, if it still runs: its last words are shown at the end."""


class Phase(Enum):
    """How far a recording is."""

    STARTING = "starting"
    RECORDING = "recording"
    SAVING = "saving"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for what, in seconds."""

    start: float = 300.0
    """From the call until the recording runs: a device that is new to the Mac is prepared first. No limit once
    `xctrace` has printed what a person may have to answer."""
    over_limit: float = 60.0
    """Beyond the time limit, which simulators were seen to ignore, until it is stopped."""
    stop: float = 10.0
    """For a recording that does not run yet, and has nothing to save, to end after it was stopped."""
    saving: float = 600.0
    """Saving 4 s of some templates took more than 5 minutes."""


class Listener(Protocol):
    """Who hears of a recording."""

    def on_message(self, text: str) -> None:
        """What happens, a clause at a time."""

    def pass_on(self, text: str) -> None:
        """A line that `xctrace` printed, or its question."""

    def count(self, phase: Phase, seconds: float) -> None:
        """How long the phase lasts so far. Called again and again."""


class Watch:
    """Follows a recording to its end. It is interrupted once at most: a second time would break what is saved."""

    def __init__(self, job: Job, listener: Listener, received: StopSignals, patience: Patience) -> None:
        self._job = job
        self._listener = listener
        self._received = received
        self._patience = patience
        self._why_stopped: str | None = None
        self.has_run = False
        self._interrupts = self._endings = 0
        self._heard: list[tuple[float, str]] = []
        self._question = self._begun = ""
        self._begun_at = 0.0
        self._enter(Phase.STARTING, patience.start)

    def wait_for_end(self, limit_s: float | None, *, answered: bool) -> str | None:
        """Return when `xctrace` has ended, or is not to be waited for any longer: then why, as a clause.

        limit_s: the time limit. answered: whether somebody may answer what `xctrace` asks.
        """
        while not self._job.wait(_POLL_S):
            self._look(limit_s)
            if self._pass_on() and answered and self._phase is Phase.STARTING and self._why_stopped is None:
                self._deadline = float("inf")
            if not self._question:
                self._listener.count(self._phase, time.monotonic() - self._since)
            reasons = [self._heed(number) for number in self._received.new()]
            if time.monotonic() >= self._deadline:
                reasons.append(self._overdue())
            why = next(filter(None, reasons), None)
            if why is not None:
                return why
        self._look(limit_s)
        return None if self.has_run else self._why_stopped

    def rest(self) -> list[str]:
        """Lines that were not passed on."""
        return [line for _, line in self._heard]

    def _enter(self, phase: Phase, patience_s: float) -> None:
        self._phase, self._since = phase, time.monotonic()
        self._deadline = self._since + patience_s

    def _look(self, limit_s: float | None) -> None:
        for line in (*self._job.output.new_lines(), *self._job.errors.new_lines()):
            if line.startswith(RUNNING) and not self.has_run:
                self.has_run = True
                if self._why_stopped is None:
                    if limit_s is None:
                        self._enter(Phase.RECORDING, float("inf"))
                        self._listener.on_message("recording; press Ctrl-C to stop and save")
                    else:
                        self._enter(Phase.RECORDING, limit_s + self._patience.over_limit)
                        self._listener.on_message(f"recording for {limit_s:g} s; press Ctrl-C to stop and save earlier")
            elif line.startswith(TARGET_EXITED):
                self._listener.on_message("the app has exited")
            elif line.startswith(SAVING):
                if self._phase is not Phase.SAVING:
                    self._save("saving, which can take minutes")
            elif self._question and line.startswith(self._question):
                self._question = ""
            elif is_news(line):
                self._heard.append((time.monotonic(), line))

    def _pass_on(self) -> bool:
        """Pass on what `xctrace` says before its last words, and asks: a line without an end. Whether there was any."""
        now = time.monotonic()
        settled = [line for since, line in self._heard if now - since >= _SETTLED_S]
        del self._heard[: len(settled)]
        begun = self._job.output.open_line or self._job.errors.open_line
        if begun != self._begun:
            self._begun, self._begun_at = begun, now
        elif begun.strip() and begun != self._question and now - self._begun_at >= _SETTLED_S:
            self._question = begun
            settled.append(begun)
        for line in settled:
            self._listener.pass_on(line)
        return bool(settled)

    def _heed(self, number: int) -> str | None:
        """Stop at the first signal, and say why to give up at a later one. Who presses Ctrl-C again is warned once. Who
        ends the program expects that it takes with it what it started, and so it waits, unless it is signaled again."""
        first = self._why_stopped is None and self._phase is not Phase.SAVING
        if first:
            self._stop("stopping", why="stopped before the recording started")
        if number != signal.SIGINT:
            self._endings += 1
            return None if self._endings == 1 else "terminated before the recording was saved"
        self._interrupts += not first
        if not self._interrupts:
            return None
        if not self.has_run:
            return self._why_stopped
        if self._interrupts == 1:
            self._listener.on_message("still saving; press Ctrl-C again to give up and lose the recording")
            return None
        return "stopped before the recording was saved"

    def _overdue(self) -> str | None:
        """What waiting for too long means: first to stop, then to give up, and why."""
        if self._phase is Phase.SAVING:
            return f"xctrace did not finish saving within {self._patience.saving:g} s (--save-timeout)"
        if self._why_stopped is not None:
            return self._why_stopped
        words = "xctrace ignores the time limit; stopping" if self.has_run else "the recording does not start; stopping"
        self._stop(words, why=f"the recording did not start within {self._patience.start:g} s")
        return None

    def _stop(self, words: str, *, why: str) -> None:
        self._why_stopped = why
        self._job.interrupt()
        if self.has_run:
            self._save(f"{words} and saving, which can take minutes")
        else:
            self._listener.on_message(words)
            self._deadline = time.monotonic() + self._patience.stop

    def _save(self, words: str) -> None:
        self._listener.on_message(words)
        self._enter(Phase.SAVING, self._patience.saving)
