"""First calls of each amount of work, on both sides of each threshold."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed
from tracekit.testing.rows import Model

ID = "new-shape-spike"
MS = 1_000_000
MODEL = Model("Segmenter")


def shapes(scenario, slow, works=(8, 20), calls=60, turn=6, gaps=None, loads=(0,), slow_first=0):
    """Calls of some amounts of work in ms, in turns of `turn`. `slow` and `gaps` give by number of a call what it takes
    beyond its work, and the gap before it, in ms."""
    now = 100 * MS
    for index in range(calls):
        if index in loads:
            now = scenario.load(MODEL, now, 20 * MS) + MS
        work = works[index // turn % len(works)] * MS
        length = work + round(slow.get(index, 0) * MS) + (slow_first * MS if index == 0 else 0)
        now += round((gaps or {}).get(index, 1) * MS)
        scenario.predict(MODEL, now, length).event("CPU", 0, work)
        now += length


def test_time_beyond_the_median_of_the_group_is_the_cost(scenario, judge):
    shapes(scenario, {6: 80})
    finding = judge(scenario, ID)["Segmenter"]
    assert isinstance(finding, Finding)
    assert finding.cost.ns == 80 * MS
    assert finding.cost.share == pytest.approx(80 / (20 + 30 * 8 + 30 * 20 + 80))
    assert finding.evidence_total == 1


@pytest.mark.parametrize(
    ("extra", "works", "expected"),
    [(20, (8, 20), Finding), (19.9, (8, 20), Passed), (10, (16, 8), Finding), (9.9, (16, 8), Passed)],
    ids=["twice as long", "less", "10 ms longer", "less than that"],
)
def test_ratio_and_difference_decide(scenario, judge, extra, works, expected):
    shapes(scenario, {6: extra}, works)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


@pytest.mark.parametrize(("calls", "expected"), [(102, Finding), (51, Passed)])
def test_other_slow_predictions_are_one_in_fifty_at_most(scenario, judge, calls, expected):
    # One more of 100 that are neither the first of all nor of a group; then of 49.
    shapes(scenario, {6: 80, 20: 80}, calls=calls)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


@pytest.mark.parametrize(("slow", "expected"), [((6, 36), Finding), ((6,), Finding), ((), Passed)])
def test_half_of_the_first_predictions_decide(scenario, judge, slow, expected):
    shapes(scenario, dict.fromkeys(slow, 80), calls=72, loads=(0, 30))
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


def test_a_shape_that_was_slow_on_one_load_of_three_passes(scenario, judge):
    shapes(scenario, {6: 80}, calls=90, loads=(0, 30, 60))
    assert isinstance(judge(scenario, ID)["Segmenter"], Passed)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"works": (12, 12)}, NotEvaluated),
        ({"turn": 30, "slow": {30: 80}}, NotEvaluated),
        ({"gaps": {6: 1_000}}, NotEvaluated),
        ({"gaps": {6: 990}}, Finding),
        ({"turn": 1, "slow": {1: 80}, "slow_first": 80}, NotEvaluated),
        ({"turn": 1, "slow": {1: 80}}, Finding),
        ({"turn": 1, "slow": {1: 80}, "gaps": {2: 2_000}}, Passed),
        ({"calls": 20}, NotEvaluated),
        ({"calls": 22}, Finding),
    ],
    ids=[
        "equal work",
        "the second shape stays",
        "a gap before",
        "a shorter gap",
        "right after a slow first one",
        "right after a fast first one",
        "a warm-up of all shapes",
        "19 comparable calls",
        "21 comparable calls",
    ],
)
def test_what_else_it_may_be_is_not_evaluated(scenario, judge, given, expected):
    shapes(scenario, **{"slow": {6: 80}} | given)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


def test_more_work_is_no_matter_of_a_new_shape(scenario, judge):
    now = 100 * MS
    for index in range(60):
        work = (100 if index == 6 else (8, 20)[index // 6 % 2]) * MS
        scenario.predict(MODEL, now, work).event("CPU", 0, work)
        now += work + MS
    assert isinstance(judge(scenario, ID)["Segmenter"], Passed)


@pytest.mark.parametrize(("load_ms", "expected"), [(40, NotEvaluated), (39, Finding)])
def test_a_load_for_half_of_the_extra_time_may_explain_it(scenario, judge, load_ms, expected):
    shapes(scenario, {6: 80})
    start = next(row.start_ns for row in scenario.coreml if row.duration_ns == 100 * MS)
    scenario.predict(Model("Upscaler"), scenario.load(Model("Upscaler"), start, load_ms * MS) + 900 * MS, MS)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


def test_a_load_during_any_other_call_says_nothing_of_shapes(scenario, judge):
    shapes(scenario, {20: 80}, works=(12, 12))
    start = next(row.start_ns for row in scenario.coreml if row.duration_ns == 92 * MS)
    scenario.load(Model("Upscaler"), start, 60 * MS)
    assert isinstance(judge(scenario, ID)["Segmenter"], Passed)


def test_a_model_without_predictions_is_not_applicable(scenario, judge):
    scenario.load(MODEL, 0, MS)
    assert isinstance(judge(scenario, ID)["Segmenter"], NotApplicable)
