"""`--reader` and `--timeout`: how commands that read a recording read a trace bundle."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _ArgumentGroup

    from tracekit.recording import XctraceOptions

READERS = ("auto", "native", "xctrace")
"""As `tracekit.recording.xctrace.reader_selection.READERS` has them."""


def add_reader_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """The two arguments."""
    parser.add_argument(
        "--reader",
        choices=READERS,
        default="auto",
        help="how a trace bundle is read: natively, through Apple's xctrace, or (auto) natively and, where xctrace is "
        "here, through it what cannot be read so",
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=900.0,
        metavar="SECONDS",
        help="for each table that xctrace exports (default: 900)",
    )


def xctrace_options(arguments: Namespace, *, quiet: bool = False) -> XctraceOptions:
    """How xctrace is asked, and what standard error hears of it; only the bare necessities where `quiet`."""
    from tracekit.cli.output import narrate
    from tracekit.recording import XctraceOptions

    def say(text: str) -> None:
        narrate(f"tracekit: {text}")

    def step(number: int, count: int, schema: str) -> None:
        if not quiet:
            say(f"xctrace exports table {number} of {count}: {schema}")

    return XctraceOptions(arguments.timeout, say, step)


def _seconds(text: str) -> float:
    """Type of `--timeout`."""
    seconds = float(text)
    if not 0 < seconds < 1e6:
        raise ValueError(text)
    return seconds


# argparse names the type in its message: "invalid number of seconds value: 'x'".
_seconds.__name__ = "number of seconds"
