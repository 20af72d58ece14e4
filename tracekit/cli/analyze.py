"""`tracekit analyze PATH...`: read, judge, report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.command import Command
from tracekit.cli.exits import ExitStatus
from tracekit.cli.inputs import (
    add_model_argument,
    add_paths_argument,
    add_process_argument,
    add_reader_arguments,
    add_run_argument,
    xctrace_options,
)
from tracekit.cli.project import add_config_arguments, config_of
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from tracekit.report.report import Check, Report

LEVELS = ("critical", "high", "medium", "low")
"""Severities, worst first, as `tracekit.detectors.outcomes.Severity` has them."""
COLUMNS = ("count", "sum", "elapsed", "mean", "min", "p50", "p90", "p95", "p99", "max", "stdev")
"""Columns that the report shows, as `tracekit.analysis.aggregation.SORT_COLUMNS` has them."""
FORMATS = ("text", "markdown", "json")


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command, in the order of the way through it: what, how judged, how shown."""
    add_paths_argument(parser)
    chosen = parser.add_argument_group("what to look at")
    add_run_argument(chosen)
    add_model_argument(chosen)
    add_process_argument(chosen)
    add_reader_arguments(chosen)

    judged = parser.add_argument_group("how to judge")
    judged.add_argument("--only", action="append", default=[], metavar="ID", help="only this detector; repeatable")
    judged.add_argument("--skip", action="append", default=[], metavar="ID", help="without this detector; repeatable")
    judged.add_argument(
        "--set", action="append", default=[], metavar="DETECTOR.OPTION=VALUE", help="change a threshold; repeatable"
    )
    judged.add_argument(
        "--budget",
        action="append",
        default=[],
        metavar="[MODEL=]TIME",
        help="time that a prediction may take: 16.7ms, 33.3 or 30fps; repeatable",
    )
    judged.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="[MODEL=]UNIT",
        help="compute unit that a model should run on: ane, gpu or cpu; repeatable",
    )
    add_config_arguments(judged)
    judged.add_argument("--fail-on", choices=LEVELS, help="exit with status 1 if a finding is at this level or above")

    shown = parser.add_argument_group("how to show it")
    shown.add_argument("--format", choices=FORMATS, help="what to print (default: text, or nothing with -o)")
    shown.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help="write a file: .txt, .md or .json; repeatable",
    )
    shown.add_argument(
        "--sort", default="sum", metavar="COLUMN", help=f"order of the events: {', '.join(COLUMNS)} (default: sum)"
    )
    shown.add_argument("--no-redact", action="store_true", help="keep device name, arguments and other private facts")
    loudness = shown.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="nothing on standard error but errors")
    loudness.add_argument(
        "-v", "--verbose", action="store_true", help="the whole text report, and on standard error what was read"
    )


def run(arguments: Namespace) -> ExitStatus:
    """Analyze and show."""
    from tracekit.cli.output import emit, has_color, narrate
    from tracekit.report.renderers.formats import RENDERERS, renderer_for

    # What can be seen to be wrong at once is not first found out after a long read.
    outputs = [(path, renderer_for(path)) for path in map(Path, arguments.output)]
    for path, _ in outputs:
        _check_output(path, arguments.path)
    report = _analyzed(arguments)
    for path, renderer in outputs:
        _write(path, renderer.render(report))
        if not arguments.quiet:
            narrate(f"tracekit: wrote {path}")
    shown = arguments.format or (None if outputs else "text")
    if shown == "text":
        emit(_on_screen(report, arguments.verbose), styled=has_color())
    elif shown is not None:
        emit(RENDERERS[shown].render(report), utf8=shown == "json")
    return status_of(report, arguments.fail_on or _fail_on(arguments))


