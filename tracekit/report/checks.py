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
    Severity,
    severity_of,
)
from tracekit.report.model import Check

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.detectors.framework import AnyDetector

OUTCOME_ORDER = ("finding", "error", "insufficient_data", "passed", "not_applicable")
"""What asks for action comes first, then what limits the verdict, then the rest."""

SEVERITY_ORDER = tuple(str(severity) for severity in Severity)
"""Worst first."""


def check_from(detector: AnyDetector, outcome: Outcome) -> Check:
    """The check that reports one answer of one detector."""
    found = outcome if isinstance(outcome, Finding) else None
    return Check(
        id=detector.id,
        title=detector.finding_title if found else detector.title,
        outcome=OUTCOME_NAMES[type(outcome)],
        severity=str(severity_of(found.cost)) if found else None,
        model=outcome.model,
        summary=_summary(outcome),
        why=detector.why,
        fix=detector.fix.strip() if found else "",
        record=outcome.record if isinstance(outcome, InsufficientData) else "",
        metrics=outcome.metrics if isinstance(outcome, Finding | Passed) else (),
        cost=found.cost if found else None,
        evidence=found.evidence if found else (),
        evidence_total=max(found.evidence_total, len(found.evidence)) if found else 0,
        references=detector.references,
    )


def order_checks(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Checks as the report lists them: by outcome, severity and cost (largest first), ties by id and model."""
    return tuple(sorted(checks, key=_rank))


def _rank(check: Check) -> tuple[int, int, int, str, str]:
    severity = SEVERITY_ORDER.index(check.severity) if check.severity else len(SEVERITY_ORDER)
    cost = -check.cost.ns if check.cost else 0
    return (OUTCOME_ORDER.index(check.outcome), severity, cost, check.id, check.model or "")


def _summary(outcome: Outcome) -> str:
    """The sentence of the outcome, whatever its class calls it."""
    match outcome:
        case Finding() | Passed():
            return outcome.summary
        case NotApplicable() | InsufficientData():
            return outcome.reason
        case DetectorFailed():
            return outcome.error
