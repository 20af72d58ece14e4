"""From outcomes to checks."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import numpy as np
import pytest

from tracekit.detectors.framework import Detector, Judgment
from tracekit.detectors.outcomes import (
    Cost,
    DetectorFailed,
    Direction,
    Evidence,
    Finding,
    Metric,
    NotApplicable,
    NotEvaluated,
    Outcome,
    Passed,
)
from tracekit.detectors.pages import Page, Pattern, Reference
from tracekit.intervals import Intervals
from tracekit.report.groups import results_from


@dataclass(frozen=True)
class Options:
    pass


DETECTOR = Detector(
    id="an-id",
    page=Page(
        title="Good state",
        finding_title="The problem",
        pattern=Pattern.SLOW_PREDICTIONS,
        why="It costs time.",
        references=(Reference("Talk", "https://example.com/talk"),),
        fix="Do this.",
    ),
    needs=("Core ML",),
    options=Options,
    detect=lambda *_: Passed(None, ""),
)

METRIC = Metric("ratio", "ratio", 0.7, "ratio", 0.5, Direction.ABOVE)


def finding(share: float = 0.3) -> Finding:
    return Finding(
        "Net", "Seen 3 times.", (METRIC,), Cost(30, share, "Basis."), (Evidence(1, 2, "Net", "Load", "t", 0),), 9
    )


def result_of(outcome: Outcome):
    return results_from([Judgment(DETECTOR, outcome)])[0]


def test_a_finding_carries_problem_severity_cost_and_fix():
    check = result_of(finding())
    assert (check.outcome, check.title, check.severity, check.fix) == ("finding", "The problem", "high", "Do this.")
    assert check.cost == Cost(30, 0.3, "Basis.")
    assert check.metrics == (METRIC,)
    assert (len(check.evidence), check.evidence_total) == (1, 9)
    assert check.references[0].url == "https://example.com/talk"


@pytest.mark.parametrize(
    ("outcome", "name", "summary", "record"),
    [
        (Passed("Net", "Fine.", (METRIC,)), "passed", "Fine.", ""),
        (NotApplicable("Net", "No load."), "not_applicable", "No load.", ""),
        (NotEvaluated(None, "Too few.", "Record longer."), "not_evaluated", "Too few.", "Record longer."),
        (DetectorFailed("Net", "KeyError: 'x'"), "error", "KeyError: 'x'", ""),
    ],
)
def test_other_outcomes_keep_their_sentence_and_have_no_cost(outcome, name, summary, record):
    check = result_of(outcome)
    assert (check.outcome, check.summary, check.record, check.title) == (name, summary, record, "Good state")
    assert (check.severity, check.cost, check.fix, check.evidence, check.evidence_total) == (None, None, "", (), 0)


def test_the_total_of_evidence_is_never_below_what_is_shown():
    evidence = tuple(Evidence(n, n + 1, None, "Load", "t", n) for n in range(3))
    assert result_of(Finding(None, "", (), Cost(1, 1.0, ""), evidence)).evidence_total == 3


def test_checks_are_ordered_by_what_a_fix_wins_back_then_by_outcome_id_and_model():
    def judged_finding(name: str, model: str | None, start_ns: int, cost_ns: int) -> Judgment:
        affected = Intervals(np.array([start_ns]), np.array([start_ns + cost_ns]))
        outcome = Finding(model, "", (), Cost(cost_ns, 0.1, ""), (), affected=affected)
        return Judgment(replace(DETECTOR, id=name), outcome)

    judgments = [
        # Together 9 ns, so before "a" with its 8.
        judged_finding("b", "M", 0, 5),
        judged_finding("b", "N", 10, 4),
        judged_finding("a", "M", 20, 8),
        Judgment(DETECTOR, Finding(None, "", (), None, ())),
        Judgment(DETECTOR, DetectorFailed(None, "")),
        Judgment(DETECTOR, NotEvaluated(None, "", "")),
        Judgment(DETECTOR, Passed("M", "")),
        Judgment(replace(DETECTOR, id="z"), Passed("L", "")),
        Judgment(DETECTOR, NotApplicable(None, "")),
    ]
    expected = results_from(judgments)
    assert [(check.id, check.model) for check in expected[:4]] == [("b", "M"), ("b", "N"), ("a", "M"), ("an-id", None)]
    assert [check.outcome for check in expected[4:]] == ["error", "not_evaluated", "passed", "passed", "not_applicable"]
    for seed in range(20):
        shuffled = random.Random(seed).sample(judgments, len(judgments))  # noqa: S311 - a test needs no secrets
        assert results_from(shuffled) == expected


def test_a_check_passes_on_what_limits_its_answer():
    check = results_from([Judgment(DETECTOR, Passed("M", ""), ("Others were at work too.",))])[0]
    assert (check.caveats, check.pattern) == (("Others were at work too.",), "2b all predictions slow")
