"""Findings and other answers of checks in Markdown: a row per model; fix, evidence and measurements are folded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.detectors.pages import Pattern
from tracekit.report import formatting
from tracekit.report.call_sites import called_from
from tracekit.report.formatting import fix_line
from tracekit.report.renderers.markdown_tables import MODELS_SHOWN
from tracekit.report.renderers.markdown_text import code, details, escape, left_out, paragraphs, sentence, table
from tracekit.units import format_count, format_estimate, format_percent, format_time

if TYPE_CHECKING:
    from tracekit.report.groups import Group
    from tracekit.report.report import Result

FIXES, EVIDENCE, MEASUREMENTS = "fixes in full", "evidence", "measurements"
"""Titles of the folded parts of findings."""
CALL_SITES_SHOWN = 2
"""Call sites of a finding."""
EVIDENCE_SHOWN = 5
"""Intervals listed per model: enough to find the place in Instruments."""


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of the document that can be left out as a whole."""

    title: str
    text: str
    """Empty where there is nothing to say."""


def finding(group: Group) -> str:
    """A finding with a row per model, its fix and its evidence. Its strings must be `visible`."""
    return paragraphs(*(section.text for section in finding_sections(group, group.severity.capitalize())))


def finding_sections(group: Group, heading: str) -> tuple[Section, ...]:
    """The parts of a finding, the one that is open at first; `heading` stands before its title."""
    first, shown = group.first, group.results[:MODELS_SHOWN]
    opened = paragraphs(
        f"### {heading}: {escape(first.title)}",
        f"{code(first.id)}. {sentence(first.why)}",
        _rows(group),
        f"**Fix:** {sentence(fix_line(first.fix))}",
    )
    title = (
        f"Evidence ({format_count(sum(check.evidence_total for check in group.results), 'interval')}; "
        "times since the start of the run)"
    )
    evidence = details(title, paragraphs(*(_evidence(check) for check in shown if check.evidence)))
    return (
        Section(first.id, opened),
        Section(FIXES, details("The fix in full", paragraphs(group.fix.strip(), _sources(first)))),
        Section(EVIDENCE, evidence),
        Section(MEASUREMENTS, details("Measurements", paragraphs(*(_measured(check) for check in shown)))),
    )


def other_check(check: Result) -> str:
    """A check that is no finding, and what is missing where it was not evaluated. Its strings must be `visible`."""
    words = formatting.OUTCOMES[check.outcome].capitalize()
    about = f"{code(check.id)}, {code(check.model)}" if check.model is not None else code(check.id)
    return paragraphs(
        f"### {words}: {escape(check.title)}" if check.outcome == "passed" else f"### {words}: {code(check.id)}",
        f"{about}. {sentence(check.summary)}",
        f"To evaluate this: {sentence(check.record)}" if check.record else "",
    )


def _sources(check: Result) -> str:
    lines = [f"- [{escape(entry.title)}]({entry.url})" for entry in check.references]
    return "\n".join(["**Sources**", "", *lines]) if lines else ""


def _rows(group: Group) -> str:
    """What was measured and what the fix saves, per model and together."""
    shown = group.results[:MODELS_SHOWN]
    several = len(group.severities) > 1
    rows = []
    for check in shown:
        callers = [] if check.pattern == Pattern.RECORDING else check.call_sites[:CALL_SITES_SHOWN]
        sentences = [check.summary, *(_capitalized(f"{called_from(site)}.") for site in callers)]
        details = [*sentences, *(f"Note: {caveat}" for caveat in check.caveats), *_relations(check)]
        name = code(check.model) if check.model else "recording"
        severity = [check.severity or ""] if several else []
        rows.append([name, *severity, " ".join(map(sentence, details)), *_savings(check)])
    if len(group.results) > 1 and group.extra_savings_ns is not None:
        total = f"**up to {format_estimate(group.extra_savings_ns)}**"
        blank = [""] if several else []
        rows.append([f"**all {len(group.results)}**", *blank, left_out(len(group.results) - len(shown)), total, ""])
    header = ["model", *(["severity"] if several else []), "details", "est. savings", "of its time"]
    return table(header, rows, words=len(header) - 2)


def _capitalized(text: str) -> str:
    """Text with a capital at its start; names in it keep their letters."""
    return f"{text[:1].upper()}{text[1:]}"


def _savings(check: Result) -> tuple[str, str]:
    """Est. savings, and their share of the model's time or of what the cost names."""
    cost = check.cost
    if cost is None:
        return formatting.ABSENT, formatting.ABSENT
    extra = check.extra_savings_ns
    counted = ""
    if extra is not None and extra < cost.ns:
        counted = f", {format_estimate(extra)} of it not included above" if extra else ", already included above"
    share = f"{format_percent(cost.share)}{f' of {escape(cost.of)}' if cost.of else ''}"
    return f"up to {format_estimate(cost.ns)}{counted}", share


def _relations(check: Result) -> list[str]:
    """Other findings that may share its cause, one sentence each."""
    return [f"{relation.capitalize()}: `{name}`." for relation, name in formatting.relations(check)]


def _evidence(check: Result) -> str:
    """The intervals that weigh most, as a list."""
    shown = check.evidence[:EVIDENCE_SHOWN]
    lines = [
        f"- {formatting.moment(entry.start_ns)} – {formatting.moment(entry.end_ns)} "
        f"({format_time(entry.end_ns - entry.start_ns)}): {code(entry.label)}, {code(entry.table)} row {entry.row}"
        for entry in shown
    ]
    rest = check.evidence_total - len(shown)
    if rest > 0:
        lines.append(f"- and {rest:,} more")
    return paragraphs(f"{code(check.model)}:" if check.model else "", "\n".join(lines))


def _measured(check: Result) -> str:
    """The numbers that decided, and how the savings were worked out."""
    rows = [
        [escape(metric.name), formatting.quantity(metric.value, metric.unit), formatting.condition(metric)]
        for metric in check.metrics
    ]
    return paragraphs(
        f"{code(check.model)}:" if check.model else "",
        table(["metric", "value", "reported at"], rows) if rows else "",
        f"How the savings are estimated: {sentence(check.cost.basis)}" if check.cost else "",
    )
