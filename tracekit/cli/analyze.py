"""`tracekit analyze PATH...`: read, judge, report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.command import Command
from tracekit.cli.exits import ExitStatus
from tracekit.errors import TracekitError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from tracekit.report.model import Report

LEVELS = ("critical", "high", "medium", "low")
"""Severities, worst first, as `tracekit.detectors.outcomes.Severity` has them."""
FORMATS = ("text", "markdown", "json")


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command, in the order of the way through it: what, how judged, how shown."""
    parser.add_argument(
        "path", metavar="PATH", nargs="+", help="what 'xctrace export' wrote: XML files, a folder or zip of them, or -"
    )
    chosen = parser.add_argument_group("what to look at")
    chosen.add_argument("--run", type=_run_number, metavar="N", help="run of the recording (default: the first)")
    chosen.add_argument(
        "--model", action="append", default=[], metavar="NAME", help="only this model; shell patterns; repeatable"
    )
    chosen.add_argument("--process", metavar="NAME|PID", help="only rows of this process")

    judged = parser.add_argument_group("how to judge")
    judged.add_argument("--only", action="append", default=[], metavar="ID", help="only this detector; repeatable")
    judged.add_argument("--skip", action="append", default=[], metavar="ID", help="without this detector; repeatable")
    judged.add_argument(
        "--set", action="append", default=[], metavar="DETECTOR.OPTION=VALUE", help="change a threshold; repeatable"
    )
    judged.add_argument("--fail-on", choices=LEVELS, help="exit with status 1 if a finding is at this level or above")

    shown = parser.add_argument_group("how to show it")
    shown.add_argument("--format", choices=FORMATS, help="format on standard output (default: text, unless -o is given)")
    shown.add_argument(
        "-o", "--output", action="append", default=[], metavar="FILE", help="write a file; .txt, .md or .json; repeatable"
    )
    shown.add_argument("--sort", default="total", metavar="COLUMN", help="column that orders the aggregation")
    shown.add_argument("--no-redact", action="store_true", help="keep device name, arguments and other private facts")
    shown.add_argument("-q", "--quiet", action="store_true", help="nothing on standard error but errors")
    shown.add_argument("-v", "--verbose", action="store_true", help="show everything that was checked")


def _run_number(text: str) -> int:
    """Type of `--run`."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


# argparse names the type in its message: "invalid run number value: 'x'".
_run_number.__name__ = "run number"
