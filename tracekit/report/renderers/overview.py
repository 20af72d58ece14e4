"""Several recordings, one line each: name, findings, the checks that found them, and the estimated savings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from tracekit.report import formatting
from tracekit.report.groups import count_checks
from tracekit.report.renderers.text_layout import NARROWEST, WIDEST, printed
from tracekit.trace.coverage import unreadable_tables
from tracekit.units import format_count, format_estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline

NAME_CELLS = 40
VERDICT_CELLS = 21
_STYLES = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "yellow"}


@dataclass(frozen=True, slots=True)
class Analyzed:
    """One recording of several."""

    name: str
    report: Report | None
    """None where it could not be read."""
    error: str = ""
    timeline: Timeline | None = None
    """Its lanes, where a format draws them."""


def render_overview(entries: Sequence[Analyzed], *, width: int, color: bool) -> str:
    """A line per recording and a summary, with a line break at the end."""
    width = min(max(width, NARROWEST), WIDEST)
    names = [formatting.visible(entry.name) for entry in entries]
    room = min(max(map(cell_len, names), default=0), NAME_CELLS, width // 3)
    lines = []
    for name, entry in zip(names, entries, strict=True):
        shown = formatting.shorten(name, room)
        line = Text(f"{shown}{' ' * (room - cell_len(shown))}  ", no_wrap=True)
        line.append_text(_verdict(entry, width - room - 2))
        line.truncate(width, overflow="ellipsis")
        lines.append(line)
    return printed([*lines, Text(), _summary(entries)], width, color)


def _verdict(entry: Analyzed, room: int) -> Text:
    if entry.report is None:
        return _line("not readable", "bold red", formatting.visible(entry.error))
    totals, summary = count_checks(entry.report.results), entry.report.summary
    if unread := _unread(entry):
        return _line("not readable", "bold red", "; ".join(unread))
    if not summary.evaluated:
        return _line("inconclusive", "yellow", f"{format_count(totals.not_evaluated, 'check')} not evaluated")
    if not totals.findings:
        return _line("no findings", "green", f"{totals.passed} passed, {totals.not_evaluated} not evaluated")
    savings = f"  est. savings {format_estimate(summary.savings_ns)}" if summary.savings_ns else ""
    ids = list(dict.fromkeys(check.id for check in entry.report.results if check.outcome == "finding"))
    what = _listed(ids, room - VERDICT_CELLS - len(savings))
    return _line(f"{format_count(totals.findings, 'finding')} ({totals.worst})", _STYLES[totals.worst], what + savings)


def _unread(entry: Analyzed) -> tuple[str, ...]:
    """Why nothing is known of a recording that was opened: tables that could not be read."""
    if entry.report is None or entry.report.summary.evaluated:
        return ()
    return unreadable_tables(entry.report.tables)


def _line(verdict: str, style: str, rest: str) -> Text:
    return Text(f"{verdict:<{VERDICT_CELLS}}", style=style).append(rest, "not bold default")


def _listed(ids: Sequence[str], room: int) -> str:
    """As many checks as fit, and how many more there are."""
    for count in range(len(ids), 1, -1):
        more = f" and {len(ids) - count} more" if count < len(ids) else ""
        if len(text := ", ".join(ids[:count]) + more) <= room:
            return text
    return ids[0] + (f" and {len(ids) - 1} more" if len(ids) > 1 else "")


def _summary(entries: Sequence[Analyzed]) -> Text:
    kinds = Counter(_kind(entry) for entry in entries)
    words = [
        f"{kinds[kind]} {kind}"
        for kind in ("with findings", "without findings", "inconclusive", "not readable")
        if kinds[kind]
    ]
    return Text(f"{format_count(len(entries), 'recording')}: {', '.join(words)}", style="bold")


def _kind(entry: Analyzed) -> str:
    if entry.report is None or _unread(entry):
        return "not readable"
    if not entry.report.summary.evaluated:
        return "inconclusive"
    return "with findings" if entry.report.summary.findings else "without findings"
