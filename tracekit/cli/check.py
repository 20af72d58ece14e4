"""`tracekit check PATH...`: the gate for CI. It never passes in silence."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.command import Command
from tracekit.cli.exits import ExitStatus
from tracekit.cli.inputs import add_reader_arguments, add_worker_arguments
from tracekit.cli.measuring import measure_all, recordings_in
from tracekit.cli.project import add_config_arguments, config_of
from tracekit.errors import TracekitError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from tracekit.compare.baseline import Baseline
    from tracekit.compare.gate import Gate, Item
    from tracekit.compare.limits import CheckSettings

FORMATS = ("text", "markdown", "json", "junit", "github")
ENDINGS = {".txt": "text", ".md": "markdown", ".json": "json", ".xml": "junit"}
SUMMARY_BYTES = 900_000
"""GitHub drops a whole step summary above 1 MiB."""


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("path", metavar="PATH", nargs="+", help="recordings of the build to check")
    parser.add_argument(
        "--baseline", metavar="FILE", help="compare with this baseline (default: the one in the config file)"
    )
    parser.add_argument(
        "--allow-environment-change", action="store_true", help="compare even if device, system or template differ"
    )
    parser.add_argument(
        "--allow-missing",
        action="append",
        default=[],
        metavar="MODEL",
        help="do not fail if this model is missing (repeatable)",
    )
    add_reader_arguments(parser)
    add_worker_arguments(parser)
    add_config_arguments(parser)
    parser.add_argument("--format", choices=(*FORMATS, "md"), default="text", help="what to print (default: text)")
    parser.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help="also write .txt, .md, .json or JUnit .xml",
    )


def run(arguments: Namespace) -> ExitStatus:
    """Check, write every output, and exit with the verdict."""
    from tracekit.cli.reports import check_output

    outputs = [(Path(name), _form_of(Path(name))) for name in arguments.output]
    for path, _ in outputs:
        check_output(path, arguments.path)
    gate, line = _checked(arguments)
    for path, form in outputs:
        _write(path, _rendered(gate, form, line))
    _print(gate, "markdown" if arguments.format == "md" else arguments.format, line)
    return _STATUS[gate.verdict]


_STATUS = {
    "passed": ExitStatus.DONE,
    "failed": ExitStatus.GATE_FAILED,
    "unusable": ExitStatus.UNUSABLE,
    "not enough data": ExitStatus.INCONCLUSIVE,
}


def _checked(arguments: Namespace) -> tuple[Gate, Callable[[Item], int]]:
    """The verdict, and where in the file of settings the limit of an item stands.

    What cannot be read is part of the verdict, so that every output is written then, too.
    """
    from tracekit.compare.gate import Gate, Item, Verdict, check
    from tracekit.compare.limits import CheckSettings, line_of
    from tracekit.config import load_config
    from tracekit.detectors.plugins import all_detectors

    config = config_of(arguments)
    settings = CheckSettings() if config is None else load_config(config, all_detectors()).check

    def line(item: Item) -> int:
        return 1 if config is None or item.limit is None else line_of(config, item.limit.pattern, item.limit.name)

    try:
        baseline = _baseline(arguments.baseline, settings, config)
        measured = measure_all(recordings_in(*arguments.path), arguments, config)
        readable = [entry.measurements for entry in measured if entry.measurements is not None]
        gate = check(
            readable,
            settings,
            baseline,
            today=dt.datetime.now(tz=dt.UTC).date(),
            allow_environment_change=arguments.allow_environment_change,
            allow_missing=arguments.allow_missing,
        )
        unreadable = tuple(
            Item(Verdict.UNUSABLE, "input", None, entry.error) for entry in measured if entry.measurements is None
        )
        if unreadable:
            gate = replace(gate, verdict=Verdict.UNUSABLE, items=(*unreadable, *(gate.items if readable else ())))
    except TracekitError as error:
        gate = Gate(Verdict.UNUSABLE, (Item(Verdict.UNUSABLE, "input", None, str(error)),), None)
    return gate, line


def _baseline(given: str | None, settings: CheckSettings, config: Path | None) -> Baseline | None:
    """The baseline that is given, or that of the settings, relative to their file; None where neither names one."""
    from tracekit.compare.baseline import load_baseline

    if given is not None:
        return load_baseline(Path(given))
    if settings.baseline is None or config is None:
        return None
    return load_baseline(config.parent / settings.baseline)


def _form_of(path: Path) -> str:
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"{path}: unknown extension (supported: {' '.join(ENDINGS)})")
    return ENDINGS[path.suffix.lower()]


def _rendered(gate: Gate, form: str, line: Callable[[Item], int]) -> str:
    """The verdict as a document."""
    from tracekit.cli.output import has_color, width
    from tracekit.compare.renderers.gate import render_junit, render_markdown, render_text, workflow_commands
    from tracekit.report.renderers.serialize import to_json
    from tracekit.report.renderers.text import FILE_WIDTH

    if form == "json":
        return to_json(gate)
    if form == "markdown":
        return render_markdown(gate)
    if form == "junit":
        return render_junit(gate, "tracekit check")
    text = render_text(gate, width=width(FILE_WIDTH), color=has_color() and form == "text")
    return text if form == "text" else workflow_commands(gate, "tracekit.toml", line) + text


def _print(gate: Gate, form: str, line: Callable[[Item], int]) -> None:
    """Standard output, and with `github` the files that the runner names."""
    from tracekit.cli.output import emit, has_color
    from tracekit.compare.renderers.gate import render_markdown

    if form == "github":
        _append("GITHUB_STEP_SUMMARY", render_markdown(gate)[:SUMMARY_BYTES])
        _append(
            "GITHUB_OUTPUT", f"verdict={str(gate.verdict).replace(' ', '-')}\nexit-code={int(_STATUS[gate.verdict])}\n"
        )
    emit(_rendered(gate, form, line), styled=form == "text" and has_color(), utf8=form in ("json", "junit"))


def _append(variable: str, text: str) -> None:
    """Add to the file that an environment variable names; nothing where it is not set."""
    name = os.environ.get(variable)
    if not name:
        return
    try:
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise TracekitError(f"cannot write {variable}: {error.strerror or error}") from error


def _write(path: Path, text: str) -> None:
    from tracekit.cli.reports import write_report

    write_report(path, text)


COMMAND = Command(
    name="check",
    summary="fail the build for a regression, a finding or a limit",
    description=(
        "Check recordings of a build against limits of latency, loads and copies, against the findings that are "
        "allowed, and against a baseline. What could not be checked never passes."
    ),
    add_arguments=add_arguments,
    run=run,
)
