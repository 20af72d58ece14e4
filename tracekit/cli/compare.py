"""`tracekit compare`: what a change did, of a recording before and one after it; of more, their figures in a table."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.forms import deliver, files_of, form_of
from tracekit.cli.measuring import Measured, measure_all, notes_on, readable, status_of_all
from tracekit.cli.options import refuse
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import REPORT, is_model, is_performance_report, recordings_in
from tracekit.cli.requests import request_from
from tracekit.comparison.comparison import compare, typical
from tracekit.comparison.launches import launches_of
from tracekit.comparison.matrix import expanded_labels, labels_of, matrix, source_of_report, sources_of
from tracekit.comparison.measurements import utc
from tracekit.comparison.renderers.tables import render_csv
from tracekit.documents.brief import brief_comparison, capped
from tracekit.documents.comparison import comparison_document
from tracekit.documents.lanes import lanes_of_both, pictures_of_both
from tracekit.documents.matrix import matrix_document
from tracekit.errors import UsageError
from tracekit.render.blocks import Document
from tracekit.report.lake_reports import is_lake
from tracekit.report.serialize import to_dict, to_json

if TYPE_CHECKING:
    from tracekit.documents.lanes import Drawing


def run(arguments: Namespace) -> ExitStatus:
    """Measure both sides, compare and print. A regression is no failure here: `tracekit check` is the gate."""
    given = [*arguments.path, *arguments.before, *arguments.after]
    # A folder or a zip may hold recordings; names of models are none of recordings.
    if len(given) > 1 and all(is_model(path) for path in given):
        from tracekit.cli.models import compare_models

        return compare_models(arguments, given)
    files = files_of(arguments, given)
    sides = _sides_of(arguments, tabular="csv" in (form_of(arguments), *files.values()))
    if sides is None:
        return _run_table(arguments, files)
    before, after = (recordings_in(*side) for side in sides)
    request = request_from(arguments)
    draws = "html" in (arguments.format, *files.values())
    measuring = partial(measure_all, arguments=arguments, request=request)
    measured = measuring([*before, *after], lanes=draws and len(before) == len(after) == 1)
    halves = (measured[: len(before)], measured[len(before) :])
    compared = [readable(half) for half in halves]
    notes = [f"Only predictions starting {request.part.words[0]} are compared."] if request.part is not None else []
    comparison = compare(
        *compared, renames=dict(arguments.renames), floors=request.settings.floors, notes=[*notes, *notes_on(measured)]
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
    simulated = any(one.environment.simulated for side in compared for one in side)
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


def _sides_of(arguments: Namespace, *, tabular: bool) -> tuple[list[str], list[str]] | None:
    """Paths before and after; None for recordings of a table. Raises `UsageError` where one side is missing."""
    paths, before, after = arguments.path, arguments.before, arguments.after
    if not (before or after):
        if not paths:
            raise UsageError(
                "missing recordings, as in: tracekit compare before.trace after.trace (see 'tracekit compare --help')"
            )
        if len(paths) == 1 and recordings_in(paths[0]) == paths:
            raise UsageError(f"missing the recording after the change, as in: tracekit compare {paths[0]} B.trace")
        is_pair = len(paths) == 2 and not (arguments.label or tabular or any(map(is_performance_report, paths)))
        return ([paths[0]], [paths[1]]) if is_pair else None
    if tabular or arguments.label:
        raise UsageError("--label and CSV are for a table of recordings; give their paths without --before and --after")
    in_lake = len(paths) == 1 and is_lake(Path(paths[0]))
    if paths and not in_lake:
        raise UsageError("pass either paths, or --before and --after, not both")
    if not (before and after):
        missing = "--after" if before else "--before"
        raise UsageError(f"missing {missing}, as in: tracekit compare --before A.trace B.trace --after C.trace D.trace")
    if not in_lake:
        return before, after
    # A comparison of recordings needs no SQL.
    from tracekit.query.lake import reports_where

    wanted = (" and ".join(f"({where})" for where in side) for side in (before, after))
    first, second = (reports_where(Path(paths[0]), where) for where in wanted)
    return first, second


def _run_table(arguments: Namespace, files: Mapping[Path, str]) -> ExitStatus:
    """Measure all recordings and print their figures side by side, in the order of their time."""
    refuse(arguments, "rename", "is for a recording before and one after")
    recordings = [recordings_in(path) for path in arguments.path]
    requested_labels = expanded_labels(arguments.label, list(map(len, recordings)))
    paths = [path for several in recordings for path in several]
    every = measure_all(paths, arguments, request_from(arguments), performance=True)
    measured = sorted(zip(requested_labels, every, strict=True), key=lambda each: _time_of(each[1]))
    recordings_read = readable([entry for _, entry in measured])
    recorded = iter(sources_of(recordings_read))
    sources = [
        next(recorded) if entry.performance is None else source_of_report(entry.performance)
        for _, entry in measured
        if not entry.failed
    ]
    labels = [label for label, entry in measured if not entry.failed]
    table = matrix(sources, labels_of(sources, labels), notes_on(every))
    table = replace(table, launches=launches_of(recordings_read))
    data = {
        "json": lambda: to_json(table),
        "brief": lambda: capped(to_dict(table)),
        "csv": lambda: render_csv(table),
    }
    deliver(arguments, files, lambda form: matrix_document(table, form), data)
    return status_of_all(every)


def _time_of(entry: Measured) -> str:
    """When a recording began; where that is not known it comes last."""
    return utc(entry.measurements.started if entry.measurements else None) or "unknown"
