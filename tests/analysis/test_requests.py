"""Numbers of requests, against what the builder says."""

from __future__ import annotations

from support.handover import trace_of
from tracekit.analysis.requests import token_intervals
from tracekit.testing import CoreAIChat, Process, Scenario

MS = 1_000_000


def chat() -> CoreAIChat:
    return CoreAIChat(Scenario(Process("Chat", 412), duration_ns=60_000 * MS))


def test_times_between_tokens_are_those_that_were_logged_or_follow_from_tokens() -> None:
    language_model = chat()
    first = language_model.request(0, prompt_tokens=9, prompt_ns=MS, tokens_ns=[9 * MS, 8 * MS, 12 * MS])
    second = language_model.request(900 * MS, prompt_tokens=9, prompt_ns=MS, tokens_ns=[7 * MS] * 4)
    found = token_intervals(trace_of(language_model.scenario))
    assert tuple(found["duration_ns"]) == first.token_intervals + second.token_intervals
    assert list(found["request"]) == [0, 0, 1, 1, 1]
    assert list(found["token"]) == [1, 2, 1, 2, 3]
    # Between points, the detokenizer is a part of the interval.
    language_model.scenario.logged = [row for row in language_model.scenario.logged if row.name != "Extend"]
    found = token_intervals(trace_of(language_model.scenario))
    assert list(found["duration_ns"]) == [each + 150_000 for each in first.token_intervals + second.token_intervals]
    assert token_intervals(trace_of(chat().scenario)).empty
