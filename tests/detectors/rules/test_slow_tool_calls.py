"""Tools that requests wait for."""

from __future__ import annotations

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, Passed
from tracekit.testing import Session

ID = "slow-tool-calls"
MS = 1_000_000


def request(scenario, *tools_ms: int, run_ms: int = 500, arguments: str = "{}") -> None:
    """The model runs for so long before, between and behind tools."""
    tools = [("weather", arguments, each * MS) for each in tools_ms]
    Session(scenario).request(100 * MS, prompt_ns=run_ms // 2 * MS, generation_ns=run_ms // 2 * MS, tools=tools)


@pytest.mark.parametrize(
    ("tool_ms", "run_ms", "outcome"),
    [(500, 500, Finding), (499, 500, Passed), (600, 700, Finding), (599, 700, Passed)],
    ids=["long enough", "short", "enough of the request", "little of the request"],
)
def test_both_thresholds_must_be_reached(scenario, judge, tool_ms, run_ms, outcome):
    request(scenario, tool_ms, run_ms=run_ms)
    answer = judge(scenario, ID)[None]
    assert isinstance(answer, outcome)
    if outcome is Finding:
        assert (answer.cost.ns, answer.cost.longest_wait_ns) == (tool_ms * MS, tool_ms * MS)


def test_repeated_calls_are_counted_and_nothing_of_them_told(scenario, judge):
    request(scenario, 400, 400, 400, arguments='{"city": "Springfield"}')
    finding = judge(scenario, ID)[None]
    assert values(finding)["calls repeated with the same arguments"] == 2
    assert finding.cost.ns == 1_200 * MS
    assert "Springfield" not in repr(finding)
    assert "private" not in repr(finding)


def test_calls_of_nobody_known_are_no_verdict(scenario, judge):
    request(scenario)
    assert "does not show tool calls" in judge(scenario, ID)[None].reason
    call = (9_000 * MS, 900 * MS, "tool-x", "weather", "{}", "{}", "N/A", 9, "(9) Session 9", "inference-9")
    scenario.language_models["ToolTable"] = [call]
    assert "not which requests" in judge(scenario, ID)[None].reason
