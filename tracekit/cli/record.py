"""`tracekit record`: make a recording with Apple's tool, on a Mac; and `tracekit doctor`: the setup of this machine."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from tracekit.cli.forms import check_output
from tracekit.cli.options import TEMPLATE
from tracekit.cli.output import emit, is_interactive, narrate, narrate_in_place
from tracekit.cli.process import ExitStatus, Next
from tracekit.errors import TracekitError, UsageError
from tracekit.recording.xctrace import tool as xctrace
from tracekit.recording.xctrace.doctor import examine, read_signature
from tracekit.recording.xctrace.recorder import DYNAMIC, HIGH_FREQUENCY, WAITING, Request, options_for, record
from tracekit.recording.xctrace.tool import ADDED, FRAMES, MEMORY
from tracekit.recording.xctrace.watching import Patience, Phase
from tracekit.signals import stop_signals
from tracekit.units import DURATION_UNITS_NS

MARKS = {"ok": "ok", "missing": "FAIL", "optional": "-", "unchecked": "?"}


class Narrator:
    """Reports what becomes of a recording: its time every second on a terminal, else each minute of waiting."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._shown = ""
        self._minutes = 0

    def on_message(self, text: str) -> None:
        """A clause of our own."""
        self.close()
        narrate(f"tracekit: {text}")

    def note(self, text: str) -> None:
        """What is not worth a word where it should be quiet."""
        if not self._quiet:
            self.on_message(text)

    def pass_on(self, text: str) -> None:
        """A line of `xctrace`."""
        self.close()
        narrate(f"xctrace: {text.strip()}")

    def count(self, phase: Phase, seconds: float) -> None:
        """How long the phase lasts so far."""
        if self._quiet:
            return
        minutes, rest = divmod(int(seconds), 60)
        if not self._show(f"  {phase.value} {minutes}:{rest:02}") and minutes != self._minutes:
            self._minutes = minutes
            if minutes and phase.value != "recording":
                narrate(f"tracekit: {phase.value} for {minutes} min so far")

    def close(self) -> None:
        """Remove the line with the time."""
        self._show("")

    def _show(self, text: str) -> bool:
        """Show a line in place of the last one. False where that cannot be."""
        if text == self._shown:
            return True
        in_place = narrate_in_place(text)
        self._shown = text if in_place else ""
        return in_place


def run(arguments: Namespace) -> ExitStatus | Next:
    """Record, and print the path of the recording or go on to the command that reports on it."""
    request = request_of(arguments)
    if arguments.dry_run:
        own = request if request.device is not None else replace(request, launch=_with_path_of_program(request.launch))
        after = f"tracekit {arguments.then} -- {shlex.quote(str(request.output))}\n" if arguments.then else ""
        emit(f"{_typed(own).shell_command()}\n{after}")
        return ExitStatus.DONE
    tool = xctrace.find_tool()
    if tool is None and sys.platform == "darwin":
        raise TracekitError(f"recording needs Xcode; {xctrace.HOW_TO_INSTALL}")
    if tool is None:
        typed = _typed(replace(request, no_prompt=arguments.no_prompt))
        raise TracekitError(f"recording needs a Mac with Xcode; run this there: {typed.shell_command()}")
    if request.output.exists():
        raise UsageError(f"cannot write {request.output}: it already exists; delete it, or choose another name with -o")
    check_output(request.output, ())
    request.output.parent.mkdir(parents=True, exist_ok=True)
    narrator = Narrator(arguments.quiet)
    if request.device is not None:
        device = choose_device(tool, request.device)
        narrator.note(f"{device.kind}: {device.name}")
        request = replace(request, device=device.identifier, on_device=not device.is_host)
    if not request.on_device:
        request = replace(request, launch=_with_path_of_program(request.launch))
        check_signature(request.launch, narrator)
    plain = arguments.only_template or arguments.template != TEMPLATE
    wanted = (*(() if plain else (WAITING, DYNAMIC)), *((HIGH_FREQUENCY,) if arguments.high_frequency else ()))
    if wanted:
        options = options_for(tool, request.instrument_arguments(), wanted)
        request = replace(request, options=options.document)
        if options.shown:
            narrator.note(f"also recording {' and '.join(options.shown)}")
        if HIGH_FREQUENCY in options.missing:
            narrator.on_message("this xctrace cannot sample at high frequency here")
    # What became of the recording is reported before a signal ends the program.
    with stop_signals() as received:
        try:
            narrator.note(f"starting xctrace with {' + '.join((request.template, *request.instruments))}")
            with closing(narrator):
                warnings = record(tool, request, narrator, Patience(saving=arguments.save_timeout))
        except TracekitError as error:
            if received.ending is None:
                raise
            narrator.on_message(str(error))
        else:
            for warning in warnings:
                narrator.on_message(warning)
            if arguments.then:
                narrator.note(f"saved {request.output}")
            else:
                emit(f"{request.output}\n")
    if arguments.then:
        return Next((arguments.then, "--", str(request.output)))
    if is_interactive():
        narrator.note(f"next: tracekit analyze {shlex.quote(str(request.output))}")
    return ExitStatus.DONE


def _typed(request: Request) -> Request:
    """The request as a command line has it: a device that is to be picked has a name there."""
    return replace(request, device="NAME" if request.device == "" else request.device)


