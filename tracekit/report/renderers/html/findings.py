"""What is wrong, what it costs and what to change; then what was not evaluated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tracekit.report import formatting
from tracekit.report.formatting import fix_line
from tracekit.report.groups import findings, names, rank, skip_reasons, with_outcome
from tracekit.report.renderers.concise_findings import included_above
from tracekit.report.renderers.html.call_sites import callers
from tracekit.report.renderers.html.markup import Html, code, details, joined, listed, tag
from tracekit.report.renderers.html.prose import blocks, sentence, unbroken
from tracekit.report.renderers.html.tables import Cell, table
from tracekit.report.renderers.remedies import remedies
from tracekit.units import format_count, format_estimate, format_percent, format_time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.report.groups import Group
    from tracekit.report.report import Report, Result

EVIDENCE_SHOWN = 15
"""Intervals listed; the timeline marks all that the report holds."""
VERIFY = joined(["To verify a fix, record again and run ", code("tracekit compare before.trace after.trace"), "."])


def findings_section(report: Report) -> Html:
    """All findings, the one that costs most first."""
    groups = findings(report.results)
    cards = [_card(group, report, is_first=not number) for number, group in enumerate(groups)]
    if cards and report.summary.evaluated:
        cards.append(tag("p", VERIFY, class_="verify"))
    if not cards:
        words = "No findings." if report.summary.evaluated else report.summary.verdict
        cards = [tag("p", sentence(words), class_="nothing")]
    return tag("section", tag("h2", "Findings"), *cards, id="findings")


def _card(group: Group, report: Report, *, is_first: bool) -> Html:
    first = group.first
    kind = rank(first, report)
    total = sum(check.evidence_total for check in group.results)
    return tag(
        "article",
        tag(
            "header",
            tag("h3", tag("span", kind.capitalize(), class_=f"badge {kind}"), " ", first.title),
            tag("p", _savings_line(group), class_="savings"),
        ),
        _measured(group, report),
        _where(group),
        callers(group),
        _notes(group.results),
        tag("p", tag("strong", "Fix: "), sentence(f"{fix_line(first.fix)}.")),
        tag("p", _relations(first, report)) if len(group.results) == 1 and first.related else None,
        tag("p", sentence(first.why), class_="dim"),
        details("How to fix it", blocks(_beyond_the_line(group.fix)), _sources(first), open_=is_first),
        details(f"Evidence ({format_count(total, 'interval')})", _evidence(group)),
        details("Measurements", _metrics(group)),
        id=f"finding-{first.id}",
        class_=f"finding {kind}",
    )


def _where(group: Group) -> Html | None:
    """Where to look in the recording. The script makes a link to the lanes of it."""
    every = [entry for check in group.results for entry in check.evidence]
    if not every:
        return None
    total = sum(check.evidence_total for check in group.results)
    longest = formatting.span(max(every, key=lambda entry: entry.end_ns - entry.start_ns))
    words = f"Longest of {format_count(total, 'interval')}: " if total > 1 else "Where: "
    return tag("p", words, tag("span", longest, class_="place"), class_="jump", data_check=group.first.id)


def _beyond_the_line(fix: str) -> str:
    """A fix without its first paragraph, if that says no more than the line above it."""
    first, _, rest = fix.strip().partition("\n\n")
    is_said = formatting.lowered(" ".join(first.split())).rstrip(".:") == fix_line(fix)
    return rest if is_said and rest else fix.strip()


def _savings_line(group: Group) -> Html:
    """Id and estimated savings of a finding in all its models."""
    costs = [check.cost for check in group.results if check.cost]
    parts: list[str] = [code(group.first.id)]
    savings_ns, model_ns = group.savings_ns, group.spent_ns
    if savings_ns is not None:
        words: list[str] = ["est. savings up to ", tag("strong", format_estimate(savings_ns))]
        if len(costs) == 1 and costs[0].of:
            words.append(f" ({format_percent(costs[0].share)} of {costs[0].of})")
        elif model_ns:
            whose = "models'" if len(costs) > 1 else "model's" if group.first.model else "app's"
            words.append(f" of the {whose} {unbroken(format_time(model_ns))} ({format_percent(savings_ns / model_ns)})")
        if len(group.results) == 1:
            words.append(_per_prediction(group.first))
        words.append(included_above(group.extra_savings_ns, savings_ns))
        parts.append(joined(words))
    models = {check.model for check in group.results if check.model}
    if len(models) > 1:
        parts.append(f"in {len(models)} models")
    return joined(parts, " · ")


def _per_prediction(check: Result) -> str:
    """The savings for one prediction; empty where a check did not measure its cost in each of them."""
    values = {metric.name: metric.value for metric in check.metrics}
    mean_ns = values.get("mean prediction")
    saved = (value for name, value in values.items() if name.endswith(" time per prediction"))
    saved_ns = next(saved, None)
    if check.cost is None or mean_ns is None or saved_ns is None:
        return ""
    return unbroken(f", {format_time(saved_ns)} of {format_time(mean_ns)} per prediction")


def _measured(group: Group, report: Report) -> Html:
    """What was measured: a sentence for one model, a row each for several."""
    if len(group.results) == 1:
        check = group.first
        about = joined([code(check.model), ": "]) if check.model else None
        return tag("p", about, sentence(check.summary))
    several = len(group.severities) > 1
    titles = ["model", *(["severity"] if several else []), "details", "est. savings", "of its time"]
    rows = [
        [
            Cell(code(check.model) if check.model else "recording"),
            *([Cell(check.severity or "")] if several else []),
            Cell(joined([sentence(check.summary), _relations(check, report)], " ")),
            Cell(_savings(check), check.cost.ns if check.cost else None),
            Cell(_share(check), check.cost.share if check.cost else None),
        ]
        for check in group.results
    ]
    return table(titles, rows, words=len(titles) - 2, name=f"What was measured for {group.first.id}", stacked=True)


def _savings(check: Result) -> str:
    if check.cost is None:
        return formatting.ABSENT
    return f"up to {format_estimate(check.cost.ns)}{included_above(check.extra_savings_ns, check.cost.ns)}"


def _share(check: Result) -> str:
    if check.cost is None:
        return formatting.ABSENT
    return f"{format_percent(check.cost.share)}{f' of {check.cost.of}' if check.cost.of else ''}"


def _relations(check: Result, report: Report) -> Html | None:
    """Other findings of the report that may share its cause, by their titles."""
    titles = {other.id: other.title for other in with_outcome(report.results, "finding")}
    links = [
        joined(
            [
                f"{relation.capitalize()}: ",
                tag("a", formatting.lowered(titles.get(name, name)), href=f"#finding-{name}"),
            ]
        )
        for relation, name in formatting.relations(check)
    ]
    return tag("span", joined(links, "; "), class_="dim") if links else None


def _notes(checks: Iterable[Result]) -> Html | None:
    caveats = dict.fromkeys(caveat for check in checks for caveat in check.caveats)
    return listed((joined(["Note: ", sentence(caveat)]) for caveat in caveats), class_="notes")


def _sources(check: Result) -> Html | None:
    # A plug-in may name anything; only addresses of the web become links.
    links = [
        tag("a", entry.title, href=entry.url, rel="noreferrer")
        if entry.url.startswith(("https://", "http://"))
        else joined([entry.title, ": ", entry.url])
        for entry in check.references
    ]
    inner = listed(links)
    return joined([tag("p", tag("strong", "Sources")), inner]) if inner else None


def _evidence(group: Group) -> Html | None:
    """The intervals that weigh most, of all models together."""
    every = [entry for check in group.results for entry in check.evidence]
    shown = sorted(every, key=lambda entry: (entry.start_ns - entry.end_ns, entry.start_ns))[:EVIDENCE_SHOWN]
    rows = [
        [
            Cell(_time(entry.start_ns, entry.end_ns)),
            Cell(format_time(entry.end_ns - entry.start_ns), entry.end_ns - entry.start_ns),
            Cell(code(entry.model) if entry.model else formatting.ABSENT),
            Cell(code(entry.label)),
            Cell(joined([code(entry.table), f" row {entry.row}"])),
        ]
        for entry in shown
    ]
    if not rows:
        return None
    rest = sum(check.evidence_total for check in group.results) - len(shown)
    titles = ["start", "duration", "model", "event", "recorded in"]
    return joined(
        [
            tag("p", "Longest first; times since the start of the run.", class_="dim"),
            table(titles, rows, words=0, name=f"Evidence for {group.first.id}"),
            tag("p", f"and {rest:,} more", class_="dim") if rest > 0 else None,
        ]
    )


def _time(start_ns: int, end_ns: int) -> Html:
    """A time since the start of the run, which the script makes a link to the lanes."""
    return tag("span", formatting.moment(start_ns), class_="at", data_from=start_ns, data_to=end_ns)


def _metrics(group: Group) -> Html | None:
    """The numbers that decided, and how the savings were worked out."""
    several = len(group.results) > 1
    rows = [
        [
            *([Cell(code(check.model) if check.model else "recording")] if several else []),
            Cell(metric.name),
            Cell(formatting.quantity(metric.value, metric.unit)),
            Cell(formatting.condition(metric)),
        ]
        for check in group.results
        for metric in check.metrics
    ]
    titles = [*(["model"] if several else []), "metric", "value", "reported at"]
    bases = dict.fromkeys(check.cost.basis for check in group.results if check.cost)
    return joined(
        [
            table(titles, rows, words=len(titles) - 2, name=f"Measurements for {group.first.id}") if rows else None,
            *(tag("p", "How the savings are estimated: ", sentence(basis)) for basis in bases),
        ]
    )


def checks_title(report: Report) -> str:
    """What the section of the other checks is called, on the page and in its list of sections."""
    has_open = with_outcome(report.results, "not_evaluated") or with_outcome(report.results, "error")
    return "Not evaluated" if has_open else "Other checks"


def not_evaluated_section(report: Report) -> Html:
    """What was not evaluated and what to record, what failed, and, folded, all other checks."""
    lines = [joined([tag("strong", who), ": ", sentence(_command(what))]) for who, what in remedies(report)]
    lines += [
        joined([code(check.id), ", error", f" on {check.model}" if check.model else "", ": ", sentence(check.summary)])
        for check in with_outcome(report.results, "error")
    ]
    reasons = [
        joined([_ids(skipped.results, report), ": ", sentence(skipped.sentences)])
        for skipped in skip_reasons(report.results, together=True)
    ]
    totals = [
        details(f"{title} ({format_count(len({check.id for check in checks}), 'check')})", _answers(checks, title))
        for outcome, title in (("passed", "Passed"), ("not_applicable", "Not applicable"))
        if (checks := with_outcome(report.results, outcome))
    ]
    return tag(
        "section",
        tag("h2", checks_title(report)),
        listed(lines),
        details("Why, in full", listed(reasons)),
        *totals,
        id="checks",
    )


def _command(remedy: str) -> str:
    """A remedy whose flags are code, after the command that takes them."""
    command = remedy.replace("record with --", "record with `tracekit record` --")
    return re.sub(r"--instrument (?:'[^']*'|\S+)", r"`\g<0>`", command)


def _ids(checks: Iterable[Result], report: Report) -> Html:
    return joined([code(name) for name in names(list(checks), report.results)], ", ")


def _answers(checks: Iterable[Result], title: str) -> Html:
    rows = [
        [Cell(code(check.id)), Cell(code(check.model) if check.model else "recording"), Cell(sentence(check.summary))]
        for check in checks
    ]
    return table(["check", "model", "answer"], rows, words=3, name=f"{title} checks")
