"""Prompts that are processed again."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotEvaluated
from tracekit.testing import CoreAIChat, Session

ID = "prompt-reprocessing"
MS = 1_000_000


def talk(scenario, cached: list[int | None], **more: object) -> None:
    """Requests of 300, 400, ... tokens of which 40 are generated, in prompts of 1 ms for each token."""
    session, now = Session(scenario), 100 * MS
    for number, count in enumerate(cached):
        used = 300 + 100 * number
        truth = session.request(
            now, prompt_ns=used * MS, generation_ns=400 * MS, consumed=used, generated=40, cached=count, **more
        )
        now = truth.end_ns + 500 * MS


def test_what_was_processed_before_costs_its_part_of_the_prompt(scenario, judge):
    talk(scenario, [0, 0, 0, 0])
    finding = judge(scenario, ID)[None]
    # 340, 440 and 540 tokens stood there, at 1 ms each.
    assert (finding.cost.ns, finding.cost.longest_wait_ns) == ((340 + 440 + 540) * MS, 540 * MS)
    assert len(finding.evidence) == 3


def test_an_empty_count_is_not_zero(scenario, judge):
    talk(scenario, [None] * 5)
    outcome = judge(scenario, ID)[None]
    assert isinstance(outcome, NotEvaluated)
    assert "how many tokens came from the cache" in outcome.reason
    assert "Foundation Models" in outcome.record


def test_what_is_not_known_of_some_keeps_from_passing(scenario, judge):
    talk(scenario, [0, 0, 0, None, 640, 740])
    assert isinstance(judge(scenario, ID)[None], NotEvaluated)


@pytest.mark.parametrize(
    ("added", "outcome"),
    [([20, 70, 35, 90, 15, 60], Finding), ([20, 70, 35], NotEvaluated), ([60] * 6, NotEvaluated)],
    ids=["a chat", "too short to be sure", "even steps"],
)
def test_signposts_show_by_their_lengths_whether_requests_are_of_one_chat(scenario, judge, added, outcome):
    chat, now, used = CoreAIChat(scenario), 100 * MS, 300
    for more in [0, *added]:
        used += more
        now = chat.request(now, prompt_tokens=used, prompt_ns=used * MS, tokens_ns=[15 * MS] * 20).end_ns + 300 * MS
        used += 20
    assert isinstance(judge(scenario, ID)[None], outcome)
