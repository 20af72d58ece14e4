"""Where models ran, against the truth of labeled recordings: nothing passes or fails wrongly, and what all evidence is
there for is decided."""

from __future__ import annotations

import pytest

from suite.processes import on_all_processors
from suite.where_cases import Labeled, labeled, scenario_of
from support.choice import sweep_rest
from support.handover import trace_of
from tracekit.analysis.where.verdict import Answer, whereabouts

MODEL = "Segmenter"
EXACT = 0.01
"""How far bounds may be off: the time between two samples, in sums of 40 predictions."""
NARROW = 0.05
"""Widest bounds where all evidence is there."""
PARTS = 25


def complaints(case: Labeled) -> list[str]:
    """What is wrong in the verdict on a recording; nothing is said of a model that it does not name."""
    trace = trace_of(scenario_of(case))
    wrong = []
    for use in whereabouts(trace, MODEL).units if MODEL in trace.models.name else ():
        truth = case.truth[use.unit]
        if (use.answer == Answer.PROVEN and not truth) or (use.answer == Answer.REFUTED and truth):
            wrong.append(f"{use.unit} is {use.answer} ({use.why}{use.evidence}), the truth is {truth:.0%}")
        if use.least_share is None or use.most_share is None:
            continue
        if use.least_share > truth + EXACT:
            wrong.append(f"{use.unit} would pass at {use.least_share:.0%}, the truth is {truth:.0%}")
        if use.most_share < truth - EXACT:
            wrong.append(f"{use.unit} would fail at {use.most_share:.0%}, the truth is {truth:.0%}")
        if case.decidable and (use.answer == Answer.UNKNOWN or use.most_share - use.least_share > NARROW):
            wrong.append(f"{use.unit} is not decided: {use.why}, {use.least_share:.0%} to {use.most_share:.0%}")
    return [f"{case.name}: {line}" for line in wrong]


@pytest.mark.parametrize("part", sweep_rest(*range(PARTS)))
def test_no_verdict_is_wrong_and_what_can_be_known_is(part):
    wrong = on_all_processors(complaints, [*labeled()][part::PARTS])
    assert not any(wrong), "\n".join(line for lines in wrong for line in lines)


def test_the_recordings_are_many_and_most_can_be_decided():
    cases = [*labeled()]
    assert len(cases) > 1_000
    assert len({case.name for case in cases}) == len(cases)
    assert sum(case.decidable for case in cases) > 60
