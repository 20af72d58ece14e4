"""The order of findings, what fixes save beyond others, and causes linked to effects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tracekit.detectors.framework import Judgment
from tracekit.detectors.outcomes import Cost, Evidence, Finding, Passed, Savings, Severity, Unknown, severity_of
from tracekit.detectors.ranking import Relation, rank
from tracekit.detectors.rules import reload_before_predict
from tracekit.intervals import Intervals


def finding(affected, cost_ns=None, model="Net", share=0.1, **cost):
    """A finding about these intervals; its cost is all of their time where none is given."""
    starts, ends = np.array(affected, np.int64).reshape(-1, 2).T
    total = int((ends - starts).sum())
    cost = Cost(total if cost_ns is None else cost_ns, share, "", **cost)
    return Finding(model, "", (), cost, (), affected=Intervals(starts, ends))


def judged(name, outcome, caused_by=()):
    return Judgment(replace(reload_before_predict.DETECTOR, id=name, caused_by=caused_by), outcome)


intervals = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 15)), max_size=6).map(
    lambda pairs: merged([(start, start + length) for start, length in pairs])
)


def merged(pairs):
    covered = sorted({time for start, end in pairs for time in range(start, end)})
    return [(time, time + 1) for time in covered]


def saving(found, ns):
    """The finding, whose fix saves a time that is as large a share of its model's as the problem takes."""
    cost = found.cost or Cost(0, 0.0, "")
    return replace(found, savings=Savings(ns, ns, cost.share, 100, "", cost.of, cost.once))


def ranked(judgments):
    """The findings in order, where fixes save the time that they are about, each ns once."""
    replayed = [
        judgment._replace(outcome=saving(judgment.outcome, judgment.outcome.affected.covered_ns))
        for judgment in judgments
        if isinstance(judgment.outcome, Finding)
    ]

    def together(names):
        times = [each.outcome.affected for each in replayed if each.detector.id in names]
        return Intervals.none().joined(*times).covered_ns

    return rank(replayed, together)


def test_what_two_fixes_save_counts_for_the_first():
    first, second = ranked([judged("b", finding([(0, 30)])), judged("load", finding([(0, 19), (50, 60)]))])
    assert (first.savings.total_ns, first.savings.extra_ns) == (30, 30)
    assert (second.savings.total_ns, second.savings.extra_ns) == (29, 10)


def test_what_fixes_save_only_together_counts_for_the_later_one():
    # Two things that hide behind each other.
    hidden = [judged(name, saving(finding([(0, 30)]), 0)) for name in "ab"]
    order = rank(hidden, lambda names: 30 if len(names) == 2 else 0)
    assert [entry.savings.extra_ns for entry in order] == [0, 30]


def test_fixes_that_save_less_with_another_one_take_nothing_back():
    judgments = [judged(name, saving(finding([(0, size)]), size)) for name, size in (("a", 30), ("b", 9))]
    order = rank(judgments, lambda names: 25 if len(names) == 2 else 30)
    assert [entry.savings.extra_ns for entry in order] == [25, 0]


def test_savings_that_are_unknown_stay_so_beside_others():
    known, unknown = saving(finding([(0, 10)]), 10), replace(finding([(0, 30)]), savings=Unknown("nobody knows"))
    order = rank([judged("a", unknown), judged("b", known)], lambda names: 10 * len(names))
    assert [entry.savings for entry in order] == [Unknown("nobody knows"), known.savings]


@pytest.mark.parametrize(
    ("cost", "savings", "severity"),
    [
        # What the fix saves of the app's own time between calls is not what that time is.
        ({"share": 0.83, "of": "the time from first to last"}, {"total_ns": 1, "of": "the time"}, Severity.CRITICAL),
        ({"share": 0.83}, Unknown("nobody knows"), Severity.CRITICAL),
        ({"share": 0.3}, {"total_ns": 100}, Severity.HIGH),
        # More is claimed at most than is lost.
        ({"share": 0.06}, {"total_ns": 300}, Severity.LOW),
        # Other work hides two thirds of it, or all.
        ({"share": 0.3}, {"total_ns": 34}, Severity.MEDIUM),
        ({"share": 0.83}, {"total_ns": 0}, Severity.LOW),
        ({"share": 0.83, "once": True}, {"total_ns": 0}, Severity.LOW),
    ],
)
def test_severity_follows_from_the_time_that_is_lost(cost, savings, severity):
    if isinstance(savings, dict):
        savings = Savings(**{"extra_ns": 0, "share": 0.01, "of_ns": 100, "basis": "", **savings})
    assert severity_of(replace(finding([(0, 100)], **cost), savings=savings)) is severity


def test_findings_of_a_severity_are_ranked_by_the_time_that_is_lost():
    hidden, lost = saving(finding([(0, 90)]), 10), saving(finding([(0, 50)]), 60)
    between = replace(finding([(0, 70)]), savings=Savings(1, 1, 0.01, 100, "", "the time from first to last"))
    unknown = replace(finding([(0, 60)]), savings=Unknown("nobody knows"))
    found = {"hidden": hidden, "lost": lost, "between": between, "unknown": unknown}
    judgments = [judged(name, replace(each, cost=replace(each.cost, share=0.05))) for name, each in found.items()]
    assert ids(judgments) == ["between", "unknown", "lost", "hidden"]


def test_detectors_are_ranked_by_what_their_findings_win_back_together():
    order = ranked(
        [
            judged("small", finding([(0, 30)])),
            judged("many", finding([(100, 120)], model="A")),
            judged("many", finding([(130, 155)], model="B")),
            judged("other", Passed("A", "")),
        ]
    )
    assert [(entry.judgment.detector.id, entry.judgment.outcome.model) for entry in order] == [
        ("many", "B"),
        ("many", "A"),
        ("small", "Net"),
    ]
    assert [entry.savings.extra_ns for entry in order] == [25, 20, 30]


