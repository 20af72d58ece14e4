"""Turns what detectors answered into the checks of a report, and puts them in order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tracekit.detectors.framework import ModelFileDetector
from tracekit.detectors.outcomes import (
    OUTCOME_NAMES,
    DetectorFailed,
    Finding,
    InsufficientData,
    NotApplicable,
    Outcome,
    Passed,
    severity_of,
)
from tracekit.intervals import Intervals
from tracekit.report.report import Check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.detectors.framework import Judgment

OUTCOME_ORDER = ("error", "insufficient_data", "passed", "not_applicable")
"""Order of the checks after the findings: what limits the verdict comes first."""


def checks_from(judgments: Sequence[Judgment]) -> tuple[Check, ...]:
    """The checks of a report: findings as they are ranked, then the others by outcome, id and model."""
    from tracekit.detectors.ranking import rank

    findings = tuple(
        replace(
            check_of(entry.judgment),
            own_savings_ns=entry.own_savings_ns,
            extra_savings_ns=entry.extra_savings_ns,
            related=entry.related,
        )
        for entry in rank(judgments)
    )
    others = [check_of(entry) for entry in judgments if not isinstance(entry.outcome, Finding)]
    others.sort(key=lambda check: (OUTCOME_ORDER.index(check.outcome), check.id, check.model or ""))
    return (*findings, *others)


def check_of(judgment: Judgment) -> Check:
    """The check that reports one answer of one detector, apart from other findings."""
    detector, outcome, caveats = judgment
    finding = outcome if isinstance(outcome, Finding) else None
    return Check(
        id=detector.id,
        title=detector.finding_title if finding else detector.title,
        outcome=OUTCOME_NAMES[type(outcome)],
        severity=str(severity_of(finding)) if finding and not isinstance(detector, ModelFileDetector) else None,
        pattern=str(detector.pattern),
        model=outcome.model,
        summary=_summary(outcome),
        why=detector.page.why,
        fix=(finding.fix or detector.page.fix).strip() if finding else "",
        record=outcome.record if isinstance(outcome, InsufficientData) else "",
        caveats=caveats,
        metrics=outcome.metrics if isinstance(outcome, Finding | Passed) else (),
        cost=finding.cost if finding else None,
        own_savings_ns=None,
        extra_savings_ns=None,
        related=(),
        evidence=finding.evidence if finding else (),
        evidence_total=max(finding.evidence_total, len(finding.evidence)) if finding else 0,
        call_sites=finding.call_sites if finding else (),
        references=detector.page.references,
        marked=finding.all_evidence.times if finding and finding.all_evidence else Intervals.none(),
    )


def _summary(outcome: Outcome) -> str:
    """The sentence of the outcome, whatever its class calls it."""
    match outcome:
        case Finding() | Passed():
            return outcome.summary
        case NotApplicable() | InsufficientData():
            return outcome.reason
        case DetectorFailed():
            return outcome.error
