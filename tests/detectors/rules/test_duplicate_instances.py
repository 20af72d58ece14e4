"""Several instances of a model, needed or not."""

from __future__ import annotations

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing.rows import LOAD_CACHED, LOAD_COLD, Model
from tracekit.testing.scenario import Scenario

ID = "duplicate-instances"
MS = 1_000_000
LOADED = 400 * MS
"""When the instances of `load` are all loaded."""


def instance(number: int) -> Model:
    return Model("Vad", number)


def load(scenario: Scenario, *lengths: int) -> None:
    """Instances 1, 2, ... are loaded one after the other, in so many ms, before the first call."""
    now = LOADED - sum(lengths) * MS
    for number, length in enumerate(lengths, start=1):
        now = scenario.load(instance(number), now, length * MS)


def play(scenario: Scenario, pattern: str, every: int = 30, lengths: dict[str, int] | None = None) -> None:
    """One call of 20 ms for each digit, the number of its instance, a call every so many ms."""
    for k, number in enumerate(pattern):
        scenario.predict(instance(int(number)), LOADED + k * every * MS, (lengths or {}).get(number, 20) * MS)


def test_instances_that_take_turns_are_found_with_their_cost(scenario, judge):
    load(scenario, 100, 120)
    play(scenario, "12" * 10)
    finding = judge(scenario, ID)["Vad"]
    # Of 19 changes, one would do to take over. The second load was not needed.
    assert values(finding)["switches between instances"] == 18
    assert finding.cost.ns == 120 * MS
    assert finding.cost.share == pytest.approx(120 / (220 + 400))
    assert [(entry.start_ns, entry.end_ns) for entry in finding.evidence] == [(280 * MS, 400 * MS)]
    assert finding.affected.starts.tolist() == [280 * MS]
    assert "2 instances alternate" in finding.summary
    assert "memory" in finding.summary


def test_loads_in_the_background_cost_memory_alone(scenario, judge):
    for number in (1, 2):
        scenario.load(instance(number), (number - 1) * 100 * MS, 100 * MS)
    play(scenario, "12" * 10)
    finding = judge(scenario, ID)["Vad"]
    assert finding.cost is None
    assert "took 100 ms, which no prediction waited for" in finding.summary


@pytest.mark.parametrize(
    ("pattern", "slow", "settings", "expected"),
    [
        ("12" * 5, 20, {}, Finding),
        ("12" * 4 + "1", 20, {}, NotEvaluated),
        ("1213" * 3 + "1", 20, {}, NotEvaluated),  # None but the first has five calls.
        ("12" * 10, 20, {"min_switches": 18}, Finding),
        ("12" * 10, 20, {"min_switches": 19}, Passed),
        ("12" * 10, 20, {"min_predictions": 21}, NotEvaluated),
    ],
)
def test_thresholds(scenario, judge, pattern, slow, settings, expected):
    load(scenario, *[100] * len(set(pattern)))
    play(scenario, pattern, every=40, lengths={"2": slow})
    assert isinstance(judge(scenario, ID, **settings)["Vad"], expected)


@pytest.mark.parametrize(("calls", "expected"), [(20, Finding), (18, Passed)])
def test_instances_that_work_at_the_same_time_are_there_for_it(scenario, judge, calls, expected):
    # Calls of 20 ms, all apart but one pair that overlaps by 19 ms: 19 of 381 ms (4.99 %), or of 341 ms (5.6 %).
    load(scenario, 100, 100)
    for k in range(calls):
        scenario.predict(instance(k % 2 + 1), LOADED + (1 if k == 1 else k * 40) * MS, 20 * MS)
    assert isinstance(judge(scenario, ID)["Vad"], expected)


def test_turns_without_recorded_loads_are_found_without_cost(scenario, judge):
    play(scenario, "12" * 10)
    finding = judge(scenario, ID)["Vad"]
    assert finding.cost is None
    assert "not recorded" in finding.summary
    assert finding.evidence_total == 2


def test_a_second_load_that_nothing_uses_is_found(scenario, judge):
    load(scenario, 100, 120)
    play(scenario, "2" * 20, every=600)
    finding = judge(scenario, ID)["Vad"]
    assert finding.cost.ns == 100 * MS
    assert values(finding)["unused loads"] == 1
    assert "1 load was never used" in finding.summary


@pytest.mark.parametrize(
    ("length", "label", "every", "count"),
    [
        pytest.param(100, LOAD_COLD, 600, 20, id="it prepared the model"),
        pytest.param(30, LOAD_CACHED, 600, 20, id="it took a different time"),
        pytest.param(100, LOAD_CACHED, 30, 20, id="it may still be used"),
        pytest.param(100, LOAD_CACHED, 2_000, 9, id="few calls"),
    ],
)
def test_other_loads_that_nothing_uses_are_no_finding(scenario, judge, length, label, every, count):
    scenario.load(instance(1), 0, length * MS, label)
    scenario.load(instance(2), 150 * MS, 110 * MS)
    play(scenario, "2" * count, every=every)
    assert not isinstance(judge(scenario, ID)["Vad"], Finding)


@pytest.mark.parametrize(("tenths", "expected"), [(100, Finding), (99, NotEvaluated)])
def test_how_long_an_instance_stays_unused_decides(scenario, judge, tenths, expected):
    scenario.load(instance(1), 0, 100 * MS)
    scenario.load(instance(2), 100 * MS, 100 * MS)
    for k in range(11):
        scenario.predict(instance(1), 200 * MS + k * tenths * 10 * MS, 20 * MS)
    assert isinstance(judge(scenario, ID)["Vad"], expected)


@pytest.mark.parametrize(
    ("labels", "used", "said"),
    [
        pytest.param((LOAD_CACHED,) * 4, "4", "3 of 4 loads have no prediction so far", id="too soon to tell"),
        pytest.param((LOAD_COLD,) * 3 + (LOAD_CACHED,), "4", "1 of 4 instances was used", id="three fill the cache"),
        pytest.param((LOAD_COLD,) * 2 + (LOAD_CACHED,) * 2, "34", "2 of 4 instances were used", id="two fill it"),
        pytest.param((LOAD_CACHED,) * 4, "1234", "4 instances, used one after another", id="all are used"),
    ],
)
def test_an_instance_that_no_prediction_used_is_not_called_used(scenario, judge, labels, used, said):
    for number, label in enumerate(labels, start=1):
        scenario.load(instance(number), number * 100 * MS - 100 * MS, 100 * MS, label)
    play(scenario, "".join(number * 10 for number in used))
    outcome = judge(scenario, ID)["Vad"]
    assert said in (outcome.reason if isinstance(outcome, NotEvaluated) else outcome.summary)
    assert isinstance(outcome, NotEvaluated) == ("so far" in said)


def test_names_without_numbers_tell_no_instances(scenario, judge):
    plain = Model("Vad", None)
    for k in range(2):
        scenario.load(plain, k * 100 * MS, 100 * MS)
    for k in range(20):
        scenario.predict(plain, 300 * MS + k * 600 * MS, 20 * MS)
    assert isinstance(judge(scenario, ID)["Vad"], NotEvaluated)
