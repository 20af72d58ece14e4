"""Findings of the short report: title, models, estimated savings, where to look, and the fix in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from tracekit.detectors.pages import Pattern
from tracekit.report import formatting
from tracekit.report.renderers.call_sites import called_from_lines
from tracekit.report.renderers.concise_layout import LABEL_CELLS, Layout
from tracekit.report.renderers.text_layout import glued
from tracekit.units import format_count, format_estimate, format_percent, format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.detectors.outcomes import Metric
    from tracekit.report.groups import Group
    from tracekit.report.report import Report, Result

SEVERITY_STYLES = {"critical": "bold reverse red", "high": "bold red", "medium": "yellow", "low": "blue"}
MODELS = 6
"""Most models of a finding that have a row."""
COLUMNS = 4
"""Most metrics in such a row."""
SUMMARY_LINES, FIX_LINES = 3, 2


def finding_lines(group: Group, layout: Layout) -> list[Text]:
    """All lines of one detector's findings."""
    first = group.first
    severity = group.severity
    body = [*_title(severity.upper(), SEVERITY_STYLES.get(severity, "bold"), first, layout)]
    return [*body, *_details(group, layout)]


def inconclusive_lines(report: Report, health: Sequence[Group], layout: Layout) -> list[Text]:
    """Why nothing could be evaluated, and what to do about it."""
    style = "bold yellow"
    if not health:
        reason = report.summary.verdict.partition(": ")[2] or report.summary.verdict
        return layout.hanging(Text.assemble(("INCONCLUSIVE  ", style), reason), 2)
    lines: list[Text] = []
    for group in health:
        lines += _title("INCONCLUSIVE", style, group.first, layout)
        lines += _details(group, layout)
    return lines


def one_line(group: Group, layout: Layout) -> list[Text]:
    """A finding for which there is no room."""
    first = group.first
    savings = f", est. savings up to {format_estimate(group.extra_savings_ns)}" if group.extra_savings_ns else ""
    models = {check.model for check in group.results if check.model}
    where = f" ({format_count(len(models), 'model')})" if models else ""
    severity = group.severity
    text = Text(f"{severity.upper():<{LABEL_CELLS}}", style=SEVERITY_STYLES.get(severity, "bold"))
    text.append(first.id, style="bold").append(f"{where}{savings}", style="not bold")
    return layout.hanging(text, layout.indent)


def _title(label: str, style: str, check: Result, layout: Layout) -> list[Text]:
    gap = max(LABEL_CELLS - len(label), 2)
    text = Text.assemble((label, style), " " * gap, (check.id, "bold"), f": {formatting.lowered(check.title)}")
    return layout.hanging(text, layout.indent)


def _details(group: Group, layout: Layout) -> list[Text]:
    lines: list[Text] = []
    if len(group.results) == 1:
        check = group.first
        name = f"{formatting.shorten(check.model, 40)}  " if check.model else ""
        text = Text(" " * layout.indent).append(name, style="bold").append(glued(check.summary), style="not bold")
        lines += layout.hanging(text, layout.indent, max_lines=SUMMARY_LINES)
        lines += _savings_and_interval(check, layout)
    else:
        lines += _savings(group, layout)
        lines += [Text(), *_table(group.results, layout), Text()]
    lines += called_from_lines(group, layout)
    for caveat in dict.fromkeys(caveat for check in group.results for caveat in check.caveats):
        lines += layout.hanging(
            Text(f"{' ' * layout.indent}note: {caveat}", style="italic"), layout.indent + 6, max_lines=2
        )
    lines += layout.hanging(
        Text(f"{' ' * layout.indent}fix: {formatting.fix_line(group.first.fix)}"),
        layout.indent + 5,
        max_lines=FIX_LINES,
    )
    details = (
        Text(" " * (layout.indent + 5)).append("details: ").append(f"tracekit explain {group.first.id}", style="cyan")
    )
    lines.append(details)
    return lines


def _savings(group: Group, layout: Layout) -> list[Text]:
    """Estimated savings of a fix in several models together."""
    models = {check.model for check in group.results if check.model}
    where = f"in {format_count(len(models), 'model')}" if models else ""
    total, spent = group.savings_ns, group.spent_ns
    if total is None:
        return [Text(f"{' ' * layout.indent}{where}")] if where else []
    text = Text(f"{' ' * layout.indent}est. savings up to ").append(format_estimate(total), style="bold")
    if spent:
        text.append(f" of the models' {format_time(spent)} ({format_percent(total / spent)})")
    text.append(included_above(group.extra_savings_ns, total)).append(f", {where}" if where else "")
    return layout.hanging(text, layout.indent)


