"""Recording with `xctrace record`: started, watched, stopped once, saved, and never left behind.

Whether the bundle that it left is usable is decided by the bundle, not by the exit status of `xctrace`.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracekit.errors import TracekitError, UnreadableRecording
from tracekit.recording.direct import open_directly
from tracekit.recording.xctrace import tool as xctrace
from tracekit.recording.xctrace.exporter import Exporter
from tracekit.recording.xctrace.running import Completed, Job
from tracekit.recording.xctrace.tool import Tool
from tracekit.recording.xctrace.watching import Listener, Patience, Watch
from tracekit.signals import StopSignals, stop_signals

REFUSED: Final = 57
"""Exit status of `xctrace` for options that it does not take."""
WAITING: Final = "threads that wait"
HIGH_FREQUENCY: Final = "samples at high frequency"
DYNAMIC: Final = "Core ML's own signposts"
_SWITCHES: Final = {
    "recordWaitingThreads": WAITING,
    "highFrequencySampling": HIGH_FREQUENCY,
    "dynamicTracingEnabledSubsystems": DYNAMIC,
}
_CORE_ML: Final = "com.apple.coreml"


class Options(NamedTuple):
    """What to record with."""

    document: str
    """As `xctrace` takes it; empty where it has none of the options."""
    shown: tuple[str, ...]
    """What it makes a recording show, in words."""
    missing: tuple[str, ...]
    """What this `xctrace` cannot record."""


def options_for(tool: xctrace.Tool, arguments: Sequence[str], wanted: Sequence[str]) -> Options:
    """Options of a template and its instruments, given as arguments of `xctrace record`, with what is wanted on, so
    that a recording holds more of an app's calls.

    `xctrace record --show-recording-options` prints them as JSON, `{"Time Profiler": {"recordWaitingThreads": false,
    ...}, ...}`, and records nothing; `--recording-options FILE` takes the same document. A part of it ends in exit
    status 57, and names that are not known are ignored (public notes on Xcode 16 to 27), so what is printed is passed
    on, with other values where it has the names. That Core ML logs more of itself where tracing of its subsystem is
    enabled is a guess: no recording shows it. Where `xctrace` prints no options, as before Xcode 16, all is missing.
    """
    try:
        printed = json.loads(xctrace.ask(tool, "record", *arguments, "--show-recording-options"))
    except (TracekitError, ValueError):
        printed = None
    if not isinstance(printed, dict):
        return Options("", (), tuple(wanted))
    on: set[str] = set()
    document = {name: _switched(of, wanted, on) if isinstance(of, dict) else of for name, of in printed.items()}
    shown = tuple(each for each in wanted if each in on)
    return Options(json.dumps(document) if on else "", shown, tuple(each for each in wanted if each not in on))


def _switched(options: Mapping[str, Any], wanted: Sequence[str], on: set[str]) -> dict[str, Any]:
    """Options of an instrument with those on that are wanted, which are added to `on`."""
    changed = dict(options)
    for name, what in _SWITCHES.items():
        if name not in options or what not in wanted:
            continue
        value = options[name]
        if isinstance(value, bool):
            changed[name] = True
        elif isinstance(value, list):
            changed[name] = [*value, *([] if _CORE_ML in value else [_CORE_ML])]
        else:
            continue
        on.add(what)
    return changed


TIME_LIMIT: Final = re.compile(r"(\d+)(ms|s|m|h)", re.ASCII)
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_TOC_S: Final = 60.0
"""For the table of contents, which takes `xctrace` 15 s to begin. Nobody can interrupt it."""
_FULL_BYTES: Final = 50_000_000
"""A disk with less space is called full (heuristic): the smallest recordings need a few megabytes."""


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
    options: str = ""
    """Options of instruments, as `tracekit.recording.xctrace.recorder` makes them."""
    options_file: Path | None = None
    """Where `xctrace` reads them."""

    def arguments(self) -> list[str]:
        """Arguments of `xctrace`. A launched command comes last, since everything after it belongs to it."""
        options = None if self.options_file is None else str(self.options_file)
        optional = (("--time-limit", self.time_limit), ("--recording-options", options))
        pairs = [(flag, value) for flag, value in optional if value is not None]
        words = ["record", "--output", str(self.output), *self.instrument_arguments()]
        words += [word for pair in pairs for word in pair]
        if self.no_prompt:
            words.append("--no-prompt")
        if self.attach is not None:
            return [*words, "--attach", self.attach]
        return [*words, "--launch", "--", *self.launch] if self.launch else [*words, "--all-processes"]

    def instrument_arguments(self) -> list[str]:
        """Those that say what is recorded of which device."""
        pairs = [("--template", self.template), *(("--instrument", name) for name in self.instruments)]
        pairs += [] if self.device is None else [("--device", self.device)]
        return [word for pair in pairs for word in pair]

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
    with contextlib.ExitStack() as held:
        received = held.enter_context(stop_signals())
        if request.options:
            folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="tracekit-")))
            request = replace(request, options_file=folder / "options.json")
            (folder / "options.json").write_text(request.options, encoding="utf-8")
        watch, completed, ended_because = _run(tool, request, listener, patience, received)
        if completed.status == xctrace.NOT_FOUND and ended_because is None:
            listener.on_message("xctrace did not find the app, which may still be starting; trying once more")
            watch, completed, ended_because = _run(tool, request, listener, patience, received)
        if completed.status == REFUSED and request.options and ended_because is None:
            listener.on_message("xctrace refuses the options of instruments; recording without them")
            request = replace(request, options_file=None)
            watch, completed, ended_because = _run(tool, request, listener, patience, received)
        if not watch.has_run and not (request.output / "form.template").exists():
            # What never ran left nothing of value, which would be in the way of the next attempt.
            shutil.rmtree(request.output, ignore_errors=True)
        rest = watch.rest()
        try:
            return judge(tool, request.output, completed, ended_because, on_device=request.on_device)
        except TracekitError as error:
            # What the error says is not passed on as well.
            rest = [line for line in rest if line.strip().rstrip(".") not in str(error)]
            raise
        finally:
            for line in rest:
                listener.pass_on(line)


def _run(
    tool: Tool, request: Request, listener: Listener, patience: Patience, received: StopSignals
) -> tuple[Watch, Completed, str | None]:
    """One call of `xctrace`: who followed it, what it did, and why it was ended, if it was."""
    command = [*tool, *request.arguments()]
    with closing(Job(command, keep_stdin=not request.no_prompt, grace_s=patience.saving)) as job:
        watch = Watch(job, listener, received, patience)
        try:
            ended_because = watch.wait_for_end(request.limit_s(), answered=not request.no_prompt)
        finally:
            job.end()
        return watch, job.outcome(), ended_because


def judge(
    tool: Tool, bundle: Path, completed: Completed, ended_because: str | None, *, on_device: bool
) -> tuple[str, ...]:
    """Warnings of a recording that succeeded: its bundle opens and holds what was recorded.

    ended_because: why tracekit ended `xctrace`, as a clause; None where it ended by itself. on_device: whether the
    recording is not of this Mac. Raises `TracekitError` with what went wrong where the bundle is not usable.
    """
    issues = xctrace.run_issues(completed.errors)
    says_so = (
        ended_because is None
        and completed.status in (0, xctrace.ENDED_WITH_TARGET)
        and xctrace.reports_success(completed.output)
    )
    problem = _problem(tool, bundle, says_so)
    if problem is not None:
        free = shutil.disk_usage(bundle.absolute().parent).free
        left = f" ({free / 1e6:,.0f} MB left)" if free < _FULL_BYTES else ""
        why = ended_because or xctrace.failure_reason(completed, issues, on_device=on_device, problem=problem)
        if "No space left on device" in completed.errors or (left and bundle.exists()):
            why = f"the disk is full{left}; free some space and record again"
        remains = f"; an incomplete recording remains at {bundle}" if bundle.exists() else ""
        raise TracekitError(f"recording failed: {why}{remains}")
    warnings = [f"{issue.level.lower()} while recording: {issue.text.rstrip('.')}" for issue in issues]
    if ended_because is not None:
        warnings.append(f"{ended_because}, but the recording is complete")
    elif completed.status not in (0, xctrace.ENDED_WITH_TARGET) and not issues:
        warnings.append(f"the recording is complete, although xctrace exited with status {completed.status}")
    advice = xctrace.advice_for(issues, on_device=on_device)
    return (*warnings, advice) if advice else tuple(warnings)


def _problem(tool: Tool, bundle: Path, says_so: bool) -> str | None:
    """What makes a bundle unusable, as a clause; None for a usable one. says_so: whether `xctrace` says that it is
    usable, which is good enough for one that cannot be read natively."""
    if not bundle.exists():
        return "xctrace wrote nothing"
    if not (bundle / "form.template").is_file():
        return "the bundle was not finished (it has no form.template)"
    try:
        run = open_directly([bundle]).run
    except UnreadableRecording:
        if says_so:
            return None
        try:
            with tempfile.TemporaryDirectory(prefix="tracekit-") as between:
                run = Exporter(tool, bundle, _TOC_S).contents(Path(between)).runs[-1]
        except TracekitError as error:
            return f"the bundle cannot be opened: {error}"
    has_rows = any(entry.rows for entry in run.tables)
    return None if run.duration_ns or has_rows else "nothing was recorded"
