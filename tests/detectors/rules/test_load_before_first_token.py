"""Loads between a request and its first token."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing import CoreAIChat, Process, Scenario, Session

ID = "load-before-first-token"
MS = 1_000_000


def asked(scenario: Scenario, prompts_ms: list[int], consumed: int | None = 300, cached: int | None = 0) -> list[int]:
    """Requests of Foundation Models, a second apart. Returns when they begin."""
    session, starts = Session(scenario), []
    for number, prompt_ms in enumerate(prompts_ms):
        starts.append((1_000 + 3_000 * number) * MS)
        session.request(starts[-1], prompt_ns=prompt_ms * MS, generation_ns=400 * MS, consumed=consumed, cached=cached)
    return starts


def test_what_was_loaded_before_the_question_kept_nobody_waiting(scenario, judge):
    begin, *_ = asked(scenario, [900, 200])
    Session(scenario).loads(begin - 100 * MS, 400 * MS)
    finding = judge(scenario, ID)[None]
    assert (finding.cost.ns, finding.cost.once) == (300 * MS, True)
    assert finding.affected.starts.tolist() == [begin]
    shown = [(each.start_ns, each.duration_ns, each.label) for each in finding.evidence]
    assert shown == [(begin, 300 * MS, "part of request")]


def test_a_small_share_of_the_wait_is_in_order(scenario, judge):
    begin, *_ = asked(scenario, [2_000, 200])
    Session(scenario).loads(begin, 390 * MS)
    assert isinstance(judge(scenario, ID)[None], Passed)


def test_loads_at_each_request_are_no_matter_of_once(scenario, judge):
    for begin in asked(scenario, [900, 900, 900]):
        Session(scenario).loads(begin, 600 * MS)
    finding = judge(scenario, ID)[None]
    assert (finding.cost.ns, finding.cost.once, finding.cost.longest_wait_ns) == (1_800 * MS, False, 600 * MS)
    assert [each.duration_ns for each in finding.evidence] == [600 * MS] * 3


def test_signposts_show_loads_and_warm_ups(scenario, judge):
    chat = CoreAIChat(scenario)
    chat.load(110 * MS, 500 * MS, warm_up_ns=100 * MS)
    chat.request(100 * MS, prompt_tokens=50, prompt_ns=700 * MS, tokens_ns=[15 * MS] * 5)
    assert judge(scenario, ID)[None].cost.ns == 600 * MS


@pytest.mark.parametrize(
    ("tokens", "outcome"), [((300, 0), Finding), ((None, None), NotEvaluated)], ids=["as many", "unknown"]
)
def test_a_slow_first_prompt_needs_counts_where_no_load_was_recorded(scenario, judge, tokens, outcome):
    asked(scenario, [1_200, 200, 210, 220], *tokens)
    answer = judge(scenario, ID)[None]
    assert isinstance(answer, outcome)
    if outcome is Finding:
        assert (answer.cost.ns, answer.cost.usual_ns) == (990 * MS, 210 * MS)
        assert [each.duration_ns for each in answer.evidence] == [1_200 * MS]


def test_an_app_of_core_ml_asks_no_language_model(judge):
    scenario = Scenario(Process("Camera", 412), duration_ns=900 * MS)
    assert judge(scenario, ID)[None].reason == "No request to a language model was recorded."
