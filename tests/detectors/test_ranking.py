"""What fixes win back: no ns twice, and causes linked to effects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracekit.detectors import ranking
from tracekit.detectors.framework import Judgment
from tracekit.detectors.outcomes import Cost, Evidence, Finding, Passed, Severity, severity_of
from tracekit.detectors.ranking import Relation, rank, savings
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


def test_findings_about_different_times_win_back_all_they_claim():
    assert savings([finding([(0, 10)]), finding([(10, 30)])]) == [10, 20]


def test_the_same_time_is_won_back_once():
    assert savings([finding([(0, 10), (20, 30)]), finding([(5, 25)])]) == [20, 10]
    assert savings([finding([(0, 10)]), finding([(0, 10)])]) == [10, 0]


def test_a_finding_that_claims_half_of_its_time_leaves_the_other_half():
    assert savings([finding([(0, 100)], cost_ns=50), finding([(0, 100)])]) == [50, 50]
    assert savings([finding([(0, 100)]), finding([(0, 100)], cost_ns=50)]) == [100, 0]


def test_no_finding_wins_back_more_than_the_time_it_lost():
    # Costs summed over overlapping calls can exceed the elapsed time in which they lie.
    assert savings([finding([(0, 100)], cost_ns=250)]) == [100]


def test_a_cost_without_a_place_is_taken_as_it_is():
    assert savings([finding([], cost_ns=7), finding([(0, 5)])]) == [7, 5]


intervals = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 15)), max_size=6).map(
    lambda pairs: merged([(start, start + length) for start, length in pairs])
)


def merged(pairs):
    covered = sorted({time for start, end in pairs for time in range(start, end)})
    return [(time, time + 1) for time in covered]


@given(st.lists(intervals, max_size=5))
@settings(deadline=None, max_examples=150)
def test_full_claims_add_up_to_the_time_that_any_of_them_covers(claims):
    findings = [finding(claim) for claim in claims]
    covered = {time for claim in claims for start, end in claim for time in range(start, end)}
    assert sum(savings(findings)) == len(covered)


@given(st.lists(st.tuples(intervals.filter(bool), st.integers(1, 60)), min_size=1, max_size=12))
@settings(deadline=None, max_examples=150)
def test_each_ns_goes_to_the_largest_claim_so_far_and_later_ones_have_the_rest(claims):
    findings = [finding(claim, cost_ns=cost) for claim, cost in claims]
    taken, expected = {}, []
    for claim, cost in claims:
        times = [time for start, end in claim for time in range(start, end)]
        share = min(cost / len(times), 1)
        expected.append(min(cost, sum(max(share - taken.get(time, 0), 0) for time in times)))
        taken |= {time: max(share, taken.get(time, 0)) for time in times}
    assert savings(findings) == pytest.approx(expected, abs=0.51)


def test_findings_that_overlap_cost_less_than_their_pairs(monkeypatch):
    def looked_at(count):
        seen = []
        ranges = ranking._ranges
        with monkeypatch.context() as patch:
            patch.setattr(ranking, "_ranges", lambda firsts, ends: seen.append(ends - firsts) or ranges(firsts, ends))
            # Each overlaps all others and claims more than those before it.
            claims = [finding([(10 * i, 10 * (i + count))], cost_ns=count * 2 + 7 * i) for i in range(count)]
            saved = savings(claims)
        assert len(seen) == len(saved) == count
        assert sum(saved) == pytest.approx(expected_sum(claims), abs=count)
        return int(np.concatenate(seen).sum())

    def expected_sum(claims):
        """Each claims more than all before it, so that the last one that covers a time has its share of it."""
        count = len(claims)
        shares = [claim.cost.ns / (10 * count) for claim in claims]
        return 10 * sum(shares[min(index, count - 1)] for index in range(2 * count - 1))

    assert looked_at(480) < 3 * looked_at(240)


def test_detectors_are_ranked_by_what_their_findings_win_back_together():
    order = rank(
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
    assert [entry.extra_savings_ns for entry in order] == [25, 20, 30]


def ids(judgments):
    return [entry.judgment.detector.id for entry in rank(judgments)]


def test_severity_comes_before_savings():
    waited = finding([(0, 6_000_000_000)], share=0.01, once=True)
    missed = Finding("Net", "", (), None, (), missed=0.3)
    large = finding([(0, 60_000_000_000)], share=0.1)
    judgments = [judged("large", large), judged("missed", missed), judged("waited", waited)]
    assert ids(judgments) == ["waited", "missed", "large"]


def test_a_detector_stands_where_the_worst_of_its_findings_does():
    judgments = [
        judged("mixed", finding([(0, 50)], model="A")),
        judged("mixed", finding([(50, 60)], model="B", share=0.6)),
        judged("high", finding([(0, 90)], share=0.4)),
    ]
    assert [(entry.judgment.detector.id, entry.judgment.outcome.model) for entry in rank(judgments)] == [
        ("mixed", "B"),
        ("mixed", "A"),
        ("high", "Net"),
    ]


def test_a_cause_comes_before_its_symptom_of_the_same_severity():
    symptom = judged("symptom", finding([(0, 90)]), caused_by=("middle",))
    middle = judged("middle", finding([(0, 20)]), caused_by=("root",))
    root, other = judged("root", finding([(0, 10)])), judged("other", finding([(0, 50)]))
    assert ids([symptom, middle, root, other]) == ["root", "middle", "symptom", "other"]
    # One of a lower severity comes behind.
    low = judged("root", finding([(0, 10)], share=0.01))
    assert ids([symptom, middle, low, other]) == ["middle", "symptom", "other", "root"]


def test_detectors_that_cause_each_other_are_ranked_by_savings():
    one, other = finding([(0, 90)]), finding([(0, 20)])
    assert ids([judged("a", other, caused_by=("b",)), judged("b", one, caused_by=("a",))]) == ["a", "b"]


def test_what_models_wait_for_at_the_same_time_is_saved_once():
    first, second = rank([judged("load", finding([(0, 19)], model=name)) for name in "AB"])
    assert (first.own_savings_ns, second.own_savings_ns) == (19, 0)
    claimed, load = rank([judged("b", finding([(0, 30)])), judged("load", finding([(0, 19)]))])
    assert (claimed.own_savings_ns, load.own_savings_ns, load.extra_savings_ns) == (30, 19, 0)


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
    order = rank([judged(name, outcome, caused_by[name]) for name, outcome, _ in found])
    worst: dict[str, int] = {}
    for entry in order:
        rank_of = list(Severity).index(severity_of(entry.judgment.outcome))
        worst[entry.judgment.detector.id] = min(rank_of, worst.get(entry.judgment.detector.id, rank_of))
    assert list(worst.values()) == sorted(worst.values())
    assert len(order) == len(found)
    for name in worst:
        claims = [entry for entry in order if entry.judgment.detector.id == name]
        covered = {start for entry in claims for start in entry.judgment.outcome.affected.starts.tolist()}
        assert sum(entry.own_savings_ns for entry in claims) == len(covered)
        assert all(entry.extra_savings_ns <= entry.own_savings_ns for entry in claims)
        causes = [cause for cause in caused_by[name] if worst.get(cause) == worst[name] and cause != name]
        names = list(worst)
        in_circle = any(name in reached_from(cause, caused_by) for cause in causes)
        assert in_circle or all(names.index(cause) < names.index(name) for cause in causes)


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
    cause, effect, elsewhere = rank(
        [
            judged("cause", finding([(0, 30)])),
            judged("effect", finding([(0, 20)]), caused_by=("cause",)),
            judged("effect", finding([(0, 10)], model="Other"), caused_by=("cause",)),
        ]
    )
    assert [(other.id, other.model, other.relation) for other in cause.related] == [("effect", "Net", Relation.CAUSES)]
    assert [(other.id, other.relation) for other in effect.related] == [("cause", Relation.CAUSED_BY)]
    assert elsewhere.related == ()
    assert (effect.extra_savings_ns, elsewhere.extra_savings_ns) == (0, 0)


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
    assert rank([judged("health", Finding(None, "", (), None, ()))])[0].extra_savings_ns is None
