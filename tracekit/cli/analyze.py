"""`tracekit analyze PATH...`: read recordings, run the checks, report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracekit.cli.command import Command
from tracekit.cli.inputs import (
    add_format_arguments,
    add_jobs_argument,
    add_model_argument,
    add_model_file_arguments,
    add_output_argument,
    add_process_argument,
    add_reader_arguments,
    add_redaction_arguments,
    add_run_argument,
    xctrace_options,
)
from tracekit.cli.project import add_check_arguments, add_config_arguments, config_of, ids, settings
from tracekit.errors import unknown

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _ArgumentGroup

    from tracekit.api import Analysis
    from tracekit.cli.command import ExitStatus
    from tracekit.cli.several import Input

SEVERITIES = ("critical", "high", "medium", "low")
"""Worst first, as `tracekit.detectors.outcomes.Severity` has them."""
COLUMNS = ("count", "sum", "elapsed", "mean", "min", "p50", "p90", "p95", "p99", "max", "stdev")
"""Columns that the report shows, as `tracekit.analysis.aggregation.SORT_COLUMNS` has them."""
FORMATS = ("text", "markdown", "html", "json")
PARTS = ("findings", "models", "time", "events", "code", "coverage")
"""Parts of the report, as `tracekit.report.renderers.text.PARTS` has them."""


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command, in the order of the way through it: input, checks, output."""
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="+",
        help="a .trace bundle or 'xctrace export' XML, or a folder or zip of either; - for standard input; several "
        "recordings get one line each",
    )
    _add_input(parser.add_argument_group("input"))
    _add_checks(parser.add_argument_group("checks"))
    _add_output(parser.add_argument_group("output"))


def _add_input(group: _ArgumentGroup) -> None:
    add_run_argument(group)
    add_model_argument(group)
    add_process_argument(group)
    add_model_file_arguments(group)
    add_reader_arguments(group)
    add_jobs_argument(group)


def _add_checks(group: _ArgumentGroup) -> None:
    add_check_arguments(group)
    group.add_argument(
        "--budget",
        action="append",
        default=[],
        metavar="[MODEL=]TIME",
        help="deadline for each prediction: 16.7ms, 33.3 (milliseconds) or 30fps (repeatable)",
    )
    group.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="[MODEL=]UNIT",
        help="compute unit a model should run on: ane, gpu or cpu (repeatable)",
    )
    add_config_arguments(group)
    group.add_argument(
        "--fail-on", choices=SEVERITIES, help="exit with status 1 if any finding has this severity or worse"
    )


def _add_output(group: _ArgumentGroup) -> None:
    add_format_arguments(group, FORMATS)
    add_output_argument(
        group,
        "write the report to FILE (.html, .md, .txt or .json) and print the summary; for several recordings, a folder "
        "(repeatable)",
    )
    group.add_argument(
        "--show", type=_parts, metavar="PARTS", help=f"print only these parts, in full: {','.join(PARTS)}"
    )
    group.add_argument(
        "--sort", default="sum", metavar="COLUMN", help=f"sort events by: {', '.join(COLUMNS)} (default: sum)"
    )
    add_redaction_arguments(group)
    loudness = group.add_mutually_exclusive_group()
    loudness.add_argument(
        "-q", "--quiet", action="store_true", help="print only the summary line; suppress progress and notes"
    )
    loudness.add_argument("-v", "--verbose", action="store_true", help="full report, plus read statistics on stderr")


def _parts(text: str) -> tuple[str, ...]:
    """Type of `--show`."""
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    for name in names:
        if name not in PARTS:
            raise unknown("part", name, PARTS)
    return names


def run(arguments: Namespace) -> ExitStatus:
    """Analyze and show."""
    from tracekit.cli.several import inputs_of, run_several

    arguments.format = "markdown" if arguments.format == "md" else arguments.format
    inputs = inputs_of(arguments.path)
    if len(inputs) > 1:
        return run_several(arguments, inputs, options_of(arguments), fail_on_of(arguments))
    return _run_one(arguments, inputs[0])


