"""The part of the text format that asks for action: findings, and what was not evaluated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.report import formatting
from tracekit.report.call_sites import called_from
from tracekit.report.groups import findings, names, rank, skip_reasons, with_outcome
from tracekit.report.renderers.concise_findings import included_above
from tracekit.report.renderers.text_layout import glued, heading, labeled, markdown, paragraph
from tracekit.units import format_count, format_estimate, format_share

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracekit.report.groups import Group
    from tracekit.report.report import Report, Result

MODELS_PER_FINDING = 5
INTERVALS, INTERVALS_VERBOSE = 2, 10
CALL_SITES = 2
"""Models and intervals shown per finding: enough to start looking."""

NAMED = 12
"""Most checks that are named for one reason: more of them are nearly all."""

SEVERITY_STYLES = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan"}
"""Colors of the terminal's own palette, so that they suit its background."""


def finding_blocks(report: Report, width: int, verbose: bool) -> list[RenderableType]:
    """Each detector's findings with numbers, place, cost and fix, worst first."""
    groups = findings(report.results)
    if not groups:
        return []
    blocks: list[RenderableType] = [heading("Findings")]
    for index, group in enumerate(groups):
        blocks += ([Text()] if index else []) + _finding(group, report, width, verbose)
    return blocks


def _finding(group: Group, report: Report, width: int, verbose: bool) -> list[RenderableType]:
    first = group.first
    severity = rank(first, report)
    label = Text(severity.upper(), style=SEVERITY_STYLES.get(severity, "bold yellow"))
    title = Text(first.title, style="bold", overflow="fold").append(f"  {first.id}", style="not bold dim")
    blocks: list[RenderableType] = [*labeled([(label, title)], width, indent=0), paragraph(first.why, 2)]
    if len(group.results) > 1 and group.extra_savings_ns is not None:
        models = format_count(len({check.model for check in group.results if check.model}), "model")
        cost = f"Estimated savings: up to {format_estimate(group.extra_savings_ns)} in {models}{_beyond(group)}."
        blocks.append(paragraph(glued(cost), 2))
    blocks.append(Text())
    shown = group.results if verbose else group.results[:MODELS_PER_FINDING]
    several = len(group.severities) > 1
    blocks += labeled([(_model_label(check), _numbers(check, several, verbose)) for check in shown], width)
    if len(shown) < len(group.results):
        more = format_count(len(group.results) - len(shown), "more model")
        blocks.append(paragraph(Text(f"{more} (-v)", style="dim"), 2))
    blocks += [Text(), paragraph(Text("Fix", style="bold"), 2), *markdown(group.fix, 2)]
    if verbose:
        blocks.append(Text())
        blocks += [paragraph(Text(f"{entry.title}: {entry.url}", style="dim"), 2) for entry in first.references]
    return blocks


def _beyond(group: Group) -> str:
    """Says where a sum leaves out time that findings above claim too."""
    return ", not counting time included above" if group.extra_savings_ns != group.savings_ns else ""


def _model_label(check: Result) -> Text:
    return Text(formatting.shorten(check.model or "recording", 32), style="bold", no_wrap=True)


def _numbers(check: Result, several: bool, verbose: bool) -> Text:
    """What was measured for one model, what it costs, and where to look."""
    text = Text(check.summary, overflow="fold")
    if check.cost:
        base = check.cost.of or ("this model's time" if check.model else "the models' time")
        severity = f"{check.severity}: " if several else ""
        text.append(f"\n{severity}", style=SEVERITY_STYLES.get(check.severity or "", ""))
        text.append("est. savings: up to ").append(glued(format_estimate(check.cost.ns)), style="bold")
        text.append(f" ({format_share(check.cost.share)} of {base})")
        text.append(glued(included_above(check.extra_savings_ns, check.cost.ns)))
    for site in check.call_sites if verbose else check.call_sites[:CALL_SITES]:
        text.append(f"\n{glued(called_from(site))}")
    for caveat in check.caveats:
        text.append(f"\nnote: {caveat}", style="italic")
    for relation, name in formatting.relations(check):
        text.append(f"\n{relation}: {name}", style="dim")
    text.append(
        f"\n{_where(check, INTERVALS_VERBOSE if verbose else INTERVALS)}" if check.evidence else "", style="dim"
    )
    if verbose:
        for metric in check.metrics:
            limit = f" (reported at {formatting.condition(metric)})" if formatting.condition(metric) else ""
            text.append(f"\n{metric.name}: {formatting.quantity(metric.value, metric.unit)}{limit}", style="dim")
        if check.cost:
            text.append(f"\nhow estimated: {check.cost.basis}", style="dim")
    return text


def _where(check: Result, limit: int) -> str:
    if check.evidence_total == 1:
        return glued(formatting.span(check.evidence[0]))
    longest = ", ".join(glued(formatting.span(entry)) for entry in check.evidence[:limit])
    return f"longest: {longest} ({format_count(check.evidence_total, 'interval')})"


def _beyond_verdict(reason: str, report: Report) -> str:
    """What the verdict, which gives the main point of one reason, has not just said."""
    main, _, rest = reason.partition("; ")
    if report.summary.evaluated or main.rstrip(".")[1:] not in report.summary.verdict:
        return reason
    return rest[:1].upper() + rest[1:]


def not_evaluated_blocks(report: Report, verbose: bool) -> list[RenderableType]:
    """What was not evaluated, why, and what to record; then errors. `verbose` gives every reason by itself."""
    errors = with_outcome(report.results, "error")
    blocked = skip_reasons(report.results, together=not verbose)
    if not errors and not blocked:
        return []
    blocks: list[RenderableType] = [heading("Not evaluated")]
    for skip_reason in blocked:
        shown = replace(skip_reason, reason=_beyond_verdict(skip_reason.reason, report))
        who = names(skip_reason.results, report.results)
        which = Text(", ".join(who), style="bold")
        if len(who) > NAMED and not verbose:
            which = Text(f"{len(who)} checks", style="bold").append(" (names: -v)", style="not bold dim")
        blocks += [paragraph(which, 2), paragraph(shown.sentences, 4)]
    for check in errors:
        label = Text(f"{check.id}, error", style="bold red")
        about = f" on {formatting.shorten(check.model, 32)}" if check.model else ""
        blocks += [paragraph(label.append(about), 2), paragraph(check.summary, 4)]
    return blocks
