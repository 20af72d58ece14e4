"""What a report says of findings: what is wrong, what it costs, where to look and what to change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter

from tracekit.detectors.inference import from_stacks, stacks_sentence
from tracekit.detectors.outcomes import Each, Evidence, Metric
from tracekit.detectors.pages import Pattern
from tracekit.documents import columns
from tracekit.render import blocks
from tracekit.render.blocks import Column, Line, Paragraph, Role, Section, Span, items, join, plain, section, table
from tracekit.report import formatting
from tracekit.report.call_sites import caller_words, merge_sites
from tracekit.report.formatting import ABSENT, fix_line, lower_first
from tracekit.report.groups import INCONCLUSIVE, Group, explains, findings
from tracekit.report.report import Report, Result
from tracekit.report.why import known_tails
from tracekit.units import format_bytes, format_count, format_estimate, format_percent, format_time

MODELS = 6
PART = "part of the savings above"
ODD = 0.05
"""A remainder of savings that is less of them is not worth a figure (heuristic)."""
METRICS, LONGEST_NAME = 4, 24
"""Measurements that have a column beside the model, and characters of their names."""
CALL_SITES = 2
"""Places below a finding; the JSON report has every one."""
EVIDENCE, OF_EACH = 4, 1
"""Intervals listed, and of each of several models at least; the timeline marks all that the report holds."""
SUMMARY_LINES, FIX_LINES, NOTE_LINES = 3, 2, 2
VERIFY = "To verify a fix, record again and run `tracekit compare before.trace after.trace`."
IN_CORE_ML = "in Core ML"
"""Ends what estimated savings are a share of: time of loads, compilations and predictions, not of the last alone."""


def findings_section(report: Report) -> Section | None:
    """All findings, the one that costs most first; what keeps a report from any conclusion before all of them."""
    groups = findings(report.results)
    reasons = [group for group in groups if explains(group.first, report.summary)]
    ordered = sorted(groups, key=lambda group: group not in reasons)
    makes: dict[str, list[str]] = {}
    for model, _, finding in known_tails(report.models, report.results):
        if finding is not None:
            makes.setdefault(finding.id, []).append(model.name)
    cards = [finding_card(group, makes.get(group.first.id, ()), is_reason=group in reasons) for group in ordered]
    verify = items([VERIFY], paged=True) if cards and report.summary.evaluated else None
    return section("Findings", *cards, verify, name="findings")


def finding_card(group: Group, makes_p95: Sequence[str] = (), *, is_reason: bool = False) -> blocks.Card:
    """The findings of one check, and the models whose p95 it makes."""
    first = group.first
    models = _models(group)
    several = len(group.results) > 1
    # A finding about the recording has a part of its own for that.
    about_code = group.first.pattern != Pattern.RECORDING
    sites = merge_sites(site for check in group.results for site in check.call_sites if about_code)
    # Where all models are called from one place, that stands once, below them.
    apart = len(sites) > 1
    more_sites = format_count(len(sites) - CALL_SITES, "more call site") if len(sites) > CALL_SITES else ""
    caveats = dict.fromkeys(caveat for check in group.results for caveat in check.caveats)
    # That stands with the time itself.
    caveats.pop(stacks_sentence(first.resolution_ns), None)
    saved_line = _savings(group)
    savings = f", est. savings up to {format_estimate(group.extra_savings_ns)}" if group.extra_savings_ns else ""
    cost = (f" ({format_count(len(models), 'model')})" if models else "") + savings
    rows = [(check, metric) for check in group.results for metric in check.metrics]
    cells = METRIC_COLUMNS if len(group.results) > 1 else METRIC_COLUMNS[1:]
    bases = dict.fromkeys(check.basis for check in group.results if check.basis)
    unknown = group.savings_ns is None
    measurements = section(
        "Measurements",
        table(f"Measurements for {group.first.id}", cells, rows, instead=items(map(_metrics_line, group.results))),
        *(Paragraph(basis, lead=f"how the {'cost is' if unknown else 'savings are'} estimated") for basis in bases),
        folded=True,
        paged=several,
    )
    return blocks.Card(
        label=INCONCLUSIVE if is_reason else group.severity,
        tone=Role.OPEN if is_reason else Role(group.severity),
        check=first.id,
        title=first.title,
        blocks=blocks.present(
            saved_line and Paragraph(join(saved_line, "")),
            _by_model(group) if several else Paragraph(_measurement(first), brief=SUMMARY_LINES),
            items((_details(check, with_callers=apart) for check in group.results), 0, paged=not apart)
            if several
            else None,
            _where(group),
            Paragraph(("makes the p95 of ", Span(formatting.word_list(makes_p95), link="#models")), brief=0)
            if makes_p95
            else None,
            *(Paragraph(caller_words(site), brief=2) for site in sites[:CALL_SITES]),
            Paragraph(f"{more_sites} in the JSON report", Role.DIM) if more_sites else None,
            *(Paragraph(caveat, lead="note", brief=NOTE_LINES) for caveat in caveats),
            Paragraph(fix_line(first.fix), lead="fix", brief=FIX_LINES),
            _fix(group),
            _evidence(group),
            measurements,
        ),
        cost=cost or f": {first.summary.rstrip('.')}",
    )


def _savings(group: Group) -> tuple[str, Line] | None:
    """Estimated savings of the fixes in all models, each time and in this recording, or why they are unknown, after
    the word that begins the sentence; None where it is about no time."""
    where = f"in {format_count(len(_models(group)), 'model')}" if len(_models(group)) > 1 else ""
    total, spent = group.savings_ns, group.spent_ns
    if total is None:
        reason = group.first.unknown_savings
        words = ", ".join(filter(None, (reason and f"unknown: {reason}", where)))
        return ("savings " if reason else "", words) if words else None
    saved = [check.saved for check in group.results if check.saved]
    resolution = max(check.resolution_ns for check in group.results)
    amount, what, share = each_words([savings.each for savings in saved if savings.each], resolution)
    if not total and not amount:
        return "saves ", "nothing: other work hides it"
    if all(savings.once for savings in saved):
        # Without its share, which falls as the recording grows.
        # Whether it comes again, one recording does not show.
        rest = filter(None, ("in this recording", included_above(group.extra_savings_ns, total), where))
        return "", ("the user waits ", Span(format_estimate(total), Role.STRONG), f" less {', '.join(rest)}")
    of = ""
    if len(saved) == 1 and saved[0].of:
        of = f" ({format_percent(saved[0].share)} of {saved[0].of})"
    elif spent:
        whose = "models'" if len(saved) > 1 else "model's" if group.first.model else "app's"
        of = f" of the {whose} {format_time(spent)} {IN_CORE_ML} ({format_percent(total / spent)})"
    above = included_above(group.extra_savings_ns, total)
    parts: list[Line] = [Span(f"{amount} {what} {share}".rstrip(), Role.STRONG)] if amount else []
    # A share of each time says what a share of all of it would say again.
    if total and (not share or above not in ("", PART)):
        parts.append((Span(format_estimate(total), Role.STRONG), of))
    return "saves ", join(("up to ", join((*parts, *filter(None, (above, where))), ", ")), "")


def finding_savings(*checks: Result) -> str:
    """The same of the findings of one check, without the word in front; empty where it is about no time."""
    savings = _savings(Group(checks))
    return plain(savings[1]) if savings else ""


def each_words(parts: Sequence[Each], resolution_ns: int) -> tuple[str, str, str]:
    """Mean savings of each time: `3.62 of 12.4 ms`, `per prediction`, `(29%)`; empty where nothing, or of several
    kinds."""
    if sum(part.saved_ns for part in parts) <= 0 or len({part.what for part in parts}) != 1:
        return "", "", ""
    saved_ns, of_ns = (sum(ns) for ns in zip(*((e.saved_ns * e.count, e.of_ns * e.count) for e in parts), strict=True))
    count = sum(part.count for part in parts)
    saved, of = format_time(saved_ns / count, resolution_ns), format_time(of_ns / count, resolution_ns)
    what = "from one prediction to the next" if parts[0].what == "step" else f"per {parts[0].what}"
    if saved == of:
        return saved, what, ""
    return f"{saved.removesuffix(of[of.index(' ') :])} of {of}", what, f"({format_percent(saved_ns / of_ns)})"


def _models(group: Group) -> set[str]:
    return {check.model for check in group.results if check.model}


def included_above(extra_savings_ns: int | None, savings_ns: int) -> str:
    """Says where a part of savings that matters, or nearly all, is part of findings above too."""
    if extra_savings_ns is None or extra_savings_ns >= (1 - ODD) * savings_ns:
        return ""
    return (
        PART if extra_savings_ns < ODD * savings_ns else f"{format_estimate(extra_savings_ns)} of it not counted above"
    )


def _measurement(check: Result) -> Line:
    return (Span(check.model, Role.CODE), f": {check.summary}") if check.model else check.summary


def _by_model(group: Group) -> blocks.Table[Result] | None:
    """What was measured and what the fix saves, a row per model."""
    measured = [metric for metric in group.first.metrics if len(metric.name) <= LONGEST_NAME][:METRICS]
    severity = (SEVERITY,) if len(group.severities) > 1 else ()
    cells = (MODEL, *severity, *(_metric(metric, 10 + at) for at, metric in enumerate(measured)), *COSTS)
    return table(f"What was measured for {group.first.id}", cells, group.results, brief=MODELS)


def _metrics_line(check: Result) -> Line:
    """What was measured and from where on it is reported, in a line."""
    said = []
    for metric in check.metrics:
        condition = formatting.condition(metric)
        said.append(f"{metric.name} {_value((check, metric))}{condition and f' ({condition})'}")
    return (Span(check.model or columns.RECORDING, Role.CODE), f": {'; '.join(said)}")


def _metric(of_first: Metric, drop: int) -> Column[Result]:
    def of(check: Result) -> tuple[Result, Metric] | None:
        return next(((check, metric) for metric in check.metrics if metric.id == of_first.id), None)

    return columns.optional(of_first.name, of, _value, lambda row: row[1].value, drop=drop)


def _value(row: tuple[Result, Metric]) -> str:
    check, metric = row
    return formatting.quantity(metric.value, metric.unit, check.resolution_ns)


def savings_words(check: Result, *, short: bool = False) -> str:
    """What the fix of one finding saves in this recording; `–` where that is unknown. `short`: of what is part of
    savings above, only that some is."""
    if check.saved is None:
        return ABSENT
    if not check.saved.total_ns:
        return savings_each(check) or "none"
    words, above = format_estimate(check.saved.total_ns), included_above(check.saved.extra_ns, check.saved.total_ns)
    return f"{words} incl." if above and short else ", ".join(filter(None, (words, above)))


def savings_each(check: Result) -> str:
    """What each call takes less where all together take as long; empty otherwise."""
    once = check.saved and check.saved.each
    return f"{format_estimate(once.saved_ns)} each" if check.saved_ns == 0 and once and once.saved_ns else ""


def _longest_first(evidence: Iterable[Evidence]) -> list[Evidence]:
    return sorted(evidence, key=lambda entry: (-_weight(entry), entry.start_ns))


def _longest(*checks: Result) -> Evidence | None:
    return max((entry for check in checks for entry in check.evidence), key=_weight, default=None)


def _weight(entry: Evidence) -> int:
    """Of memory in bytes, else in ns."""
    return entry.duration_ns if entry.bytes is None else entry.bytes


def _moment(entry: Evidence) -> Span:
    """The start of an interval, which a page leads to."""
    return Span(formatting.moment(entry.start_ns), span_ns=(entry.start_ns, entry.end_ns))


def _details(check: Result, *, with_callers: bool) -> Line:
    """What was measured of one of several models, who called, and what may share its cause; too much for a table."""
    callers = check.call_sites[:CALL_SITES] if with_callers else ()
    # Names in it keep their letters.
    sentences = (f"{words[:1].upper()}{words[1:]}." for words in map(caller_words, callers))
    return join((_measurement(check), *sentences, *_relations(check)), " ")


def _relations(check: Result) -> Iterator[Line]:
    """Other findings that may share its cause, each once, in however many models they are."""
    for relation, name in dict.fromkeys((other.relation, other.id) for other in check.related):
        yield (f"{formatting.RELATIONS[relation]} ", Span(name, link=f"#finding-{name}"))


def _where(group: Group) -> Paragraph | None:
    """Where to look in the recording, and what else may have the same cause."""
    parts: list[Line] = []
    if longest := _longest(*group.results):
        total = sum(check.evidence_total for check in group.results)
        predictions = {entry.label for check in group.results for entry in check.evidence} == {"Prediction"}
        of = f"{total:,} predictions" if predictions else f"{total:,}"
        words = f"{formatting.extreme_word([longest])} of {of}: " if total > 1 else "where: "
        resolution_ns = group.first.resolution_ns
        source = f", {from_stacks(resolution_ns)}" if resolution_ns else ""
        where = f"{formatting.evidence_size(longest, resolution_ns)} at {formatting.moment(longest.start_ns)}"
        parts.append((words, Span(where, evidence=group.first.id), source))
    if len(group.results) == 1:
        parts += _relations(group.first)
    # In the short text, the table of several models says it, and of a recording it says little.
    is_said = len(group.results) > 1 or group.first.pattern == Pattern.RECORDING
    return Paragraph(join(parts, " · "), brief=0 if is_said else None) if parts else None


def _fix(group: Group) -> Section | None:
    """Why it matters and the fix, without its first paragraph if that says no more than the line above it."""
    fix, sources = group.fix.strip(), [Span(entry.title, link=entry.url) for entry in group.first.references]
    first, _, rest = fix.partition("\n\n")
    is_said = lower_first(" ".join(first.split())).rstrip(".:") == fix_line(fix)
    return section(
        "How to fix it",
        Paragraph(group.first.why),
        blocks.Prose(rest if is_said and rest else fix),
        Paragraph(Span("Sources", Role.STRONG)) if sources else None,
        items(sources),
        folded=True,
        paged=True,
    )


def _evidence(group: Group) -> Section | None:
    """The intervals that weigh most, the longest first."""
    most = max(EVIDENCE // len(group.results), OF_EACH)
    total = sum(check.evidence_total for check in group.results)
    longest = (_longest_first(check.evidence)[:most] for check in group.results)
    intervals = _longest_first(chain.from_iterable(longest))
    more = Paragraph(f"and {total - len(intervals):,} more", Role.DIM) if total > len(intervals) else None
    if intervals and intervals[0].bytes is not None:
        length: Column[Evidence] = columns.numbers("memory", attrgetter("bytes"), format_bytes)
    else:
        in_words = partial(format_time, resolution_ns=group.first.resolution_ns)
        length = columns.numbers("duration", attrgetter("duration_ns"), in_words)
    start, *others = EVIDENCE_COLUMNS
    grid = table(f"Evidence for {group.first.id}", (start, length, *others), intervals)
    title = f"Evidence ({format_count(total, 'interval')})"
    note = f"{formatting.extreme_word(intervals)} first; times since the start of the run"
    return section(title, grid, more, note=note, folded=True) if grid else None


MODEL: Column[Result] = columns.names("model", lambda check: check.model, columns.RECORDING)
SEVERITY: Column[Result] = columns.words(
    "severity", lambda check: Span(check.severity or "", Role(check.severity or "")), drop=1
)
COSTS: tuple[Column[Result], ...] = (
    Column("est. savings", savings_words, lambda check: check.saved_ns),
    columns.optional(
        "share of its\nCore ML time",
        lambda check: check.saved if check.saved_ns else None,
        lambda saved: f"{format_percent(saved.share)}{f' of {saved.of}' if saved.of else ''}",
        lambda saved: saved.share,
        drop=2,
    ),
    columns.optional("longest at", _longest, _moment, lambda entry: entry.start_ns, drop=1),
)
EVIDENCE_COLUMNS: tuple[Column[Evidence], ...] = (
    Column("start", _moment, lambda entry: entry.start_ns),
    columns.names("model", lambda entry: entry.model, drop=1),
    columns.names("event", lambda entry: entry.label),
    columns.words("recorded in", lambda entry: (Span(entry.table, Role.CODE), f" row {entry.row}")),
)
METRIC_COLUMNS: tuple[Column[tuple[Result, Metric]], ...] = (
    columns.names("model", lambda row: row[0].model, columns.RECORDING),
    columns.words("metric", lambda row: row[1].name),
    Column("value", _value, lambda row: row[1].value),
    Column("reported at", lambda row: formatting.condition(row[1])),
)
