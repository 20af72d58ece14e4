"""`tracekit record`: make a recording with Apple's tool, on a Mac."""

from __future__ import annotations

import shlex
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.command import Command, ExitStatus, Next
from tracekit.cli.inputs import seconds
from tracekit.errors import TracekitError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from tracekit.recording.xctrace.recorder import Request

TEMPLATE = "Core ML"


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    target = parser.add_argument_group("target (exactly one)")
    target.add_argument("--attach", metavar="NAME|PID", help="a running process")
    target.add_argument("--all-processes", action="store_true", help="every process on the device")
    target.add_argument("--launch", action="store_true", help="start a command: --launch -- COMMAND [ARGUMENT ...]")
    target.add_argument(
        "launched",
        metavar="COMMAND",
        nargs="*",
        help="the command to launch, with its arguments; must come last, after --",
    )
    how = parser.add_argument_group("recording")
    how.add_argument(
        "--device",
        nargs="?",
        const="",
        metavar="NAME|UDID",
        help="device or simulator to record on, by UDID, name or a part of the name; without a value, pick from a list "
        "(default: this Mac)",
    )
    how.add_argument("--time-limit", metavar="TIME", help="stop after 500ms, 30s, 5m or 1h (default: until Ctrl-C)")
    how.add_argument(
        "--template",
        default=TEMPLATE,
        metavar="NAME",
        help=f"Instruments template (default: {TEMPLATE}, with Hangs and Thermal State, which checks need)",
    )
    how.add_argument("--only-template", action="store_true", help=f"do not add instruments to the {TEMPLATE} template")
    how.add_argument("--instrument", action="append", default=[], metavar="NAME", help="add an instrument (repeatable)")
    how.add_argument(
        "--no-prompt", action="store_true", help="skip xctrace's questions (the default where there is no terminal)"
    )
    how.add_argument(
        "--save-timeout",
        type=seconds,
        default=600.0,
        metavar="SECONDS",
        help="give up if xctrace takes longer to save (default: 600)",
    )
    after = parser.add_argument_group("output")
    after.add_argument(
        "-o", "--output", metavar="FILE", help="the .trace bundle to write (default: named after date and time)"
    )
    after.add_argument("--analyze", action="store_true", help="analyze the recording and print the report")


def run(arguments: Namespace) -> ExitStatus | Next:
    """Record, and print the path of the recording or go on to its report."""
    from tracekit.cli.output import emit, is_interactive
    from tracekit.cli.recording import Narrator, check_signature, choose_device
    from tracekit.recording.xctrace.recorder import record
    from tracekit.recording.xctrace.tool import find_tool
    from tracekit.recording.xctrace.watching import Patience
    from tracekit.signals import stop_signals

    request = request_of(arguments)
    tool = find_tool()
    if tool is None:
        raise _no_tool(request, no_prompt=arguments.no_prompt)
    _check_output(request.output)
    narrator = Narrator()
    if request.device is not None:
        device = choose_device(tool, request.device)
        narrator.on_message(f"{device.kind}: {device.name}")
        request = replace(request, device=device.identifier, on_device=not device.is_host)
    if not request.on_device:
        request = replace(request, launch=_with_path_of_program(request.launch))
        check_signature(request.launch, narrator)
    # What became of the recording is reported before a signal ends the program.
    with stop_signals() as received:
        try:
            narrator.on_message(f"starting xctrace with {' + '.join((request.template, *request.instruments))}")
            with closing(narrator):
                warnings = record(tool, request, narrator, Patience(saving=arguments.save_timeout))
        except TracekitError as error:
            if received.ending is None:
                raise
            narrator.on_message(str(error))
        else:
            for warning in warnings:
                narrator.on_message(warning)
            if arguments.analyze:
                narrator.on_message(f"saved {request.output}")
            else:
                emit(f"{request.output}\n")
    if arguments.analyze:
        return Next(("analyze", "--", str(request.output)))
    if is_interactive():
        narrator.on_message(f"next: tracekit analyze {shlex.quote(str(request.output))}")
    return ExitStatus.DONE


def _no_tool(request: Request, *, no_prompt: bool) -> TracekitError:
    """Says what to do on a machine that cannot record."""
    from tracekit.recording.xctrace.tool import HOW_TO_INSTALL

    if sys.platform == "darwin":
        return TracekitError(f"recording needs Xcode; {HOW_TO_INSTALL}")
    typed = replace(request, device="NAME" if request.device == "" else request.device, no_prompt=no_prompt)
    return TracekitError(f"recording needs a Mac with Xcode; run this there: {typed.shell_command()}")


def request_of(arguments: Namespace) -> Request:
    """What the arguments ask for. Raises `UsageError` where they contradict each other."""
    from datetime import datetime

    from tracekit.cli.output import is_interactive
    from tracekit.recording.xctrace.messages import ADDED
    from tracekit.recording.xctrace.recorder import TIME_LIMIT, Request

    launch = tuple(arguments.launched)
    if (arguments.attach is not None) + arguments.all_processes + arguments.launch != 1:
        raise UsageError("missing target: use --attach NAME|PID, --all-processes or --launch -- COMMAND")
    if arguments.launch != bool(launch):
        raise UsageError("to launch a command, use --launch -- COMMAND [ARGUMENT ...]")
    if arguments.time_limit is not None and not TIME_LIMIT.fullmatch(arguments.time_limit):
        raise UsageError(f"--time-limit {arguments.time_limit}: expected a number and ms, s, m or h, such as 30s")
    name = f"recording-{datetime.now().astimezone():%Y%m%d-%H%M%S}.trace"
    output = Path(arguments.output or name)
    if output.suffix != ".trace":
        raise UsageError(f"--output {output}: must end in .trace")
    added = ADDED if arguments.template == TEMPLATE and not arguments.only_template else ()
    return Request(
        output=output,
        template=arguments.template,
        instruments=tuple(dict.fromkeys((*added, *arguments.instrument))),
        attach=arguments.attach,
        launch=launch,
        all_processes=arguments.all_processes,
        device=arguments.device,
        time_limit=arguments.time_limit,
        no_prompt=arguments.no_prompt or not is_interactive(),
    )


def _with_path_of_program(launch: tuple[str, ...]) -> tuple[str, ...]:
    """The command with the path of its program: xctrace does not search PATH. Left alone where it is not here."""
    import shutil

    if not launch:
        return ()
    program = shutil.which(launch[0]) or (launch[0] if Path(launch[0]).exists() else None)
    return (str(Path(program).absolute()) if program else launch[0], *launch[1:])


def _check_output(output: Path) -> None:
    """Raise an error for a path that cannot be written."""
    if output.exists():
        raise UsageError(f"cannot write {output}: it already exists; delete it, or choose another name with -o")
    if not output.parent.is_dir():
        raise UsageError(f"cannot write {output}: no such folder: {output.parent}")


COMMAND = Command(
    name="record",
    summary="record an app with Instruments (on a Mac)",
    description=(
        "Record with Apple's xctrace and print the path of the recording. Start before the app loads its models: Core "
        "ML emits model names only at load time. The app must be signed with get-task-allow, as builds that Xcode "
        "signs for development are; check with 'tracekit doctor --target APP'. Ctrl-C stops and saves. Needs a Mac; "
        "elsewhere, the command to run there is printed."
    ),
    add_arguments=add_arguments,
    run=run,
)
