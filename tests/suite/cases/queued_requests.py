"""Requests that wait for each other."""

from __future__ import annotations

from suite.chats import MS, called_earlier, closed, own_chat, recording, system_chat
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from tracekit.testing import CoreAIChat, Draws, Scenario, Session

ID = "queued-requests"


def waits(draws: Draws, wait_ms: int = 0, times: int = 3, pairs: int = 3, own_ms: int = 200) -> Scenario:
    """Questions while a suggestion of the background is generated: some of them wait for its end."""
    scenario, now = recording(), 200 * MS
    background, user = Session(scenario, index=1), Session(scenario, index=2)
    for number in range(pairs):
        wait = (wait_ms or draws.integer(300, 900)) * MS
        suggestion = background.request(now, prompt_ns=200 * MS, generation_ns=1_000 * MS)
        truth = user.request(suggestion.end_ns, prompt_ns=own_ms // 2 * MS, generation_ns=own_ms // 2 * MS)
        if number < times:
            called_earlier(scenario, wait)
        now = truth.end_ns + draws.integer(300, 900) * MS
    return closed(scenario)


def own_model_waits(draws: Draws) -> Scenario:
    """A model of the app, asked from two threads: an actor lets one in after the other."""
    scenario, now = recording(), 200 * MS
    one, two = CoreAIChat(scenario, thread=2), CoreAIChat(scenario, thread=3, bracket=False)
    for _ in range(3):
        first = one.request(now, prompt_tokens=100, prompt_ns=200 * MS, tokens_ns=[15 * MS] * 30)
        second = two.request(first.end_ns, prompt_tokens=100, prompt_ns=100 * MS, tokens_ns=[15 * MS] * 10)
        asked = first.end_ns - draws.integer(200, 500) * MS
        text = "Starting inference: 100 prompt tokens, max 99 generation tokens"
        two.log(asked, second.end_ns - asked, "Inference", text, end_message="Generated 10 tokens")
        now = second.end_ns + 400 * MS
    return closed(scenario)


def at_once(draws: Draws) -> Scenario:
    """Two sessions at once, each of which begins right away."""
    scenario, now = recording(), 200 * MS
    one, two = Session(scenario, index=1), Session(scenario, index=2)
    for _ in range(3):
        first = one.request(now, prompt_ns=300 * MS, generation_ns=900 * MS)
        second = two.request(now + draws.integer(50, 700) * MS, prompt_ns=300 * MS, generation_ns=900 * MS)
        now = max(first.end_ns, second.end_ns) + 500 * MS
    return closed(scenario)


def one_after_the_other(draws: Draws) -> Scenario:
    """Each begins as the one before it ends."""
    scenario, now = recording(), 200 * MS
    session = Session(scenario)
    for _ in range(5):
        now = session.request(now, prompt_ns=300 * MS, generation_ns=draws.integer(300, 900) * MS).end_ns
    return closed(scenario)


def not_told_apart(draws: Draws) -> Scenario:
    """Two requests of one thread at once: nothing tells whose steps are whose."""
    scenario = recording()
    chat = CoreAIChat(scenario)
    for number in range(2):
        start = (200 + draws.integer(50, 90) * number) * MS
        chat.request(start, prompt_tokens=100, prompt_ns=300 * MS, tokens_ns=[15 * MS] * 12)
    return closed(scenario)


CASES = [
    *cases(ID, POSITIVE, 6, waits),
    *cases(ID, POSITIVE, 4, own_model_waits),
    *cases(ID, NEGATIVE, 3, system_chat),
    *cases(ID, NEGATIVE, 3, own_chat),
    *cases(ID, NEGATIVE, 4, at_once),
    *each(ID, NEAR_ABOVE, (100, 101, 110, 150), waits),
    *each(ID, NEAR_ABOVE, (2,), lambda draws, times: waits(draws, times=times)),
    *each(ID, NEAR_BELOW, (99, 98, 90, 60), waits),
    *each(ID, NEAR_BELOW, (1,), lambda draws, times: waits(draws, times=times), found_in_more=(ID,)),
    *cases(ID, LOOKALIKE, 2, at_once, page="Requests run at once"),
    *cases(ID, LOOKALIKE, 2, lambda draws: waits(draws, times=1), page="A single request waits", found_in_more=(ID,)),
    *cases(ID, LOOKALIKE, 2, one_after_the_other, page="A request begins when"),
    *cases(ID, INSUFFICIENT, 3, not_told_apart),
]
