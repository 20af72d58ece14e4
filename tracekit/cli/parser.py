"""The parser of the command line, and the completion scripts that are made from it. Imports nothing that a command
runs."""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import textwrap
from typing import TYPE_CHECKING, Any, NoReturn

from tracekit._version import __version__
from tracekit.cli.comparing_commands import BASELINE, CHECK, COMPARE, MATRIX
from tracekit.cli.other_commands import DETECTORS, DOCTOR, EXPLAIN, INIT, INSPECT, PROFILE, RECORD, SCHEMA, WATCH
from tracekit.cli.output import emit
from tracekit.cli.recording_commands import ANALYZE, BUGREPORT, DIAGNOSE, EXPORT, STACKS, TABLES, VIEW
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMANDS = (
    ANALYZE,
    VIEW,
    COMPARE,
    MATRIX,
    CHECK,
    BASELINE,
    BUGREPORT,
    DIAGNOSE,
    INSPECT,
    PROFILE,
    STACKS,
    TABLES,
    RECORD,
    WATCH,
    INIT,
    EXPORT,
    DETECTORS,
    EXPLAIN,
    SCHEMA,
    DOCTOR,
)
"""All commands, in the order in which `tracekit --help` lists them."""

SHELLS = ("bash", "zsh", "fish")
EPILOG = """\
exit status:
  0    done; no finding at or above --fail-on
  1    a finding reached --fail-on, or 'tracekit check' failed
  2    unusable input, a table that cannot be read, bad usage, or an error in a check
  3    inconclusive: no check could be evaluated
"""


class Parser(argparse.ArgumentParser):
    """Raises `UsageError` where argparse would print the usage and exit."""

    def error(self, message: str) -> NoReturn:
        """One sentence, and where to read more."""
        raise UsageError(f"{message} (see '{self.prog} --help')")

    def _print_message(self, message: str, file: object = None) -> None:
        """Help and version are data, as all else that goes to standard output."""
        del file
        emit(message)


class PrintVersion(argparse.Action):
    """`--version`: the version, and the readers that this machine has for bundles."""

    def __init__(self, **options: Any) -> None:
        """As `argparse` calls it; the flag takes no value."""
        super().__init__(nargs=0, default=argparse.SUPPRESS, **options)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print and exit with status 0."""
        readers = "native, xctrace" if _has_xctrace() else "native"
        emit(f"tracekit {__version__} (Python {platform.python_version()}; readers: {readers})\n")
        parser.exit()


def _has_xctrace() -> bool:
    """Whether this Mac has `xctrace`. Every Mac has `xcrun`, which finds it only where Xcode is selected."""
    # Not `run_command` of the recording package, which imports numpy.
    if shutil.which("xcrun") is None:
        return False
    try:
        completed = subprocess.run(["xcrun", "--find", "xctrace"], capture_output=True, timeout=10, check=False)  # noqa: S607
    except (OSError, subprocess.TimeoutExpired):
        return False
    return completed.returncode == 0


class PrintCompletion(argparse.Action):
    """`--print-completion SHELL`: print the script and leave, whatever else stands on the command line."""

    def __call__(
        self, parser: argparse.ArgumentParser, _namespace: object, shell: Any, _flag: str | None = None
    ) -> None:
        """Print and exit with status 0."""
        emit(completion_script(parser, str(shell)))
        parser.exit()


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Script for `shell` that completes commands, flags, files and detector ids. Changes the parser it is given."""
    # A script is made on the day of the installation; no other command line needs what makes it.
    import shtab

    from tracekit.detectors.plugins import listed_detectors

    ids = [detector.id for detector in listed_detectors()]
    for action in _actions(parser):
        if action.metavar in ("PATH", "FILE", "[MODEL=]PATH"):
            action.complete = shtab.FILE  # type: ignore[attr-defined] # shtab's own convention
        elif action.metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.metavar == "ID":
            action.choices = ids
    return str(shtab.complete(parser, shell))


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every argument of the parser and of its commands."""
    for action in parser._actions:  # noqa: SLF001 - argparse offers no public way to list arguments
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for command in action.choices.values():
                yield from _actions(command)
        else:
            yield action


def build_parser(only: str | None = None) -> Parser:
    """The parser for `tracekit`. only: name of the one command that it is to know; None: all."""
    parser = Parser(
        prog="tracekit",
        description="Find performance problems in Instruments recordings of Core ML apps.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action=PrintVersion, help="print the version and the readers available here")
    parser.add_argument(
        "--print-completion",
        action=PrintCompletion,
        choices=SHELLS,
        metavar="SHELL",
        help=f"print a completion script: {', '.join(SHELLS)}",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in COMMANDS:
        if only not in (None, command.name):
            continue
        added = commands.add_parser(
            command.name,
            help=command.summary,
            description=textwrap.fill(command.description, max(shutil.get_terminal_size().columns - 2, 40)),
            epilog=EPILOG if command is ANALYZE else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        added.add_argument("--debug", action="store_true", help="show a traceback on errors")
        command.add_arguments(added)
        added.set_defaults(runs=command.runs)
    return parser
