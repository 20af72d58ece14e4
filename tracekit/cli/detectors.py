"""`tracekit detectors`: the checks, and their options."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

from tracekit.cli.ending import ExitStatus
from tracekit.cli.output import emit, width
from tracekit.detectors.explanation import needs_sentence
from tracekit.detectors.options import option_infos
from tracekit.detectors.plugins import listed_detectors

if TYPE_CHECKING:
    from argparse import Namespace

    from tracekit.detectors.framework import ListedDetector

WIDEST = 120
"""Longer lines are hard to read, however wide the terminal."""


def run(arguments: Namespace) -> ExitStatus:
    """Print every detector with its options."""
    if arguments.format == "json":
        emit(
            json.dumps([_facts(detector) for detector in listed_detectors()], indent=2, ensure_ascii=False) + "\n",
            utf8=True,
        )
    else:
        columns = min(width(WIDEST), WIDEST)
        emit("\n".join(_paragraph(detector, columns) for detector in listed_detectors()))
    return ExitStatus.DONE


def _facts(detector: ListedDetector) -> dict[str, object]:
    """One detector as JSON."""
    return {
        "id": detector.id,
        "title": detector.page.title,
        "finding_title": detector.page.finding_title,
        "package": detector.package,
        "pattern": str(detector.page.pattern),
        "needs": list(detector.needs),
        "uses": list(detector.uses),
        "options": [
            {"name": info.name, "default": info.default, "unit": info.unit, "basis": info.basis}
            for info in option_infos(detector)
        ],
    }


def _paragraph(detector: ListedDetector, columns: int) -> str:
    """One detector as text: id, what it reports, then each option as `--set` takes it."""
    origin = f" (from {detector.package})" if detector.package else ""
    lines = [f"{detector.id}{origin}", *_lines_that_fit(f"Finds: {detector.page.finding_title}.", columns, 2)]
    lines += _lines_that_fit(needs_sentence(detector), columns, 2)
    for info in option_infos(detector):
        lines.append(f"    {detector.id}.{info.name}={info.default} ({info.unit})")
        lines += _lines_that_fit(info.basis, columns, 8)
    return "\n".join(lines) + "\n"


def _lines_that_fit(text: str, columns: int, indent: int) -> list[str]:
    """Lines of `text` that fit the width."""
    margin = " " * indent
    return textwrap.wrap(text, max(columns, 40), initial_indent=margin, subsequent_indent=margin)
