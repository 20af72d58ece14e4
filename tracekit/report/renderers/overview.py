"""Several recordings, one line each: name, findings, the checks that found them, and the estimated savings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from tracekit.report import formatting
from tracekit.report.renderers.text_layout import NARROWEST, WIDEST, printed
from tracekit.report.totals import count_checks
from tracekit.units import format_count, format_estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.report.report import Report

NAME_CELLS = 40
CHECKS = 3
"""Most checks that a line names."""
_STYLES = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "yellow"}


@dataclass(frozen=True, slots=True)
class Analyzed:
    """One recording of several."""

    name: str
    report: Report | None
    """None where it could not be read."""
    error: str = ""


def render_overview(entries: Sequence[Analyzed], *, width: int, color: bool) -> str:
    """A line per recording and a summary, with a line break at the end."""
    width = min(max(width, NARROWEST), WIDEST)
    names = [formatting.visible(entry.name) for entry in entries]
    room = min(max(map(cell_len, names), default=0), NAME_CELLS, width // 2)
    lines = []
    for name, entry in zip(names, entries, strict=True):
        shown = formatting.shorten(name, room)
        lines.append(Text(f"{shown}{' ' * (room - cell_len(shown))}  ", no_wrap=True).append_text(_verdict(entry)))
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return printed([*lines, Text(), _summary(entries)], width, color)


def _verdict(entry: Analyzed) -> Text:
    if entry.report is None:
        return Text(f"not readable          {formatting.visible(entry.error)}", style="bold red")
    totals, summary = count_checks(entry.report.checks), entry.report.summary
    if not summary.judged:
        return Text(f"{'inconclusive':<22}{totals.not_evaluated} checks could not be evaluated", style="yellow")
    if not totals.findings:
        return Text(f"{'no findings':<22}{totals.passed} passed, {totals.not_evaluated} not evaluated", style="green")
    ids = list(dict.fromkeys(check.id for check in entry.report.checks if check.outcome == "finding"))
    more = f" and {len(ids) - CHECKS} more" if len(ids) > CHECKS else ""
    savings = f"  est. savings up to {format_estimate(summary.win_back_ns)}" if summary.win_back_ns else ""
    found = f"{format_count(totals.findings, 'finding')} ({totals.worst})"
    return Text(f"{found:<22}", style=_STYLES[totals.worst]).append(f"{', '.join(ids[:CHECKS])}{more}{savings}", "")


def _summary(entries: Sequence[Analyzed]) -> Text:
    kinds = Counter(_kind(entry) for entry in entries)
    words = [
        f"{kinds[kind]} {kind}"
        for kind in ("with findings", "without findings", "inconclusive", "not readable")
        if kinds[kind]
    ]
    return Text(f"{format_count(len(entries), 'recording')}: {', '.join(words)}", style="bold")


def _kind(entry: Analyzed) -> str:
    if entry.report is None:
        return "not readable"
    if not entry.report.summary.judged:
        return "inconclusive"
    return "with findings" if entry.report.summary.findings else "without findings"
