"""`tracekit check PATH...`: the gate. Limits, findings and a baseline."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.check_outputs import FORMS, GITHUB
from tracekit.cli.command import Command
from tracekit.cli.forms import add_form_arguments
from tracekit.cli.inputs import (
    add_reader_arguments,
    add_rename_argument,
    add_worker_arguments,
    renames_of,
)
from tracekit.cli.measuring import measure_all, problems_of, recordings_in
from tracekit.cli.project import add_config_arguments, config_of
from tracekit.errors import TracekitError, words_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from tracekit.cli.command import ExitStatus
    from tracekit.compare.baseline import Baseline
    from tracekit.compare.gate import Gate
    from tracekit.compare.measurements import Measurements
    from tracekit.compare.verdict import Item
    from tracekit.config import Config


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("path", metavar="PATH", nargs="+", help="recordings of the build to check")
    parser.add_argument(
        "--baseline", metavar="FILE", help="compare with this baseline (default: the one in the config file)"
    )
    add_rename_argument(parser, "compare model OLD of the baseline with model NEW (repeatable)")
    allowed = parser.add_argument_group("exceptions")
    allowed.add_argument(
        "--allow-environment-change", action="store_true", help="compare even if device, system or template differ"
    )
    allowed.add_argument(
        "--allow-missing",
        action="append",
        default=[],
        metavar="MODEL",
        help="do not fail if this model is missing (glob; repeatable)",
    )
    allowed.add_argument(
        "--allow-no-baseline", action="store_true", help="go on if the baseline does not exist yet, for the first run"
    )
    add_reader_arguments(parser)
    add_worker_arguments(parser)
    add_config_arguments(parser)
    add_form_arguments(parser, FORMS, printed_only=(GITHUB,))


def run(arguments: Namespace) -> ExitStatus:
    """Check, write every output whatever the verdict, and exit with it."""
    from tracekit.cli.check_outputs import STATUS, Outputs

    config = config_of(arguments)
    outputs = Outputs(arguments, config)
    try:
        gate = _gate(arguments, config)
    except Exception as error:
        # What is wrong with tracekit itself is no reason to leave a job without its files.
        outputs.write(_stopped("tracekit", f"internal error ({words_of(error).splitlines()[0]})"))
        raise
    outputs.write(gate)
    return STATUS[gate.verdict]


def _gate(arguments: Namespace, path: Path | None) -> Gate:
    """The verdict. What cannot be read is part of it, so that every output is written then, too."""
    from tracekit.compare.gate import Allowed, check
    from tracekit.config import load_config
    from tracekit.detectors.plugins import all_detectors

    try:
        config = load_config(path, all_detectors())
    except TracekitError as error:
        return _stopped("settings", str(error))
    recordings, problems = _readable_and_others(arguments, path)
    baseline, missing = None, False
    try:
        baseline, missing = _baseline(arguments, config)
    except TracekitError as error:
        problems.append(_problem("baseline", str(error)))
    try:
        return check(
            recordings,
            config.check,
            baseline,
            today=dt.datetime.now(tz=dt.UTC).date(),
            allowed=Allowed(arguments.allow_environment_change, tuple(arguments.allow_missing), missing),
            renames=renames_of(arguments),
            floors=config.floors,
            problems=problems,
        )
    except TracekitError as error:
        return _stopped("input", str(error))


def _readable_and_others(arguments: Namespace, config: Path | None) -> tuple[list[Measurements], list[Item]]:
    """Recordings that could be read, and items about the others."""
    from tracekit.cli.output import narrate

    try:
        everything = measure_all(recordings_in(*arguments.path), arguments, config)
    except TracekitError as error:
        return [], [_problem("input", str(error))]
    recordings = [entry.measurements for entry in everything if entry.measurements is not None]
    for recording in recordings:
        if recording.limited:
            narrate(f"tracekit: {recording.source}: {recording.limited}")
    return recordings, [_problem("input", problem) for entry in everything for problem in problems_of(entry)]


def _problem(subject: str, text: str) -> Item:
    """An item about what cannot be used. What leaves the machine names no user."""
    from tracekit.compare.verdict import Item, Verdict
    from tracekit.report.choice import plain

    words = plain(text)
    setting = ("baseline",) if subject == "baseline" else ()
    return Item(Verdict.ERROR, subject, None, words, words, setting)


def _stopped(subject: str, text: str) -> Gate:
    from tracekit.compare.gate import gate_of

    return gate_of([_problem(subject, text)])


def _baseline(arguments: Namespace, config: Config) -> tuple[Baseline | None, bool]:
    """The baseline that is given, or that of the settings, relative to their file; None where neither names one, and
    where it may be missing and is."""
    from tracekit.compare.baseline import load_baseline

    named = arguments.baseline or config.check.baseline
    if named is None:
        return None, False
    folder = Path() if arguments.baseline or config.path is None else config.path.parent
    if arguments.allow_no_baseline and not (folder / named).exists():
        return None, True
    return load_baseline(folder / named), False


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
