"""Parses a command line, runs the command, and turns every way of failing into an exit status."""

from __future__ import annotations

import os
import traceback
from importlib import import_module
from typing import TYPE_CHECKING

from tracekit._version import __version__
from tracekit.cli.ending import ExitStatus, Next, Terminated
from tracekit.cli.output import data_alone, emit, narrate
from tracekit.cli.parser import COMMANDS, build_parser
from tracekit.errors import TracekitError, UsageError, unknown, words_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

GUIDE = """\
tracekit {version}: find performance problems in Instruments recordings of Core ML apps

  tracekit record --attach MyApp -o run.trace     record (on a Mac)
  tracekit analyze run.trace                      find problems
  tracekit view run.trace                         browse the timeline
  tracekit explain reload-before-predict          what a check means, with the fix

All commands: tracekit --help        First time? tracekit doctor
"""
"""What `tracekit` alone prints."""


def dispatch(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status. Never raises, except `SystemExit` for `--help` and such."""
    debug = "--debug" in arguments
    try:
        with data_alone():
            if not arguments:
                emit(GUIDE.format(version=__version__))
                return ExitStatus.DONE
            options = _options(_without_help_command(arguments))
            return _run(options)
    except KeyboardInterrupt:
        narrate("tracekit: interrupted")
        return ExitStatus.INTERRUPTED
    except Terminated as end:
        narrate(f"tracekit: terminated by {end.name}")
        return end.status
    except TracekitError as error:
        _show_traceback(debug)
        narrate(f"tracekit: {error}")
        return ExitStatus.UNUSABLE
    except SystemExit:
        # The parser printed what was asked for, such as `--help`.
        raise
    except OSError as error:
        # A path that no command looks at for its own sake, such as one too long for the file system.
        _show_traceback(debug)
        narrate(f"tracekit: cannot use {error.filename or 'a file'}: {error.strerror or error}")
        return ExitStatus.UNUSABLE
    except BaseException as error:  # the last line of defense: a user never sees a bare traceback, nor status 1 for it
        _show_traceback(debug)
        message = words_of(error).splitlines()[0]
        advice = "please report it with the traceback above" if debug else "please run again with --debug and report it"
        narrate(f"tracekit: internal error ({message}); {advice}")
        return ExitStatus.UNUSABLE


def _without_help_command(arguments: Sequence[str]) -> Sequence[str]:
    """`help X` as `X --help`, and `help` as `--help`."""
    if arguments[0] != "help":
        return arguments
    return [*arguments[1:2], "--help"]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    """What the command line says. Raises `UsageError`."""
    _check_command(arguments)
    # An option before the command may need to know all of them.
    parser = build_parser(None if arguments[0].startswith("-") else arguments[0])
    options, rest = parser.parse_known_args(arguments)
    if rest:
        command = f"tracekit {options.command}" if options.command else "tracekit"
        raise UsageError(f"unrecognized arguments: {' '.join(rest)} (see '{command} --help')")
    if options.command is None:
        raise _no_command()
    return options


def _run(options: argparse.Namespace) -> int:
    """Exit status of the command. Only the command line decides on one: `SystemExit` from elsewhere is a failure."""
    try:
        module, _, function = options.runs.partition(":")
        result = getattr(import_module(module), function)(options)
        return _run(_options(result.arguments)) if isinstance(result, Next) else ExitStatus(result)
    except SystemExit as error:
        raise RuntimeError(words_of(error)) from error


def _check_command(arguments: Sequence[str]) -> None:
    """Raise `UsageError` for an unknown command, in better words than argparse has."""
    names = [command.name for command in COMMANDS]
    first = arguments[0]
    if first in names or (first.startswith("-") and first != "-"):
        return
    if first == "-" or os.path.exists(first):  # noqa: PTH110 - also for what is no path
        raise UsageError(f"missing command; did you mean `tracekit analyze {first}`?")
    raise unknown("command", first, names)


def _no_command() -> UsageError:
    names = ", ".join(command.name for command in COMMANDS)
    return UsageError(f"missing command; choose from {names} (see 'tracekit --help')")


def _show_traceback(debug: bool) -> None:
    """Print the traceback of the exception being handled, if the user asked for it."""
    if debug:
        narrate(traceback.format_exc().rstrip(), multiline=True)
