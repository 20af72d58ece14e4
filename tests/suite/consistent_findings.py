"""The findings of a report agree with its numbers, its text and each other: costs, ranks and sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from suite.consistent_numbers import TOLERANCE
from suite.reported import Reported, about
from support.forms import short_text
from tracekit.report.groups import explains, sum_of_known
from tracekit.report.report import SEVERITIES, FindingInfo, Result
from tracekit.report.verdict import first_words
from tracekit.report.without import without_findings

ROUNDED_NS = 10
"""What adding up rounded times may leave."""


def queues(reported: Reported) -> Iterator[str]:
    """Time that a finding calls queued is queued in the breakdown of the model as well."""
    queued = {
        model.name: next(part.total_ns or 0 for part in model.breakdown.parts if part.part == "neural_engine_queue")
        for model in reported.report.models
        if model.breakdown is not None
    }
    for name, finding in reported.findings:
        if name == "neural-engine-contention" and finding.cost is not None:
            in_parts = queued.get(finding.model or "", 0)
            if finding.cost.ns > in_parts + ROUNDED_NS:
                yield (
                    f"{finding.model}: the finding says {finding.cost.ns / 1e6:,.1f} ms queued, its breakdown "
                    f"{in_parts / 1e6:,.1f} ms"
                )


def order(reported: Reported) -> Iterator[str]:
    """Findings stand by severity, a cause before what it causes; before all of them what explains why a recording is
    inconclusive."""
    report = reported.report
    reasons = list(dict.fromkeys(check.id for check in report.results if explains(check, report.summary)))
    listed = list(dict.fromkeys(check.id for check in report.results if check.outcome == "finding"))
    if listed != [finding.id for finding in report.findings]:
        yield f"checks are listed as {listed}, findings as {[finding.id for finding in report.findings]}"
    causes = _causes(report.results)
    listed_reasons = [finding.id for finding in report.findings[: len(reasons)]]
    if listed_reasons != reasons:
        yield f"{reasons} should stand first, {listed_reasons} do"
    for first, second in combinations(report.findings[len(reasons) :], 2):
        ranks = SEVERITIES.index(first.severity), SEVERITIES.index(second.severity)
        if ranks[1] < ranks[0]:
            yield f"{second.id} ({second.severity}) stands below {first.id} ({first.severity})"
        elif ranks[0] == ranks[1] and (second.id, first.id) in causes and (first.id, second.id) not in causes:
            yield f"{second.id} stands below {first.id}, which it can cause"


def _causes(checks: Iterable[Result]) -> set[tuple[str, str]]:
    """Pairs of a finding that can cause another one, and this one."""
    return {(other.id, check.id) for check in checks for other in check.related if other.relation == "possible_cause"}


def savings(reported: Reported) -> Iterator[str]:
    """No finding takes more time than lies where it says so; no fix saves more than its models take, or twice what
    others save; and what is unknown says why."""
    for name, finding in reported.findings:
        if finding.cost is not None and finding.cost.ns > finding.affected.covered_ns + ROUNDED_NS:
            yield f"{name} of {finding.model}: takes {finding.cost.ns} ns of {finding.affected.covered_ns} ns"
    for check in reported.report.results:
        if check.cost is not None and check.savings is None:
            yield f"{about(check)}: takes time, and does not say what is saved"
        if check.saved is None:
            continue
        if not 0 <= check.saved.share <= 1 + TOLERANCE:
            yield f"{about(check)}: saves {check.saved.share:.0%} of the time"
        # Samples of call stacks and rows of the hardware can show more time than the rows of Core ML: then it is all.
        if 0 < check.saved.share < 1 and not check.saved.of and reported.trace.samples is None:
            used, base = reported.used_ns(check.model), check.saved.of_ns
            if check.model and abs(base - used) > TOLERANCE * used + ROUNDED_NS:
                yield f"{about(check)}: a share of {base / 1e6:,.1f} ms, used for {used / 1e6:,.1f} ms"
    for info in reported.report.findings:
        own = [check.saved_ns for check in reported.report.results if check.id == info.id]
        if info.savings_ns != sum_of_known(own):
            yield f"{info.id}: saves {info.savings_ns} ns, in its models {own} ns"
    extra = [finding.extra_savings_ns or 0 for finding in reported.report.findings]
    summary = reported.report.summary.savings_ns or 0
    if summary != sum(extra):
        yield f"all together save {summary} ns, one by one {sum(extra)} ns"
    replays = without_findings(reported.trace, "", reported.answers).replays
    if replays and replays[-1].saved_ns != summary:
        yield f"all together save {summary} ns, replayed {replays[-1].saved_ns} ns"


def verdict(reported: Reported) -> Iterator[str]:
    """What the summary counts is there, and words count the same, right behind the words that stand before all else."""
    report = reported.report
    found: dict[str, list[Result]] = {}
    for check in report.results:
        if check.outcome == "finding":
            found.setdefault(check.id, []).append(check)
    worst = Counter(
        min((check.severity or "low" for check in checks), key=SEVERITIES.index) for checks in found.values()
    )
    summary = report.summary
    if summary.findings != len(found) or any(getattr(summary, name) != worst[name] for name in SEVERITIES):
        yield f"{summary.findings} findings are counted, {len(found)} are there: {dict(worst)}"
    models = {check.model for checks in found.values() for check in checks} - {None}
    if summary.models != len(models):
        yield f"findings in {summary.models} models are counted, in {len(models)} are there"
    counts = summary.verdict.removeprefix(first_words(report)).lstrip()
    if summary.evaluated and found and not counts.startswith(f"{len(found)} finding"):
        yield f"{len(found)} findings; {summary.verdict}"
    for info in report.findings:
        yield from _finding_info(info, found.get(info.id, []))


def _finding_info(info: FindingInfo, checks: Sequence[Result]) -> Iterator[str]:
    about = tuple(check.model for check in checks if check.model is not None)
    if info.models != about:
        yield f"{info.id}: of {info.models} in findings, of {about} in checks"
    if checks and info.severity != min((check.severity or "low" for check in checks), key=SEVERITIES.index):
        yield f"{info.id}: {info.severity} in findings, {[check.severity for check in checks]} in checks"


_EVERY = re.compile(r"\bevery ([\d.,]+) (s|ms|µs)")


def steps(reported: Reported) -> Iterator[str]:
    """With three predictions in flight, no more than two of three parts of each step are saved, and sentences say no
    other figure."""
    for check in reported.report.results:
        each = check.saved.each if check.saved else None
        if each is None or each.what != "step":
            continue
        if 3 * each.saved_ns > (1 + TOLERANCE) * 2 * each.of_ns * (each.count + 2) / each.count:
            yield f"{about(check)}: three in flight save {each.saved_ns} of {each.of_ns} ns"
        for number, unit in _EVERY.findall(check.summary):
            said_ns = float(number.replace(",", "")) * {"s": 1e9, "ms": 1e6, "µs": 1e3}[unit]
            if all(abs(said_ns / ns - 1) > 0.01 for ns in (each.of_ns, each.of_ns - each.saved_ns)):
                yield f"{about(check)}: {number} {unit}, and saves {each.saved_ns} of {each.of_ns} ns"


_OF_PREDICTIONS = re.compile(r"(?<![\w,.])(\d[\d,]*) of (\d[\d,]*)(?: [a-z]+)? predictions?\b")


def words(reported: Reported) -> Iterator[str]:
    """Sentences count no more predictions than there are, and name no reason that is not there."""
    by_name = {model.name: model for model in reported.report.models}
    everywhere = sum(model.predictions or 0 for model in reported.report.models)
    for check in reported.report.results:
        model = by_name.get(check.model or "")
        there = everywhere if model is None else model.predictions or 0
        for part, whole in _OF_PREDICTIONS.findall(check.summary):
            few, many = int(part.replace(",", "")), int(whole.replace(",", ""))
            if not few <= many <= there:
                yield f"{about(check)} counts {few} of {many} predictions, {there} are there"
        overlap = model is not None and model.in_flight is not None and model.in_flight.max > 1
        if model is not None and "without overlapping" in check.record and not overlap:
            yield f"{about(check)}: {check.record} None of {check.model} overlap"


_RELATION = re.compile(r"may (be caused by|cause) ([a-z-]+)")


def relations(reported: Reported) -> Iterator[str]:
    """Each possible cause and effect is named once, in the report and in its text."""
    for check in reported.report.results:
        twice = [str(other) for other, count in Counter(check.related).items() if count > 1]
        if twice:
            yield f"{about(check)}: {twice}"
        if any(other.id == check.id and other.model == check.model for other in check.related):
            yield f"{about(check)} is related to itself"
    if not reported.report.findings:
        return
    text = " ".join(short_text(reported.report, width=1_000, color=False).split())
    for block in re.split(r"(?:CRITICAL|HIGH|MEDIUM|LOW) ", text):
        twice = [f"{kind}: {name}" for (kind, name), count in Counter(_RELATION.findall(block)).items() if count > 1]
        if twice:
            yield f"the text says more than once: {twice}"
