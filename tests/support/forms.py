"""A report in its readable forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.documents.report import report_document, report_file
from tracekit.render.forms import render

if TYPE_CHECKING:
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline


def short_text(report: Report, *, width: int = 100, color: bool = False) -> str:
    """What `tracekit analyze` prints."""
    return render(report_document(report), "text", width=width, color=color, verbose=False)


def long_text(report: Report, *, width: int = 100, color: bool = False) -> str:
    """What `tracekit analyze -v` prints."""
    return render(report_document(report), "text", width=width, color=color)


def markdown(report: Report) -> str:
    """What `--format markdown` prints."""
    return report_file(report, "markdown")


def html_page(report: Report, timeline: Timeline | None = None) -> str:
    """What `--format html` prints; with lanes where a timeline is given."""
    return report_file(report, "html", timeline)
