"""Arguments that commands share: which recording, what of it, and how a trace bundle is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _ArgumentGroup, _MutuallyExclusiveGroup
    from collections.abc import Sequence

    from tracekit.recording import XctraceOptions
    from tracekit.report.choice import Part

READERS = ("auto", "native", "xctrace")
"""As `tracekit.recording.xctrace.reader_selection.READERS` has them."""


def add_paths_argument(parser: ArgumentParser) -> None:
    """`PATH...`."""
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="+",
        help="a .trace bundle or 'xctrace export' XML, or a folder or zip of either; - for standard input",
    )


def add_run_argument(parser: ArgumentParser | _ArgumentGroup) -> None:
    """`--run`."""
    parser.add_argument("--run", type=_run_number, metavar="N", help="run number (default: the latest run)")


def add_model_argument(parser: ArgumentParser | _ArgumentGroup) -> None:
    """`--model`."""
    parser.add_argument(
        "--model", action="append", default=[], metavar="NAME", help="show only models matching NAME (glob; repeatable)"
    )


def add_model_file_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """`--model-file` and `--perf-report`."""
    parser.add_argument(
        "--model-file",
        action="append",
        default=[],
        metavar="[MODEL=]PATH",
        help="model file (.mlpackage, .mlmodel, .mlmodelc) of a recorded model, matched by name; also found beside the "
        "recording (repeatable)",
    )
    parser.add_argument(
        "--perf-report",
        action="append",
        default=[],
        metavar="[MODEL=]PATH",
        help="performance report (.json) of a recorded model, used in the same way (repeatable)",
    )


def add_process_argument(parser: ArgumentParser | _ArgumentGroup) -> None:
    """`--process`."""
    parser.add_argument("--process", metavar="NAME|PID", help="show only this process")


def add_reader_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """`--reader` and `--timeout`."""
    parser.add_argument(
        "--reader",
        choices=READERS,
        default="auto",
        help="how to read .trace bundles: native parser, xctrace, or auto (native, falling back to xctrace where "
        "available; the default)",
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=900.0,
        metavar="SECONDS",
        help="time limit for each table that xctrace exports (default: 900)",
    )


def add_jobs_argument(parser: ArgumentParser | _ArgumentGroup | _MutuallyExclusiveGroup) -> None:
    """`--jobs`."""
    parser.add_argument(
        "--jobs", type=_jobs, default=1, metavar="N", help="recordings to read in parallel (default: 1)"
    )


def add_worker_arguments(parser: ArgumentParser) -> None:
    """`--jobs` and `--dask`, of which one excludes the other."""
    workers = parser.add_mutually_exclusive_group()
    add_jobs_argument(workers)
    workers.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="read recordings on a Dask cluster, such as tcp://host:8786, whose workers see the same files",
    )


def add_part_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """`--from`, `--to` and `--signpost`."""
    parser.add_argument(
        "--from", type=_moment, dest="start", metavar="SECONDS", help="only predictions starting from this time on"
    )
    parser.add_argument(
        "--to", type=_moment, dest="end", metavar="SECONDS", help="only predictions starting before this time"
    )
    parser.add_argument(
        "--signpost", metavar="NAME", help="only predictions starting within signpost intervals of the app"
    )


def add_format_arguments(
    parser: ArgumentParser | _ArgumentGroup, formats: Sequence[str], default: str | None = None
) -> None:
    """`--format`, and `--json` for short. What is printed where neither is given is text, in one form or another."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=(*formats, "md"), default=default, help="output format (default: text)")
    form.add_argument("--json", action="store_const", const="json", dest="format", help="same as --format json")


def add_redaction_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """`--no-redact` and `--no-functions`."""
    parser.add_argument(
        "--no-redact", action="store_true", help="include private data, such as device names and arguments"
    )
    parser.add_argument("--no-functions", action="store_true", help="hide names of the app's functions and files")


def add_output_argument(parser: ArgumentParser | _ArgumentGroup, text: str) -> None:
    """`-o`, for any number of files; text: its help."""
    parser.add_argument("-o", "--output", action="append", default=[], metavar="FILE", help=text)


def part_of(arguments: Namespace) -> Part | None:
    """The part of the time that is asked for; None for all of it. Raises `UsageError` for one without length."""
    from tracekit.report.choice import Part

    if arguments.start is not None and arguments.end is not None and arguments.start >= arguments.end:
        raise UsageError("--from must be before --to")
    part = Part(arguments.start, arguments.end, arguments.signpost)
    return None if part == Part() else part


def xctrace_options(arguments: Namespace, *, quiet: bool = False) -> XctraceOptions:
    """How xctrace is asked, and what standard error hears of it; only the bare necessities where `quiet`."""
    from tracekit.cli.output import narrate
    from tracekit.recording import XctraceOptions

    def on_message(text: str) -> None:
        narrate(f"tracekit: {text}")

    def on_progress(number: int, count: int, schema: str) -> None:
        if not quiet:
            on_message(f"xctrace is exporting table {number} of {count}: {schema}")

    return XctraceOptions(arguments.timeout, on_message, on_progress)


def positive_number(text: str) -> int:
    """A whole number from 1 on, as the type of an argument. Raises `ValueError`."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _jobs(text: str) -> int:
    """Type of `--jobs`."""
    return positive_number(text)


# argparse names the type in its message: "invalid number of jobs value: 'x'".
_jobs.__name__ = "number of jobs"


def _run_number(text: str) -> int:
    """Type of `--run`."""
    return positive_number(text)


# argparse names the type in its message: "invalid run number value: 'x'".
_run_number.__name__ = "run number"


def _moment(text: str) -> int:
    """Type of `--from` and `--to`: seconds since the start of the run, in ns."""
    seconds = float(text)
    if not 0 <= seconds <= 1e9:
        raise ValueError(text)
    return round(seconds * 1e9)


# argparse names the type in its message: "invalid time in seconds value: 'x'".
_moment.__name__ = "time in seconds"


def seconds(text: str) -> float:
    """Type of a time limit in seconds. Raises `ValueError`."""
    number = float(text)
    if not 0 < number < 1e6:
        raise ValueError(text)
    return number


# argparse names the type in its message: "invalid number of seconds value: 'x'".
seconds.__name__ = "number of seconds"


def add_rename_argument(parser: ArgumentParser, text: str) -> None:
    """`--rename`; text: its help."""
    parser.add_argument("--rename", action="append", default=[], metavar="OLD=NEW", help=text)


def renames_of(arguments: Namespace) -> dict[str, str]:
    """The `--rename` of a command. Raises `UsageError`."""
    renames = {}
    for text in arguments.rename:
        old, equals, new = text.partition("=")
        if not equals or not old or not new:
            raise UsageError(f"--rename {text}: write OLD=NEW")
        renames[old] = new
    return renames
