"""What must not change an answer does not: order, files, time, repetition, a clean model beside."""

from __future__ import annotations

import pytest

from suite import metamorphic
from suite.cases.reload_before_predict import rebuilt_at_each_access
from suite.frame import CLEAN, NEGATIVE, Case
from suite.metamorphic import BESIDE, RELATIONS, Answers, all_keys, answers, broken_in, no_worse
from tracekit.testing import Draws
from tracekit.testing.apps import neural_engine_app

SAMPLED = 760
"""Without `--every-case`, one in so many labeled recordings is changed in every way."""
PARTS = 5
"""So that several processes of tests can share them."""
GAPS, SERIAL = metamorphic.GAP_CHECKS
ID, OTHER = ("latency-jitter", "Net"), ("cold-load", "Net")
CASE = Case(CLEAN, CLEAN, 0, neural_engine_app)


@pytest.mark.turns(2)
@pytest.mark.parametrize("part", range(PARTS))
def test_changes_leave_the_answers_to_labeled_recordings(request, part):
    step = 1 if request.config.getoption("--every-case") else SAMPLED
    wrong = broken_in(all_keys()[::step][part::PARTS])
    assert not wrong, "\n" + "\n".join(wrong)


def said(**outcomes: str) -> Answers:
    present = {key: outcomes[name] for name, key in (("jitter", ID), ("cold", OTHER)) if name in outcomes}
    return Answers(present, {key: (1,) for key, outcome in present.items() if outcome == "finding"}, ())


FOUND, PASSED, OPEN, NONE = said(jitter="finding"), said(jitter="passed"), said(jitter="not_evaluated"), said()
NOT_APPLICABLE = said(jitter="not_applicable")
ALLOWED = Case(CLEAN, CLEAN, 0, neural_engine_app, also=("latency-jitter", GAPS, SERIAL))
MORE = Case(CLEAN, CLEAN, 0, neural_engine_app, found_in_more=("latency-jitter",))
LESS = Case(CLEAN, CLEAN, 0, neural_engine_app, lost_in_more=("latency-jitter",))
ASKED = Case(CLEAN, NEGATIVE, 0, neural_engine_app, settings={"a.b": 1})
GAP, LOOP = (Answers({(check, "Net"): "finding"}, {}, ()) for check in metamorphic.GAP_CHECKS)
FEW_GAPS, SOME_GAPS = (
    Answers({(GAPS, "Net"): "passed", (SERIAL, "Net"): outcome}, {}, ()) for outcome in ("not_evaluated", "finding")
)
NEW = Answers({("latency-jitter", BESIDE.base): "finding"}, {}, ())


@pytest.mark.parametrize(
    ("case", "before", "after", "expected", "wrong"),
    [
        # No finding may vanish, and what passed becomes none.
        *((CASE, FOUND, after, {}, True) for after in (PASSED, OPEN, NOT_APPLICABLE)),
        *((CASE, before, FOUND, {ID: "not_evaluated"}, True) for before in (PASSED, NOT_APPLICABLE)),
        # What lacked data becomes a finding only where the label allows it.
        (CASE, OPEN, FOUND, {}, True),
        (CASE, OPEN, FOUND, {ID: "not_evaluated"}, False),
        (ALLOWED, OPEN, FOUND, {}, False),
        (CASE, OPEN, PASSED, {}, False),
        # Checks of gaps lack data together, and either may find what the other found.
        (ALLOWED, FEW_GAPS, SOME_GAPS, {}, False),
        (CASE, FEW_GAPS, SOME_GAPS, {}, True),
        (CASE, GAP, LOOP, {}, False),
        (CASE, GAP, NONE, {}, True),
        (CASE, NONE, LOOP, {}, True),
        # A case names what its size decides.
        (MORE, PASSED, FOUND, {}, False),
        (MORE, FOUND, PASSED, {}, True),
        (LESS, FOUND, PASSED, {}, False),
        (LESS, PASSED, FOUND, {}, True),
        # The new model is clean.
        (CASE, NONE, NEW, {}, True),
        (ASKED, NONE, NEW, {}, False),
    ],
)
def test_no_answer_is_worse_than_the_label_allows(case, before, after, expected, wrong):
    assert bool(no_worse(case, before, after, expected)) == wrong


@pytest.mark.parametrize("name", RELATIONS)
def test_a_clear_finding_survives(name):
    scenario = rebuilt_at_each_access(Draws(3)).finish()
    relation = RELATIONS[name]
    before = answers(scenario, CASE)
    after = relation.answers(relation.change(scenario) or scenario, CASE, Draws(1))
    assert "finding" in before.outcomes.values()
    assert not relation.differences(CASE, before, after, {})
