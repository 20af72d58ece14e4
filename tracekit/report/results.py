"""Turns what detectors answered into the results of a report, and puts them in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from tracekit.detectors import outcomes
from tracekit.detectors.framework import Judgment, ModelFileDetector
from tracekit.intervals import Intervals
from tracekit.report.report import Result, Rule

if TYPE_CHECKING:
    from tracekit.detectors.pages import Page
    from tracekit.detectors.replayed import Replays

OUTCOME_ORDER = ("error", "not_evaluated", "passed", "not_applicable")
"""Order of the results after the findings: what limits the verdict comes first."""


def results_from(judgments: Sequence[Judgment], replays: Replays | None = None) -> tuple[Result, ...]:
    """The results of a report: findings as they are ranked, then the others by outcome, id and model. `replays` of the
    recording say what the fixes of the findings save; without them, that stays unknown."""
    from tracekit.detectors.ranking import rank

    ranked = rank(judgments) if replays is None else rank(replays.answers(judgments), replays.together_ns)
    findings = tuple(
        replace(result_of(entry.judgment), savings=entry.savings, related=entry.related) for entry in ranked
    )
    others = [result_of(entry) for entry in judgments if not isinstance(entry.outcome, outcomes.Finding)]
    others.sort(key=lambda check: (OUTCOME_ORDER.index(check.outcome), check.id, check.model or ""))
    return (*findings, *others)


def result_of(judgment: Judgment) -> Result:
    """The result that reports one answer of one detector, apart from other findings."""
    detector, outcome, caveats = judgment
    page = detector.page
    if isinstance(outcome, outcomes.Finding | outcomes.Passed):
        summary = outcome.summary
    else:
        summary = outcome.error if isinstance(outcome, outcomes.DetectorFailed) else outcome.reason
    finding = outcome if isinstance(outcome, outcomes.Finding) else None
    fix = finding.fix.strip() if finding else ""
    return Result(
        id=detector.id,
        outcome=outcomes.OUTCOME_NAMES[type(outcome)],
        model=outcome.model,
        summary=summary,
        own_fix="" if fix == page.fix.strip() else fix,
        record=outcome.record if isinstance(outcome, outcomes.NotEvaluated) else "",
        rule=_rule(detector.id, page),
        severity=str(outcomes.severity_of(finding))
        if finding and not isinstance(detector, ModelFileDetector)
        else None,
        caveats=caveats,
        metrics=outcome.metrics if isinstance(outcome, outcomes.Finding | outcomes.Passed) else (),
        cost=finding.cost if finding else None,
        savings=finding.savings if finding else None,
        related=(),
        evidence=finding.evidence if finding else (),
        evidence_total=max(finding.evidence_total, len(finding.evidence)) if finding else 0,
        call_sites=finding.call_sites if finding else (),
        resolution_ns=finding.resolution_ns if finding else 0,
        marked=finding.all_evidence.times if finding and finding.all_evidence else Intervals.none(),
    )


@cache
def _rule(name: str, page: Page) -> Rule:
    """The rule of a page: one for all models."""
    return Rule(name, page.title, page.finding_title, str(page.pattern), page.why, page.fix.strip(), page.references)
