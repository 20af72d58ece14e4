"""First calls of each amount of work."""

import pytest

from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
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
    assert finding.cost.ns == 80 * MS
    assert finding.cost.share == pytest.approx(80 / (20 + 30 * 8 + 30 * 20 + 80))
    assert finding.evidence_total == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"slow": {6: 10}, "works": (16, 8)}, Finding),  # 10 ms longer.
        ({"slow": {6: 9.9}, "works": (16, 8)}, Passed),
        # One more of 100 that are neither the first of all nor of a group; then of 49.
        ({"slow": {6: 80, 20: 80}, "calls": 102}, Finding),
        ({"slow": {6: 80, 20: 80}, "calls": 51}, Passed),
        # Half of the first predictions of loads decide.
        ({"calls": 72, "loads": (0, 30)}, Finding),
        ({"calls": 90, "loads": (0, 30, 60)}, Passed),
        ({"slow": {}, "calls": 72, "loads": (0, 30)}, Passed),
        ({"works": (12, 12)}, NotEvaluated),
        ({"turn": 30, "slow": {30: 80}}, NotEvaluated),  # The second shape stays.
        ({"gaps": {6: 1_000}}, NotEvaluated),
        ({"gaps": {6: 990}}, Finding),
        ({"turn": 1, "slow": {1: 80}, "slow_first": 80}, NotEvaluated),  # Right after a slow first one.
        ({"turn": 1, "slow": {1: 80}}, Finding),
        ({"turn": 1, "slow": {1: 80}, "gaps": {2: 2_000}}, Passed),  # A warm-up of all shapes.
        ({"calls": 20}, NotEvaluated),  # 19 comparable calls, then 21.
        ({"calls": 22}, Finding),
    ],
)
def test_thresholds(scenario, judge, given, expected):
    shapes(scenario, **{"slow": {6: 80}} | given)
    assert isinstance(judge(scenario, ID)["Segmenter"], expected)


@pytest.mark.parametrize(("load_ms", "expected"), [(60, NotEvaluated), (30, Finding)])
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
