"""Turns what detectors answered into the checks of a report, and puts them in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from tracekit.detectors.ranking import rank
from tracekit.intervals import Intervals
from tracekit.report.report import Check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.detectors.ranking import Related
    from tracekit.detectors.runner import Judgment

OUTCOME_ORDER = ("error", "insufficient_data", "passed", "not_applicable")
"""Order of the checks after the findings: what limits the verdict comes first."""


def checks_from(judgments: Sequence[Judgment]) -> tuple[Check, ...]:
    """The checks of a report: findings by est. savings, then the others by outcome, id and model."""
    findings = tuple(_check(entry.judgment, entry.extra_savings_ns, entry.related) for entry in rank(judgments))
    others = [_check(entry) for entry in judgments if not isinstance(entry.outcome, Finding)]
    others.sort(key=lambda check: (OUTCOME_ORDER.index(check.outcome), check.id, check.model or ""))
    return (*findings, *others)


def _check(judgment: Judgment, extra_savings_ns: int | None = None, related: tuple[Related, ...] = ()) -> Check:
    """The check that reports one answer of one detector."""
    detector, outcome, caveats = judgment
    found = outcome if isinstance(outcome, Finding) else None
    return Check(
        id=detector.id,
        title=detector.finding_title if found else detector.title,
        outcome=OUTCOME_NAMES[type(outcome)],
        severity=str(severity_of(found.cost)) if found else None,
        pattern=str(detector.pattern),
        model=outcome.model,
        summary=_summary(outcome),
        why=detector.why,
        fix=detector.fix.strip() if found else "",
        record=outcome.record if isinstance(outcome, InsufficientData) else "",
        caveats=caveats,
        metrics=outcome.metrics if isinstance(outcome, Finding | Passed) else (),
        cost=found.cost if found else None,
        extra_savings_ns=extra_savings_ns,
        related=related,
        evidence=found.evidence if found else (),
        evidence_total=max(found.evidence_total, len(found.evidence)) if found else 0,
        call_sites=found.call_sites if found else (),
        references=detector.references,
        marked=found.marked if found else Intervals.none(),
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
