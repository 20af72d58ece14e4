"""The model files and performance reports of a report in words, the same in every readable format.

Files that are not used stand in the notes. A doubt about one that is used stands with it too, since notes may be cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tracekit.report.formatting import listed

if TYPE_CHECKING:
    from tracekit.report.report import ModelFileInfo, Report

TITLE = "Model files and performance reports"


class FileRow(NamedTuple):
    """A file that describes a model."""

    model: str
    facts: str
    """Its name, what it is, its size, and the systems that load it."""
    card: tuple[tuple[str, str], ...]
    """Its facts in full: name and value of each; empty for a performance report."""
    sentences: tuple[str, ...]
    """A doubt that it is of this model; what it says of the interface, and what else a check found in it; for a report,
    planned and timed beside recorded."""


def file_rows(report: Report) -> tuple[FileRow, ...]:
    """The files that are used, in the order in which they were given, then the performance reports."""
    files = [
        FileRow(
            file.model,
            f"{file.source} · {file.summary}",
            tuple((fact.name, fact.value) for fact in file.facts),
            tuple(filter(None, (file.problem, file.interface, _found(file)))),
        )
        for file in report.model_files
        if file.model is not None
    ]
    reports = [
        FileRow(
            entry.model,
            f"{entry.source} · {entry.form}: {entry.made_on}",
            (),
            tuple(filter(None, (entry.problem, entry.timed, entry.planned))),
        )
        for entry in report.performance_reports
        if entry.model is not None
    ]
    return (*files, *reports)


def _found(file: ModelFileInfo) -> str:
    """The other findings in the file: how it slows the model down is not measured, so they stand here alone."""
    names = [check.id for check in file.results if check.outcome == "finding" and check.summary != file.interface]
    return f"Also found in the file: {listed(names)}; tracekit inspect says more." if names else ""