def request_of(arguments: Namespace) -> Request:
    """What the arguments ask for. Raises `UsageError` where they contradict each other."""
    launch = tuple(arguments.launched)
    if (arguments.attach is not None) + arguments.all_processes + arguments.launch != 1:
        raise UsageError("missing target: use --attach NAME|PID, --all-processes or --launch -- COMMAND")
    if arguments.launch != bool(launch):
        raise UsageError("to launch a command, use --launch -- COMMAND [ARGUMENT ...]")
    name = f"recording-{datetime.now().astimezone():%Y%m%d-%H%M%S}.trace"
    if len(arguments.output) > 1:
        raise UsageError(f"record writes one bundle (got -o {len(arguments.output)} times)")
    output = Path(arguments.output[0] if arguments.output else name)
    if output.suffix != ".trace":
        raise UsageError(f"{output}: a recording must end in .trace")
    time_limit = None
    if arguments.time_limit is not None:
        if arguments.time_limit % DURATION_UNITS_NS["ms"]:
            raise UsageError("argument --time-limit: xctrace takes whole milliseconds, such as 2ms")
        unit = next((unit for unit in ("h", "m", "s") if not arguments.time_limit % DURATION_UNITS_NS[unit]), "ms")
        time_limit = f"{arguments.time_limit // DURATION_UNITS_NS[unit]}{unit}"
    added = ADDED if arguments.template == TEMPLATE and not arguments.only_template else ()
    asked = (*(MEMORY if arguments.memory else ()), *(FRAMES if arguments.frames else ()))
    return Request(
        output=output,
        template=arguments.template,
        instruments=tuple(dict.fromkeys((*added, *arguments.instrument, *asked))),
        attach=arguments.attach,
        launch=launch,
        all_processes=arguments.all_processes,
        device=arguments.device,
        time_limit=time_limit,
        no_prompt=arguments.no_prompt or not is_interactive(),
    )


def _with_path_of_program(launch: tuple[str, ...]) -> tuple[str, ...]:
    """The command with the path of its program: xctrace does not search PATH. Left alone where it is not here."""
    if not launch:
        return ()
    program = shutil.which(launch[0]) or (launch[0] if Path(launch[0]).exists() else None)
    return (str(Path(program).absolute()) if program else launch[0], *launch[1:])


def choose_device(tool: xctrace.Tool, wanted: str) -> xctrace.ListedDevice:
    """The device that the user means, chosen from a list of several. Raises `UsageError` for none that can record."""
    matching = xctrace.find_devices(xctrace.list_devices(tool), wanted)
    rest = [device for device in matching if not device.is_simulator]
    if rest != matching and rest and xctrace.read_version(tool).hangs_on_simulators:
        matching = rest
    device = matching[0] if len(matching) == 1 else _device_of_number(matching, wanted)
    xctrace.check_device(device, lambda: xctrace.read_version(tool))
    return device


def _device_of_number(devices: Sequence[xctrace.ListedDevice], wanted: str) -> xctrace.ListedDevice:
    """The one whose number is typed. Raises `UsageError` where nobody can type, or types something else."""
    listed = [f"{device.name} ({', '.join(filter(None, (device.os_version, device.kind)))})" for device in devices]
    if not is_interactive():
        which = f"several devices match '{wanted}'" if wanted else "--device needs a value where there is no terminal"
        choices = ", ".join(f"{text} {device.identifier}" for text, device in zip(listed, devices, strict=True))
        raise UsageError(f"{which}; use the name or the UDID of one: {choices}")
    for number, line in enumerate(listed, 1):
        narrate(f"{number:3}  {line}")
    narrate(f"tracekit: which device? type a number from 1 to {len(devices)} (Enter: 1, {devices[0].name})")
    answer = sys.stdin.readline()
    number_typed = (answer.strip() or "1") if answer else ""
    if not number_typed.isdecimal() or not 1 <= int(number_typed) <= len(devices):
        raise UsageError(f"no device was chosen; expected a number from 1 to {len(devices)}")
    return devices[int(number_typed) - 1]


def check_signature(launch: Sequence[str], narrator: Narrator) -> None:
    """Say where a program cannot be traced on this Mac; where that cannot be found out, xctrace will say so."""
    if not launch:
        return
    program = Path(launch[0])
    try:
        signature = read_signature(program)
    except TracekitError:
        return
    if not signature.is_traceable:
        narrator.on_message(
            f"{program.name} lacks get-task-allow, so Core ML events will be missing; to sign it, see: tracekit doctor "
            f"--target {program}"
        )


def run_doctor(arguments: Namespace) -> ExitStatus:
    """Print every check. Status 2 where a requirement is missing or cannot be checked."""
    checks = examine(arguments.target, private=not arguments.redact)
    usable = all(check.state not in ("missing", "unchecked") for check in checks)
    if arguments.format == "json":
        listed = [
            {"name": check.name, "state": check.state, "detail": check.detail, "fix": check.fix or None}
            for check in checks
        ]
        emit(json.dumps({"usable": usable, "checks": listed}, indent=2, ensure_ascii=False) + "\n", utf8=True)
        return ExitStatus.DONE if usable else ExitStatus.UNUSABLE
    width = max(len(check.name) for check in checks)
    for check in checks:
        # A line is never broken: a fix may be a command to copy.
        emit(f"{MARKS[check.state]:4}  {check.name:{width}}  {check.detail}\n")
        if check.fix:
            emit(f"{'':4}  {'':{width}}  {check.fix}\n")
    return ExitStatus.DONE if usable else ExitStatus.UNUSABLE
