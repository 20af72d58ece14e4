"""The short report: context, findings, models, what was not evaluated, and the summary last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.characters import map_strings
from tracekit.report import formatting
from tracekit.report.groups import explains, findings, with_outcome
from tracekit.report.renderers.call_sites import nevertheless_lines
from tracekit.report.renderers.concise_findings import finding_lines, inconclusive_lines, one_line
from tracekit.report.renderers.concise_layout import Layout
from tracekit.report.renderers.concise_models import model_file_lines, model_lines
from tracekit.report.renderers.remedies import remedies
from tracekit.report.renderers.summary import context_line, summary_line, summary_lines
from tracekit.report.renderers.text_layout import NARROWEST, WIDEST, printed
from tracekit.units import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.report.report import Report

LINES = 60
"""Most lines for a recording of up to ten models; findings beyond them take one line each."""
INCONCLUSIVE_LINES = 40
"""Lines from which on a recording in which nothing could be evaluated says less of each part."""
REMEDIES, NOTES = 8, 3
"""Most entries of each of these parts."""
TIGHT_REMEDIES, TIGHT_NOTES = 3, 1
"""The same where the findings leave no room, in a line each."""


def render_concise(report: Report, *, width: int, color: bool) -> str:
    """The short report in lines of at most `width` cells, with a line break at the end. `color` writes ANSI styles."""
    width = min(max(width, NARROWEST), WIDEST)
    safe = map_strings(report, lambda field, text: formatting.visible(text, multiline=field in formatting.PROSE))
    layout = Layout(width)
    head = [*layout.wrapped(Text(context_line(safe.recording, safe.tool.config), style="dim")), Text()]
    for tight in (False, True):
        limited = [*_not_evaluated(safe, layout, tight), *_notes(safe, layout, tight)]
        tail = [*nevertheless_lines(safe, layout), *model_lines(safe, layout), *model_file_lines(safe, layout)]
        tail += [*limited, *summary_lines(safe, layout)]
        body, hidden = _findings(safe, layout, LINES - len(head) - len(tail))
        if not hidden and (safe.summary.evaluated or len(head) + len(body) + len(tail) <= INCONCLUSIVE_LINES):
            break
    return printed([*head, *body, *tail], width, color)


def render_summary(report: Report, *, width: int, color: bool, more: bool = True) -> str:
    """The summary alone, and with `more` where to read on; a line break at the end."""
    width = min(max(width, NARROWEST), WIDEST)
    layout = Layout(width)
    safe = map_strings(report, lambda _, text: formatting.visible(text))
    lines = summary_lines(safe, layout) if more else layout.wrapped(summary_line(safe))
    return printed(lines, width, color)


def _findings(report: Report, layout: Layout, room: int) -> tuple[list[Text], int]:
    """All findings in detail where there is room, else those that cost most; the others in a line each, as far as these
    fit, and how many are left out."""
    groups = findings(report.results)
    blocks: list[list[Text]] = []
    if not report.summary.evaluated:
        health = [group for group in groups if explains(group.first, report.summary)]
        groups = tuple(group for group in groups if group not in health)
        blocks.append(inconclusive_lines(report, health, layout))
    details = [finding_lines(group, layout) for group in groups]
    rows = [one_line(group, layout) for group in groups]
    shown = len(groups)
    room -= sum(len(lines) + 1 for lines in blocks)
    while shown > 1 and _length(details[:shown], rows[shown:]) > room:
        shown -= 1
    lines = [line for part in (*blocks, *details[:shown]) for line in (*part, Text())]
    rest = rows[shown:]
    fitting = max(room - _length(details[:shown], []) - 2, 1)
    hidden = max(len(rest) - fitting, 0) if sum(map(len, rest)) > fitting + 1 else 0
    lines += [line for row in rest[: len(rest) - hidden] for line in row]
    if hidden:
        lines.append(Text(f"{format_count(hidden, 'more finding')} (-v)", style="dim"))
    return [*lines, Text()] if rest else lines, hidden


def _length(details: Sequence[Sequence[Text]], rows: Sequence[Sequence[Text]]) -> int:
    return sum(len(lines) + 1 for lines in details) + sum(len(row) for row in rows) + bool(rows)


def _not_evaluated(report: Report, layout: Layout, tight: bool) -> list[Text]:
    """One entry for each remedy; instruments to add share one."""
    entries = remedies(report)
    failed = with_outcome(report.results, "error")
    if not entries and not failed:
        return []
    room, max_lines = (TIGHT_REMEDIES, 1) if tight else (REMEDIES, 2)
    lines = layout.heading("NOT EVALUATED", "")
    for who, what in entries[:room]:
        lines += layout.hanging(Text.assemble("  ", (who, "bold"), f": {what}"), 4, max_lines=max_lines)
    if len(entries) > room:
        lines.append(Text(f"  {format_count(len(entries) - room, 'more reason')} (-v)", style="dim"))
    for check in failed[:room]:
        text = Text.assemble("  ", (f"{check.id}, error", "bold red"), f": {check.summary}")
        lines += layout.hanging(text, 4, max_lines=max_lines)
    return [*lines, Text()]


def _notes(report: Report, layout: Layout, tight: bool) -> list[Text]:
    notes = report.recording.notes
    room, max_lines = (TIGHT_NOTES, 1) if tight else (NOTES, 2)
    lines = [
        line
        for note in notes[:room]
        for line in layout.hanging(Text(f"note: {note}", style="dim"), 6, max_lines=max_lines)
    ]
    if len(notes) > room:
        lines.append(Text(f"{format_count(len(notes) - room, 'more note')} (-v)", style="dim"))
    return [*lines, Text()] if lines else []