def ids(judgments):
    return [entry.judgment.detector.id for entry in rank(judgments)]


def test_severity_comes_before_the_time_that_is_lost():
    waited = finding([(0, 6_000_000_000)], share=0.01, once=True)
    missed = Finding("Net", "", (), None, (), missed=0.3)
    large = finding([(0, 60_000_000_000)], share=0.1)
    judgments = [judged("large", large), judged("missed", missed), judged("waited", waited)]
    assert ids(judgments) == ["waited", "missed", "large"]


def test_a_cause_comes_before_its_symptom_of_the_same_severity():
    symptom = judged("symptom", finding([(0, 90)]), caused_by=("middle",))
    middle = judged("middle", finding([(0, 20)]), caused_by=("root",))
    root, other = judged("root", finding([(0, 10)])), judged("other", finding([(0, 50)]))
    assert ids([symptom, middle, root, other]) == ["root", "middle", "symptom", "other"]
    # One of a lower severity comes behind.
    low = judged("root", finding([(0, 10)], share=0.01))
    assert ids([symptom, middle, low, other]) == ["middle", "symptom", "other", "root"]


def test_detectors_that_cause_each_other_are_ranked_by_the_time_that_is_lost():
    one, other = finding([(0, 90)]), finding([(0, 20)])
    assert ids([judged("a", other, caused_by=("b",)), judged("b", one, caused_by=("a",))]) == ["a", "b"]


FINDINGS = st.builds(
    finding,
    intervals.filter(bool),
    share=st.sampled_from([0.05, 0.1, 0.3, 0.6]),
    once=st.booleans(),
    model=st.sampled_from(["A", "B"]),
)


@given(st.lists(st.tuples(st.sampled_from("abcd"), FINDINGS, st.sets(st.sampled_from("abcd"))), max_size=8))
@settings(deadline=None, max_examples=200)
def test_order_and_savings_hold_whatever_was_found(found):
    caused_by = {name: tuple(sorted(causes)) for name, _, causes in found}
    order = ranked([judged(name, outcome, caused_by[name]) for name, outcome, _ in found])
    worst: dict[str, int] = {}
    for entry in order:
        rank_of = list(Severity).index(severity_of(entry.judgment.outcome))
        worst[entry.judgment.detector.id] = min(rank_of, worst.get(entry.judgment.detector.id, rank_of))
    assert list(worst.values()) == sorted(worst.values())
    assert len(order) == len(found)
    for name in worst:
        claims = [entry for entry in order if entry.judgment.detector.id == name]
        own = sum(entry.savings.total_ns for entry in claims)
        assert 0 <= sum(entry.savings.extra_ns for entry in claims) <= own
        assert all(entry.savings.extra_ns >= 0 for entry in claims)
        causes = [cause for cause in caused_by[name] if worst.get(cause) == worst[name] and cause != name]
        names = list(worst)
        in_circle = any(name in reached_from(cause, caused_by) for cause in causes)
        assert in_circle or all(names.index(cause) < names.index(name) for cause in causes)

    covered = {start for entry in order for start in entry.judgment.outcome.affected.starts.tolist()}
    assert sum(entry.savings.extra_ns for entry in order) == len(covered)


def reached_from(name, caused_by):
    """All that a detector can be caused by, in however many steps."""
    seen, left = set(), [name]
    while left:
        for cause in caused_by.get(left.pop(), ()):
            if cause not in seen:
                seen.add(cause)
                left.append(cause)
    return seen


def test_cause_and_effect_of_one_model_name_each_other():
    cause, effect, elsewhere = ranked(
        [
            judged("cause", finding([(0, 30)])),
            judged("effect", finding([(0, 20)]), caused_by=("cause",)),
            judged("effect", finding([(0, 10)], model="Other"), caused_by=("cause",)),
        ]
    )
    assert [(other.id, other.model, other.relation) for other in cause.related] == [("effect", "Net", Relation.CAUSES)]
    assert [(other.id, other.relation) for other in effect.related] == [("cause", Relation.CAUSED_BY)]
    assert elsewhere.related == ()
    assert (effect.savings.extra_ns, elsewhere.savings.extra_ns) == (0, 0)


def test_a_finding_about_the_recording_is_related_to_those_about_models():
    first, second = rank(
        [
            judged("cause", replace(finding([(0, 30)]), model=None)),
            judged("effect", finding([(0, 20)]), caused_by=("cause",)),
        ]
    )
    assert [other.model for other in first.related] == ["Net"]
    assert [other.model for other in second.related] == [None]


def test_a_finding_about_several_models_is_related_to_those_that_it_shows():
    shown = tuple(Evidence(0, 1, model, "", "t", 0) for model in ("A", "B"))
    several = replace(finding([(0, 30)]), model=None, evidence=shown)

    def related(several):
        causes = [judged("cause", finding([(0, 20)], model=model)) for model in ("A", "C")]
        ranked = rank([judged("effect", several, caused_by=("cause",)), *causes])
        return [other.model for entry in ranked if entry.judgment.detector.id == "effect" for other in entry.related]

    assert related(several) == ["A"]
    assert related(replace(several, evidence_total=3)) == ["A", "C"]
    assert related(replace(several, evidence=())) == ["A", "C"]


def test_a_finding_without_cost_has_nothing_to_win_back():
    assert rank([judged("health", Finding(None, "", (), None, ()))])[0].savings is None
