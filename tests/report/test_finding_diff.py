"""What became of findings between two reports."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tracekit.report.finding_diff import FindingStatus, finding_changes


def check(outcome: str, model: str | None = "A", name: str = "load-churn"):
    return SimpleNamespace(id=name, model=model, outcome=outcome)


def report(*checks):
    return SimpleNamespace(checks=checks)


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        (check("finding"), check("finding"), FindingStatus.SAME),
        (check("passed"), check("finding"), FindingStatus.NEW),
        (check("not_applicable"), check("finding"), FindingStatus.NEW),
        (check("finding"), check("passed"), FindingStatus.FIXED),
        (check("finding"), check("not_applicable"), FindingStatus.FIXED),
        (check("finding"), check("insufficient_data"), FindingStatus.NOT_EVALUATED_AFTER),
        (check("finding"), check("error"), FindingStatus.NOT_EVALUATED_AFTER),
        (check("insufficient_data"), check("finding"), FindingStatus.NOT_EVALUATED_BEFORE),
        (check("finding"), check("insufficient_data", None), FindingStatus.NOT_EVALUATED_AFTER),
        (check("finding"), check("passed", None), FindingStatus.FIXED),
        (check("finding"), check("not_applicable", None), FindingStatus.MODEL_GONE),
        (check("finding"), check("passed", "B"), FindingStatus.MODEL_GONE),
        (check("passed", "B"), check("finding"), FindingStatus.MODEL_NEW),
        (check("finding"), check("passed", name="cold-load"), FindingStatus.NOT_EVALUATED_AFTER),
    ],
)
def test_a_finding_is_only_fixed_or_new_where_it_was_evaluated(before, after, status) -> None:
    (found,) = finding_changes(report(before), report(after))
    assert found.status is status
    assert found.check.outcome == "finding"


def test_checks_that_found_nothing_on_either_side_are_not_listed() -> None:
    assert finding_changes(report(check("passed")), report(check("insufficient_data"))) == ()


def test_new_findings_come_first_and_gone_ones_last() -> None:
    before = report(check("finding", "A"), check("finding", "B"), check("passed", "C"))
    after = report(check("passed", "A"), check("finding", "B"), check("finding", "C"))
    found = finding_changes(before, after)
    assert [(entry.status, entry.check.model) for entry in found] == [
        (FindingStatus.NEW, "C"),
        (FindingStatus.SAME, "B"),
        (FindingStatus.FIXED, "A"),
    ]


def test_reloading_that_was_fixed_is_gone(samples) -> None:
    import tracekit

    before, after = (
        tracekit.analyze(samples / f"style_transfer_{name}.trace", only=["reload-before-predict"])
        for name in ("reload", "fixed")
    )
    found = finding_changes(before, after)
    assert [entry.status for entry in found] == [FindingStatus.FIXED] * 5
    assert [entry.status for entry in finding_changes(after, before)] == [FindingStatus.NEW] * 5
    assert all(entry.status is FindingStatus.SAME for entry in finding_changes(before, replace(before)))
