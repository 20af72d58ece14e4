"""`tracekit compare BEFORE AFTER`: what a change did."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tracekit.cli.command import Command
from tracekit.cli.forms import add_form_arguments, deliver, files_of, form_of
from tracekit.cli.inputs import (
    add_model_argument,
    add_part_arguments,
    add_reader_arguments,
    add_rename_argument,
    add_worker_arguments,
    part_of,
    renames_of,
)
from tracekit.cli.measuring import measure_all, notes_on, readable, recordings_in, status_of_all
from tracekit.cli.project import add_config_arguments, config_of
from tracekit.cli.several import REPORT
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Sequence

    from tracekit.cli.command import ExitStatus
    from tracekit.cli.measuring import Measured
    from tracekit.documents.both_sides import Drawing
    from tracekit.render.blocks import Document

FORMS = ("text", "markdown", "html", "json")


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "path", metavar="PATH", nargs="*", help="recording (or folder of them) before and after the change"
    )
    parser.add_argument("--before", nargs="+", default=[], metavar="PATH", help="recordings before the change")
    parser.add_argument("--after", nargs="+", default=[], metavar="PATH", help="recordings after the change")
    add_rename_argument(parser, "compare model OLD with model NEW; repeatable")
    add_model_argument(parser)
    add_part_arguments(parser)
    add_reader_arguments(parser)
    add_worker_arguments(parser)
    add_config_arguments(parser)
    add_form_arguments(parser, FORMS)


def run(arguments: Namespace) -> ExitStatus:
    """Measure both sides, compare and print. A regression is no failure here: `tracekit check` is the gate."""
    from tracekit.compare.comparison import compare
    from tracekit.config import load_config
    from tracekit.detectors.plugins import all_detectors
    from tracekit.documents.both_sides import lanes_of_both
    from tracekit.documents.comparison import comparison_document
    from tracekit.report.renderers.serialize import to_json

    before, after = (recordings_in(*side) for side in sides_of(arguments))
    form, files = form_of(arguments), files_of(arguments, FORMS, [*before, *after])
    renames = renames_of(arguments)
    part = part_of(arguments)
    path = config_of(arguments)
    config = load_config(path, all_detectors())
    draws = "html" in (form, *files.values())
    measuring = partial(measure_all, arguments=arguments, config=path, part=part)
    measured = measuring([*before, *after], lanes=draws and len(before) == len(after) == 1)
    halves = (measured[: len(before)], measured[len(before) :])
    sides = [readable(half) for half in halves]
    notes = [f"Only predictions starting {part.words[0]} are compared."] if part is not None else []
    comparison = compare(*sides, renames=renames, floors=config.floors, notes=[*notes, *notes_on(measured)])
    drawings = _drawings(halves, partial(measuring, lanes=True)) if draws else []

    def document(name: str) -> Document:
        drawn = (drawings[0], drawings[1]) if len(drawings) == 2 else None
        return comparison_document(comparison, lanes_of_both(comparison, drawn) if name == "html" else None)

    deliver(form, files, document, {"json": lambda: to_json(comparison)})
    return status_of_all(measured)


def _drawings(
    halves: Sequence[Sequence[Measured]], measure_again: Callable[[Sequence[str]], list[Measured]]
) -> list[Drawing]:
    """The lanes of one recording a side. Of several it is the most typical one, which is read again, since the lanes of
    all of them would not fit into memory. A report has no lanes."""
    from tracekit.compare.comparison import typical

    chosen = []
    for half in halves:
        known = [
            (entry, entry.measurements)
            for entry in half
            if entry.measurements is not None and not entry.path.endswith(REPORT)
        ]
        chosen += [known[typical([measurements for _, measurements in known])][0]] if known else []
    if len(chosen) < len(halves):
        return []
    if any(entry.drawing is None for entry in chosen):
        chosen = measure_again([entry.path for entry in chosen])
    return [entry.drawing for entry in chosen if entry.drawing is not None]


def sides_of(arguments: Namespace) -> tuple[list[str], list[str]]:
    """Paths before and after. Raises `UsageError` unless both are given, in one way."""
    if arguments.path and (arguments.before or arguments.after):
        raise UsageError("pass either two paths, or --before and --after, not both")
    if arguments.path:
        if len(arguments.path) != 2:
            raise UsageError(
                f"compare takes one recording before and one after (got {len(arguments.path)}); for more: "
                "--before A B C --after D E F"
            )
        return [arguments.path[0]], [arguments.path[1]]
    if not arguments.before or not arguments.after:
        raise UsageError("missing recordings; usage: tracekit compare BEFORE AFTER, or --before A B C --after D E F")
    return arguments.before, arguments.after


COMMAND = Command(
    name="compare",
    summary="show what changed between recordings",
    description=(
        "Compare recordings before and after a change: findings that are fixed, new or still there, and for each model "
        "whether it improved, regressed or is unchanged, or the answer is inconclusive."
    ),
    add_arguments=add_arguments,
    run=run,
)
