"""Counts of checks: one for each, however many models it was evaluated for."""

from __future__ import annotations

from types import SimpleNamespace

from tracekit.report.groups import count_checks


def check(name: str, outcome: str, model: str | None = "Net", severity: str | None = None) -> SimpleNamespace:
    return SimpleNamespace(id=name, outcome=outcome, model=model, severity=severity)


def test_a_check_counts_once_and_a_finding_outweighs_what_other_models_answer():
    totals = count_checks(
        [
            check("a", "finding", "One", "medium"),
            check("a", "finding", "Two", "high"),
            check("a", "passed", "Three"),
            check("b", "finding", "One", "low"),
            check("c", "passed"),
            check("c", "not_evaluated", "Two"),
            check("d", "not_evaluated"),
            check("e", "not_applicable", None),
            check("f", "error"),
            check("f", "finding", "One", "critical"),
        ]
    )
    # What failed for one model is not known to be complete.
    assert (totals.findings, totals.models, totals.passed, totals.not_evaluated, totals.errors) == (3, 2, 1, 1, 1)
    assert (totals.critical, totals.high, totals.medium, totals.low) == (1, 1, 0, 1)
    assert totals.worst == "critical"


def test_nothing_counts_as_nothing():
    totals = count_checks([])
    assert (totals.findings, totals.passed, totals.worst) == (0, 0, "")