def _analyzed(arguments: Namespace) -> Report:
    """The report that the arguments ask for."""
    import time

    from tracekit.api import analyze
    from tracekit.cli.output import narrate
    from tracekit.cli.progress import showing_progress

    started = time.monotonic()
    with showing_progress(arguments.quiet) as progress:
        report = analyze(
            arguments.path,
            run=arguments.run,
            models=arguments.model,
            process=arguments.process,
            only=_ids(arguments.only),
            skip=_ids(arguments.skip),
            settings=dict(_setting(text) for text in arguments.set),
            budget=arguments.budget,
            expect=arguments.expect,
            config=config_of(arguments),
            sort=arguments.sort,
            redact=not arguments.no_redact,
            reader=arguments.reader,
            xctrace=xctrace_options(arguments, quiet=arguments.quiet),
            progress=progress,
        )
    if arguments.verbose:
        rows = sum(table.rows or 0 for table in report.tables)
        narrate(
            f"tracekit: read {len(report.tables)} tables with {rows:,} rows and made {len(report.checks)} checks "
            f"in {time.monotonic() - started:.1f} s"
        )
    return report


def _fail_on(arguments: Namespace) -> str | None:
    """The level of the gate that the file of settings gives."""
    from tracekit.config import load_config
    from tracekit.detectors.plugins import all_detectors

    path = config_of(arguments)
    return None if path is None else load_config(path, all_detectors()).fail_on


def _on_screen(report: Report, verbose: bool) -> str:
    """The text report for standard output, as wide and as colourful as it allows."""
    from tracekit.cli.output import has_color, width
    from tracekit.report.renderers.text import FILE_WIDTH, render_text

    return render_text(report, width=width(FILE_WIDTH), color=has_color(), verbose=verbose)


def status_of(report: Report, fail_on: str | None) -> ExitStatus:
    """Exit status for a report. An incomplete verdict outweighs the gate: it may hide something worse."""
    from tracekit.cli.output import narrate

    if report.summary.errors:
        narrate(
            "tracekit: the verdict is incomplete, because a detector failed "
            f"({report.summary.errors} of {len(report.checks)} checks); the report says how"
        )
        return ExitStatus.UNUSABLE
    if not report.summary.judged:
        narrate("tracekit: nothing in this recording could be judged; the report says why and what to record")
        return ExitStatus.UNUSABLE
    if fail_on is not None:
        levels = LEVELS[: LEVELS.index(fail_on) + 1]
        reached = [check for check in report.checks if check.severity in levels]
        if reached:
            narrate(f"tracekit: {_gate_words(reached, fail_on)}")
            return ExitStatus.GATE_FAILED
    return ExitStatus.DONE


def _gate_words(reached: Sequence[Check], fail_on: str) -> str:
    """Which findings made the gate fail, and which of them say nothing of the app."""
    from tracekit.detectors.patterns import Pattern
    from tracekit.report.formatting import listed
    from tracekit.units import format_count

    findings = format_count(len(reached), "finding")
    words = f"{findings} at {fail_on} or above: {listed(dict.fromkeys(check.id for check in reached))}"
    health = list(dict.fromkeys(check.id for check in reached if check.pattern == Pattern.RECORDING))
    if health:
        words += f"; {listed(health)} found fault with the recording, not with the app: record again, or use --skip"
    return words


def _ids(values: Sequence[str]) -> tuple[str, ...]:
    """Detector ids of a repeatable flag that also takes comma-separated lists."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def _check_output(path: Path, inputs: Sequence[str]) -> None:
    """Raise `UsageError` for a file that cannot be written, or that is part of the recording."""
    from tracekit.recording.places import is_part_of_recording

    if path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: the folder {path.parent} does not exist")
    try:
        refused = is_part_of_recording(path, inputs)
    except (OSError, ValueError):
        # What is wrong with an input is told where it is read.
        refused = False
    if refused:
        raise UsageError(f"cannot write {path}: it is the recording itself, or part of it; name another file")


def _write(path: Path, text: str) -> None:
    """Write a report file; one that is there is replaced when the new one is complete."""
    from tracekit.recording.writing.files import whole_file

    # A link stays one: what it leads to is written.
    with whole_file(path.resolve()) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))


def _setting(text: str) -> tuple[str, str]:
    """One `--set`."""
    key, equals, value = text.partition("=")
    if not equals or "." not in key:
        raise UsageError(f"--set {text}: write DETECTOR.OPTION=VALUE; 'tracekit detectors' lists them")
    return key.strip(), value.strip()


COMMAND = Command(
    name="analyze",
    summary="judge a recording and print the report",
    description=(
        "Read a recording, judge it and print a report: what was recorded, what costs time and how to "
        "fix it, and what could not be judged."
    ),
    add_arguments=add_arguments,
    run=run,
)
