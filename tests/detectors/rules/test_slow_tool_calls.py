"""Tools that requests wait for."""

from __future__ import annotations

from support.outcomes import values
from tracekit.testing import Session

ID = "slow-tool-calls"
MS = 1_000_000


def request(scenario, *tools_ms: int, run_ms: int = 500, arguments: str = "{}") -> None:
    """The model runs for so long before, between and behind tools."""
    tools = [("weather", arguments, each * MS) for each in tools_ms]
    Session(scenario).request(100 * MS, prompt_ns=run_ms // 2 * MS, generation_ns=run_ms // 2 * MS, tools=tools)


def test_time_in_a_tool_is_the_cost(scenario, judge):
    request(scenario, 600, run_ms=700)
    cost = judge(scenario, ID)[None].cost
    assert (cost.ns, cost.longest_wait_ns) == (600 * MS, 600 * MS)


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
