"""A report in its readable forms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from tracekit.documents.report import report_document, report_file
from tracekit.render.forms import render

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline


_WHOLE = r"`[^`]+`|--instrument (?:'[^']*'|\w+)|\b(?:tracekit|xcrun) .*|\S*://\S*"
"""Commands and addresses."""


def too_long(text: str, width: int, checks: Iterable[Any] = ()) -> list[str]:
    """Lines with more cells than the width, but for what is copied whole: commands, addresses, and code in the fixes of
    these checks."""
    fixes = "\n".join(check.fix for check in checks)
    code, inline = {line.strip() for line in fixes.splitlines()}, re.findall(r"`([^`\n]+)`", fixes)
    whole = re.compile("|".join([_WHOLE, *map(re.escape, sorted(inline, key=len, reverse=True))]))
    beyond = [line for line in text.splitlines() if cell_len(line) > width]
    return [line for line in beyond if line.strip() not in code and cell_len(whole.sub("", line)) > width]


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
