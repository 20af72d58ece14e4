"""The parser of the command line. It knows the commands' arguments, and imports nothing that they use."""

from __future__ import annotations

import argparse
import platform
import shutil
import textwrap
from typing import TYPE_CHECKING, Any, NoReturn

from tracekit._version import __version__
from tracekit.cli import (
    analyze,
    baseline,
    bugreport,
    check,
    compare,
    detectors,
    diagnose,
    doctor,
    explain,
    export,
    inspect,
    matrix,
    profile,
    record,
    schema,
    stacks,
    tables,
    view,
)
from tracekit.cli.completion import SHELLS, PrintCompletion
from tracekit.cli.output import emit
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from tracekit.cli.command import Command

COMMANDS: tuple[Command, ...] = (
    analyze.COMMAND,
    view.COMMAND,
    compare.COMMAND,
    matrix.COMMAND,
    check.COMMAND,
    baseline.COMMAND,
    bugreport.COMMAND,
    diagnose.COMMAND,
    inspect.COMMAND,
    profile.COMMAND,
    stacks.COMMAND,
    tables.COMMAND,
    record.COMMAND,
    export.COMMAND,
    detectors.COMMAND,
    explain.COMMAND,
    schema.COMMAND,
    doctor.COMMAND,
)
"""All commands, in the order in which `tracekit --help` lists them."""

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
            epilog=EPILOG if command is analyze.COMMAND else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        added.add_argument("--debug", action="store_true", help="show a traceback on errors")
        command.add_arguments(added)
        added.set_defaults(execute=command.run)
    return parser