def _run_one(arguments: Namespace, entry: Input) -> ExitStatus:
    from tracekit.cli.command import ExitStatus
    from tracekit.cli.output import narrate
    from tracekit.cli.reports import check_output, print_report, size_words, status_of, write_report
    from tracekit.report.renderers.formats import renderer_for

    # What can be seen to be wrong at once is not first found out after a long read.
    outputs = [(path, renderer_for(path)) for path in map(Path, arguments.output)]
    for path, _ in outputs:
        check_output(path, entry.paths)
    analysis = _analysis(arguments, entry)
    writes_json = arguments.format == "json" or any(renderer.name == "json" for _, renderer in outputs)
    report = analysis.measured_report() if writes_json else analysis.report
    draws_lanes = any(renderer.draw for _, renderer in outputs) or arguments.format == "html"
    timeline = analysis.timeline() if draws_lanes else None
    for path, renderer in outputs:
        size = write_report(path, renderer.document(report, timeline))
        if not arguments.quiet:
            narrate(f"tracekit: wrote {path}{size_words(size)}")
    summary_only = bool(outputs) and arguments.format is None and not arguments.verbose
    print_report(report, arguments, timeline, summary_only=summary_only)
    status = status_of(report, fail_on_of(arguments), quiet=arguments.quiet)
    # The text says so in its last lines.
    if status is ExitStatus.INCONCLUSIVE and arguments.format not in (None, "text") and not arguments.quiet:
        narrate('tracekit: inconclusive: no check could be evaluated; see "Not evaluated" in the report')
    return status


def options_of(arguments: Namespace) -> dict[str, Any]:
    """What the command line says to `tracekit.analyze`, apart from paths and messages."""
    return {
        "run": arguments.run,
        "models": arguments.model,
        "process": arguments.process,
        "only": ids(arguments.only),
        "skip": ids(arguments.skip),
        "settings": settings(arguments.set),
        "budget": arguments.budget,
        "expect": arguments.expect,
        "model_files": arguments.model_file,
        "perf_reports": arguments.perf_report,
        "config": config_of(arguments),
        "sort": arguments.sort,
        "redact": not arguments.no_redact,
        "functions": not arguments.no_functions,
        "reader": arguments.reader,
    }


def _analysis(arguments: Namespace, entry: Input) -> Analysis:
    """What the arguments ask for."""
    import time

    from tracekit.api import analysis_of
    from tracekit.cli.output import narrate
    from tracekit.cli.progress import RUNNING, showing_log, showing_progress

    started = time.monotonic()
    with showing_log(arguments.verbose), showing_progress(arguments.quiet, then=RUNNING) as progress:
        analysis = analysis_of(
            entry.paths,
            **options_of(arguments),
            xctrace=xctrace_options(arguments, quiet=arguments.quiet),
            progress=progress,
        )
    if arguments.verbose:
        tables = analysis.report.tables
        rows = sum(table.rows or 0 for table in tables)
        narrate(
            f"tracekit: read {len(tables)} tables ({rows:,} rows) and ran the checks "
            f"in {time.monotonic() - started:.1f} s"
        )
    return analysis


def fail_on_of(arguments: Namespace) -> str | None:
    """The severity of the gate: that of the command line, else that of the settings file."""
    from tracekit.config import load_config
    from tracekit.detectors.plugins import all_detectors

    if arguments.fail_on:
        return str(arguments.fail_on)
    path = config_of(arguments)
    return None if path is None else load_config(path, all_detectors()).fail_on


COMMAND = Command(
    name="analyze",
    summary="find performance problems in a recording",
    description="Analyze a recording and report findings with estimated savings, evidence and fixes.",
    add_arguments=add_arguments,
    run=run,
)
