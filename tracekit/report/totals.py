"""Counts of a report's checks: a check counts once, however many models it was evaluated for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.report.report import Result

SEVERITIES = ("critical", "high", "medium", "low")
"""Worst first."""


@dataclass(frozen=True, slots=True)
class Totals:
    """How many checks had which outcome; a finding in any model outweighs the other outcomes."""

    findings: int
    severities: tuple[tuple[str, int], ...]
    """Findings by the worst severity of their models."""
    models: int
    """Models with at least one finding."""
    passed: int
    not_evaluated: int
    """Checks that were evaluated for no model."""
    errors: int
    """Checks that ended with an error for at least one model."""
    not_applicable: int

    @property
    def findings_in_words(self) -> str:
        """How many findings, how severe, in how many models: `2 findings (1 high, 1 low) in 1 model`."""
        if not self.findings:
            return "No findings"
        ranks = ", ".join(f"{count} {severity}" for severity, count in self.severities if count)
        where = f" in {format_count(self.models, 'model')}" if self.models else ""
        return f"{format_count(self.findings, 'finding')} ({self.worst if self.findings == 1 else ranks}){where}"

    @property
    def worst(self) -> str:
        """The worst severity of all findings; empty where there is none."""
        return next((severity for severity, count in self.severities if count), "")


def count_checks(checks: Iterable[Result]) -> Totals:
    """Counts by check. O(checks)."""
    outcomes: dict[str, set[str]] = {}
    ranks: dict[str, int] = {}
    models = set()
    for check in checks:
        outcomes.setdefault(check.id, set()).add(check.outcome)
        if check.outcome == "finding":
            rank = SEVERITIES.index(check.severity or "low")
            ranks[check.id] = min(rank, ranks.get(check.id, rank))
            models.add(check.model)
    kinds = [_decisive(of_check) for of_check in outcomes.values()]
    by_rank = list(ranks.values())
    return Totals(
        findings=len(ranks),
        severities=tuple((name, by_rank.count(rank)) for rank, name in enumerate(SEVERITIES)),
        models=len(models - {None}),
        passed=kinds.count("passed"),
        not_evaluated=kinds.count("not_evaluated"),
        errors=kinds.count("error"),
        not_applicable=kinds.count("not_applicable"),
    )


def _decisive(outcomes: set[str]) -> str:
    """The outcome that a check counts under."""
    order = ("error", "finding", "passed", "not_evaluated", "not_applicable")
    return next(outcome for outcome in order if outcome in outcomes)
