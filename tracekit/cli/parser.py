"""The parser of the command line. It knows the commands' arguments, and imports nothing that they use."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from typing import TYPE_CHECKING, NoReturn

from tracekit._version import __version__
from tracekit.cli import analyze, detectors, diagnose, doctor, explain, export, record, tables, view
from tracekit.cli.completion import SHELLS, PrintCompletion
from tracekit.cli.output import emit
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from tracekit.cli.command import Command

COMMANDS: tuple[Command, ...] = (
    analyze.COMMAND,
    view.COMMAND,
    diagnose.COMMAND,
    tables.COMMAND,
    record.COMMAND,
    export.COMMAND,
    detectors.COMMAND,
    explain.COMMAND,
    doctor.COMMAND,
)
"""All commands, in the order in which `tracekit --help` lists them."""

EPILOG = """\
exit status:
  0    done, nothing at or above --fail-on
  1    a finding reached --fail-on
  2    unusable input, bad usage, a detector that failed, or nothing could be judged
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


def build_parser() -> Parser:
    """The parser for `tracekit`."""
    parser = Parser(
        prog="tracekit",
        description="Analyzer for Apple Instruments recordings of on-device machine learning.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tracekit {__version__}")
    parser.add_argument(
        "--print-completion",
        action=PrintCompletion,
        choices=SHELLS,
        metavar="SHELL",
        help="print the completion script for bash or zsh",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in COMMANDS:
        added = commands.add_parser(
            command.name,
            help=command.summary,
            description=textwrap.fill(command.description, max(shutil.get_terminal_size().columns - 2, 40)),
            epilog=EPILOG if command is analyze.COMMAND else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        added.add_argument("--debug", action="store_true", help="show the traceback of an error")
        command.add_arguments(added)
        added.set_defaults(execute=command.run)
    return parser
