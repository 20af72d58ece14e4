"""Commands that read no recording, or make one: their names, their arguments, and what runs."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

from tracekit.cli import arguments as shared
from tracekit.cli.arguments import Command
from tracekit.render.forms import REPORT_FORMS

if TYPE_CHECKING:
    from argparse import ArgumentParser

UNITS = {"cpu": "CPU", "gpu": "GPU", "neural-engine": "Neural Engine"}
"""What `inspect --unit` takes, and the name of each."""
COMPUTE_UNITS = ("all", "cpuOnly", "cpuAndGPU", "cpuAndNeuralEngine")
"""What a model can be loaded for, as Core ML calls it."""
MOST_PREDICTIONS = 100_000
"""A day of those that take a second."""
TEMPLATE = "Core ML"
"""What is recorded with unless something else is asked for."""


def _inspect(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path",
        metavar="PATH",
        help="a .mlpackage, .mlmodel or .mlmodelc, JSON from 'xcrun coremlcompiler metadata' or 'xcrun coreai-build "
        "inspect', or JSON of a performance report or compute plan; - for standard input",
    )
    parser.add_argument(
        "--target",
        metavar="SYSTEM",
        help="oldest system that the app supports, such as iOS16: does the model load there",
    )
    parser.add_argument("--unit", choices=UNITS, help="of a report: list the operations on this compute unit")
    group = parser.add_argument_group("checks")
    shared.add_checks(group)
    shared.add_config(group)
    output = parser.add_argument_group("output")
    shared.add_form(output, REPORT_FORMS)
    shared.add_no_redact(output, "keep paths, mail addresses and ids in the model's metadata")
    loudness = output.add_mutually_exclusive_group()
    shared.add_quiet(loudness, "print only the summary line")
    loudness.add_argument("-v", "--verbose", action="store_true", help="everything, with the code of the fixes")


INSPECT = Command(
    "inspect",
    "show what a model file or performance report says",
    "Show the facts of a Core ML model file (interface, precision, operations, weights, the systems it loads on) "
    "and check it for what may keep it from loading or slow it down. Works on any machine: on a Mac, the output of "
    "'xcrun coremlcompiler metadata' can be given instead of the model. Of a performance report "
    "that Xcode exported, or a compute plan, show times and where operations run.",
    _inspect,
    "tracekit.cli.inspect:run",
)


def _profile(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="MODEL", help="a .mlpackage, .mlmodel or .mlmodelc")
    parser.add_argument(
        "--units",
        action="append",
        choices=COMPUTE_UNITS,
        default=[],
        help="compute units to load the model for (repeatable; default: each choice in turn)",
    )
    parser.add_argument(
        "--predictions", type=_count, default=50, metavar="N", help="predictions for each choice (default: 50)"
    )
    parser.add_argument(
        "-o",
        "--output",
        default=".",
        metavar="FOLDER",
        help="folder for the reports, one for each choice (default: the current one)",
    )


def _count(text: str) -> int:
    """Type of `--predictions`."""
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= MOST_PREDICTIONS):
        raise ArgumentTypeError(f"expected a number from 1 to {MOST_PREDICTIONS:,}, found {text!r}")
    return int(text)


PROFILE = Command(
    "profile",
    "time a model for each choice of compute units, on a Mac",
    "Compile, load and call a model with inputs that are made up, for each choice of compute units, and write "
    "times and compute plan as JSON that 'tracekit inspect' and 'tracekit matrix' read on any machine. Needs a Mac.",
    _profile,
    "tracekit.cli.profile:run",
)


def _record(parser: ArgumentParser) -> None:
    target = parser.add_argument_group("target (exactly one)")
    target.add_argument("--attach", metavar="NAME|PID", help="a running process")
    target.add_argument("--all-processes", action="store_true", help="every process on the device")
    target.add_argument("--launch", action="store_true", help="start a command: --launch -- COMMAND [ARGUMENT ...]")
    target.add_argument(
        "launched",
        metavar="COMMAND",
        nargs="*",
        help="the command to launch, with its arguments; must come last, after --",
    )
    how = parser.add_argument_group("recording")
    how.add_argument(
        "--device",
        nargs="?",
        const="",
        metavar="NAME|UDID",
        help="device or simulator to record on, by UDID, name or a part of the name; without a value, pick from a list "
        "(default: this Mac)",
    )
    how.add_argument("--time-limit", metavar="TIME", help="stop after 500ms, 30s, 5m or 1h (default: until Ctrl-C)")
    how.add_argument(
        "--template",
        default=TEMPLATE,
        metavar="NAME",
        help=f"Instruments template (default: {TEMPLATE}, with Hangs and Thermal State, which checks need)",
    )
    how.add_argument("--only-template", action="store_true", help=f"do not add instruments to the {TEMPLATE} template")
    shared.add_repeatable(how, "--instrument", "NAME", "add an instrument (repeatable)")
    how.add_argument(
        "--no-prompt", action="store_true", help="skip xctrace's questions (the default where there is no terminal)"
    )
    how.add_argument(
        "--save-timeout",
        type=shared.seconds,
        default=600.0,
        metavar="SECONDS",
        help="give up if xctrace takes longer to save (default: 600)",
    )
    after = parser.add_argument_group("output")
    after.add_argument(
        "-o", "--output", metavar="FILE", help="the .trace bundle to write (default: named after date and time)"
    )
    then = after.add_mutually_exclusive_group()
    then.add_argument(
        "--analyze",
        action="store_const",
        const="analyze",
        dest="then",
        help="analyze the recording and print the report",
    )
    then.add_argument(
        "--compare-last",
        action="store_const",
        const="watch",
        dest="then",
        help="print four lines: what it shows, and what changed since the last recording of the app beside it",
    )


RECORD = Command(
    "record",
    "record an app with Instruments (on a Mac)",
    "Record with Apple's xctrace and print the path of the recording. Start before the app loads its models: Core "
    "ML emits model names only at load time. The app must be signed with get-task-allow, as builds that Xcode "
    "signs for development are; check with 'tracekit doctor --target APP'. Ctrl-C stops and saves. Needs a Mac; "
    "elsewhere, the command to run there is printed.",
    _record,
    "tracekit.cli.record:run",
)


def _watch(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="folder of recordings; of a recording, report on it and end")
    shared.add_reader(parser)
    shared.add_config(parser)


WATCH = Command(
    "watch",
    "report on each new recording in a folder",
    "Wait for new recordings (.trace bundles, zip archives, folders of exported XML) and print four lines on each: "
    "what it is, the worst finding, what changed since the last recording of the same app and device there, and the "
    "commands that say more. Ctrl-C ends it.",
    _watch,
    "tracekit.cli.watch:run",
)


def _init(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", nargs="?", help="a recording to derive limits from")
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    shared.add_reader(parser)


INIT = Command(
    "init",
    "write tracekit.toml and a workflow for CI",
    "Write tracekit.toml with every setting in a line, and .github/workflows/tracekit.yml, into the current folder. A "
    "recording of a build you trust gives the limits that 'tracekit check' holds later ones against.",
    _init,
    "tracekit.cli.init:run",
)

DETECTORS = Command(
    "detectors",
    "list all checks and their options",
    "List all checks with their options: default value, unit, and why that value.",
    shared.add_text_or_json,
    "tracekit.cli.detectors:run",
)


def _explain(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="a check, as listed by 'tracekit detectors'")


EXPLAIN = Command(
    "explain",
    "explain a check and its fix",
    "Print the page of a check: what it looks for, when it reports a finding, how to fix the problem, and where "
    "its thresholds come from.",
    _explain,
    "tracekit.cli.explain:run",
)


def _schema(parser: ArgumentParser) -> None:
    parser.add_argument(
        "kind",
        nargs="?",
        choices=("report", "model", "performance"),
        default="report",
        help="of `tracekit analyze` (report, the default), or of `tracekit inspect` on a model file or a performance "
        "report",
    )


SCHEMA = Command(
    "schema",
    "print the JSON Schema of JSON reports",
    "Print the JSON Schema of what --json prints: a report on a recording, on a model file, or a "
    "performance report. docs/report.md, docs/inspect.md and docs/performance-reports.md explain the keys.",
    _schema,
    "tracekit.cli.doctor:run_schema",
)


def _doctor(parser: ArgumentParser) -> None:
    parser.add_argument("--target", metavar="FILE", help="also check that this app or program can be recorded")
    shared.add_text_or_json(parser)
    shared.add_no_redact(parser, "show device names and IDs, for record --device")


DOCTOR = Command(
    "doctor",
    "check this machine's setup",
    "Check the Python packages and, on a Mac, Xcode, xctrace, templates, instruments and devices, and whether an "
    "app can be recorded. Exits with status 2 if a requirement is missing. Recording needs a Mac, analysis does "
    "not.",
    _doctor,
    "tracekit.cli.doctor:run",
)
