"""Loads that compile a model again."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing.rows import LOAD, LOAD_CACHED, LOAD_COLD, Model

ID = "compiled-again"
MS = 1_000_000


def used(scenario, *loads: tuple[str, int], instance: bool = True, unused: int = -1) -> None:
    """Loads with a label, of so many ms, each with three predictions but for one of them."""
    now = 0
    for number, (label, length) in enumerate(loads):
        model = Model("Talker", number + 1 if instance else 1)
        now = scenario.load(model, now + 1_000 * MS, length * MS, label) + 500 * MS
        for _ in range(3 if number != unused else 0):
            scenario.predict(model, now, 20 * MS).neural_engine(MS, 10 * MS)
            now += 40 * MS


def test_a_finding_shows_and_costs_the_loads_after_the_first(scenario, judge):
    used(scenario, (LOAD_COLD, 900), (LOAD_COLD, 700), (LOAD_CACHED, 60), (LOAD_COLD, 800))
    finding = judge(scenario, ID)["Talker"]
    assert finding.cost.ns == 1_500 * MS
    assert finding.cost.longest_wait_ns == 0
    assert finding.summary == "2 loads compiled the model again, in 1.50 s, after an earlier load had."
    assert finding.affected.durations.tolist() == [700 * MS, 800 * MS]


@pytest.mark.parametrize(
    ("loads", "given", "expected", "words"),
    [
        ([(LOAD_COLD, 900), (LOAD_COLD, 100)], {}, Finding, "1 load compiled"),
        ([(LOAD_COLD, 900), (LOAD_COLD, 99)], {}, Passed, "2 of which compiled"),
        ([(LOAD_COLD, 900), (LOAD_CACHED, 900)], {}, Passed, "1 of which compiled"),
        ([(LOAD_COLD, 900), (LOAD_COLD, 900)], {"instance": False}, Finding, ""),
        ([(LOAD_COLD, 900), (LOAD, 900)], {}, NotEvaluated, "do not tell"),
        ([(LOAD, 900)], {}, Passed, "0 of which"),
        ([(LOAD_COLD, 900), (LOAD_COLD, 900)], {"unused": 0}, NotEvaluated, "not each of these loads"),
        ([(LOAD_COLD, 900), (LOAD_COLD, 900)], {"unused": 1}, NotEvaluated, "not each of these loads"),
    ],
)
def test_what_it_answers(scenario, judge, loads, given, expected, words):
    used(scenario, *loads, **given)
    outcome = judge(scenario, ID)["Talker"]
    assert isinstance(outcome, expected)
    assert words in (outcome.reason if isinstance(outcome, NotEvaluated) else outcome.summary)
