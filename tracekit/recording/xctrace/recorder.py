"""Recording with `xctrace record`: started, watched, stopped once, saved, and never left behind."""

from __future__ import annotations

import re
import shlex
import shutil
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tracekit.errors import TracekitError
from tracekit.recording.xctrace.messages import NOT_FOUND
from tracekit.recording.xctrace.running import Job
from tracekit.recording.xctrace.saved import judge
from tracekit.recording.xctrace.watching import Patience, Watch
from tracekit.signals import stop_signals

if TYPE_CHECKING:
    from pathlib import Path

    from tracekit.recording.xctrace.running import Completed
    from tracekit.recording.xctrace.tool import Tool
    from tracekit.recording.xctrace.watching import Listener
    from tracekit.signals import StopSignals

TIME_LIMIT: Final = re.compile(r"(\d+)(ms|s|m|h)", re.ASCII)
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


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
    """Name or UDID; this Mac by default."""
    on_device: bool = False
    """Whether the device is another one than a Mac, and its apps are signed otherwise."""
    time_limit: str | None = None
    no_prompt: bool = False
    """Whether `xctrace` asks nothing, as there is nobody to answer."""

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


def record(tool: Tool, request: Request, listener: Listener, patience: Patience | None = None) -> tuple[str, ...]:
    """Record until the time limit, the end of the target, Ctrl-C, SIGTERM or SIGHUP, and wait until it is saved.

    Returns warnings. Raises `TracekitError` where no usable recording came out. Either way `xctrace` has ended. What a
    signal does in other places of the program follows when it is saved.
    """
    patience = patience or Patience()
    with stop_signals() as received:
        watch, completed, ended_because = _run(tool, request, listener, patience, received)
        if completed.status == NOT_FOUND and ended_because is None:
            listener.on_message("xctrace did not find the app, which may still be starting; trying once more")
            watch, completed, ended_because = _run(tool, request, listener, patience, received)
        if not watch.has_run and not (request.output / "form.template").exists():
            # What never ran left nothing of value, which would be in the way of the next attempt.
            shutil.rmtree(request.output, ignore_errors=True)
        return _judged(tool, request, completed, ended_because, watch.rest(), listener)


def _run(
    tool: Tool, request: Request, listener: Listener, patience: Patience, received: StopSignals
) -> tuple[Watch, Completed, str | None]:
    """One call of `xctrace`: who followed it, what it did, and why it was ended, if it was."""
    command = [*tool.command, *request.arguments()]
    with closing(Job(command, keep_stdin=not request.no_prompt, grace_s=patience.saving)) as job:
        watch = Watch(job, listener, received, patience)
        try:
            ended_because = watch.until_ended(request.limit_s(), answered=not request.no_prompt)
        finally:
            job.end()
        return watch, job.completed(), ended_because


def _judged(
    tool: Tool, request: Request, completed: Completed, ended_because: str | None, rest: list[str], listener: Listener
) -> tuple[str, ...]:
    """As `judge`. rest: what `xctrace` printed last, which is passed on unless the error says it."""
    try:
        warnings = judge(tool, request.output, completed, ended_because, on_device=request.on_device)
    except TracekitError as error:
        for line in rest:
            if line.strip().rstrip(".") not in str(error):
                listener.pass_on(line)
        raise
    for line in rest:
        listener.pass_on(line)
    return warnings
