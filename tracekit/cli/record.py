"""`tracekit record`: make a recording with Apple's tool, on a Mac."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.command import Command
from tracekit.cli.exits import ExitStatus
from tracekit.errors import TracekitError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from tracekit.recording.xctrace.recorder import Request


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
    how.add_argument("--template", default="Core ML", metavar="NAME", help="Instruments template (default: Core ML)")
    how.add_argument(
        "--instrument",
        action="append",
        default=[],
        metavar="NAME",
        help="add an instrument, such as 'Hangs' or 'Thermal State' (repeatable)",
    )
    how.add_argument("--device", metavar="NAME|UDID", help="device or simulator to record on (default: this Mac)")
    how.add_argument(
        "--time-limit", metavar="TIME", help="stop after this time: 500ms, 30s, 5m or 1h (default: until Ctrl-C)"
    )
    how.add_argument("--no-prompt", action="store_true", help="skip xctrace's prompts (for scripts)")
    how.add_argument(
        "-o", "--output", metavar="FILE", help="the .trace bundle to write (default: named after date and time)"
    )


def run(arguments: Namespace) -> ExitStatus:
    """Record, and print the path of the recording."""
    from tracekit.cli.output import emit, narrate
    from tracekit.recording.xctrace.recorder import record
    from tracekit.recording.xctrace.tool import HOW_TO_INSTALL, find_tool
    from tracekit.signals import stop_signals

    request = _request(arguments)
    tool = find_tool()
    if tool is None:
        if sys.platform == "darwin":
            raise TracekitError(f"recording needs Xcode; {HOW_TO_INSTALL}")
        raise TracekitError(f"recording needs a Mac with Xcode; run this there: {request.shell_command()}")
    _check_output(request.output)
    # What became of the recording is told before a signal ends the program.
    with stop_signals() as received:
        try:
            warnings = record(tool, request, lambda text: narrate(f"tracekit: {text}"))
        except TracekitError as error:
            if received.ending is None:
                raise
            narrate(f"tracekit: {error}")
        else:
            for warning in warnings:
                narrate(f"tracekit: {warning}")
            emit(f"{request.output}\n")
    return ExitStatus.DONE


def _request(arguments: Namespace) -> Request:
    """What the arguments ask for. Raises `UsageError` where they contradict each other."""
    from datetime import datetime

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
    return Request(
        output=output,
        template=arguments.template,
        instruments=tuple(arguments.instrument),
        attach=arguments.attach,
        launch=_resolved(launch),
        all_processes=arguments.all_processes,
        device=arguments.device,
        time_limit=arguments.time_limit,
        no_prompt=arguments.no_prompt,
    )


def _resolved(launch: tuple[str, ...]) -> tuple[str, ...]:
    """The command with the path of its program: xctrace does not search PATH. Left alone where it is not here."""
    import shutil

    if not launch:
        return ()
    program = shutil.which(launch[0]) or (launch[0] if Path(launch[0]).exists() else None)
    return (str(Path(program).absolute()) if program else launch[0], *launch[1:])


def _check_output(output: Path) -> None:
    """Raise an error for a path that cannot be written."""
    if output.exists():
        raise UsageError(f"cannot write {output}: it already exists; choose another name with -o")
    if not output.parent.is_dir():
        raise UsageError(f"cannot write {output}: no such folder: {output.parent}")


COMMAND = Command(
    name="record",
    summary="record an app with Instruments (on a Mac)",
    description=(
        "Record with Apple's xctrace and print the path of the recording. Start before the app loads its models: Core "
        "ML emits model names only at load time. The app must be signed with get-task-allow, as builds that Xcode "
        "signs for development are; check with 'tracekit doctor --target APP'. Needs a Mac; elsewhere, the command to "
        "run there is printed."
    ),
    add_arguments=add_arguments,
    run=run,
)
