"""The parser of the command line and its help, made from the tables of commands and options; and what runs a command
and turns every way of failing into an exit status."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import textwrap
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any, NoReturn

from tracekit._version import __version__
from tracekit.cli.commands import ANSWERS, COMMANDS, FIRST, PATHS, PLATFORMS, Command
from tracekit.cli.options import EXCLUSIVE, OPTIONS, one_of
from tracekit.cli.output import data_alone, emit, narrate
from tracekit.cli.process import ExitStatus, Next, Terminated
from tracekit.errors import Inconclusive, TracekitError, UsageError, nothing_at, suggest_name, unknown, words_of
from tracekit.render.forms import ENDINGS

WIDTH = 79


class Parser(argparse.ArgumentParser):
    """Raises `UsageError` where argparse would print the usage and exit, and prints the help of its command."""

    command: Command | None = None
    """None for the program itself."""
    commands: Mapping[str, Parser]
    """Of the program, by name."""

    def error(self, message: str) -> NoReturn:
        """One sentence, and where to read more."""
        _, is_missing, names = message.partition("the following arguments are required: ")
        if is_missing and self.command is not None:
            raise UsageError(
                f"missing {names}, as in: {self.command.examples[0].partition('  ')[0]} (see '{self.prog} --help')"
            )
        raise UsageError(f"{message} (see '{self.prog} --help')")

    def format_help(self) -> str:
        """Help that fits a screen."""
        return program_help() if self.command is None else command_help(self.command)

    def _print_message(self, message: str, file: object = None) -> None:
        """Help and version are data, as all else that goes to standard output."""
        del file
        emit(message)


class _Print(argparse.Action):
    """Prints a text and leaves with status 0, whatever else the command line has."""

    def __init__(self, **options: Any) -> None:
        super().__init__(nargs=0, default=argparse.SUPPRESS, **options)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        command = parser.command if isinstance(parser, Parser) else None
        if command is None:
            # No other command line needs it.
            import platform

            readers = "native, xctrace" if _has_xctrace() else "native"
            emit(f"tracekit {__version__} (Python {platform.python_version()}; readers: {readers})\n")
        else:
            emit(command_help(command, everything=True))
        parser.exit()


def _has_xctrace() -> bool:
    """Whether this Mac has `xctrace`. Every Mac has `xcrun`, which finds it only where Xcode is selected."""
    # Not `run_command` of the recording package, which imports numpy. Other command lines need no other program.
    import subprocess

    if shutil.which("xcrun") is None:
        return False
    try:
        completed = subprocess.run(["xcrun", "--find", "xctrace"], capture_output=True, timeout=10, check=False)  # noqa: S607
    except (OSError, subprocess.TimeoutExpired):
        return False
    return completed.returncode == 0


def build_parser(only: str | None = None) -> Parser:
    """The parser for `tracekit`. only: name of the one command that it is to know; None: all."""
    parser = Parser(prog="tracekit", allow_abbrev=False)
    parser.add_argument("-V", "--version", action=_Print, help="print the version and the readers available here")
    added = parser.add_subparsers(dest="command", metavar="COMMAND")
    parser.commands = added.choices
    for command in COMMANDS:
        if only in (None, command.name):
            _fill(added.add_parser(command.name, allow_abbrev=False, help=command.summary), command)
    return parser


def _fill(parser: Parser, command: Command) -> None:
    parser.command = command
    # Never printed; argparse cannot write one for values in brackets.
    parser.usage = parser.prog
    parser.set_defaults(runs=command.runs, forms=command.forms, files=command.files)
    parser.add_argument("--help-all", action=_Print, help="show all options of the command")
    for argument in command.arguments:
        kind = one_of(argument.shown.lower(), argument.choices) if argument.choices else str
        added = parser.add_argument(
            argument.name, metavar=argument.shown.split()[0], nargs=argument.nargs, help=argument.help, type=kind
        )
        # Where another argument is missing, argparse would ask for those too that may be.
        added.required = argument.nargs not in ("*", "?")
    groups = {names: parser.add_mutually_exclusive_group() for names in EXCLUSIVE}
    for name in command.options:
        group = next((group for names, group in groups.items() if name in names), parser)
        action = OPTIONS[name].add(group, name)
        if name == "format":
            action.type = one_of(name, (*command.forms, "md") if "markdown" in command.forms else command.forms)


def program_help() -> str:
    """What `tracekit --help` prints, on one screen: a way through, the other commands, and what people ask first."""
    others = COMMANDS[FIRST:]
    lines = [f"tracekit {__version__}: finds performance problems in recordings of Core ML apps", ""]
    lines += [f"  {command.examples[0]:<47}{command.summary}" for command in COMMANDS[:FIRST]]
    lines += ["", "More commands:", *_in_two_columns(others[:-PLATFORMS])]
    lines += ["For platforms and agents (also --dask, and plug-ins with checks of your own):"]
    lines += _in_two_columns(others[-PLATFORMS:])
    lines += [
        "",
        "p50 to p99: analyze RUN --show latency --model NAME --from 3s --to 8s",
        "To send: analyze RUN -o report.html            Of a folder: analyze RUNS/",
        "Options, examples: tracekit COMMAND --help     Version: tracekit --version",
        "First time? tracekit doctor                    A check: tracekit explain CHECK",
        "Exit status: 0 done, 1 failed (--fail-on or check), 2 error, 3 inconclusive",
    ]
    return "\n".join(lines) + "\n"


def _in_two_columns(commands: Sequence[Command]) -> list[str]:
    cells = [f"{command.name:<12}{command.summary}" for command in commands]
    half = (len(cells) + 1) // 2
    return [f"  {left:<39}{right}".rstrip() for left, right in zip_longest(cells[:half], cells[half:], fillvalue="")]


def command_help(command: Command, *, everything: bool = False) -> str:
    """Examples, what there is to know, and the options: those that most need, or all."""
    width = min(shutil.get_terminal_size((WIDTH + 1, 0)).columns - 1, WIDTH)
    lines = ["Examples:", *(f"  {example}" for example in command.examples), ""]
    lines += textwrap.wrap(command.says, max(width, 40))
    names = command.options if everything else command.main.split()
    for argument in command.arguments:
        lines += textwrap.wrap(f"{argument.shown}: {argument.help}", max(width, 40), subsequent_indent="  ")
    rows = [(OPTIONS[name].usage(name), OPTIONS[name].help) for name in names]
    room = max((len(left) for left, _ in rows), default=0) + 2
    lines += ["", *(f"  {left:<{room}}{text}" for left, text in rows)] if rows else []
    lines += [""] if command.forms or command.more or command.status else []
    if command.forms:
        endings = ", ".join(ENDINGS[form][0] for form in command.files)
        lines.append(f"Formats: {', '.join(command.forms)}" + (f"; files also {endings}" if endings else ""))
    if command.more and not everything:
        more = ", ".join(f"--{name}" for name in command.more.split()[:2])
        lines.append(f"More options: {more}, ... (tracekit {command.name} --help-all)")
    if command.status:
        lines.append(f"Exit status: {command.status}")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status. Never raises, except `SystemExit` for `--help` and such."""
    debug = "--debug" in arguments
    try:
        with data_alone():
            # `help X` is `X --help`; `help`, and nothing, are `--help`.
            is_help = not arguments or arguments[0] == "help"
            return _run(_options([*arguments[1:2], "--help"] if is_help else arguments))
    except KeyboardInterrupt:
        narrate("tracekit: interrupted")
        return ExitStatus.INTERRUPTED
    except Terminated as end:
        narrate(f"tracekit: terminated by {end.name}")
        return end.status
    except TracekitError as error:
        _show_traceback(debug)
        narrate(f"tracekit: {error}")
        return ExitStatus.INCONCLUSIVE if isinstance(error, Inconclusive) else ExitStatus.UNUSABLE
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


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    """What the command line says. Raises `UsageError`."""
    names, first = [command.name for command in COMMANDS], arguments[0]
    if first not in names and (first == "-" or not first.startswith("-")):
        if first == "-" or os.path.exists(first):  # noqa: PTH110 - also for what is no path
            raise UsageError(f"missing command; did you mean `tracekit analyze {first}`?")
        if first in ANSWERS:
            command = next(command for command in COMMANDS if command.name == ANSWERS[first].split()[0])
            usual = takewhile(lambda word: word[0] not in "-\"'", command.examples[0].split()[2:])
            meant = ANSWERS[first].format(shlex.join(arguments[1:]) or " ".join(usual))
            raise UsageError(f"no command '{first}'; use `tracekit {meant}`")
        raise unknown("command", first, names)
    # An option before the command may need to know all of them.
    parser = build_parser(None if first.startswith("-") else first)
    options, rest = parser.parse_known_args(arguments)
    if rest and "--" not in arguments and options.command == first:
        # argparse takes arguments from the first group of them; others may follow an option: `sql RUN --json QUERY`.
        own = parser.commands[first]
        options, rest = own.parse_known_intermixed_args(arguments[1:], argparse.Namespace(command=first))
    if rest:
        raise _error_on_word(options.command, rest[0])
    if options.command is None:
        raise UsageError("missing command (see 'tracekit --help')")
    if len(arguments) == 2 and any(PATHS in command.arguments for command in COMMANDS if command.name == first):
        check_there(arguments[1])
    return options


