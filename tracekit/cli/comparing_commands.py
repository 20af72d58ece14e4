"""Commands on several recordings: their names, their arguments, and what runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.cli import arguments as shared
from tracekit.cli.arguments import Command
from tracekit.render.forms import REPORT_FORMS

if TYPE_CHECKING:
    from argparse import ArgumentParser

MATRIX_FORMS = (*REPORT_FORMS, "csv")
CHECK_FORMS = (*REPORT_FORMS, "junit", "sarif")
GITHUB = "github"
"""Text with workflow commands, for the log of an action."""


def _compare(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path", metavar="PATH", nargs="*", help="recording (or folder of them) before and after the change"
    )
    parser.add_argument("--before", nargs="+", default=[], metavar="PATH", help="recordings before the change")
    parser.add_argument("--after", nargs="+", default=[], metavar="PATH", help="recordings after the change")
    shared.add_renames(parser, "compare model OLD with model NEW; repeatable")
    shared.add_models(parser)
    shared.add_part(parser)
    shared.add_reader(parser)
    shared.add_workers(parser)
    shared.add_config(parser)
    shared.add_form(parser, REPORT_FORMS)


COMPARE = Command(
    "compare",
    "show what changed between recordings",
    "Compare recordings before and after a change: findings that are fixed, new or still there, and for each model "
    "whether it improved, regressed or is unchanged, or the answer is inconclusive.",
    _compare,
    "tracekit.cli.compare:run",
)


def _matrix(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", nargs="+", help="recordings, performance reports, or folders of either")
    shared.add_repeatable(
        parser,
        "--label",
        "TEXT",
        "title of the column: one for each PATH, or one for all with {device}, {system}, {units} or {name}; "
        "recordings with the same label share a column (repeatable)",
    )
    shared.add_models(parser)
    shared.add_reader(parser)
    shared.add_workers(parser)
    shared.add_config(parser)
    shared.add_form(parser, MATRIX_FORMS)


MATRIX = Command(
    "matrix",
    "compare models across many recordings",
    "Show median and p95 of the latency, loads, the frame rate that it is fast enough for and the Neural Engine's "
    "share of compute, of each model in many recordings and performance reports, the best of each row marked.",
    _matrix,
    "tracekit.cli.compare:run_matrix",
)


def _check(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", nargs="+", help="recordings of the build to check")
    parser.add_argument(
        "--baseline", metavar="FILE", help="compare with this baseline (default: the one in the config file)"
    )
    shared.add_renames(parser, "compare model OLD of the baseline with model NEW (repeatable)")
    allowed = parser.add_argument_group("exceptions")
    allowed.add_argument(
        "--allow-environment-change", action="store_true", help="compare even if device, system or template differ"
    )
    shared.add_repeatable(
        allowed, "--allow-missing", "MODEL", "do not fail if this model is missing (glob; repeatable)"
    )
    allowed.add_argument(
        "--allow-no-baseline", action="store_true", help="go on if the baseline does not exist yet, for the first run"
    )
    shared.add_reader(parser)
    shared.add_workers(parser)
    shared.add_config(parser)
    shared.add_form(parser, CHECK_FORMS, printed_only=(GITHUB,))


CHECK = Command(
    "check",
    "fail the build for a regression, a finding or a limit",
    "Check recordings of a build against limits of latency, loads and copies, against the findings that are "
    "allowed, and against a baseline. What could not be checked never passes.",
    _check,
    "tracekit.cli.check:run",
)


def _baseline(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=("save", "update", "show"), help="create a baseline, add recordings to one, or print one"
    )
    parser.add_argument("file", metavar="FILE", help="the baseline, for example perf/baseline.json")
    parser.add_argument("path", metavar="PATH", nargs="*", help="recordings of the build, three or more")
    shared.add_reader(parser)
    shared.add_workers(parser)
    shared.add_config(parser)


BASELINE = Command(
    "baseline",
    "save recordings to check later ones against",
    "Keep the measurements of up to ten recordings of one kind of device in a small JSON file, with which "
    "'tracekit check' compares. The file holds no paths, names of people or serial numbers.",
    _baseline,
    "tracekit.cli.check:run_baseline",
)
