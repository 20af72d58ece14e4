"""The `tracekit` command: parses, dispatches, and turns every way of failing into an exit status."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.exits import ExitStatus
from tracekit.cli.output import narrate, prepare
from tracekit.cli.parser import COMMANDS, build_parser
from tracekit.errors import TracekitError, UsageError, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

_GARBAGE_THRESHOLDS = (300_000, 20, 20)
"""Importing and reading make many objects and few cycles; looking for those as often as Python does by default takes a
tenth of the time of a short run."""


def run() -> None:
    """Entry point of the `tracekit` script and of `python -m tracekit`."""
    prepare()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> ExitStatus:
    """Run one command line and return its exit status. Never raises, except `SystemExit` for `--help` and such."""
    debug = "--debug" in arguments
    try:
        _check_command(arguments)
        options, rest = build_parser().parse_known_args(arguments)
        if rest:
            command = f"tracekit {options.command}" if options.command else "tracekit"
            raise UsageError(f"unrecognized arguments: {' '.join(rest)} (see '{command} --help')")
        if options.command is None:
            raise _no_command()
        return ExitStatus(options.execute(options))
    except KeyboardInterrupt:
        narrate("tracekit: stopped before it was done.")
        return ExitStatus.INTERRUPTED
    except TracekitError as error:
        _show_traceback(debug)
        narrate(f"tracekit: {error}")
        return ExitStatus.UNUSABLE
    except Exception as error:  # the last line of defence: a user never sees a bare traceback
        _show_traceback(debug)
        told = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        advice = "report it with the traceback above" if debug else "run again with --debug and report it"
        narrate(f"tracekit: internal error ({told}); {advice}.")
        return ExitStatus.UNUSABLE


def _check_command(arguments: Sequence[str]) -> None:
    """Raise `UsageError` for a missing or unknown command, in better words than argparse has."""
    names = [command.name for command in COMMANDS]
    if not arguments:
        raise _no_command()
    first = arguments[0]
    if first in names or (first.startswith("-") and first != "-"):
        return
    if first == "-" or Path(first).exists():
        raise UsageError(f"name a command before the path: 'tracekit analyze {first}'")
    raise unknown("command", first, names)


def _no_command() -> UsageError:
    names = ", ".join(command.name for command in COMMANDS)
    return UsageError(f"name a command: {names} (see 'tracekit --help')")


def _show_traceback(debug: bool) -> None:
    """Print the traceback of the exception being handled, if the user asked for it."""
    if debug:
        import traceback

        narrate(traceback.format_exc().rstrip())