def _error_on_word(name: str | None, word: str) -> UsageError:
    """Error for a word that the command does not take: the option that was meant, or the commands that have it."""
    command = next((command for command in COMMANDS if command.name == name), None)
    prog = f"tracekit {name}" if command else "tracekit"
    if not word.startswith("-"):
        return UsageError(f"unexpected argument '{word}' (see '{prog} --help')")
    option = word.removeprefix("--").partition("=")[0]
    others = [command.name for command in COMMANDS if option in command.options]
    if command is None or option not in OPTIONS or not others:
        options = ["--help", *(["--version"] if command is None else [f"--{option}" for option in command.options])]
        return UsageError(
            f"unknown option {word.partition('=')[0]}{suggest_name(f'--{option}', options)} (see '{prog} --help')"
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


def check_there(path: str) -> None:
    """Raise `UnreadableRecording` where nothing is at a path, which is all that a command line has: what reads it takes
    four times as long to load as all else."""
    try:
        Path(path).stat()
    except FileNotFoundError as error:
        # Not `-`, and no path that a message shows otherwise.
        if path.strip(" -") and path.isprintable() and len(path) <= 200:
            raise nothing_at(path) from error
    except (OSError, ValueError):
        return  # told where it is read


def _show_traceback(debug: bool) -> None:
    if debug:
        narrate(traceback.format_exc().rstrip(), multiline=True)
