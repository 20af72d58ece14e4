"""`tracekit compare BEFORE AFTER`: what a change did; `tracekit matrix PATH...`: models × recordings."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.forms import deliver, files_of
from tracekit.cli.measuring import Measured, measure_all, notes_on, readable, status_of_all
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import REPORT, is_model, recordings_in
from tracekit.cli.requests import request_from
from tracekit.comparison.comparison import compare, typical
from tracekit.comparison.history import utc
from tracekit.comparison.matrix import expanded_labels, labels_of, matrix, source_of_report, sources_of
from tracekit.comparison.renderers.tables import render_csv
from tracekit.documents.brief import brief_comparison
from tracekit.documents.comparison import comparison_document
from tracekit.documents.lanes import lanes_of_both, pictures_of_both
from tracekit.documents.matrix import matrix_document
from tracekit.errors import UsageError
from tracekit.render.blocks import Document
from tracekit.report.lake_reports import is_lake
from tracekit.report.serialize import to_json

if TYPE_CHECKING:
    from tracekit.documents.lanes import Drawing


def run(arguments: Namespace) -> ExitStatus:
    """Measure both sides, compare and print. A regression is no failure here: `tracekit check` is the gate."""
    given = [*arguments.path, *arguments.before, *arguments.after]
    # A folder or a zip may hold recordings; names of models are none of recordings.
    if len(given) == 2 and all(is_model(path) for path in given):
        from tracekit.cli.models import compare_models

        return compare_models(arguments, given)
    before, after = (recordings_in(*side) for side in sides_of(arguments))
    files = files_of(arguments, [*before, *after])
    request = request_from(arguments)
    draws = "html" in (arguments.format, *files.values())
    measuring = partial(measure_all, arguments=arguments, request=request)
    measured = measuring([*before, *after], lanes=draws and len(before) == len(after) == 1)
    halves = (measured[: len(before)], measured[len(before) :])
    sides = [readable(half) for half in halves]
    notes = [f"Only predictions starting {request.part.words[0]} are compared."] if request.part is not None else []
    comparison = compare(
        *sides, renames=dict(arguments.renames), floors=request.settings.floors, notes=[*notes, *notes_on(measured)]
    )
    drawings = _drawings(halves, partial(measuring, lanes=True)) if draws else []

    def document(name: str) -> Document:
        drawn = (drawings[0], drawings[1]) if len(drawings) == 2 else None
        if name != "html":
            return comparison_document(comparison)
        return comparison_document(
            comparison, lanes_of_both(comparison, drawn), models=pictures_of_both(comparison, drawn)
        )

    data = {"json": lambda: to_json(comparison), "brief": lambda: brief_comparison(comparison, document("text"))}
    deliver(arguments, files, document, data)
    simulated = any(one.environment.simulated for side in sides for one in side)
    tells = bool(comparison.compared) and not simulated
    return status_of_all(measured) or (ExitStatus.DONE if tells else ExitStatus.INCONCLUSIVE)


def _drawings(
    halves: Sequence[Sequence[Measured]], measure_again: Callable[[Sequence[str]], list[Measured]]
) -> list[Drawing]:
    """The lanes of one recording a side. Of several it is the most typical one, which is read again, since the lanes of
    all of them would not fit into memory. A report has no lanes."""
    drawn = []
    for half in halves:
        measured = [
            (entry, entry.measurements)
            for entry in half
            if entry.measurements is not None and not entry.path.endswith(REPORT)
        ]
        drawn += [measured[typical([measurements for _, measurements in measured])][0]] if measured else []
    if len(drawn) < len(halves):
        return []
    if any(entry.drawing is None for entry in drawn):
        drawn = measure_again([entry.path for entry in drawn])
    return [entry.drawing for entry in drawn if entry.drawing is not None]


def sides_of(arguments: Namespace) -> tuple[list[str], list[str]]:
    """Paths before and after. Raises `UsageError` unless both are given, in one way."""
    if len(arguments.path) == 1 and is_lake(Path(arguments.path[0])):
        lake = Path(arguments.path[0])
        # A comparison of recordings needs no SQL.
        from tracekit.query.lake import reports_where

        if not arguments.before or not arguments.after:
            raise UsageError(
                f"missing which recordings, as in: tracekit compare {lake} --before \"commit = 'a1'\" "
                "--after \"commit = 'b2'\""
            )
        before, after = (" and ".join(f"({where})" for where in side) for side in (arguments.before, arguments.after))
        return reports_where(lake, before), reports_where(lake, after)
    if arguments.path and (arguments.before or arguments.after):
        raise UsageError("pass either two paths, or --before and --after, not both")
    if arguments.path:
        if len(arguments.path) == 1:
            raise UsageError(
                f"missing the recording after the change, as in: tracekit compare {arguments.path[0]} B.trace"
            )
        if len(arguments.path) > 2:
            raise UsageError(
                f"compare takes one recording before and one after (got {len(arguments.path)}); for more of each: "
                "--before A B --after C D; to set them side by side: tracekit matrix"
            )
        return [arguments.path[0]], [arguments.path[1]]
    if not arguments.before or not arguments.after:
        raise UsageError(
            "missing recordings, as in: tracekit compare before.trace after.trace (see 'tracekit compare --help')"
        )
    return arguments.before, arguments.after


def run_matrix(arguments: Namespace) -> ExitStatus:
    """Measure all recordings and print their figures side by side."""
    recordings = [recordings_in(path) for path in arguments.path]
    paths = [path for several in recordings for path in several]
    files = files_of(arguments, paths)
    requested_labels = expanded_labels(arguments.label, list(map(len, recordings)))
    unordered = iter(measure_all(paths, arguments, request_from(arguments), performance=True))
    groups = [
        (path, list(islice(unordered, len(several)))) for path, several in zip(arguments.path, recordings, strict=True)
    ]
    measured = []
    for path, group in groups:
        if is_lake(Path(path)):
            # In the order of their time; those of which it is not known come last.
            group.sort(key=lambda entry: utc(entry.measurements.started if entry.measurements else None) or "unknown")
        measured += group
    recorded = iter(sources_of(readable(measured)))
    sources = [
        next(recorded) if entry.performance is None else source_of_report(entry.performance)
        for entry in measured
        if not entry.failed
    ]
    labels = [label for label, entry in zip(requested_labels, measured, strict=True) if not entry.failed]
    table = matrix(sources, labels_of(sources, labels), notes_on(measured))
    data = {"json": lambda: to_json(table), "csv": lambda: render_csv(table)}
    deliver(arguments, files, lambda _: matrix_document(table), data)
    return status_of_all(measured)
