"""From outcomes to checks."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import pytest

from tracekit.detectors.framework import Detector, Reference
from tracekit.detectors.outcomes import (
    Cost,
    DetectorFailed,
    Direction,
    Evidence,
    Finding,
    InsufficientData,
    Metric,
    NotApplicable,
    Outcome,
    Passed,
)
from tracekit.detectors.patterns import Pattern
from tracekit.report.checks import check_from, order_checks
from tracekit.report.model import Check


@dataclass(frozen=True)
class Options:
    pass


DETECTOR = Detector(
    id="an-id",
    title="Good state",
    finding_title="The problem",
    pattern=Pattern.SLOW_PREDICTIONS,
    description="",
    why="It costs time.",
    fix="\nDo this.\n",
    references=(Reference("Talk", "https://example.com/talk"),),
    needs=("Core ML",),
    options=Options,
    detect=lambda *_: Passed(None, ""),
)

METRIC = Metric("ratio", 0.7, "ratio", 0.5, Direction.ABOVE)


def finding(share: float = 0.3) -> Finding:
    return Finding(
        "Net", "Seen 3 times.", (METRIC,), Cost(30, share, "Basis."), (Evidence(1, 2, "Net", "Load", "t", 0),), 9
    )


def test_a_finding_carries_problem_severity_cost_and_fix() -> None:
    check = check_from(DETECTOR, finding())
    assert (check.outcome, check.title, check.severity, check.fix) == ("finding", "The problem", "high", "Do this.")
    assert check.cost == Cost(30, 0.3, "Basis.")
    assert (check.metrics[0].threshold, check.metrics[0].direction) == (0.5, "above")
    assert (len(check.evidence), check.evidence_total) == (1, 9)
    assert check.references[0].url == "https://example.com/talk"


@pytest.mark.parametrize(
    ("outcome", "name", "summary", "record"),
    [
        (Passed("Net", "Fine.", (METRIC,)), "passed", "Fine.", ""),
        (NotApplicable("Net", "No load."), "not_applicable", "No load.", ""),
        (InsufficientData(None, "Too few.", "Record longer."), "insufficient_data", "Too few.", "Record longer."),
        (DetectorFailed("Net", "KeyError: 'x'"), "error", "KeyError: 'x'", ""),
    ],
)
def test_other_outcomes_keep_their_sentence_and_have_no_cost(
    outcome: Outcome, name: str, summary: str, record: str
) -> None:
    check = check_from(DETECTOR, outcome)
    assert (check.outcome, check.summary, check.record, check.title) == (name, summary, record, "Good state")
    assert (check.severity, check.cost, check.fix, check.evidence, check.evidence_total) == (None, None, "", (), 0)


def test_the_total_of_evidence_is_never_below_what_is_shown() -> None:
    evidence = tuple(Evidence(n, n + 1, None, "Load", "t", n) for n in range(3))
    assert check_from(DETECTOR, Finding(None, "", (), Cost(1, 1.0, ""), evidence)).evidence_total == 3


def test_checks_are_ordered_by_outcome_severity_cost_id_and_model() -> None:
    def made(
        outcome: str, severity: str | None = None, ns: int = 0, name: str = "a", model: str | None = None
    ) -> Check:
        cost = Cost(ns, 0.1, "") if severity else None
        return Check(name, "", outcome, severity, model, "", "", "", "", (), cost, (), 0, ())

    expected = [
        made("finding", "critical", 10),
        made("finding", "critical", 5, "a", "M"),
        made("finding", "critical", 5, "a", "N"),
        made("finding", "critical", 5, "b", "M"),
        made("finding", "low", 99),
        made("error"),
        made("insufficient_data"),
        made("passed", name="a"),
        made("passed", name="b"),
        made("not_applicable"),
    ]
    for seed in range(20):
        shuffled = random.Random(seed).sample(expected, len(expected))  # noqa: S311 - a test needs no secrets
        assert list(order_checks(shuffled)) == expected
    assert len(set(itertools.chain(expected))) == len(expected)
