"""Parses a command line, runs the command, and turns every way of failing into an exit status."""

from __future__ import annotations

import argparse
import os
import traceback
from collections.abc import Sequence
from importlib import import_module

from tracekit.cli.commands import COMMANDS
from tracekit.cli.ending import ExitStatus, Next, Terminated
from tracekit.cli.options import OPTIONS
from tracekit.cli.output import data_alone, narrate
from tracekit.cli.parser import build_parser, command_parser
from tracekit.errors import TracekitError, UsageError, suggest_name, unknown, words_of


def dispatch(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status. Never raises, except `SystemExit` for `--help` and such."""
    debug = "--debug" in arguments
    try:
        with data_alone():
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
    """`help X` as `X --help`; `help`, and nothing, as `--help`."""
    if not arguments:
        return ["--help"]
    return [*arguments[1:2], "--help"] if arguments[0] == "help" else arguments


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    """What the command line says. Raises `UsageError`."""
    _check_command(arguments)
    # An option before the command may need to know all of them.
    parser = build_parser(None if arguments[0].startswith("-") else arguments[0])
    options, rest = parser.parse_known_args(arguments)
    if rest and "--" not in arguments and options.command == arguments[0]:
        # argparse takes arguments from the first group of them; others may follow an option: `sql RUN --json QUERY`.
        own = command_parser(parser, arguments[0])
        options, rest = own.parse_known_intermixed_args(arguments[1:], argparse.Namespace(command=arguments[0]))
    if rest:
        raise _error_on_word(options.command, rest[0])
    if options.command is None:
        raise UsageError("missing command (see 'tracekit --help')")
    return options


def _error_on_word(name: str | None, word: str) -> UsageError:
    """Error for a word that the command does not take: the option that was meant, or the commands that have it."""
    command = next((each for each in COMMANDS if each.name == name), None)
    prog = f"tracekit {name}" if command else "tracekit"
    if not word.startswith("-"):
        return UsageError(f"unexpected argument '{word}' (see '{prog} --help')")
    option = word.removeprefix("--").partition("=")[0]
    others = [each.name for each in COMMANDS if option in each.options]
    if command is None or option not in OPTIONS or not others:
        known = ["--help", *(["--version"] if command is None else [f"--{each}" for each in command.options])]
        return UsageError(
            f"unknown option {word.partition('=')[0]}{suggest_name(f'--{option}', known)} (see '{prog} --help')"
        )
    having = f"{', '.join(others)} {'has' if len(others) == 1 else 'have'} it"
    return UsageError(f"{prog} has no option --{option}; {having} (see '{prog} --help-all')")


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


def _show_traceback(debug: bool) -> None:
    """Print the traceback of the exception being handled, if the user asked for it."""
    if debug:
        narrate(traceback.format_exc().rstrip(), multiline=True)