def _savings_and_interval(check: Result, layout: Layout) -> list[Text]:
    interval = _longest_interval(check)
    if check.cost is None:
        return layout.hanging(Text(" " * layout.indent + interval), layout.indent) if interval else []
    text = Text(f"{' ' * layout.indent}est. savings up to ").append(format_estimate(check.cost.ns), style="bold")
    if check.cost.share:
        time_of_whole = f"the {'model' if check.model else 'app'}'s {format_time(check.cost.ns / check.cost.share)}"
        share = format_percent(check.cost.share)
        text.append(f" ({share} of {check.cost.of})" if check.cost.of else f" of {time_of_whole} ({share})")
    text.append(included_above(check.extra_savings_ns, check.cost.ns))
    for relation, name in formatting.relations(check):
        text.append(f"; {relation}: {name}", style="dim")
    if interval and len(text.plain) + len(interval) + 4 <= layout.width:
        return [text.append("    ").append(interval, style="dim")]
    lines = layout.hanging(text, layout.indent)
    return lines + (
        layout.hanging(Text(" " * layout.indent + interval, style="dim"), layout.indent) if interval else []
    )


def included_above(extra_savings_ns: int | None, savings_ns: int) -> str:
    """Says where savings are part of findings above too."""
    if extra_savings_ns is None or extra_savings_ns >= savings_ns:
        return ""
    return (
        f", {format_estimate(extra_savings_ns)} of it not included above"
        if extra_savings_ns
        else ", already included above"
    )


def _longest_interval(check: Result) -> str:
    """The longest interval of the evidence, and how many there are."""
    if not check.evidence or check.pattern == Pattern.RECORDING:
        return ""
    longest = max(check.evidence, key=lambda entry: entry.end_ns - entry.start_ns)
    where = formatting.span(longest)
    if check.evidence_total > 1:
        return f"longest of {format_count(check.evidence_total, 'interval')}: {where}"
    return f"at {where.partition(' at ')[2]}"


def _table(checks: Sequence[Result], layout: Layout) -> list[Text]:
    """A row per model: what was measured, the estimated savings, and where the longest interval lies."""
    shown = checks[:MODELS]
    titles, rows = _cells(shown)
    room = layout.width - layout.indent
    # Measurements go first where the width does not hold all.
    while True:
        widths = [max(cell_len(row[k]) for row in (titles, *rows)) for k in range(len(titles))]
        if sum(widths) + 2 * (len(widths) - 1) <= room or len(titles) <= 2:
            break
        drop = max(len(titles) - 3, 1)
        titles = [*titles[:drop], *titles[drop + 1 :]]
        rows = [[*row[:drop], *row[drop + 1 :]] for row in rows]
    widths[0] = max(min(widths[0], room - sum(widths[1:]) - 2 * (len(widths) - 1)), 6)
    lines = [Text(" " * layout.indent + _row(titles, widths), style="dim")]
    lines += [Text(" " * layout.indent + _row(row, widths)) for row in rows]
    if len(checks) > len(shown):
        lines.append(
            Text(f"{' ' * layout.indent}{format_count(len(checks) - len(shown), 'more model')} (-v)", style="dim")
        )
    return lines


def _cells(checks: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    metrics = _metric_names(checks)
    titles = ["model", *metrics, "est. savings", "longest at"]
    rows = []
    for check in checks:
        values = {metric.name: metric for metric in check.metrics}
        savings = (
            f"{format_time(check.cost.ns)} {format_percent(check.cost.share):>4}" if check.cost else formatting.ABSENT
        )
        longest = max(check.evidence, key=lambda entry: entry.end_ns - entry.start_ns, default=None)
        at = formatting.moment(longest.start_ns) if longest else formatting.ABSENT
        rows.append([check.model or "recording", *(_value(values.get(name)) for name in metrics), savings, at])
    return titles, rows


def _metric_names(checks: Sequence[Result]) -> list[str]:
    """The first ones of the detector, as it lists them."""
    return [metric.name for metric in checks[0].metrics if len(metric.name) <= 24][:COLUMNS]


def _value(metric: Metric | None) -> str:
    return formatting.ABSENT if metric is None else formatting.quantity(metric.value, metric.unit)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    name = formatting.shorten(cells[0], widths[0])
    numbers = "".join(
        " " * (width - cell_len(cell) + 2) + cell for cell, width in zip(cells[1:], widths[1:], strict=True)
    )
    return f"{name}{' ' * (widths[0] - cell_len(name))}{numbers}"
