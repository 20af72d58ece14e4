"""Long loads from the cache, waited for or not."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import NotApplicable, NotEvaluated, Passed
from tracekit.testing.rows import LOAD, LOAD_CACHED, LOAD_COLD, Model
from tracekit.testing.scenario import Scenario

ID = "slow-load"
MS = 1_000_000
ENCODER, VOICE = Model("Encoder"), Model("Voice")


def calls(scenario: Scenario, start: int, count: int = 10, model: Model = ENCODER) -> None:
    """Calls of 20 ms, 30 ms apart."""
    for k in range(count):
        scenario.predict(model, start + k * 30 * MS, 20 * MS)


def test_a_long_cached_load_that_the_first_call_waits_for_is_found_with_its_cost(scenario, judge):
    end = scenario.load(ENCODER, 100 * MS, 3_000 * MS, LOAD_CACHED)
    calls(scenario, end + 2 * MS)
    finding = judge(scenario, ID)["Encoder"]
    assert finding.cost.ns == 3_000 * MS
    # Ten calls of 20 ms beside it.
    assert finding.cost.share == pytest.approx(3_000 / 3_200)
    assert [(entry.start_ns, entry.end_ns) for entry in finding.evidence] == [(100 * MS, 3_100 * MS)]
    assert finding.affected.starts.tolist() == [100 * MS]
    assert "3.00 s" in finding.summary


def test_several_are_added_up(scenario, judge):
    for start in (0, 20_000):
        end = scenario.load(ENCODER, start * MS, (1_000 + start // 10) * MS, LOAD_CACHED)
        calls(scenario, end, 40)
    finding = judge(scenario, ID)["Encoder"]
    assert finding.cost.ns == 4_000 * MS
    assert "2 loads" in finding.summary


@pytest.mark.parametrize(
    ("length", "later", "label", "expected"),
    [
        pytest.param(2_000, 0, LOAD_COLD, NotApplicable, id="it specialized the model"),
        pytest.param(2_000, 0, LOAD, NotEvaluated, id="what it did is not told"),
        pytest.param(2_000, 101, LOAD, Passed, id="what it did does not matter"),
    ],
)
def test_length_wait_and_label_decide(scenario, judge, length, later, label, expected):
    end = scenario.load(ENCODER, 100 * MS, length * MS, label)
    calls(scenario, end + later * MS)
    assert isinstance(judge(scenario, ID)["Encoder"], expected)
